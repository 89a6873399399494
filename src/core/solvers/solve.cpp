#include "solvers/solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "solvers/path.hpp"
#include "solvers/polish.hpp"
#include "solvers/smo.hpp"

namespace supple {

namespace {

constexpr double kAccepted = 1e-9;   // KKT violation / scale of c that ends the search
constexpr double kRoundings = 16.0;  // within so many a state is as good as rounding permits
// The gap from which the polish needs only few changes of the margin set, each of which costs
// little where the head is small.
constexpr double kHandover = 0.005, kHandoverSmall = 0.01;
constexpr std::size_t kSmall = 2048;    // members
constexpr std::size_t kViolators = 32;  // part of the margin set: fewer are left to the polish
constexpr std::size_t kFewMoved = 16, kFewMembers = 300;  // the path is then cheaper
constexpr int kRounds = 5;                                // of descent and polish
constexpr std::size_t kRetried = 1000;    // members of a head that another round costs little
constexpr std::size_t kWalking = 20'000;  // members up to which violators may be admitted singly
// Rounding, relative to the scale of c, beyond which no iterations help; and the most iterations of
// SMO between two polishes of a hard problem.
constexpr double kReach = 1e-6;
constexpr std::int64_t kPatience = 1'000'000;

// Quality of the state, used to decide on another round.
struct Quality {
  double kkt;    // largest violation of KKT, relative to the scale of c
  bool sharp;    // optimal to a few roundings
  bool settled;  // good enough, or rounding allows no better
};

Quality quality(Head& h) {
  Audit a = h.audit();
  const double gathered = std::sqrt(1.0 + static_cast<double>(h.F.updates()));
  if (kRoundings * gathered * a.rounding > kPromised * a.scale) {
    // Where K and C are huge, or after many changes, the Kx carried along says little: look again.
    h.F.refresh();
    h.balance_mu();
    a = h.audit();
  }
  return {a.violation / a.scale, a.balanced && a.violation <= kRoundings * a.rounding,
          a.violation <= std::max(kAccepted * a.scale, kRoundings * a.rounding)};
}

// Make the state exact, to rounding if possible, and never worse than it was.
void make_exact(Head& h) {
  const Audit before = h.audit();
  const Snapshot state = h.save();
  h.build_factor();
  const double floor = kRoundings * before.rounding;
  polish(h, std::min(4.0 * before.rounding, 1e-10 * before.scale), floor, Pace::several,
         static_cast<std::int64_t>(100 + h.members() / 10));
  // On a margin system that is singular to rounding the active set may wander.
  if (!(h.audit().violation <= std::max(before.violation, floor))) h.restore(state);
}

// The kernel values of the margin set must fit into memory as the row cache does.
bool block_fits(const Head& h) {
  return MarginBlock::bytes(h.members(), h.factor.size()) <= h.gram.cache_bytes();
}

// Whether the factor holds the margin set; it is built again if need be.
bool has_factor(Head& h) {
  if (!h.factored()) make_exact(h);  // restored or unpickled
  return h.factored();               // it cannot where the margin system is singular to rounding
}

// Whether the polish alone is cheaper: few variables are to enter a margin set at hand, or one of a
// model that comes from a file and has to be factored first.
bool nearly_optimal(const Head& h, double eps) {
  const bool factored = h.factor.size() > 0;
  const std::size_t changes = h.margin_changes().count();
  const std::size_t n_margin = factored ? h.factor.size() : changes;
  std::size_t violators = 0;
  for (std::size_t v = 0; v < h.variables(); ++v)
    violators +=
        (h.x[v] < h.hi[v] && h.gradient(v) < -eps) || (h.x[v] > h.lo[v] && h.gradient(v) > eps);
  return n_margin > 0 && violators + (factored ? changes : 0) <= n_margin / kViolators;
}

class Solver {
 public:
  Solver(Head& head, const Move& move, const Settings& settings, const DefiniteTest& is_definite)
      : h(head), move_(move), s(settings), is_definite_(is_definite) {}
  SolveResult run(bool cold);

 private:
  bool by_path();
  void simple();
  void batch();
  void afresh();
  bool descend(double tol, std::int64_t limit, bool first);
  bool definite() { return s.trusted || is_definite_(h); }
  bool admit_singly(std::int64_t limit);
  Quality polished();
  void end(const Quality& reached);
  void end_indefinite();

