// The leap. Many breakpoints lie on the way of a single example, and each costs a pass or two over
// the factor. But the optimum at t = 1 is what it is, whichever way leads there: solve the equality
// system for t = 1 on the present margin set, put all variables that have left their box on its
// edge, take all whose gradient has the wrong sign into the margin set, and solve again. A few
// rounds mostly settle. Nothing says that they must: if they do not, the state is put back as it
// was.
//
// Most gradients are too far from zero to matter. A member none of whose gradients is within a
// radius of zero is screened: all steps reach it in one product at the end, when it is looked at,
// too. So are the margin members, whose gradients stay 0. The radius follows how far gradients
// moved in recent leaps.
#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/path.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {

constexpr int kRounds = 8;
constexpr std::size_t kLast = 64;         // variables of the factor that may leave early
constexpr double kEdge = 1e-8;            // share of the width of a box
constexpr std::size_t kScreenFrom = 256;  // members; below, screening costs more than it saves
constexpr std::uint64_t kLookEvery = 16;  // paths

}  // namespace

Leap::Leap(Head& head, const Move& move)
    : Path(head, move),
      start_(head.solution()),
      lo_(head.lo),
      hi_(head.hi),
      target_(head.target),
      margin_(head.factor.variables()),
      mu_settled_(head.mu),
      tolerance_(head.rounding()) {
  screen();
}

void Leap::screen() {
  // Without experience, a third of the way from the margin to the other side (or the like).
  if (h.reach == 0.0) h.reach = 0.3 * h.magnitude(h.F.values());
  h.sync_block();
  pending_.assign(h.block.columns(), 0.0);
  const bool all = h.members() <= kScreenFrom;
  is_active_.assign(h.members(), 0);
  for (std::size_t m = 0; m < h.members(); ++m) {
    bool near = false, on_margin = false;  // no branches up to here: they could not be predicted
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) {
      on_margin |= side[v] == Side::margin;
      near |= (side[v] != Side::frozen) & (std::abs(h.gradient(v)) <= h.reach);
    }
    is_active_[m] = all | (near & !on_margin);
    if (is_active_[m]) active_.push_back(m);
  }
  for (std::size_t v : goal.variables) activate(h.member_of(v));
}

void Leap::activate(std::size_t m) {
  if (is_active_[m]) return;
  h.F.shift(m, simd().dot(h.block.row(m), pending_.data(), pending_.size()));
  is_active_[m] = 1;
  active_.push_back(m);
}

bool Leap::run() {
  // A guess of the margin set that is this poor is not worth going on from.
  const std::size_t too_many = 16 + margin_.size() / 8;
  open_boxes();
  bool all_sides = !returns_.empty(), refined = false;
  for (int round = 0; round < kRounds && changes_.size() <= too_many && made_ <= 2 * too_many;
       ++round) {
    look();
    if (!make_changes(all_sides)) break;
    step(all_sides);
    all_sides = false;
    find_changes();
    if (changes_.empty()) find_changes_everywhere();
    if (!changes_.empty()) continue;
    if (!refined && inexact()) {
      refined = all_sides = true;  // one step more makes up for an ill-conditioned factor
      continue;
    }
    if (near_edge()) break;
    finish();
    learn_reach();
    return true;
  }
  undo();
  return false;
}

// The boxes take their final values; what that asks for are the first changes and returns.
void Leap::open_boxes() {
  h.target = goal.target;
  for (std::size_t k = 0; k < goal.variables.size(); ++k) {
    const std::size_t v = goal.variables[k];
    const bool was_fixed = h.fixed(v);
    h.lo[v] = goal.lo[k];
    h.hi[v] = goal.hi[k];
    const bool held = h.x[v] == (side[v] == Side::upper ? h.hi[v] : h.lo[v]);
    if (side[v] == Side::margin) {
      if (!h.inside(v)) changes_.push_back({v, side_outside(v, h.x[v])});
    } else if (was_fixed && !held && h.lo[v] <= h.x[v] && h.x[v] <= h.hi[v]) {
      changes_.push_back({v, Side::margin});  // it enters from where it is
    } else {
      return_to_bound(v);
      if (h.fixed(v)) side[v] = Side::frozen;
    }
  }
}

Side Leap::side_outside(std::size_t v, double x) const {
  return h.fixed(v) ? Side::frozen : (x <= h.lo[v] ? Side::lower : Side::upper);
}

