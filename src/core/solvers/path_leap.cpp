// Path: the leap. Many breakpoints lie on the way of a single example, and each costs a pass or
// two over the factor. But the optimum at t = 1 is what it is, whichever way leads there: solve
// the equality system for t = 1 on the present margin set, put all variables that have left their
// box on its edge, take all whose gradient has the wrong sign into the margin set, and solve
// again. A few rounds mostly settle. Nothing says that they must: if they do not, the state is put
// back as it was, and the path is followed step by step.
#include <algorithm>

#include "solvers/path.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {
constexpr int kRounds = 8;
constexpr std::size_t kLast = 64;  // variables of the factor that may leave early
}  // namespace

bool Path::leap() {
  const std::vector<double> lo = h.lo, hi = h.hi;
  const PerGroup target = h.target;
  tolerance = h.rounding();
  // A guess of the margin set that is this poor is not worth going on from.
  const std::size_t too_many = 16 + h.factor.size() / 8;
  bool all_sides = open_boxes();
  for (int round = 0; round < kRounds && changes.size() <= too_many && made <= 2 * too_many;
       ++round) {
    look();
    if (!make_changes(all_sides)) break;
    leap_step(all_sides);
    all_sides = false;
    find_changes();
    if (changes.empty()) find_changes_everywhere();
    if (!changes.empty()) continue;
    finish();
    return true;
  }
  h.x = F_start.x;
  h.target = target;
  h.lo = lo;
  h.hi = hi;
  h.F.restore(F_start);
  h.mu = mu_start;
  const Head::MarginChanges changed = h.margin_changes();
  h.leave_margin(changed.left);
  h.enter_margin(changed.joined);
  return false;
}

// The boxes take their final values; what that asks for is the first change. True: variables on a
// bound move along with it (their speed is the whole way).
bool Path::open_boxes() {
  bool shifted = false;
  h.target = target1;
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const std::size_t v = moved[k];
    const bool opens = h.fixed(v) && speed[v] != 0.0;
    h.lo[v] = lo1[k];
    h.hi[v] = hi1[k];
    if (side[v] == Side::margin) {
      if (!h.inside(v)) changes.push_back({v, side_outside(v, h.x[v])});
    } else if (opens && !h.fixed(v) && h.lo[v] <= h.x[v] && h.x[v] <= h.hi[v]) {
      drive(v, 0.0);  // it enters from where it is
      changes.push_back({v, Side::margin});
    } else {
      shifted = shifted || speed[v] != 0.0;
      if (h.fixed(v)) put_on_side(v, Side::frozen);
    }
  }
  return shifted;
}

Side Path::side_outside(std::size_t v, double x) const {
  return h.fixed(v) ? Side::frozen : (x <= h.lo[v] ? Side::lower : Side::upper);
}

// Right-hand side of the coming step: -(g + q) on the margin set. There g = 0 but for those that
// enter, and q comes from those that leave, so the factor has it at hand, unless it is made anew
// from all sides in leap_step(). False: no regular system.
bool Path::make_changes(bool all_sides) {
  std::vector<std::size_t> entering;
  h.factor.clear_right_side();
  for (const Change& change : changes) {
    const std::size_t v = change.variable;
    if (change.to == Side::margin) {
      entering.push_back(v);
      continue;
    }
    leave_box(v, change.to);
  }
  std::vector<double> right_sides;
  for (std::size_t v : entering) right_sides.push_back(-awake_gradient(v) - driven(h.member_of(v)));
  if (!h.enter_margin(entering, right_sides)) return false;
  for (std::size_t v : entering) put_on_side(v, Side::margin);
  give_columns(entering);
  if (!regular()) return false;
  if (!all_sides) leave_early();
  made += changes.size();
  return regular();
}

bool Path::regular() const {
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (!h.factor.has_group(e)) return false;
  return true;
}

void Path::leave_box(std::size_t v, Side to) {
  const double way_back = (to == Side::upper ? h.hi[v] : h.lo[v]) - h.x[v];
  if (place[h.member_of(v)] < 0) wake_member(h.member_of(v));
  h.leave_margin(v, -way_back);
  put_on_side(v, to);
  speed[v] = way_back;
  bound_rate[h.group[v]] += way_back;
  by_variable[v] = way_back;  // its column stays in the block
  returns.push_back({h.block.column_of(v), way_back});
}