  Head& h;
  const Move& move_;
  const Settings& s;
  const DefiniteTest& is_definite_;
  SolveResult r;
};

Quality Solver::polished() {
  ++r.polishes;
  make_exact(h);
  return quality(h);
}

void Solver::end(const Quality& reached) {
  r.kkt = reached.kkt;
  r.reason = r.kkt <= kPromised ? Reason::none : Reason::rounding;
}

void Solver::end_indefinite() {
  h.forget_factor();
  r.reason = Reason::indefinite;
}

SolveResult Solver::run(bool cold) {
  const bool small = move_.variables.size() <= kFewMoved || h.members() <= kFewMembers;
  const bool try_path = s.exact && !s.simple && !cold && small && block_fits(h) && has_factor(h);
  if (try_path && by_path()) return r;
  const bool from_zero = h.mass() == 0.0;
  if (!h.jump(move_)) {
    r.reason = Reason::infeasible;
    return r;
  }
  const Released scope{h};
  if (s.simple && s.exact) {
    simple();
    return r;
  }
  batch();
  if (r.reason == Reason::rounding && s.max_iter < 0 && s.exact && !from_zero) afresh();
  return r;
}

bool Solver::by_path() {
  const PathResult path = follow_path(h, move_);
  r.breakpoints = path.breakpoints;
  r.route = path.leapt ? Route::leap : Route::path;
  if (!path.finished) return false;
  if (path.breakpoints == 0) return true;  // only bounds that nobody touches have moved
  h.renew();
  Quality found = quality(h);
  if (!found.sharp) found = polished();
  end(found);
  return found.settled && r.within_tolerance();
}

// SimpleSVM: the worst violator joins the margin set, one after the other.
void Solver::simple() {
  r.route = Route::simple;
  const bool limited = s.max_iter >= 0;
  const auto many = 100 + 20 * static_cast<std::int64_t>(h.members());
  if (!admit_singly(limited ? s.max_iter : many) && limited) {
    r.kkt = quality(h).kkt;
    r.reason = Reason::iteration_limit;
    return;
  }
  if (!definite()) return end_indefinite();
  const Quality found = polished();
  end(found);
  if (!found.settled) batch();  // a margin system that is singular to rounding
}

// Descent, then the polish; again from there, with a tighter tolerance, if need be.
void Solver::batch() {
  const bool limited = s.max_iter >= 0;
  const std::int64_t before = r.iterations;
  std::int64_t patience =
      s.exact ? 10'000 + 20 * static_cast<std::int64_t>(h.members()) : h.most_iterations();
  double tol = s.tol;
  Quality best{};
  Snapshot state;
  bool at_best = false;
  const auto compare = [&](const Quality& now, bool first) {
    at_best = first || now.kkt < best.kkt;
    if (!at_best) return;
    best = now;
    state = h.save();
  };
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t limit = limited ? s.max_iter - (r.iterations - before) : patience;
    const bool converged = descend(tol, limit, round == 0);
    if (!s.exact || (limited && !converged)) {
      r.kkt = quality(h).kkt;
      r.reason = converged ? Reason::none : Reason::iteration_limit;
      return;
    }
    if (!definite()) return end_indefinite();
    h.renew();
    const Quality now = polished();
    if (now.sharp) return end(now);
    compare(now, round == 0);
    const std::size_t margin = h.factor.size();
    if (round == 0 && !(best.kkt <= kPromised) && !s.simple && h.members() <= kWalking &&
        margin * margin <= 16 * h.members()) {
      // Features of very different scales, a linear kernel: SMO would crawl. The margin set is so
      // small that to admit one costs but a look at all.
      admit_singly(4 * static_cast<std::int64_t>(h.members()));
      compare(polished(), false);
    }
    if (best.settled || (!at_best && best.kkt <= kPromised)) {
      // Good, or further rounds only change the rounding. Where the whole problem is near rounding
      // (a kernel of almost equal values), a small one deserves another try.
      if (h.members() > kRetried || tol == 0.0) break;
      tol = 0.0;
    } else {
      tol *= 1e-2;
    }
    h.F.refresh();
    const Audit a = h.audit();
    if (a.rounding <= kReach * a.scale)
      patience = std::max(patience, std::min(3 * patience, kPatience));
  }
  if (!at_best) h.restore(state);
  end(best);
}

// Solve from x = 0, as a fit would, and keep the better of both states.
void Solver::afresh() {
  const Snapshot state = h.save();
  const SolveResult reached = r;
  h.clear();
  if (h.jump(move_)) {
    batch();
    if (r.kkt < reached.kkt || r.reason == Reason::indefinite) return;
  }
  h.restore(state);
  r.kkt = reached.kkt;
  r.reason = reached.reason;
}

// Lower the gap to `tol`, or as far as it takes for the polish to do the rest. `first`: nothing has
// been tried since boxes and targets moved.
bool Solver::descend(double tol, std::int64_t limit, bool first) {
  // LIBSVM's stopping gap, but relative where the scale of the problem is small.
  const double scale = std::min(1.0, h.magnitude(h.F.values()));
  const double eps = std::max(tol * scale, 4.0 * h.rounding());
  const auto by = [&](Route route, const SmoResult& found) {
    r.route = std::max(r.route, route);
    r.iterations += found.iterations;
    return found.converged;
  };
  if (first && s.exact && nearly_optimal(h, eps)) return by(Route::polish, {true, 0});
  if (first && s.exact && h.gram.has_blocks()) {
    const double handover = h.members() > kSmall ? kHandover : kHandoverSmall;
    const double goal = s.trusted ? std::max(eps, handover * scale) : eps;
    const SmoResult found = block_smo(h, goal, limit, s.shrinking);
    if (by(Route::block, found) || found.iterations == limit) return found.converged;
    limit = limit >= 0 ? limit - found.iterations : -1;
    h.F.refresh();  // single precision leads no further
  }
  return by(Route::smo, smo(h, eps, limit));
}

// Let violators of more than `tol` join the margin set one after the other, from any x.
bool Solver::admit_singly(std::int64_t limit) {
  if (h.F.largest_error() > 0.0) h.F.refresh();
  h.build_factor();
  const double tolerance = s.tol * std::min(1.0, h.audit().scale);
  const PolishResult found = polish(h, tolerance, tolerance, Pace::one, limit);
  if (s.simple) r.iterations += found.rounds;
  h.F.refresh();  // the rows added step by step have left rounding errors
  return found.finished;
}

}  // namespace

void make_ready_for_paths(Head& h) {
  if (!block_fits(h)) return;
  h.renew();
  if (h.F.largest_error() > 0.0) h.F.refresh();
  if (has_factor(h)) h.sync_block();
}

SolveResult solve(Head& h, const Move& move, const Settings& settings, bool cold,
                  const DefiniteTest& is_definite) {
  return Solver(h, move, settings, is_definite).run(cold);
}

}  // namespace supple