// Right-hand side of the coming step: -(g + K returns) on the margin set. There g = 0 but for those
// that enter, and the returns are of those that leave, so the factor has it at hand, unless it is
// made anew from all sides in step(). False: no regular system.
bool Leap::make_changes(bool all_sides) {
  std::vector<std::size_t> entering;
  h.factor.clear_right_side();
  for (const Change& change : changes_)
    if (change.to == Side::margin)
      entering.push_back(change.variable);
    else
      leave_box(change.variable, change.to);
  std::vector<double> right_sides;
  for (std::size_t v : entering) right_sides.push_back(-h.gradient(v) - driven(h.member_of(v)));
  if (!entering.empty() && !h.enter_margin(entering, right_sides)) return false;
  for (std::size_t v : entering) side[v] = Side::margin;
  give_columns(entering);
  if (!regular()) return false;
  if (!all_sides) leave_early();
  made_ += changes_.size();
  return regular();
}

bool Leap::regular() const {
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (!h.factor.has_group(e)) return false;
  return true;
}

void Leap::leave_box(std::size_t v, Side to) {
  activate(h.member_of(v));
  side[v] = to;
  h.leave_margin(v, h.x[v] - (to == Side::upper ? h.hi[v] : h.lo[v]));
  return_to_bound(v);
}

void Leap::return_to_bound(std::size_t v) {
  const double to_go = (side[v] == Side::upper ? h.hi[v] : h.lo[v]) - h.x[v];
  rates[v] = to_go;  // no more that of the last step
  if (to_go == 0.0) return;
  give_columns({v});
  returns_.push_back({v, h.block.column_of(v), to_go});
  bound_rate[h.group[v]] += to_go;
}

double Leap::driven(std::size_t m) const {
  double sum = 0.0;
  for (const Return& r : returns_) sum += r.way * h.block.row(m)[r.column];
  return sum;
}

// Variables that entered of late come last in the factor, where the solution is cheap to have, and
// they are those most likely to leave: let them go before the step instead of after it.
void Leap::leave_early() {
  const std::size_t last = std::min<std::size_t>(h.factor.size(), kLast);
  const std::size_t first = h.factor.size() - last, before = changes_.size();
  h.factor.solve_last(sums_to_move(), last, dx);
  for (std::size_t i = 0; i < last; ++i) {
    const auto v = static_cast<std::size_t>(h.factor.variables()[first + i]);
    const double x = h.x[v] + dx[i];
    if (x < h.lo[v] || x > h.hi[v]) changes_.push_back({v, side_outside(v, x)});
  }
  for (std::size_t i = before; i < changes_.size(); ++i)
    leave_box(changes_[i].variable, changes_[i].to);
}

PerGroup Leap::sums_to_move() const {
  PerGroup need = h.missing();
  for (std::size_t e = 0; e < h.n_groups; ++e) need[e] -= bound_rate[e];
  return need;
}

void Leap::step(bool all_sides) {
  const auto& margin = h.factor.variables();
  if (all_sides) {
    std::vector<double> right_side;
    for (std::size_t v : margin) {
      const std::size_t m = h.member_of(v);
      right_side.push_back(-driven(m) - (is_active_[m] ? h.gradient(v) : 0.0));
    }
    h.factor.set_right_side(right_side);
  }
  h.factor.solve(sums_to_move(), dx, dmu);
  for (std::size_t i = 0; i < margin.size(); ++i) {
    rates[margin[i]] = dx[i];
    h.x[margin[i]] += dx[i];
    way += std::abs(dx[i]);
  }
  multiply(active_);
  for (std::size_t k = 0; k < active_.size(); ++k) h.F.shift(active_[k], dF[k]);
  pending_.resize(h.block.columns(), 0.0);
  simd().axpy(1.0, dx_block.data(), pending_.data(), pending_.size());
  for (std::size_t e = 0; e < h.n_groups; ++e) h.mu[e] += dmu[e];
  for (const Return& r : returns_) {
    h.x[r.variable] = side[r.variable] == Side::upper ? h.hi[r.variable] : h.lo[r.variable];
    way += std::abs(r.way);
    rates[r.variable] = 0.0;
  }
  returns_.clear();
  bound_rate.fill(0.0);
}

void Leap::find_changes() {
  changes_.clear();
  for (std::size_t v : h.factor.variables())
    if (h.x[v] < h.lo[v] || h.x[v] > h.hi[v]) changes_.push_back({v, side_outside(v, h.x[v])});
  std::vector<std::size_t> crossed;
  for (std::size_t m : active_)
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v)
      if (sign_of(side[v]) * h.gradient(v) < -tolerance_) crossed.push_back(v);
  sharpen(crossed);
  for (std::size_t v : crossed)
    if (sign_of(side[v]) * h.gradient(v) < -tolerance_) changes_.push_back({v, Side::margin});
}