double Path::driven(std::size_t m) const {
  double sum = q[m];
  for (const Return& r : returns) sum += r.way * h.block.row(m)[r.column];
  return sum;
}

// Variables that entered of late come last in the factor, where the solution is cheap to have, and
// they are those most likely to leave: let them go before the step instead of after it.
void Path::leave_early() {
  const std::size_t first = h.factor.size() - std::min(h.factor.size(), kLast);
  const std::size_t before = changes.size();
  h.factor.solve(sums_to_move(), dx, dmu, first);
  for (std::size_t i = first; i < h.factor.size(); ++i) {
    const auto v = static_cast<std::size_t>(h.factor.variables()[i]);
    const double x = h.x[v] + dx[i];
    if (x < h.lo[v] || x > h.hi[v]) changes.push_back({v, side_outside(v, x)});
  }
  for (std::size_t i = before; i < changes.size(); ++i)
    leave_box(changes[i].variable, changes[i].to);
}

PerGroup Path::sums_to_move() const {
  PerGroup need = h.missing();
  for (std::size_t e = 0; e < h.n_groups; ++e) need[e] -= bound_rate[e];
  return need;
}

void Path::leap_step(bool all_sides) {
  if (all_sides) {
    const auto& margin = h.factor.variables();
    right_side.resize(margin.size());
    for (std::size_t i = 0; i < margin.size(); ++i) {
      const std::size_t v = margin[i];
      const bool is_awake = place[h.member_of(v)] >= 0;
      right_side[i] = -driven(h.member_of(v)) - (is_awake ? awake_gradient(v) : 0.0);
    }
    h.factor.set_right_side(right_side);
  }
  h.factor.solve(sums_to_move(), dx, dmu);
  rates();
  move(1.0);
  const auto stop = [&](std::size_t v) {
    if (speed[v] == 0.0) return;
    h.x[v] = side[v] == Side::upper ? h.hi[v] : h.lo[v];
    speed[v] = by_variable[v] = 0.0;
  };
  for (std::int64_t v : moved) stop(v);
  for (const Change& change : changes) stop(change.variable);
  std::fill(q.begin(), q.end(), 0.0);
  returns.clear();
  bound_rate.fill(0.0);
  moving = 0;
}

void Path::find_changes() {
  changes.clear();
  for (std::size_t v : h.factor.variables()) {
    if (h.x[v] < h.lo[v] || h.x[v] > h.hi[v]) changes.push_back({v, side_outside(v, h.x[v])});
  }
  std::vector<std::size_t> crossed;
  for (std::size_t k = 0; k < g.size(); ++k)
    if (sign[k] * g[k] < -tolerance)
      crossed.push_back(static_cast<std::size_t>(awake[k / h.per]) * h.per + k % h.per);
  sharpen(crossed);
  for (std::size_t v : crossed)
    if (sign_of(v) * awake_gradient(v) < -tolerance) changes.push_back({v, Side::margin});
}

// Also those asleep, and those of whom the error of F leaves it open.
void Path::find_changes_everywhere() {
  settle_members();
  std::vector<std::size_t> doubtful;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const double s = sign_of(v);
    if (s != 0.0 && s * h.gradient(v) < h.F.error_bound(h.member_of(v)) - tolerance)
      doubtful.push_back(v);
  }
  sharpen(doubtful);
  for (std::size_t v : doubtful)
    if (sign_of(v) * h.gradient(v) < -tolerance) changes.push_back({v, Side::margin});
  for (const Change& change : changes)
    if (place[h.member_of(change.variable)] < 0) wake_member(h.member_of(change.variable));
}

// Who enters the margin set is solved for in double precision.
void Path::sharpen(const std::vector<std::size_t>& variables) {
  std::vector<std::size_t> chosen;
  for (std::size_t v : variables)
    if (const std::size_t m = h.member_of(v);
        h.F.error_bound(m) > 0.0 && (chosen.empty() || chosen.back() != m))
      chosen.push_back(m);
  h.F.sharpen(chosen);
  for (std::size_t m : chosen)
    for (std::size_t v = m * h.per; v < (m + 1) * h.per && place[m] >= 0; ++v)
      g[static_cast<std::size_t>(place[m]) * h.per + v % h.per] = h.gradient(v);
}

}  // namespace supple
