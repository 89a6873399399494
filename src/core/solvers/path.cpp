#include "solvers/path.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/watch.hpp"

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr std::size_t kScreenFrom = 256;  // members; below, screening costs more than it saves

}  // namespace

Side side_of(const Head& h, std::size_t v, double dlo, double dhi) {
  if (h.fixed(v))
    return dlo == dhi ? Side::frozen : (h.gradient(v) < 0.0 ? Side::upper : Side::lower);
  return h.x[v] <= h.lo[v] ? Side::lower : (h.x[v] >= h.hi[v] ? Side::upper : Side::margin);
}

Path::Path(Head& head, const Move& move)
    : h(head), moved(move.variables), lo1(move.lo), hi1(move.hi), target1(move.target) {
  const std::size_t n = h.variables();
  dlo.assign(n, 0.0);
  dhi.assign(n, 0.0);
  speed.assign(n, 0.0);
  by_variable.assign(n, 0.0);
  side.resize(n);
  q.assign(h.members(), 0.0);
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const std::size_t v = moved[k];
    dlo[v] = lo1[k] - h.lo[v];
    dhi[v] = hi1[k] - h.hi[v];
  }
  for (std::size_t e = 0; e < h.n_groups; ++e) target_rate[e] = target1[e] - h.target[e];
  for (std::size_t v = 0; v < n; ++v) side[v] = side_of(h, v, dlo[v], dhi[v]);
  for (std::size_t v : moved) {
    if (side[v] != Side::margin) drive(v, side[v] == Side::upper ? dhi[v] : dlo[v]);
  }
  F_start = h.F.state();
  mu_start = mu_settled = h.mu;
  h.F.note_peaks();
  // Without experience, a third of the way from the margin to the other side (or the like).
  if (h.reach == 0.0) h.reach = 0.3 * h.magnitude(h.F.values());
  h.sync_block();
  wake(h.members() > kScreenFrom ? h.reach : kInf);
}

void Path::direction() {
  const auto& margin = h.factor.variables();
  if (q_changed) {
    right_side.resize(margin.size());
    for (std::size_t i = 0; i < margin.size(); ++i) right_side[i] = -q[h.member_of(margin[i])];
    h.factor.set_right_side(right_side);
    q_size = 0.0;
    for (double value : q) q_size = std::max(q_size, std::abs(value));
    q_changed = false;
  }
  PerGroup need{};
  for (std::size_t e = 0; e < h.n_groups; ++e) need[e] = target_rate[e] - bound_rate[e];
  h.factor.solve(need, dx, dmu);
  rates();
}

// dF = K dx where members are awake, dx being given by variables.
void Path::multiply() {
  dx_block.resize(h.block.columns());
  for (std::size_t j = 0; j < h.block.columns(); ++j) {
    const std::int64_t v = h.block.variables()[j];
    dx_block[j] = v == MarginBlock::kGone ? 0.0 : by_variable[v];
  }
  simd().product_rows(h.block.data(), h.block.stride(), awake.data(), awake.size(), dx_block.data(),
                      dx_block.size(), dF.data());
}

void Path::rates() {
  const auto& margin = h.factor.variables();
  for (std::size_t i = 0; i < margin.size(); ++i) by_variable[margin[i]] = dx[i];
  multiply();
  for (std::size_t k = 0; k < awake.size(); ++k) {
    const std::size_t m = awake[k];
    const double change = dF[k] + q[m];
    for (std::size_t j = 0; j < h.per; ++j)
      rate[k * h.per + j] = change + dmu[h.group[m * h.per + j]];
  }
  if (h.ridge.empty()) return;
  for (std::size_t k = 0; k < rate.size(); ++k) {
    const std::size_t v = static_cast<std::size_t>(awake[k / h.per]) * h.per + k % h.per;
    rate[k] += h.ridge[v] * rate_of(v);
  }
}

void Path::consider(Event& best, Event::Kind kind, std::size_t v, double gap,
                    double relative) const {
  const double dt = std::max(0.0, gap) / relative;
  if (dt < best.dt || (dt == best.dt && relative > best.rate)) best = {kind, v, dt, relative};
}

Event Path::next_event() const {
  Event best;
  double size = 0.0, sum = 0.0;
  for (double value : dx) {
    size = std::max(size, std::abs(value));
    sum += std::abs(value);
  }
  const double tiny_x = 64.0 * kEps * size;
  for (std::size_t v : h.factor.variables()) {
    const double down = dlo[v] - by_variable[v], up = by_variable[v] - dhi[v];
    if (down > tiny_x) consider(best, Event::Kind::leave_lower, v, h.x[v] - h.lo[v], down);
    if (up > tiny_x) consider(best, Event::Kind::leave_upper, v, h.hi[v] - h.x[v], up);
  }
  // Rates below the rounding of the sums they come from are zero.
  const double tiny_g = 4.0 * kEps * (h.largest_diagonal() * sum + q_size);
  const Extreme hit = simd().first_crossing(sign.data(), g.data(), rate.data(), tiny_g, g.size());
  if (hit.index >= 0 && hit.value < best.dt) {
    const auto k = static_cast<std::size_t>(hit.index);
    const auto m = static_cast<std::size_t>(awake[k / h.per]);
    best = {Event::Kind::enter, m * h.per + k % h.per, hit.value, 0.0};
  }
  return best;
}

