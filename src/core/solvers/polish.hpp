// Newton polish: a primal active-set method started from a feasible, nearly optimal x. On the
// margin set the equality system is solved exactly; steps stop at the box and the blocking
// variable leaves; when the margin gradients vanish, violators enter. The objective never rises.
// With one violator at a time, from x = 0, this is SimpleSVM (Vishwanathan, Smola & Murty 2003).
#pragma once
#include <cstdint>

#include "qp/head.hpp"

namespace supple {

enum class Pace { several, one };  // violators that enter the margin set at a time

struct PolishResult {
  bool finished;
  std::int64_t rounds;
};

// Ends when no KKT violation exceeds `goal`, or when none exceeds `floor` (what rounding permits)
// and the violations fall no more.
PolishResult polish(Head& head, double goal, double floor, Pace pace, std::int64_t max_rounds);

}  // namespace supple
