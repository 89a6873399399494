// Who is to enter the margin set next.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "solvers/polish.hpp"

namespace supple {

namespace {

constexpr double kClear = 256.0;  // roundings from which on equal gradients are no accident

}  // namespace

double Polish::violation(std::size_t v) const {
  return h.x[v] <= h.lo[v] ? -h.gradient(v) : h.gradient(v);
}

// Where there are many members, those that no path would look at.
void Polish::loosen_far() {
  constexpr std::size_t kMany = 1024;
  if (h.members() <= kMany || !h.gram.has_blocks() || h.gram.linear()) return;
  const double rounding = h.rounding();
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (!h.inside_any(h.member_of(v)) && std::abs(h.gradient(v)) > h.reach)
      h.F.loosen(h.member_of(v), rounding);
}

void Polish::sharpen() {
  const auto may_violate = [&](std::size_t v) {
    return h.inside(v) || (!h.fixed(v) && violation(v) + h.F.error_bound(h.member_of(v)) > goal_);
  };
  std::vector<std::size_t> doubtful;
  for (std::size_t m = 0; m < h.members(); ++m)
    if (h.F.error_bound(m) > 0.0 && !h.F.behind(m) &&
        (may_violate(m * h.per) || may_violate(m * h.per + h.per - 1)))
      doubtful.push_back(m);
  h.F.sharpen(doubtful);
}

std::vector<Polish::Violator> Polish::violators() const {
  std::vector<Violator> found;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    if (h.fixed(v) || h.inside(v) || h.F.behind(h.member_of(v))) continue;
    if (violation(v) > goal_) found.push_back({v, violation(v)});
  }
  std::sort(found.begin(), found.end(), worse);
  return found;
}

// The worst of each group and direction.
std::vector<Polish::Violator> Polish::worst_violators() const {
  std::array<Violator, 2 * kMaxGroups> worst;
  worst.fill({0, goal_});
  for (std::size_t v = 0; v < h.variables(); ++v) {
    if (h.fixed(v) || h.inside(v)) continue;
    Violator& present = worst[2 * h.group[v] + (h.x[v] <= h.lo[v])];
    if (const double size = violation(v); size > present.size) present = {v, size};
  }
  std::vector<Violator> found(worst.begin(), worst.end());
  std::erase_if(found, [&](const Violator& one) { return one.size == goal_; });
  std::sort(found.begin(), found.end(), worse);
  return found;
}

// The same example may be there many times. One of them is enough: the others depend on it and
// violate no more when it has been solved for. Till then all of them have the same gradient.
// Another example with that gradient enters a round later.
void Polish::pass_over_copies(std::vector<Violator>& found) const {
  if (!h.ridge.empty()) return;  // each copy has an x of its own
  const double rounding = 4.0 * h.rounding();
  std::set<double> taken;
  for (double g : g_)
    if (std::abs(g) > goal_) taken.insert(std::abs(g));
  const auto is_taken = [&](const Violator& one) {
    const auto same = taken.lower_bound(one.size - rounding);
    if (same != taken.end() && *same <= one.size + rounding) return one.size > kClear * rounding;
    taken.insert(one.size);
    return false;
  };
  std::erase_if(found, is_taken);
}

}  // namespace supple
