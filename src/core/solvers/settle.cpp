#include "solvers/settle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace supple {

namespace {

constexpr double kAccepted = 1e-9;    // KKT violation / scale of c that ends the search
constexpr double kRoundings = 16.0;   // within so many a state is as good as rounding permits
// The gap from which the polish needs only few changes of the margin set, each of which costs little
// where the head is small.
constexpr double kHandover = 0.005, kHandoverSmall = 0.01;
constexpr std::size_t kSmall = 2048;  // members
constexpr std::size_t kViolators = 32;  // part of the margin set: fewer are left to the polish

Quality judge(const Audit& a) {
  return {a.violation / a.scale,
          a.violation / a.scale <= kPromised,
          a.balanced && a.violation <= kRoundings * a.rounding,
          a.violation <= std::max(kAccepted * a.scale, kRoundings * a.rounding)};
}

// Where K and C are huge, or after many changes, the Kx carried along says little: look again.
Quality judge_again(Head& h, const Audit& a) {
  const double gathered = std::sqrt(1.0 + static_cast<double>(h.F.updates()));
  if (!(kRoundings * gathered * a.rounding > kPromised * a.scale)) return judge(a);
  h.F.refresh();
  h.balance_mu();
  return judge(h.audit());
}

// Whether the polish alone is cheaper: few variables are to enter a margin set at hand, or one of a
// model that comes from a file and has to be factored first.
bool nearly_optimal(const Head& h, double eps) {
  const bool factored = h.factor.size() > 0;
  const std::size_t n_margin = factored ? h.factor.size() : h.n_inside();
  const std::size_t changes = factored ? h.margin_changes() : 0;
  return n_margin > 0 && h.violators(eps) + changes <= n_margin / kViolators;
}

}  // namespace

void factor_margin(Head& h) {
  // Those that had to be left out would be again; the polish slides them to a bound.
  if (!h.nearly_factored() && h.margin_changes() != h.factor.left_out()) h.build_factor();
}

Quality quality(Head& h) { return judge_again(h, h.audit()); }

SmoResult descend(Head& h, const Settings& settings, bool first) {
  // LIBSVM's stopping gap, but relative where the scale of the problem is small.
  const double scale = std::min(1.0, h.magnitude(h.F.values()));
  const double eps = std::max(settings.tol * scale, 4.0 * h.rounding());
  const std::int64_t limit = settings.max_iterations;
  if (first && nearly_optimal(h, eps)) return {true, 0};
  std::int64_t spent = 0;
  if (first && settings.exact && h.gram.has_blocks()) {
    const double handover = h.members() > kSmall ? kHandover : kHandoverSmall;
    const double goal = settings.trusted ? std::max(eps, handover * scale) : eps;
    const SmoResult r = block_smo(h, goal, limit, settings.shrinking, settings.trusted);
    if (r.converged || r.iterations == limit) return r;
    spent = r.iterations;
    h.F.refresh();  // single precision leads no further
  }
  const SmoResult r = smo(h, eps, limit >= 0 ? limit - spent : -1);
  return {r.converged, r.iterations + spent};
}

Audit make_exact(Head& h) {
  const Audit before = h.audit();
  const Solution state = h.solution();
  factor_margin(h);
  const double floor = kRoundings * before.rounding;
  polish(h, std::min(4.0 * before.rounding, 1e-10 * before.scale), floor, Pace::several,
         static_cast<std::int64_t>(100 + h.members() / 10));
  const Audit after = h.audit();
  if (after.violation <= std::max(before.violation, floor)) return after;
  // On a margin system that is singular to rounding the active set may wander.
  h.restore(state);
  h.F.catch_up();
  return h.audit();
}

Quality refine(Head& h) {
  h.renew();
  return judge_again(h, make_exact(h));
}

std::int64_t patience(const Head& h) {
  return 10'000 + 20 * static_cast<std::int64_t>(h.members());
}

std::optional<Round> begin(Head& h, const Beginning& start, const Settings& settings) {
  h.admit(start.slots, start.c, start.groups, start.count);
  std::vector<std::int64_t> variables(h.variables());
  std::iota(variables.begin(), variables.end(), 0);
  if (!h.jump(variables, {start.lo, variables.size()}, {start.hi, variables.size()}, start.target))
    return std::nullopt;
  const bool limited = settings.max_iterations >= 0;
  Settings own = settings;
  if (!limited) own.max_iterations = patience(h);
  Round round{descend(h, own, true), std::nullopt};
  if (!limited || round.descent.converged) round.quality = refine(h);
  h.release();  // others follow, and each would keep a copy of its examples
  return round;
}

}  // namespace supple
