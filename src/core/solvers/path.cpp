#include "solvers/path.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/watch.hpp"

namespace supple {

namespace {

// The side of a variable whose bounds become these. An empty box that opens is left on the side
// where the gradient holds the variable.
Side side_of(const Head& h, std::size_t v, double lo1, double hi1) {
  if (h.fixed(v))
    return lo1 == hi1 ? Side::frozen : (h.gradient(v) < 0.0 ? Side::upper : Side::lower);
  return h.x[v] <= h.lo[v] ? Side::lower : (h.x[v] >= h.hi[v] ? Side::upper : Side::margin);
}

// Nothing but bounds that are not in use would move: the commonest case of all, an example that
// is classified well, needs no path.
bool only_idle_bounds(const Head& h, const Move& move) {
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (move.target[e] != h.target[e]) return false;
  const double rounding = 4.0 * kEps * h.F.peak_mass();
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
      all = all && h.ridge[v] == move.ridge[k];
  }
  return all;
}

}  // namespace

Path::Path(Head& head, const Move& move, double width)
    : h(head),
      end(move),
      start(head.save()),
      dlo(head.variables()),
      dhi(head.variables()),
      dx(head.variables()),
      side(head.variables()),
      place(head.members(), -1) {
  for (std::size_t v = 0; v < h.variables(); ++v) side[v] = side_of(h, v, h.lo[v], h.hi[v]);
  for (std::size_t k = 0; k < end.variables.size(); ++k) {
    const std::size_t v = end.variables[k];
    side[v] = side_of(h, v, end.lo[k], end.hi[k]);
  }
  h.F.note_peaks();
  h.sync_block();
  // Without experience, a third of the way from the margin to the other side (or the like).
  if (h.reach == 0.0) h.reach = 0.3 * h.magnitude(h.F.values());
  wake(width * h.reach);
}

// An unbounded box, which cannot move linearly, is cut where its variable does not notice, and
// opens as far as that of a single example needs: its gradient rises by d_v x_v at least.
void Path::set_off() {
  for (std::size_t e = 0; e < h.n_groups; ++e) target_rate[e] = end.target[e] - h.target[e];
  for (std::size_t k = 0; k < end.variables.size(); ++k) {
    const std::size_t v = end.variables[k];
    const auto way = [&](double& from, double to) {
      if (from == to) return 0.0;
      if (std::isinf(from)) from = std::copysign(2.0 * h.x[v] + (h.x[v] == 0.0), from);
      const double far = 2.0 * (std::abs(h.gradient(v)) + std::abs(h.c[v])) / h.ridge[v];
      return (std::isinf(to) ? std::copysign(far, to) : to) - from;
    };
    dlo[v] = way(h.lo[v], end.lo[k]);
    dhi[v] = way(h.hi[v], end.hi[k]);
    if (side[v] != Side::margin) set_side(v, side[v]);
  }
}

// Of the margin variables, if the sums over the groups are to change by `sums`, and their gradients
// to fall by this share of them, while others are driven.
void Path::direction(const PerGroup& sums, double share) {
  const auto& margin = h.factor.variables();
  right_side.resize(margin.size());
  for (std::size_t i = 0; i < margin.size(); ++i) {
    const std::size_t v = margin[i];
    const bool is_awake = place[h.member_of(v)] >= 0;  // else its gradient is 0
    right_side[i] = -pull(h.member_of(v)) - (is_awake ? share * awake_gradient(v) : 0.0);
  }
  h.factor.set_right_side(right_side);
  h.factor.solve(left_over(sums), solution, dmu);
  for (std::size_t i = 0; i < margin.size(); ++i) dx[margin[i]] = solution[i];
}

void Path::spread(const std::vector<double>& way) {
  dx_block.resize(h.block.columns());
  for (std::size_t j = 0; j < dx_block.size(); ++j) {
    const std::int64_t v = h.block.variables()[j];
    dx_block[j] = v == MarginBlock::kGone ? 0.0 : way[v];
  }
}

// Of the gradients where members are awake.
void Path::rates(const std::vector<double>& way) {
  spread(way);
  dF.resize(awake.size());
  rate.resize(g.size());
  simd().product_rows(h.block.data(), h.block.stride(), awake.data(), awake.size(), dx_block.data(),
                      dx_block.size(), dF.data());
  for (std::size_t k = 0; k < rate.size(); ++k) {
    const std::size_t v = awake_variable(k);
    rate[k] = dF[h.member_of(k)] + dmu[h.group[v]] + h.ridge[v] * way[v];
  }
}

Event Path::next_event(double largest_diagonal) const {
  Event best;
  double size = 0.0, sum = 0.0;
  for (double value : solution) size = std::max(size, std::abs(value));
  for (double value : dx_block) sum += std::abs(value);
  const auto consider = [&](std::size_t v, Side to, double gap, double relative) {
    if (!(relative > 64.0 * kEps * size)) return;
    const double dt = std::max(0.0, gap) / relative;
    if (dt < best.dt || (dt == best.dt && relative > best.rate)) best = {dt, v, to, relative};
  };
  for (std::size_t v : h.factor.variables()) {
    consider(v, Side::lower, h.x[v] - h.lo[v], dlo[v] - dx[v]);
    consider(v, Side::upper, h.hi[v] - h.x[v], dx[v] - dhi[v]);
  }
  // Rates below the rounding of the sums they come from are zero.
  const double tiny_g = 4.0 * kEps * largest_diagonal * sum;
  const Extreme hit = simd().first_crossing(sign.data(), g.data(), rate.data(), tiny_g, g.size());
  if (hit.index >= 0 && hit.value < best.dt)
    best = {hit.value, awake_variable(hit.index), Side::margin, 0.0};
  return best;
}

