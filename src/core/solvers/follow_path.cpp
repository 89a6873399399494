// One update by the path: not at all where nothing moves, by the leap, or by the walk. An unbounded
// box cannot move linearly: there, only the leap will do.
#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/path.hpp"

namespace supple {

namespace {

// Nothing but bounds that are not in use would move: the commonest case of all, an example that
// is classified well, needs no path.
bool only_idle_bounds(const Head& h, const Move& move) {
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (move.target[e] != h.target[e]) return false;
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * h.F.peak_mass();
  for (std::size_t k = 0; k < move.variables.size(); ++k) {
    const std::size_t v = move.variables[k];
    const double dlo = move.lo[k] - h.lo[v], dhi = move.hi[k] - h.hi[v];
    const Side side = side_of(h, v, dlo, dhi);
    if (side == Side::margin && !(move.lo[k] + rounding < h.x[v] && h.x[v] < move.hi[k] - rounding))
      return false;
    if (side != Side::margin && (side == Side::upper ? dhi : dlo) != 0.0) return false;
  }
  return true;
}

void set_boxes(Head& head, const Move& move) {
  for (std::size_t k = 0; k < move.variables.size(); ++k) {
    head.lo[move.variables[k]] = move.lo[k];
    head.hi[move.variables[k]] = move.hi[k];
  }
}

bool bounded(const Head& h, const Move& move) {
  for (std::size_t k = 0; k < move.variables.size(); ++k) {
    const std::size_t v = move.variables[k];
    if (!std::isfinite(move.hi[k] - move.lo[k]) || !std::isfinite(h.hi[v] - h.lo[v])) return false;
  }
  return true;
}

PathResult follow(Head& head, const Move& move) {
  // Few members decide, and only these need an F in double precision: those whose box opens, those
  // on the margin, and those that the path takes into it.
  std::vector<std::size_t> opening;
  for (std::size_t v : move.variables)
    if (const std::size_t m = head.member_of(v); head.fixed(v) && head.F.error_bound(m) > 0.0)
      opening.push_back(m);
  head.F.sharpen(opening);
  if (only_idle_bounds(head, move)) {
    set_boxes(head, move);
    for (std::size_t e = 0; e < head.n_groups; ++e)
      if (!head.factor.has_group(e)) {  // its interval may have changed
        head.sharpen();
        head.balance_mu();
      }
    return {true, 0};
  }
  const Released scope{head};
  head.sharpen();
  Leap leap(head, move);
  if (leap.run()) return {true, std::max<std::int64_t>(1, leap.changes_made()), true};
  if (!head.factored() || !bounded(head, move)) return {false, 0};
  return Walk(head, move).run();
}

// Where the ridge changes, x goes to 0 first, which makes the change of no effect. False: there are
// too many of them, or the path has failed.
bool change_ridge(Head& h, const Move& move, std::int64_t& breakpoints) {
  constexpr std::size_t kFew = 16;
  std::vector<std::size_t> changed;
  Move emptied{.target = h.target};
  for (std::size_t k = 0; k < move.ridge.size(); ++k) {
    const std::size_t v = move.variables[k];
    if (move.lo[k] == move.hi[k] || h.ridge_of(v) == move.ridge[k]) continue;
    changed.push_back(k);
    if (!h.fixed(v)) emptied.add(v, 0.0, 0.0);
  }
  if (emptied.variables.size() > kFew) return false;
  if (!emptied.variables.empty()) {
    const PathResult result = follow(h, emptied);
    breakpoints = result.breakpoints;
    if (!result.finished) return false;
  }
  for (std::size_t k : changed) h.set_ridge(move.variables[k], move.ridge[k]);
  return true;
}

}  // namespace

PathResult follow_path(Head& head, const Move& move) {
  std::int64_t before = 0;
  if (!change_ridge(head, move, before)) return {false, before};
  const PathResult result = follow(head, move);
  return {result.finished, before + result.breakpoints, result.leapt};
}

}  // namespace supple
