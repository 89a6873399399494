#pragma once
#include "qp/head.hpp"

namespace supple {

// A copy of all that solvers change in a head, the factor included. To put it back costs one pass
// over the factor, less than to follow a path back, and leaves the head as it was to the last bit.
// Only the block of kernel values, where there was one, may have gained columns, which are valid at
// any state.
class MemberValues {
 public:
  explicit MemberValues(const Head& head);
  void put_back(Head& head) const;

 private:
  Solution solution_;
  std::vector<double> lo_, hi_;
  PerGroup target_;
  Factor factor_;
  std::uint64_t evaluations_;
  double reach_;
  bool with_block_;
};

}  // namespace supple
