// The walk: with the margin set fixed the optimum moves on a line, up to the first variable that
// meets a bound or whose gradient meets zero.
#include <algorithm>
#include <cmath>

#include "linalg/watch.hpp"
#include "solvers/path.hpp"

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEps = std::numeric_limits<double>::epsilon();

}  // namespace

Walk::Walk(Head& head, const Move& move) : Path(head, move) {
  const std::size_t n = h.variables();
  dlo_.assign(n, 0.0);
  dhi_.assign(n, 0.0);
  sign_.resize(n);
  dg_.resize(n);
  for (std::size_t k = 0; k < goal.variables.size(); ++k) {
    const std::size_t v = goal.variables[k];
    dlo_[v] = goal.lo[k] - h.lo[v];
    dhi_[v] = goal.hi[k] - h.hi[v];
  }
  for (std::size_t e = 0; e < h.n_groups; ++e) target_rate_[e] = goal.target[e] - h.target[e];
  // Variables that move with a bound have a column of the block, as those on the margin have.
  std::vector<std::size_t> moving;
  for (std::size_t v : goal.variables)
    if (dlo_[v] != 0.0 || dhi_[v] != 0.0) moving.push_back(v);
  h.sync_block();
  give_columns(moving);
  for (std::size_t m = 0; m < h.members(); ++m) members_.push_back(m);
  for (std::size_t v = 0; v < n; ++v) {
    g_.push_back(h.gradient(v));
    set_side(v, side[v]);
  }
}

void Walk::set_side(std::size_t v, Side to) {
  side[v] = to;
  sign_[v] = sign_of(to);
  rates[v] = to == Side::margin ? 0.0 : (to == Side::upper ? dhi_[v] : dlo_[v]);
}

// No bound in use moves, no target does, and no margin variable will be met by its bound.
bool Walk::at_rest() const {
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (target_rate_[e] != 0.0) return false;
  for (std::size_t k = 0; k < goal.variables.size(); ++k) {
    const std::size_t v = goal.variables[k];
    if (side[v] == Side::margin ? !(goal.lo[k] < h.x[v] && h.x[v] < goal.hi[k]) : rates[v] != 0.0)
      return false;
  }
  return true;
}

void Walk::sum_bound_rates() {
  bound_rate.fill(0.0);
  for (std::size_t v : goal.variables)
    if (side[v] != Side::margin) bound_rate[h.group[v]] += rates[v];
}

void Walk::direction() {
  const auto& margin = h.factor.variables();
  std::vector<std::int64_t> margin_members;
  for (std::size_t v : margin) {
    rates[v] = 0.0;
    margin_members.push_back(h.member_of(v));
  }
  multiply(margin_members);  // by the rates of bound variables alone
  for (double& value : dF) value = -value;
  h.factor.set_right_side(dF);
  PerGroup need{};
  for (std::size_t e = 0; e < h.n_groups; ++e) need[e] = target_rate_[e] - bound_rate[e];
  h.factor.solve(need, dx, dmu);
  for (std::size_t i = 0; i < margin.size(); ++i) rates[margin[i]] = dx[i];
  multiply(members_);
  for (std::size_t v = 0; v < h.variables(); ++v)
    dg_[v] = dF[h.member_of(v)] + dmu[h.group[v]] + h.ridge_of(v) * rates[v];
}

void Walk::consider(Event& best, Event::Kind kind, std::size_t v, double gap, double relative) {
  const double dt = std::max(0.0, gap) / relative;
  if (dt < best.dt || (dt == best.dt && relative > best.rate)) best = {kind, v, dt, relative};
}

Walk::Event Walk::next_event() const {
  Event best;
  double size = 0.0, sum = 0.0;
  for (double value : dx) {
    size = std::max(size, std::abs(value));
    sum += std::abs(value);
  }
  const double tiny_x = 64.0 * kEps * size;
  for (std::size_t v : h.factor.variables()) {
    const double down = dlo_[v] - rates[v], up = rates[v] - dhi_[v];
    if (down > tiny_x) consider(best, Event::Kind::leave_lower, v, h.x[v] - h.lo[v], down);
    if (up > tiny_x) consider(best, Event::Kind::leave_upper, v, h.hi[v] - h.x[v], up);
  }
  // Rates below the rounding of the sums they come from are zero.
  for (std::size_t v : goal.variables)
    if (side[v] != Side::margin) sum += std::abs(rates[v]);
  const double tiny_g = 4.0 * kEps * h.largest_diagonal() * sum;
  const Extreme hit = simd().first_crossing(sign_.data(), g_.data(), dg_.data(), tiny_g, g_.size());
  if (hit.index >= 0 && hit.value < best.dt)
    best = {Event::Kind::enter, static_cast<std::size_t>(hit.index), hit.value, 0.0};
  return best;
}

void Walk::advance(double dt) {
  for (std::size_t v : h.factor.variables()) {
    h.x[v] += dt * rates[v];
    way += dt * std::abs(rates[v]);
  }
  for (std::size_t v : goal.variables) {
    h.lo[v] += dt * dlo_[v];
    h.hi[v] += dt * dhi_[v];
    if (side[v] == Side::margin) continue;
    h.x[v] = side[v] == Side::upper ? h.hi[v] : h.lo[v];
    way += dt * std::abs(rates[v]);
  }
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    h.mu[e] += dt * dmu[e];
    h.target[e] += dt * target_rate_[e];
  }
  simd().axpy(dt, dg_.data(), g_.data(), g_.size());
  t_ += dt;
}

