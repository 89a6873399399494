// The exact path (Cauwenberghs & Poggio; Tax & Laskov eqs. 4-19; Karasuyama & Takeuchi for
// several variables at once) in one form: boxes and targets move linearly from their present
// values (t = 0) to new ones (t = 1), and the optimum is followed from breakpoint to breakpoint.
// Learning opens a box, unlearning closes it, re-weighting and the regularisation path move its
// ends, a change of nu moves the target.
#include <algorithm>
#include <cmath>
#include <limits>

#include "head.hpp"

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEps = std::numeric_limits<double>::epsilon();

constexpr std::size_t kScreenFrom = 256;  // members; below, screening costs more than it saves

enum class Side : std::uint8_t { lower, upper, margin, frozen };

struct Event {
  enum class Kind { none, leave_lower, leave_upper, enter } kind = Kind::none;
  std::size_t variable = 0;
  double dt = kInf;
  double rate = 0.0;  // among simultaneous events the fastest is taken
};

class Path {
 public:
  Path(Head& head, const std::vector<std::int64_t>& moved, const std::vector<double>& lo,
       const std::vector<double>& hi, const PerGroup& target);
  PathResult run(const Interrupt& interrupt);

 private:
  // --- sides and drive ---
  void set_side(std::size_t v, Side side);
  void drive(std::size_t v, double rate);  // bound variable v moves at this rate from now on
  bool refill_groups();                    // false: a group cannot meet its target
  void enter(std::size_t v);
  void leave(std::size_t v, Side side);
  void exchange(std::size_t v);
  // --- one step ---
  bool at_rest() const;
  void direction();
  void rates();
  double refine();
  Event next_event() const;
  void consider(Event& best, Event::Kind kind, std::size_t v, double gap, double rate) const;
  void advance(double dt);
  void finish();
  // --- screening: members that cannot reach a breakpoint yet wait ---
  void wake(double radius);
  void flush();
  void append_column(std::size_t v);
  void remove_column(std::size_t v);

  Head& h;
  const std::vector<std::int64_t>& moved;
  const std::vector<double>&lo1, &hi1;
  const PerGroup& target1;
  PerGroup target_rate{}, bound_rate{};  // of the target, and of the sum over moving bounds
  std::vector<double> dlo, dhi, speed;   // per variable
  std::vector<Side> side;
  std::vector<double> q;  // per member: K times the speeds of the bound variables
  int moving = 0;         // number of bound variables with a speed
  double t = 0.0;

  std::vector<double> dx, dx_block, dF, by_variable, residual, correction, buffer;
  PerGroup dmu{};

  std::vector<std::int64_t> awake, asleep;  // members
  std::vector<double> pending, pending_q;   // what the sleepers have not been told
  bool dirty = false;
  std::vector<double> F_start;
  PerGroup mu_start{};
  double mass_start = 0.0;
  double largest_diagonal = 0.0, q_size = 0.0;
};

Path::Path(Head& head, const std::vector<std::int64_t>& moved_, const std::vector<double>& lo,
           const std::vector<double>& hi, const PerGroup& target)
    : h(head), moved(moved_), lo1(lo), hi1(hi), target1(target) {
  const std::size_t n = h.variables();
  dlo.assign(n, 0.0);
  dhi.assign(n, 0.0);
  speed.assign(n, 0.0);
  by_variable.assign(n, 0.0);
  side.resize(n);
  q.assign(h.members(), 0.0);
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const auto v = static_cast<std::size_t>(moved[k]);
    dlo[v] = lo1[k] - h.lo[v];
    dhi[v] = hi1[k] - h.hi[v];
  }
  for (std::size_t e = 0; e < h.n_groups; ++e) target_rate[e] = target1[e] - h.target[e];
  h.sync_block();
  for (std::size_t m = 0; m < h.members(); ++m)
    largest_diagonal = std::max(largest_diagonal, h.diagonal(m * h.per));
  for (std::size_t v = 0; v < n; ++v) {
    if (h.fixed(v))
      side[v] = dlo[v] == dhi[v] ? Side::frozen
                                 : (h.gradient(v) < 0.0 ? Side::upper : Side::lower);
    else
      side[v] = h.x[v] <= h.lo[v] ? Side::lower : (h.x[v] >= h.hi[v] ? Side::upper : Side::margin);
  }
  for (std::int64_t k : moved) {
    const auto v = static_cast<std::size_t>(k);
    if (side[v] != Side::margin) drive(v, side[v] == Side::upper ? dhi[v] : dlo[v]);
  }
  F_start = h.F;
  mu_start = h.mu;
  mass_start = h.mass();
  wake(h.reach > 0.0 && h.members() > kScreenFrom ? h.reach : kInf);
}

