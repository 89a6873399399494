// One update by the path: not at all where nothing moves, straight or step by step, and once more
// for those that the screening has missed. Unbounded boxes, which cannot move linearly, get bounds
// that nobody meets.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solvers/path.hpp"

namespace supple {

namespace {

// Nothing but bounds that are not in use would move: the commonest case of all, an example that
// is classified well, needs no path.
bool only_idle_bounds(const Head& h, const std::vector<std::int64_t>& moved,
                      const std::vector<double>& lo, const std::vector<double>& hi,
                      const PerGroup& target) {
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (target[e] != h.target[e]) return false;
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const auto v = static_cast<std::size_t>(moved[k]);
    const double dlo = lo[k] - h.lo[v], dhi = hi[k] - h.hi[v];
    const Side side = side_of(h, v, dlo, dhi);
    const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * h.F.peak_mass();
    if (side == Side::margin && !(lo[k] + rounding < h.x[v] && h.x[v] < hi[k] - rounding))
      return false;
    if (side != Side::margin && (side == Side::upper ? dhi : dlo) != 0.0) return false;
  }
  return true;
}

// F in double precision of these variables' members.
void sharpen(Head& h, const std::vector<std::int64_t>& variables) {
  std::vector<std::size_t> members;
  for (std::int64_t k : variables)
    if (const std::size_t m = h.member_of(static_cast<std::size_t>(k)); h.F.error_bound(m) > 0.0)
      members.push_back(m);
  h.F.sharpen(members);
}

// Variables on bounds that violate KKT by more than rounding: sleepers that passed zero unseen.
std::vector<std::int64_t> latecomers(Head& h) {
  const double rounding = 16.0 * h.rounding();
  const auto violates = [&](std::int64_t k) {
    const auto v = static_cast<std::size_t>(k);
    return !h.fixed(v) && !h.inside(v) &&
           (h.x[v] < h.hi[v] ? -h.gradient(v) : h.gradient(v)) > rounding;
  };
  std::vector<std::int64_t> found;
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (violates(static_cast<std::int64_t>(v))) found.push_back(static_cast<std::int64_t>(v));
  sharpen(h, found);
  std::erase_if(found, [&](std::int64_t v) { return !violates(v); });
  return found;
}

PathResult walk(Head& head, const std::vector<std::int64_t>& moved, const std::vector<double>& lo,
                const std::vector<double>& hi, const PerGroup& target) {
  Path straight(head, moved, lo, hi, target);
  if (straight.leap()) return {true, std::max<std::int64_t>(1, straight.changes_made()), true};
  if (!head.factored()) return {false, 0};
  return Path(head, moved, lo, hi, target).run();
}

// With an empty box any variable is optimal: latecomers get one, and it opens on a path of its own.
PathResult open_again(Head& head, const std::vector<std::int64_t>& late) {
  std::vector<double> lo, hi;
  for (std::int64_t k : late) {
    const auto v = static_cast<std::size_t>(k);
    lo.push_back(head.lo[v]);
    hi.push_back(head.hi[v]);
    head.lo[v] = head.hi[v] = head.x[v];
  }
  const PathResult result = walk(head, late, lo, hi, PerGroup(head.target));
  for (std::size_t k = 0; k < late.size(); ++k) {  // also where it has stopped half-way
    head.lo[static_cast<std::size_t>(late[k])] = lo[k];
    head.hi[static_cast<std::size_t>(late[k])] = hi[k];
  }
  return result;
}

PathResult follow(Head& head, const std::vector<std::int64_t>& moved,
                  const std::vector<double>& lo, const std::vector<double>& hi,
                  const PerGroup& target) {
  // Few members decide, and only these need an F in double precision: those whose box opens, those
  // on the margin, and whoever the path takes into it.
  std::vector<std::int64_t> opening;
  for (std::int64_t v : moved)
    if (head.fixed(static_cast<std::size_t>(v))) opening.push_back(v);
  sharpen(head, opening);
  if (only_idle_bounds(head, moved, lo, hi, target)) {
    for (std::size_t k = 0; k < moved.size(); ++k) {
      head.lo[static_cast<std::size_t>(moved[k])] = lo[k];
      head.hi[static_cast<std::size_t>(moved[k])] = hi[k];
    }
    for (std::size_t e = 0; e < head.n_groups; ++e)
      if (!head.factor.has_group(e)) {  // its interval may have changed
        head.sharpen();
        head.balance_mu();
      }
    return {true, 0};
  }
  const Released scope{head};
  head.sharpen();
  PathResult result = walk(head, moved, lo, hi, target);
  constexpr int kTimes = 2;
  constexpr std::size_t kFew = 16;
  for (int again = 0; again < kTimes && result.finished; ++again) {
    const std::vector<std::int64_t> late = latecomers(head);
    if (late.empty() || late.size() > kFew) break;  // the polish lets many enter at once
    const PathResult more = open_again(head, late);
    result = {more.finished, result.breakpoints + more.breakpoints, result.leapt && more.leapt};
  }
  return result;
}

constexpr double kInf = std::numeric_limits<double>::infinity();

// Variables with their boxes to be.
struct Boxes {
  std::vector<std::int64_t> variables;
  std::vector<double> lo, hi;
  void add(std::size_t v, double low, double high) {
    variables.push_back(static_cast<std::int64_t>(v));
    lo.push_back(low);
    hi.push_back(high);
  }
};

// An unbounded box is cut where its variable does not notice.
void cut(Head& h, std::size_t v) {
  const double far = h.x[v] != 0.0 ? 2.0 * h.x[v] : 1.0 / h.ridge[v];
  if (h.hi[v] == kInf) h.hi[v] = std::abs(far);
  if (h.lo[v] == -kInf) h.lo[v] = -std::abs(far);
}

// Where the ridge changes, x goes to 0 first, which makes the change of no effect. False: there are
// too many of them, or the path has failed.
bool change_ridge(Head& h, const std::vector<std::int64_t>& moved, const std::vector<double>& lo,
                  const std::vector<double>& hi, const std::vector<double>& ridge,
                  std::int64_t& breakpoints) {
  constexpr std::size_t kFew = 16;
  std::vector<std::size_t> changed;
  Boxes emptied;
  for (std::size_t k = 0; k < ridge.size(); ++k) {
    const auto v = static_cast<std::size_t>(moved[k]);
    if (lo[k] == hi[k] || h.ridge_of(v) == ridge[k]) continue;
    changed.push_back(k);
    if (!h.fixed(v)) emptied.add(v, 0.0, 0.0);
  }
  if (emptied.variables.size() > kFew) return false;
  if (!emptied.variables.empty()) {
    for (std::int64_t v : emptied.variables) cut(h, static_cast<std::size_t>(v));
    const PathResult result =
        follow(h, emptied.variables, emptied.lo, emptied.hi, PerGroup(h.target));
    breakpoints += result.breakpoints;
    if (!result.finished) return false;
  }
  for (std::size_t k : changed) h.set_ridge(static_cast<std::size_t>(moved[k]), ridge[k]);
  return true;
}

}  // namespace