void Path::move(double dt) {
  for (std::size_t v : h.factor.variables()) h.x[v] += dt * dx[v];
  for (const Driven& d : driven) h.x[d.variable] += dt * dx[d.variable];
  for (std::size_t e = 0; e < h.n_groups; ++e) h.mu[e] += dt * dmu[e];
  simd().axpy(dt, rate.data(), g.data(), g.size());
}

// Boxes and targets take their exact final values; margin variables that end on a bound leave.
void Path::finish() {
  h.set_boxes(end);
  for (std::size_t v : end.variables) {
    const double bound = side[v] == Side::upper ? h.hi[v] : h.lo[v];
    if (side[v] != Side::margin && std::isfinite(bound)) h.x[v] = bound;
  }
  settle_members();
  h.F.arrive(1);
  h.drop_edges();
  double moved_most = 0.0;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const std::size_t m = h.member_of(v), e = h.group[v];
    moved_most =
        std::max(moved_most, std::abs(h.F[m] - start.F.F[m] + h.mu[e] - start.problem.mu[e]));
  }
  // Few move so far, and a single path says little of the next.
  h.reach = 0.8 * h.reach + 0.2 * (0.3 * moved_most);
  h.sharpen();  // the error of F may have hidden a violator, which the polish then finds
  h.make_canonical();
}

PathResult Path::run() {
  set_off();
  const auto limit = static_cast<std::int64_t>(1000 + 20 * h.variables());
  const double largest_diagonal = h.largest_diagonal();
  std::int64_t breakpoints = 0;
  std::size_t standing = 0;  // consecutive steps of length 0
  while (true) {
    if (breakpoints % 4 == 0)
      tell([&] { return News{Phase::path, static_cast<std::size_t>(breakpoints), 0, t}; });
    if (++breakpoints > limit || standing > 50 + 2 * h.factor.size() || !refill_groups() ||
        endless) {
      settle_members();
      h.F.arrive(1);
      return {false, breakpoints};
    }
    direction(target_rate, 0.0);
    rates(dx);
    const Event event = next_event(largest_diagonal);
    const double dt = std::min(event.dt, 1.0 - t);
    const bool last = event.dt > 1.0 - t;
    move(dt);
    for (std::size_t v : end.variables) {
      h.lo[v] += dt * dlo[v];
      h.hi[v] += dt * dhi[v];
      if (side[v] == Side::lower) h.x[v] = h.lo[v];
      if (side[v] == Side::upper) h.x[v] = h.hi[v];
    }
    for (std::size_t e = 0; e < h.n_groups; ++e) h.target[e] += dt * target_rate[e];
    t += dt;
    if (last) break;
    standing = dt > 0.0 ? 0 : standing + 1;
    if (event.to == Side::margin)
      enter(event.variable);
    else
      leave(event.variable, event.to);
  }
  finish();
  return {true, breakpoints};
}

namespace {

PathResult follow(Head& head, const Move& move, bool may_walk) {
  constexpr double kNear = 1.0, kFar = 4.0;
  if (const PathResult leapt = Path(head, move, kNear).leap(); leapt.finished) return leapt;
  if (!may_walk || !head.factored()) return {false, 0};
  return Path(head, move, kFar).run();
}

// Sleepers may have crossed zero unseen. With an empty box any gradient is optimal: they get one,
// and a move that opens it again.
Move shut_violators(Head& h) {
  Move again{.target = h.target};
  const double rounding = 16.0 * h.rounding();
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const double inward = h.x[v] < h.hi[v] ? -h.gradient(v) : h.gradient(v);
    if (!h.fixed(v) && !h.inside(v) && inward > rounding) again.add(v, h.lo[v], h.hi[v]);
  }
  for (std::size_t v : again.variables) h.lo[v] = h.hi[v] = h.x[v];
  return again;
}

}  // namespace

// One update: not at all where nothing moves, straight to its end, or step by step.
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
    head.set_boxes(move);
    for (std::size_t e = 0; e < head.n_groups; ++e)
      if (!head.factor.has_group(e)) {  // its interval may have changed
        head.sharpen();
        head.balance_mu();
      }
    return {true, 0};
  }
  const Released scope{head};
  head.sharpen();
  PathResult result = follow(head, move, same_ridge);
  constexpr int kTimes = 2;
  for (int again = 0; again < kTimes && result.finished && !result.leapt; ++again) {
    const Move late = shut_violators(head);
    if (late.variables.empty()) break;
    const PathResult more = follow(head, late, true);
    head.set_boxes(late);  // also where it has stopped half-way
    result = {more.finished, result.breakpoints + more.breakpoints};
  }
  return result;
}

}  // namespace supple