void Path::drive(std::size_t v, double rate) {
  const double change = rate - speed[v];
  if (change == 0.0) return;
  const double* row = h.member_row(h.member_of(v), buffer);
  simd().axpy(change, row, q.data(), q.size());
  bound_rate[h.group[v]] += change;
  moving += (rate != 0.0) - (speed[v] != 0.0);
  speed[v] = rate;
  if (moving == 0) {  // leave no rounding behind
    std::fill(q.begin(), q.end(), 0.0);
    bound_rate.fill(0.0);
  }
}

void Path::set_side(std::size_t v, Side s) {
  side[v] = s;
  drive(v, s == Side::margin ? 0.0 : (s == Side::upper ? dhi[v] : dlo[v]));
}

// --- screening -------------------------------------------------------------------------------
// Most gradients are too far from zero to matter for this path. A member none of whose gradients
// is within `radius` of zero sleeps: all steps are applied to it in one product at the end. The
// radius follows how far gradients moved in recent paths. Should a sleeper have crossed zero all
// the same, finish() finds it, and the caller's polish, which only needs a good start, mends it.

void Path::wake(double radius) {
  flush();
  awake.clear();
  asleep.clear();
  for (std::size_t m = 0; m < h.members(); ++m) {
    bool near = false;
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v)
      near = near || side[v] == Side::margin || speed[v] != 0.0 ||
             (side[v] != Side::frozen && std::abs(h.gradient(v)) <= radius);
    (near ? awake : asleep).push_back(static_cast<std::int64_t>(m));
  }
  dF.assign(awake.size(), 0.0);
  pending.assign(h.block.columns(), 0.0);
  pending_q.assign(asleep.empty() ? 0 : h.members(), 0.0);
}

void Path::flush() {
  if (!dirty) return;
  dirty = false;
  for (std::int64_t k : asleep) {
    const auto m = static_cast<std::size_t>(k);
    h.F[m] += simd().dot(h.block.row(m), pending.data(), h.block.columns()) + pending_q[m];
  }
}

void Path::append_column(std::size_t v) {
  const auto variable = static_cast<std::int64_t>(v);
  h.block.append_columns(&variable, 1, h.member_row(h.member_of(v), buffer));
  pending.push_back(0.0);
}

void Path::remove_column(std::size_t v) {
  const auto& variables = h.block.variables();
  const auto found = std::find(variables.begin(), variables.end(), static_cast<std::int64_t>(v));
  const auto column = static_cast<std::size_t>(found - variables.begin());
  if (pending[column] != 0.0)
    for (std::int64_t m : asleep)
      pending_q[static_cast<std::size_t>(m)] +=
          pending[column] * h.block.row(static_cast<std::size_t>(m))[column];
  h.block.remove_column(column);
  pending[column] = pending.back();
  pending.pop_back();
}

// --- changes of the margin set ---------------------------------------------------------------

void Path::enter(std::size_t v) {
  if (!h.enter_margin(v)) {
    if (!h.factor.indefinite()) exchange(v);
    return;
  }
  append_column(v);
  set_side(v, Side::margin);
}

void Path::leave(std::size_t v, Side s) {
  h.leave_margin(v);
  h.x[v] = s == Side::lower ? h.lo[v] : h.hi[v];
  set_side(v, s);
  remove_column(v);
}

