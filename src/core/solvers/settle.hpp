// The batch way to the optimum: SMO finds the active set, the Newton polish makes it exact.
#pragma once
#include <optional>

#include "qp/head.hpp"

namespace supple {

// The KKT violation, relative to the scale of c, above which the user is told.
inline constexpr double kPromised = 1e-8;

struct Settings {
  double tol;              // gap that SMO is to reach where the scale of the problem is 1 or more
  std::int64_t max_iterations;  // of SMO; none if negative
  bool shrinking;
  bool exact;    // the kernel is not known to be indefinite
  bool trusted;  // it is known to be positive semi-definite: a polish may follow unasked
};

// How good a state is, as those see it who decide whether to go on.
struct Quality {
  double kkt;    // largest violation of KKT, relative to the scale of c
  bool kept;     // no more than was promised to the user
  bool sharp;    // optimal to a few roundings
  bool settled;  // good enough, or rounding allows no better
};

// SMO followed by a polish, which there is none of if the iterations did not suffice.
struct Round {
  SmoResult descent;
  std::optional<Quality> quality;
};

// Factor the margin system anew when many variables joined or left it.
void factor_margin(Head& head);
Quality quality(Head& head);
// Lower the gap to `tol`, or as far as it takes for the polish to do the rest. `first`: nothing has
// been tried since boxes and targets moved.
SmoResult descend(Head& head, const Settings& settings, bool first);
// Make the state exact, to rounding if possible, and never worse than it was.
Audit make_exact(Head& head);
// The same with an F that has not gathered too much rounding.
Quality refine(Head& head);

// The first optimum of a head that has no members yet: these enter, boxes and targets open, and one
// round follows. Nothing: no x is feasible.
struct Beginning {
  const std::int64_t* slots;
  std::size_t count;
  const double *c, *lo, *hi;  // per variable
  const std::uint8_t* groups;
  PerGroup target;
};
std::optional<Round> begin(Head& head, const Beginning& beginning, const Settings& settings);
// SMO iterations after which a problem is looked at again.
std::int64_t patience(const Head& head);

}  // namespace supple
