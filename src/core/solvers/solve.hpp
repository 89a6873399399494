// The one entry to the solvers: brings a head to the optimum of its QP for new boxes and targets.
// The optimum is the same whichever route leads there; the result names the route.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "qp/head.hpp"

namespace supple {

// The KKT violation, relative to the scale of c, above which the user is told.
inline constexpr double kPromised = 1e-8;

struct Settings {
  double tol;             // gap that SMO is to reach where the scale of the problem is 1 or more
  std::int64_t max_iter;  // iterations of SMO; unlimited if negative
  bool shrinking;
  bool exact;    // the kernel is not known to be indefinite
  bool trusted;  // it is known to be positive semi-definite
  bool simple;   // SimpleSVM instead of path, SMO and polish
};

// In the order of the work they stand for, within the path and within the batch way.
enum class Route : std::uint8_t {
  none,    // nothing was to be solved
  leap,    // the end of the path, without its breakpoints
  path,    // breakpoint by breakpoint
  polish,  // Newton polish alone: x was nearly optimal
  block,   // block solver, then polish
  smo,     // SMO on kernel rows, then polish
  simple,  // SimpleSVM
};

// Why the optimality conditions do not hold as promised.
enum class Reason : std::uint8_t { none, iteration_limit, rounding, indefinite, infeasible };

struct SolveResult {
  Route route = Route::none;
  std::int64_t breakpoints = 0, iterations = 0, polishes = 0;
  double kkt = 0.0;  // largest violation of KKT, relative to the scale of c
  Reason reason = Reason::none;
  bool within_tolerance() const { return reason == Reason::none; }
};

// Asked where the kernel is neither trusted nor known to be indefinite: whether its matrix among
// the support vectors has no negative eigenvalue.
using DefiniteTest = std::function<bool(Head&)>;

// `cold`: the state was not optimal before the move (first fit, other kernel or epsilon), so that
// there is no path to follow.
SolveResult solve(Head& head, const Move& move, const Settings& settings, bool cold,
                  const DefiniteTest& is_definite);

// F in double precision, a factor of the margin set and the kernel values that paths need, for many
// paths from one optimum; as far as the margin system is regular and its values fit into memory.
void make_ready_for_paths(Head& head);

}  // namespace supple