void Walk::enter(std::size_t v) {
  if (!h.enter_margin(v)) return exchange(v);
  give_columns({v});
  set_side(v, Side::margin);
}

void Walk::leave(std::size_t v, Side to) {
  h.leave_margin(v);
  h.x[v] = to == Side::lower ? h.lo[v] : h.hi[v];
  set_side(v, to);
}

// v depends on the margin set: a variable that meets its bound makes room for it, or v crosses its
// box.
void Walk::exchange(std::size_t v) {
  const Head::Slide slid = h.slide(v, sign_[v]);
  endless_ = slid.end == Head::Slide::End::none;
  if (endless_) return;
  give_columns({v});
  std::fill(rates.begin(), rates.end(), 0.0);
  for (std::size_t i = 0; i < slid.dx.size(); ++i) rates[h.factor.variables()[i]] = slid.dx[i];
  rates[v] = slid.dx_own;
  multiply(members_);
  for (std::size_t u = 0; u < g_.size(); ++u)
    g_[u] += dF[h.member_of(u)] + h.ridge_of(u) * rates[u];
  for (std::size_t u : goal.variables) set_side(u, side[u]);  // they go on as before
  const Side at = slid.upper ? Side::upper : Side::lower;
  if (slid.arrived == v) return set_side(v, at);
  leave(slid.arrived, at);
  enter(v);
}

// A group without margin variable cannot follow its target: move its mu alone until a variable
// that can take up the change gets gradient 0 (Tax & Laskov eqs. 15-19).
bool Walk::refill_groups() {
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const double need = target_rate_[e] - bound_rate[e];
    if (h.factor.has_group(e) || std::abs(need) <= 1e-14 * std::abs(target_rate_[e])) continue;
    const Side able = need > 0.0 ? Side::lower : Side::upper;
    const double sense = sign_of(able);
    double smallest = 0.0;
    std::size_t chosen = 0;
    while (true) {
      smallest = kInf;
      for (std::size_t v = 0; v < h.variables(); ++v)
        if (side[v] == able && h.group[v] == e && sense * g_[v] < smallest) {
          smallest = sense * g_[v];
          chosen = v;
        }
      if (smallest == kInf) return false;
      if (h.F.error_bound(h.member_of(chosen)) == 0.0) break;
      sharpen(chosen);
    }
    h.mu[e] -= sense * smallest;
    for (std::size_t v = 0; v < h.variables(); ++v)
      if (h.group[v] == e) g_[v] -= sense * smallest;
    enter(chosen);
    sum_bound_rates();  // its bound may have moved
  }
  return true;
}

void Walk::sharpen(std::size_t v) {
  Path::sharpen({v});
  const std::size_t first = h.member_of(v) * h.per;
  for (std::size_t u = first; u < first + h.per; ++u) g_[u] = h.gradient(u);
}

void Walk::settle() {
  for (std::size_t v = 0; v < h.variables(); v += h.per)
    h.F.set(h.member_of(v), g_[v] + h.c[v] - h.mu[h.group[v]] - h.ridge_term(v));
}

PathResult Walk::run() {
  const auto limit = static_cast<std::int64_t>(1000 + 20 * h.variables());
  std::int64_t breakpoints = 0;
  std::size_t idle = 0;  // consecutive steps of length 0
  while (true) {
    if (breakpoints % 4 == 0)
      tell([&] { return News{Phase::path, static_cast<std::size_t>(breakpoints), 0, t_}; });
    ++breakpoints;
    sum_bound_rates();
    if (breakpoints > limit || idle > 50 + 2 * h.factor.size() || !refill_groups() || endless_) {
      settle();
      h.F.arrive(1);
      return {false, breakpoints};
    }
    if (at_rest()) break;
    direction();
    Event event = next_event();
    while (event.kind == Event::Kind::enter && h.F.error_bound(h.member_of(event.variable)) > 0.0) {
      sharpen(event.variable);  // it may enter earlier or later than it seemed
      event = next_event();
    }
    const double dt = std::min(event.dt, 1.0 - t_);
    const bool last = event.dt > 1.0 - t_;
    advance(dt);
    if (last) break;
    idle = dt > 0.0 ? 0 : idle + 1;
    if (event.kind == Event::Kind::enter)
      enter(event.variable);
    else
      leave(event.variable, event.kind == Event::Kind::leave_lower ? Side::lower : Side::upper);
  }
  // Boxes and targets take their exact final values.
  for (std::size_t k = 0; k < goal.variables.size(); ++k) {
    const std::size_t v = goal.variables[k];
    h.lo[v] = goal.lo[k];
    h.hi[v] = goal.hi[k];
    if (side[v] != Side::margin) h.x[v] = side[v] == Side::upper ? h.hi[v] : h.lo[v];
  }
  h.target = goal.target;
  settle();
  finish();
  return {true, breakpoints};
}

}  // namespace supple