// v depends on the margin set: moving it while the others balance it changes no gradient. Go on
// until a margin variable meets its bound and v can take its place, or v has crossed its box.
void Path::exchange(std::size_t v) {
  const double sign = side[v] == Side::lower ? 1.0 : -1.0;
  std::vector<double> weights;
  h.factor.dependence(weights);
  double step = sign > 0.0 ? h.hi[v] - h.x[v] : h.x[v] - h.lo[v];
  std::ptrdiff_t blocking = -1;
  Side blocked_at = Side::lower;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto u = static_cast<std::size_t>(h.factor.variables()[i]);
    const double rate = -sign * weights[i];
    if (std::abs(rate) < 1e-9) continue;
    const double gap = rate > 0.0 ? h.hi[u] - h.x[u] : h.x[u] - h.lo[u];
    const double limit = std::max(0.0, gap) / std::abs(rate);
    if (limit < step) {
      step = limit;
      blocking = static_cast<std::ptrdiff_t>(u);
      blocked_at = rate > 0.0 ? Side::upper : Side::lower;
    }
  }
  append_column(v);
  std::fill(by_variable.begin(), by_variable.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    by_variable[static_cast<std::size_t>(h.factor.variables()[i])] = -sign * weights[i] * step;
  by_variable[v] = sign * step;
  for (std::size_t j = 0; j < h.block.columns(); ++j) {
    const auto u = static_cast<std::size_t>(h.block.variables()[j]);
    h.x[u] += by_variable[u];
    pending[j] += by_variable[u];
  }
  dirty = !asleep.empty();
  dx_block.resize(h.block.columns());
  for (std::size_t j = 0; j < h.block.columns(); ++j)
    dx_block[j] = by_variable[static_cast<std::size_t>(h.block.variables()[j])];
  for (std::int64_t m : awake)
    h.F[static_cast<std::size_t>(m)] += simd().dot(h.block.row(static_cast<std::size_t>(m)),
                                                   dx_block.data(), dx_block.size());
  remove_column(v);
  if (blocking < 0) {
    h.x[v] = sign > 0.0 ? h.hi[v] : h.lo[v];
    set_side(v, sign > 0.0 ? Side::upper : Side::lower);
    return;
  }
  leave(static_cast<std::size_t>(blocking), blocked_at);
  if (h.inside(v) || step == 0.0) enter(v);
}

// A group without margin variable cannot follow its target: move its mu alone until a variable
// that can take up the change gets gradient 0 (Tax & Laskov eqs. 15-19).
bool Path::refill_groups() {
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const double need = target_rate[e] - bound_rate[e];
    if (h.factor.has_group(e) || std::abs(need) <= 1e-14 * std::abs(target_rate[e])) continue;
    if (!asleep.empty()) wake(kInf);
    const Side able = need > 0.0 ? Side::lower : Side::upper;
    const double sign = need > 0.0 ? 1.0 : -1.0;
    double smallest = kInf;
    std::size_t chosen = 0;
    for (std::size_t v = 0; v < h.variables(); ++v) {
      if (side[v] != able || h.group[v] != e) continue;
      if (h.fixed(v) && dlo[v] == dhi[v]) continue;
      const double distance = sign * h.gradient(v);
      if (distance < smallest) {
        smallest = distance;
        chosen = v;
      }
    }
    if (smallest == kInf) return false;
    h.mu[e] -= sign * smallest;
    enter(chosen);
  }
  return true;
}

// --- one step --------------------------------------------------------------------------------

// No bound in use moves, no target does, and no margin variable will be met by its bound.
bool Path::at_rest() const {
  if (moving > 0) return false;
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (target_rate[e] != 0.0) return false;
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const auto v = static_cast<std::size_t>(moved[k]);
    if (side[v] == Side::margin && !(lo1[k] < h.x[v] && h.x[v] < hi1[k])) return false;
  }
  return true;
}

