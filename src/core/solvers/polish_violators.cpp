// Who is to enter the margin set next.
#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/polish.hpp"

namespace supple {

namespace {

// Squared distance, relative to k(x, x), of examples that are the same.
constexpr double kSame = 16.0 * std::numeric_limits<double>::epsilon();

}  // namespace

double Polish::violation(std::size_t v) const {
  return h.x[v] <= h.lo[v] ? -h.gradient(v) : h.gradient(v);
}

std::vector<Polish::Violator> Polish::violators() const {
  std::vector<Violator> found;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    if (h.fixed(v) || h.inside(v) || h.F.is_stale(h.member_of(v))) continue;
    if (violation(v) > goal_) found.push_back({v, violation(v)});
  }
  std::sort(found.begin(), found.end(), worse);
  return found;
}

// The worst of each group and direction.
std::vector<Polish::Violator> Polish::worst_violators() const {
  std::vector<Violator> found;
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const auto size = [&](std::size_t v, bool upward) {
      const bool may =
          h.group[v] == e && !h.fixed(v) && (upward ? h.x[v] <= h.lo[v] : h.x[v] >= h.hi[v]);
      return may ? violation(v) : 0.0;
    };
    double up = 0.0, down = 0.0;
#pragma omp simd reduction(max : up, down)
    for (std::size_t v = 0; v < h.variables(); ++v) {
      up = std::max(up, size(v, true));
      down = std::max(down, size(v, false));
    }
    for (const bool upward : {true, false}) {
      const double worst = upward ? up : down;
      if (!(worst > goal_)) continue;
      std::size_t v = 0;
      while (size(v, upward) != worst) ++v;
      found.push_back({v, worst});
    }
  }
  std::sort(found.begin(), found.end(), worse);
  return found;
}

// The worst violator alone; where its group has no margin variable, with the worst of the other
// direction, as it could not move without.
void Polish::pair_up(std::vector<Violator>& found) const {
  if (found.empty()) return;
  const std::size_t worst = found[0].variable, group = h.group[worst];
  const auto partner = std::find_if(found.begin(), found.end(), [&](const Violator& other) {
    return h.group[other.variable] == group &&
           (h.gradient(other.variable) > 0.0) != (h.gradient(worst) > 0.0);
  });
  if (h.factor.has_group(group) || partner == found.end()) {
    found.resize(1);
  } else {
    found[1] = *partner;
    found.resize(2);
  }
}

// The same example may be there many times. One of them is enough: the others depend on it and
// violate no more when it has been solved for. Till then all of them have the same gradient. With a
// ridge each has an x of its own.
void Polish::pass_over_twins(std::vector<Violator>& found, std::size_t room) const {
  if (!h.ridge.empty()) return;
  struct Candidate {
    double gradient;
    std::size_t variable;
    bool enters;
  };
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < g_.size(); ++i)
    if (std::abs(g_[i]) > goal_)
      all.push_back({g_[i], static_cast<std::size_t>(h.factor.variables()[i]), false});
  for (const Violator& one : found) all.push_back({h.gradient(one.variable), one.variable, true});
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.gradient < b.gradient; });
  const double rounding = 4.0 * h.rounding();
  std::vector<char> twin(h.variables(), 0);
  for (auto first = all.begin(), last = first; first != all.end(); first = last) {
    while (++last != all.end() && last->gradient - last[-1].gradient <= rounding) {
    }
    std::stable_partition(first, last, [](const Candidate& one) { return !one.enters; });
    std::vector<std::size_t> kept;
    for (auto one = first; one != last; ++one)
      if (one->enters && (kept.size() >= room || is_twin(one->variable, kept)))
        twin[one->variable] = 1;
      else
        kept.push_back(one->variable);
  }
  std::erase_if(found, [&](const Violator& one) { return twin[one.variable] != 0; });
}

bool Polish::is_twin(std::size_t v, const std::vector<std::size_t>& others) const {
  if (others.empty()) return false;
  Slots slots(others.size());
  for (std::size_t k = 0; k < others.size(); ++k) slots[k] = h.slot[h.member_of(others[k])];
  std::vector<double> value(others.size());
  h.gram.values({h.slot[h.member_of(v)]}, slots, value.data());
  for (std::size_t k = 0; k < others.size(); ++k) {
    const double distance = h.diagonal(v) + h.diagonal(others[k]) - 2.0 * value[k];
    if (h.group[others[k]] == h.group[v] && distance <= kSame * h.diagonal(v)) return true;
  }
  return false;
}

}  // namespace supple
