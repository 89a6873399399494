// The steps of LASVM, for heads with one variable per member and one group.
#pragma once
#include "head.hpp"

namespace supple {

// The example at `slot` joins with this c and box (which has 0 at one end) and takes a step if it
// and an extreme violate by more than tau. False: it lies beyond the extremes and is of no use.
bool lasvm_process(Head& head, std::int64_t slot, double c, double lo, double hi, double tau);
// The most violating pair takes a step. False: it violates by no more than tau.
bool lasvm_reprocess(Head& head, double tau);
// mu in the middle of the extremes, whose distance is returned.
double lasvm_settle(Head& head);
// Slots of the members at zero that no step would choose.
std::vector<std::int64_t> lasvm_idle(const Head& head);

}  // namespace supple
