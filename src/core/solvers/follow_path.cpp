// One update by the path: not at all where nothing moves, straight, or step by step.
#include <algorithm>
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
    const double lo = move.lo[k], hi = move.hi[k];
    const Side side = side_of(h, v, lo, hi);
    if (side == Side::margin && !(lo + rounding < h.x[v] && h.x[v] < hi - rounding)) return false;
    if (side != Side::margin && (side == Side::upper ? hi : lo) != h.x[v]) return false;
  }
  return true;
}

// A ridge has no effect where x is 0. False: it changes elsewhere.
bool set_ridges(Head& h, const Move& move) {
  bool all = true;
  for (std::size_t k = 0; k < move.ridge.size(); ++k) {
    const std::size_t v = move.variables[k];
    if (move.lo[k] == move.hi[k]) continue;
    if (h.x[v] == 0.0)
      h.set_ridge(v, move.ridge[k]);
    else
      all = all && h.ridge_of(v) == move.ridge[k];
  }
  return all;
}

}  // namespace

PathResult follow_path(Head& head, const Move& move) {
  // Few members decide, and only these need an F in double precision: those whose box opens, those
  // on the margin, and those awake.
  std::vector<std::size_t> opening;
  for (std::size_t v : move.variables)
    if (const std::size_t m = head.member_of(v); head.fixed(v) && head.F.error_bound(m) > 0.0)
      opening.push_back(m);
  head.F.sharpen(opening);
  const bool same_ridge = set_ridges(head, move);
  if (same_ridge && only_idle_bounds(head, move)) {
    for (std::size_t k = 0; k < move.variables.size(); ++k) {
      head.lo[move.variables[k]] = move.lo[k];
      head.hi[move.variables[k]] = move.hi[k];
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
  if (const PathResult straight = Path(head, move, true).leap(); straight.finished) return straight;
  if (!same_ridge || !head.factored()) return {false, 0};
  return Path(head, move, false).run();
}

}  // namespace supple