void Path::direction() {
  const auto& margin = h.factor.variables();
  residual.resize(margin.size());
  for (std::size_t i = 0; i < margin.size(); ++i)
    residual[i] = -q[h.member_of(static_cast<std::size_t>(margin[i]))];
  PerGroup need{};
  for (std::size_t e = 0; e < h.n_groups; ++e) need[e] = target_rate[e] - bound_rate[e];
  h.factor.solve(residual, need, dx, dmu);
  q_size = 0.0;
  for (double value : q) q_size = std::max(q_size, std::abs(value));
  rates();
  // The true kernel values tell how exact the direction is; one refinement makes up for an
  // ill-conditioned factor.
  const double error = refine();
  if (error > 0.0) rates();
}

void Path::rates() {
  const auto& margin = h.factor.variables();
  for (std::size_t i = 0; i < margin.size(); ++i)
    by_variable[static_cast<std::size_t>(margin[i])] = dx[i];
  dx_block.resize(h.block.columns());
  for (std::size_t j = 0; j < h.block.columns(); ++j)
    dx_block[j] = by_variable[static_cast<std::size_t>(h.block.variables()[j])];
  simd().product_rows(h.block.data(), h.block.stride(), awake.data(), awake.size(),
                      dx_block.data(), dx_block.size(), dF.data());
  for (std::size_t k = 0; k < awake.size(); ++k) dF[k] += q[static_cast<std::size_t>(awake[k])];
}

double Path::refine() {
  const auto& margin = h.factor.variables();
  if (margin.empty()) return 0.0;
  double size = q_size, worst = 0.0;
  for (std::size_t e = 0; e < h.n_groups; ++e) size = std::max(size, std::abs(dmu[e]));
  for (std::size_t k = 0; k < awake.size(); ++k) {
    const auto m = static_cast<std::size_t>(awake[k]);
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v)
      if (side[v] == Side::margin) {
        correction.resize(h.variables());
        correction[v] = -(dF[k] + dmu[h.group[v]]);
        worst = std::max(worst, std::abs(correction[v]));
      }
  }
  if (worst <= 1e-12 * size) return 0.0;
  for (std::size_t i = 0; i < margin.size(); ++i)
    residual[i] = correction[static_cast<std::size_t>(margin[i])];
  std::vector<double> extra;
  PerGroup extra_mu{};
  h.factor.solve(residual, PerGroup{}, extra, extra_mu);
  for (std::size_t i = 0; i < dx.size(); ++i) dx[i] += extra[i];
  for (std::size_t e = 0; e < h.n_groups; ++e) dmu[e] += extra_mu[e];
  return worst;
}

void Path::consider(Event& best, Event::Kind kind, std::size_t v, double gap, double rate) const {
  const double dt = std::max(0.0, gap) / rate;
  if (dt < best.dt || (dt == best.dt && rate > best.rate)) best = {kind, v, dt, rate};
}

Event Path::next_event() const {
  Event best;
  double size = 0.0;
  for (double value : dx) size = std::max(size, std::abs(value));
  const double tiny_x = 64.0 * kEps * size;
  for (std::int64_t k : h.factor.variables()) {
    const auto v = static_cast<std::size_t>(k);
    const double down = dlo[v] - by_variable[v], up = by_variable[v] - dhi[v];
    if (down > tiny_x) consider(best, Event::Kind::leave_lower, v, h.x[v] - h.lo[v], down);
    if (up > tiny_x) consider(best, Event::Kind::leave_upper, v, h.hi[v] - h.x[v], up);
  }
  // Rates below the rounding of the sums they come from are zero.
  double sum = 0.0;
  for (double value : dx) sum += std::abs(value);
  const double tiny_g = 4.0 * kEps * (largest_diagonal * sum + q_size);
  for (std::size_t k = 0; k < awake.size(); ++k) {
    const auto m = static_cast<std::size_t>(awake[k]);
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) {
      const double rate = dF[k] + dmu[h.group[v]];
      if (side[v] == Side::lower && -rate > tiny_g)
        consider(best, Event::Kind::enter, v, h.gradient(v), -rate);
      else if (side[v] == Side::upper && rate > tiny_g)
        consider(best, Event::Kind::enter, v, -h.gradient(v), rate);
    }
  }
  return best;
}

