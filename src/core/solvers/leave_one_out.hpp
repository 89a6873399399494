// What a head says of its own members when they are left out, one at a time: the member's box
// closes along the exact path, its F and mu are read, and the head is put back.
#pragma once
#include <cstdint>
#include <vector>

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

// Targets of the groups without a member, and what the boxes of all others are multiplied by.
struct Departure {
  std::size_t member;
  PerGroup target;
  double stretch;
};

enum class Answer : std::uint8_t {
  known,   // the optimum does not depend on the member
  solved,  // by the path
  open,    // the path has failed: another solver has to find out
};

// F of the member and mu of the groups at the optimum without it.
struct LeftOut {
  Answer answer;
  double F;
  PerGroup mu;
  double rounding;  // of both
};

// For a head at its optimum, with a factor of its margin set and an F that is sharp everywhere. The
// head is the same afterwards, also after an error.
std::vector<LeftOut> leave_out(Head& head, const std::vector<Departure>& departures);

}  // namespace supple
