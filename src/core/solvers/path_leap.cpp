// Path: the leap. Many breakpoints lie on the way of a single example, and each costs a pass or
// two over the factor. But the optimum at t = 1 is what it is, whichever way leads there: solve
// the equality system for t = 1 on the present margin set, put all variables that have left their
// box on its edge, take all whose gradient has the wrong sign into the margin set, and solve again.
// A few rounds mostly settle. Nothing says that they must: if they do not, the state is put back as
// it was, and the path is followed step by step.
#include <algorithm>
#include <cmath>

#include "linalg/watch.hpp"
#include "solvers/path.hpp"

namespace supple {

// Those of these margin variables that would be outside their box with this share of the step leave
// for its edge.
template <typename Variables>
std::size_t Path::put_on_edges(const Variables& some, double share) {
  std::vector<std::pair<std::size_t, Side>> outside;
  for (std::size_t v : some) {
    const double x = h.x[v] + share * dx[v];
    const Side edge = x <= h.lo[v] ? Side::lower : Side::upper;
    if (x < h.lo[v] || x > h.hi[v] || h.fixed(v))
      outside.emplace_back(v, h.fixed(v) ? Side::frozen : edge);
  }
  for (const auto& [v, edge] : outside) {
    h.leave_margin(v);
    dx[v] = 0.0;
    drive(v, (edge == Side::upper ? h.hi[v] : h.lo[v]) - h.x[v]);
    put_on_side(v, edge);
  }
  changes += std::ssize(outside);
  return outside.size();
}

PathResult Path::leap() {
  constexpr int kRounds = 8;
  // A guess of the margin set that is this poor is not worth going on from.
  too_many = static_cast<std::int64_t>(32 + h.factor.size() / 4);
  std::vector<std::size_t> entering = open_boxes();
  for (int round = 0; round < kRounds && 2 * std::ssize(entering) <= too_many; ++round) {
    look();
    if (!take_in(entering)) break;
    changes += std::ssize(entering);
    if (!step(entering)) break;
    entering = crossed();
    if (put_on_edges(h.factor.variables(), 0.0) > 0 || !entering.empty()) continue;
    wake_sleepers(false);
    entering = crossed();
    if (!entering.empty()) continue;
    finish();
    return {true, std::max<std::int64_t>(1, changes), true};
  }
  h.put(start);
  const Head::MarginChanges changed = h.margin_changes();
  h.leave_margin(changed.left);
  h.enter_margin(changed.joined);
  return {false, 0};
}

// The boxes take their final values. Those that enter the margin set from an opening box are
// returned.
std::vector<std::size_t> Path::open_boxes() {
  std::vector<std::size_t> entering;
  h.set_boxes(end);
  for (std::size_t k = 0; k < end.variables.size(); ++k) {
    const std::size_t v = end.variables[k];
    const bool opens = start.problem.lo[v] == start.problem.hi[v];
    const double bound = side[v] == Side::upper ? h.hi[v] : h.lo[v];
    if (side[v] == Side::margin) {
      if (h.inside(v) && !end.ridge.empty() && h.ridge[v] != end.ridge[k]) {
        h.leave_margin(v);
        awake_gradient(v) += (end.ridge[k] - h.ridge[v]) * h.x[v];
        h.set_ridge(v, end.ridge[k]);
        entering.push_back(v);
      }
    } else if ((opens || std::isinf(bound)) && bound != h.x[v] && h.lo[v] <= h.x[v] &&
               h.x[v] <= h.hi[v]) {
      entering.push_back(v);  // from where it is
    } else {
      drive(v, bound - h.x[v]);
      if (h.fixed(v)) put_on_side(v, Side::frozen);
    }
  }
  put_on_edges(h.factor.variables(), 0.0);
  return entering;
}

// False: too much changes, or there is no regular system.
bool Path::step(const std::vector<std::size_t>& entered) {
  for (const bool again : {true, false}) {  // who has just entered may belong on the other bound
    if (changes > too_many) return false;
    for (std::size_t e = 0; e < h.n_groups; ++e)
      if (!h.factor.has_group(e)) return false;
    direction(h.missing(), 1.0);
    if (!again || put_on_edges(entered, 1.0) == 0) break;
  }
  rates(dx);
  for (double way : solution) travelled += std::abs(way);
  move(1.0);
  for (const Driven& d : driven) {
    const std::size_t v = d.variable;
    h.x[v] = side[v] == Side::upper ? h.hi[v] : h.lo[v];
    dx[v] = 0.0;
  }
  driven.clear();
  return true;
}

// Variables on bounds whose gradient has the wrong sign.
std::vector<std::size_t> Path::crossed() const {
  const double tolerance = h.rounding();
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < g.size(); ++k)
    if (sign[k] * g[k] < -tolerance) found.push_back(awake_variable(k));
  return found;
}

}  // namespace supple