void Path::advance(double dt) {
  const auto& margin = h.factor.variables();
  for (std::size_t i = 0; i < margin.size(); ++i)
    h.x[static_cast<std::size_t>(margin[i])] += dt * dx[i];
  for (std::int64_t k : moved) {
    const auto v = static_cast<std::size_t>(k);
    h.lo[v] += dt * dlo[v];
    h.hi[v] += dt * dhi[v];
    if (side[v] == Side::lower) h.x[v] = h.lo[v];
    if (side[v] == Side::upper) h.x[v] = h.hi[v];
  }
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    h.mu[e] += dt * dmu[e];
    h.target[e] += dt * target_rate[e];
  }
  for (std::size_t k = 0; k < awake.size(); ++k)
    h.F[static_cast<std::size_t>(awake[k])] += dt * dF[k];
  if (!asleep.empty()) {
    dirty = true;
    simd().axpy(dt, dx_block.data(), pending.data(), pending.size());
    simd().axpy(dt, q.data(), pending_q.data(), pending_q.size());
  }
  t += dt;
}

// Boxes and targets take their exact final values; margin variables that end on a bound leave.
void Path::finish() {
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const auto v = static_cast<std::size_t>(moved[k]);
    h.lo[v] = lo1[k];
    h.hi[v] = hi1[k];
    if (side[v] == Side::lower) h.x[v] = h.lo[v];
    if (side[v] == Side::upper) h.x[v] = h.hi[v];
  }
  const double rounding = 4.0 * kEps * std::max(mass_start, h.mass());
  const std::vector<std::int64_t> margin = h.factor.variables();
  for (std::int64_t k : margin) {
    const auto v = static_cast<std::size_t>(k);
    h.snap(v, rounding);
    if (!h.inside(v)) leave(v, h.x[v] <= h.lo[v] ? Side::lower : Side::upper);
  }
  h.target = target1;
  flush();
  asleep.clear();
  double moved_most = 0.0;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    if (dlo[v] != 0.0 || dhi[v] != 0.0) continue;
    const std::size_t m = h.member_of(v), e = h.group[v];
    moved_most = std::max(moved_most, std::abs(h.F[m] - F_start[m] + h.mu[e] - mu_start[e]));
  }
  h.reach = std::max(1.25 * moved_most, 0.9 * h.reach);
  ++h.updates;
  h.balance_mu();
}

PathResult Path::run(const Interrupt& interrupt) {
  const auto limit = static_cast<std::int64_t>(1000 + 20 * h.variables());
  std::int64_t breakpoints = 0;
  std::size_t standing = 0;  // consecutive steps of length 0
  while (true) {
    if (breakpoints % 64 == 0) interrupt();
    if (++breakpoints > limit || standing > 50 + 2 * h.factor.size() || !refill_groups() ||
        h.factor.indefinite()) {
      flush();
      asleep.clear();
      return {false, breakpoints};
    }
    if (at_rest()) break;
    direction();
    Event event = next_event();
    const double dt = std::min(event.dt, 1.0 - t);
    const bool last = event.dt > 1.0 - t;
    advance(dt);
    if (last) break;
    standing = dt > 0.0 ? 0 : standing + 1;
    if (event.kind == Event::Kind::enter)
      enter(event.variable);
    else
      leave(event.variable,
            event.kind == Event::Kind::leave_lower ? Side::lower : Side::upper);
  }
  finish();
  return {true, breakpoints};
}

}  // namespace

PathResult follow_path(Head& head, const std::vector<std::int64_t>& moved,
                       const std::vector<double>& lo, const std::vector<double>& hi,
                       const PerGroup& target, const Interrupt& interrupt) {
  return Path(head, moved, lo, hi, target).run(interrupt);
}

}  // namespace supple
