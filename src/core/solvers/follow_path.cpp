// One update by the path: not at all where nothing moves, straight or step by step, and once more
// for those that the screening has missed. Unbounded boxes, which cannot move linearly, get bounds
// that nobody meets.
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

// F in double precision of these variables' members.
void sharpen(Head& h, const std::vector<std::int64_t>& variables) {
  std::vector<std::size_t> members;
  for (std::size_t v : variables)
    if (h.F.error_bound(h.member_of(v)) > 0.0) members.push_back(h.member_of(v));
  h.F.sharpen(members);
}

// Variables on bounds that violate KKT by more than rounding: sleepers that passed zero unseen.
std::vector<std::int64_t> latecomers(Head& h) {
  const double rounding = 16.0 * h.rounding();
  const auto violates = [&](std::size_t v) {
    return !h.fixed(v) && !h.inside(v) &&
           (h.x[v] < h.hi[v] ? -h.gradient(v) : h.gradient(v)) > rounding;
  };
  std::vector<std::int64_t> found;
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (violates(v)) found.push_back(v);
  sharpen(h, found);
  std::erase_if(found, [&](std::size_t v) { return !violates(v); });
  return found;
}

PathResult walk(Head& head, const Move& move) {
  Path straight(head, move);
  if (straight.leap()) return {true, std::max<std::int64_t>(1, straight.changes_made()), true};
  if (!head.factored()) return {false, 0};
  return Path(head, move).run();
}

void set_boxes(Head& head, const Move& move) {
  for (std::size_t k = 0; k < move.variables.size(); ++k) {
    head.lo[move.variables[k]] = move.lo[k];
    head.hi[move.variables[k]] = move.hi[k];
  }
}

// With an empty box any variable is optimal: latecomers get one, and it opens on a path of its own.
PathResult open_again(Head& head, const std::vector<std::int64_t>& late) {
  Move move{.target = head.target};
  for (std::size_t v : late) {
    move.add(v, head.lo[v], head.hi[v]);
    head.lo[v] = head.hi[v] = head.x[v];
  }
  const PathResult result = walk(head, move);
  set_boxes(head, move);  // also where it has stopped half-way
  return result;
}

PathResult follow(Head& head, const Move& move) {
  // Few members decide, and only these need an F in double precision: those whose box opens, those
  // on the margin, and whoever the path takes into it.
  std::vector<std::int64_t> opening;
  for (std::size_t v : move.variables)
    if (head.fixed(v)) opening.push_back(v);
  sharpen(head, opening);
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
  PathResult result = walk(head, move);
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

// An unbounded box is cut where its variable does not notice.
void cut(Head& h, std::size_t v) {
  const double far = h.x[v] != 0.0 ? 2.0 * h.x[v] : 1.0 / h.ridge[v];
  if (h.hi[v] == kInf) h.hi[v] = std::abs(far);
  if (h.lo[v] == -kInf) h.lo[v] = -std::abs(far);
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
    for (std::size_t v : emptied.variables) cut(h, v);
    const PathResult result = follow(h, emptied);
    breakpoints += result.breakpoints;
    if (!result.finished) return false;
  }
  for (std::size_t k : changed) h.set_ridge(move.variables[k], move.ridge[k]);
  return true;
}

}  // namespace

PathResult follow_path(Head& head, const Move& move) {
  if (move.ridge.empty() && head.ridge.empty()) return follow(head, move);
  std::int64_t breakpoints = 0;
  if (!change_ridge(head, move, breakpoints)) return {false, breakpoints};
  Move next{.target = move.target}, unbounded = next;
  for (std::size_t k = 0; k < move.variables.size(); ++k) {
    const std::size_t v = move.variables[k];
    const double lo = move.lo[k], hi = move.hi[k];
    if (lo == head.lo[v] && hi == head.hi[v]) continue;
    cut(head, v);
    // Of a single example x ends before: its gradient rises by d_v x_v at least.
    const double far = 2.0 * (std::abs(head.gradient(v)) + std::abs(head.c[v])) / head.ridge_of(v);
    next.add(v, lo == -kInf ? -far : lo, hi == kInf ? far : hi);
    if (lo == -kInf || hi == kInf) unbounded.add(v, lo, hi);
  }
  // Should x reach a bound nevertheless, where several boxes open, the polish goes on from there.
  const PathResult result = follow(head, next);
  set_boxes(head, unbounded);
  return {result.finished, breakpoints + result.breakpoints, result.leapt};
}

}  // namespace supple