PathResult follow_path(Head& head, const std::vector<std::int64_t>& moved,
                       const std::vector<double>& lo, const std::vector<double>& hi,
                       const std::vector<double>& ridge, const PerGroup& target) {
  if (ridge.empty() && head.ridge.empty()) return follow(head, moved, lo, hi, target);
  std::int64_t breakpoints = 0;
  if (!change_ridge(head, moved, lo, hi, ridge, breakpoints)) return {false, breakpoints};
  Boxes next, unbounded;
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const auto v = static_cast<std::size_t>(moved[k]);
    if (lo[k] == head.lo[v] && hi[k] == head.hi[v]) continue;
    cut(head, v);
    // Of a single example x ends before: its gradient rises by d_v x_v at least.
    const double far = 2.0 * (std::abs(head.gradient(v)) + std::abs(head.c[v])) / head.ridge_of(v);
    next.add(v, lo[k] == -kInf ? -far : lo[k], hi[k] == kInf ? far : hi[k]);
    if (lo[k] == -kInf || hi[k] == kInf) unbounded.add(v, lo[k], hi[k]);
  }
  PathResult result{true, 0};
  for (Boxes now; result.finished && !next.variables.empty();) {
    std::swap(now, next);
    next = {};
    result = follow(head, now.variables, now.lo, now.hi, target);
    breakpoints += result.breakpoints;
    for (std::size_t k = 0; k < unbounded.variables.size(); ++k) {  // who has met its bound goes on
      const auto v = static_cast<std::size_t>(unbounded.variables[k]);
      const bool below = unbounded.lo[k] == -kInf && head.x[v] <= head.lo[v];
      const bool above = unbounded.hi[k] == kInf && head.x[v] >= head.hi[v];
      if (below || above)
        next.add(v, (below ? 4.0 : 1.0) * head.lo[v], (above ? 4.0 : 1.0) * head.hi[v]);
    }
  }
  for (std::size_t k = 0; k < unbounded.variables.size(); ++k) {
    head.lo[static_cast<std::size_t>(unbounded.variables[k])] = unbounded.lo[k];
    head.hi[static_cast<std::size_t>(unbounded.variables[k])] = unbounded.hi[k];
  }
  return {result.finished, breakpoints};
}

}  // namespace supple