void Path::move(double dt) {
  const auto& margin = h.factor.variables();
  for (std::size_t i = 0; i < margin.size(); ++i) h.x[margin[i]] += dt * dx[i];
  for (std::size_t e = 0; e < h.n_groups; ++e) h.mu[e] += dt * dmu[e];
  simd().axpy(dt, rate.data(), g.data(), g.size());
  if (!all_awake()) {
    dirty = true;
    simd().axpy(dt, dx_block.data(), pending.data(), pending.size());
    simd().axpy(dt, q.data(), pending_q.data(), pending_q.size());
  }
}

void Path::advance(double dt) {
  move(dt);
  for (std::size_t v : moved) {
    h.lo[v] += dt * dlo[v];
    h.hi[v] += dt * dhi[v];
    if (side[v] == Side::lower) h.x[v] = h.lo[v];
    if (side[v] == Side::upper) h.x[v] = h.hi[v];
  }
  for (std::size_t e = 0; e < h.n_groups; ++e) h.target[e] += dt * target_rate[e];
  t += dt;
}

// Boxes and targets take their exact final values; margin variables that end on a bound leave.
void Path::finish() {
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const std::size_t v = moved[k];
    h.lo[v] = lo1[k];
    h.hi[v] = hi1[k];
    if (side[v] == Side::lower) h.x[v] = h.lo[v];
    if (side[v] == Side::upper) h.x[v] = h.hi[v];
  }
  h.target = target1;
  settle_members();
  h.F.arrive(1);
  // A variable carried along by its bound keeps the rounding of the bound's way, within reason.
  double farthest = h.F.peak_mass();
  for (std::size_t v : moved) {
    farthest = std::max({farthest, std::abs(dlo[v]), std::abs(dhi[v])});
  }
  const double rounding = 4.0 * kEps * std::min(farthest, 1024.0 * h.F.peak_mass());
  const std::vector<std::int64_t> margin = h.factor.variables();
  for (std::size_t v : margin) {
    h.snap(v, rounding);
    if (!h.inside(v)) leave(v, h.x[v] <= h.lo[v] ? Side::lower : Side::upper);
  }
  double moved_most = 0.0;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const std::size_t m = h.member_of(v), e = h.group[v];
    const double change = std::abs(h.F[m] - F_start.F[m] + h.mu[e] - mu_start[e]);
    moved_most = std::max(moved_most, dlo[v] == 0.0 && dhi[v] == 0.0 ? change : 0.0);
  }
  // A single long path says little of the next.
  h.reach = std::max(std::min(1.25 * moved_most, 1.5 * h.reach), 0.9 * h.reach);
  h.sharpen();  // the error of F may have hidden a violator, which the polish then finds
  h.make_canonical();
}

PathResult Path::give_up(std::int64_t breakpoints) {
  settle_members();
  h.F.arrive(1);
  return {false, breakpoints};
}

PathResult Path::run() {
  const auto limit = static_cast<std::int64_t>(1000 + 20 * h.variables());
  std::int64_t breakpoints = 0;
  std::size_t standing = 0;  // consecutive steps of length 0
  while (true) {
    if (breakpoints % 4 == 0)
      tell([&] { return News{Phase::path, static_cast<std::size_t>(breakpoints), 0, t}; });
    if (++breakpoints > limit || standing > 50 + 2 * h.factor.size()) return give_up(breakpoints);
    if (!refill_groups() || endless) return give_up(breakpoints);
    direction();
    Event event = next_event();
    while (event.kind == Event::Kind::enter && h.F.error_bound(h.member_of(event.variable)) > 0.0) {
      sharpen({event.variable});  // it may enter earlier or later than it seemed
      event = next_event();
    }
    const double dt = std::min(event.dt, 1.0 - t);
    const bool last = event.dt > 1.0 - t;
    advance(dt);
    if (last) break;
    standing = dt > 0.0 ? 0 : standing + 1;
    if (event.kind == Event::Kind::enter)
      enter(event.variable);
    else
      leave(event.variable, event.kind == Event::Kind::leave_lower ? Side::lower : Side::upper);
  }
  finish();
  return {true, breakpoints};
}

}  // namespace supple