// Also of screened members, and of those where the error of F leaves it open.
void Leap::find_changes_everywhere() {
  settle_screened();
  std::vector<std::size_t> doubtful;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const double s = sign_of(side[v]);
    if (s != 0.0 && s * h.gradient(v) < h.F.error_bound(h.member_of(v)) - tolerance_)
      doubtful.push_back(v);
  }
  sharpen(doubtful);
  for (std::size_t v : doubtful)
    if (sign_of(side[v]) * h.gradient(v) < -tolerance_) changes_.push_back({v, Side::margin});
  for (const Change& change : changes_) activate(h.member_of(change.variable));
}

// The sums, or gradients of active margin variables, miss their targets by more than rounding.
bool Leap::inexact() const {
  const double rounding = 64.0 * std::numeric_limits<double>::epsilon() * h.F.peak_mass();
  for (double missing : h.missing())
    if (std::abs(missing) > rounding) return true;
  const auto& margin = h.factor.variables();
  return std::any_of(margin.begin(), margin.end(), [this](std::size_t v) {
    return is_active_[h.member_of(v)] && std::abs(h.gradient(v)) > tolerance_;
  });
}

// Which of the variables that end on the edge of their box belong to the margin set cannot be told
// from a solution that rounds, and mu may depend on it. The walk, which meets bounds one by one,
// knows. With a ridge every x has its gradient, and nothing is left open.
bool Leap::near_edge() const {
  if (!h.ridge.empty()) return false;
  const auto& margin = h.factor.variables();
  return std::any_of(margin.begin(), margin.end(), [this](std::size_t v) {
    return std::min(h.x[v] - h.lo[v], h.hi[v] - h.x[v]) < kEdge * (h.hi[v] - h.lo[v]);
  });
}

void Leap::settle_screened() {
  // Gradients of margin members stay 0 but for rounding: it is enough to look now and then.
  const bool look = h.F.updates() % kLookEvery == 0;
  std::vector<std::int64_t> told;
  for (std::size_t m = 0; m < h.members(); ++m) {
    if (is_active_[m]) continue;
    const std::size_t last = (m + 1) * h.per - 1, v = side[last] == Side::margin ? last : m * h.per;
    if (side[v] == Side::margin && !look) {
      h.F.shift(m, mu_settled_[h.group[v]] - h.mu[h.group[v]]);
      if (!h.ridge.empty()) h.F.shift(m, h.ridge[v] * (h.F.x()[v] - h.x[v]));
    } else {
      told.push_back(m);
    }
  }
  dF.resize(told.size());
  simd().product_rows(h.block.data(), h.block.stride(), told.data(), told.size(), pending_.data(),
                      pending_.size(), dF.data());
  for (std::size_t k = 0; k < told.size(); ++k) h.F.shift(told[k], dF[k]);
  h.F.arrive();
  std::fill(pending_.begin(), pending_.end(), 0.0);
  mu_settled_ = h.mu;
}

void Leap::learn_reach() {
  std::vector<char> own_box_moved(h.variables(), 0);
  for (std::size_t v : goal.variables) own_box_moved[v] = 1;
  double most = 0.0;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const std::size_t m = h.member_of(v), e = h.group[v];
    const double change = std::abs(h.F[m] - start_.F.F[m] + h.mu[e] - start_.mu[e]);
    most = std::max(most, own_box_moved[v] ? 0.0 : change);
  }
  // A single long path says little of the next.
  h.reach = std::max(std::min(1.25 * most, 1.5 * h.reach), 0.9 * h.reach);
}

void Leap::undo() {
  h.x = start_.x;
  h.mu = start_.mu;
  h.F.restore(start_.F);
  h.lo = lo_;
  h.hi = hi_;
  h.target = target_;
  std::vector<char> wanted(h.variables(), 0);
  for (std::int64_t v : margin_) wanted[v] = 1;
  std::vector<std::size_t> leaving, missing;
  for (std::size_t v : h.factor.variables()) {
    if (!wanted[v]) leaving.push_back(v);
    wanted[v] = 0;
  }
  h.leave_margin(leaving, std::vector<double>(leaving.size(), 0.0));
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (wanted[v]) missing.push_back(v);
  if (!missing.empty()) h.enter_margin(missing, std::vector<double>(missing.size(), 0.0));
}

}  // namespace supple
