// Kernel values among the members of a head, rows in the order of the members. For heads that are a
// small part of all examples, where rows of the Gram matrix are mostly about others: one machine
// for each pair of many classes. Of the bytes that the Gram matrix may cache.
#pragma once
#include "qp/head.hpp"

namespace supple {

class MemberRows {
 public:
  const double* row(const Head& head, std::size_t member);
  // The last member has just come, with this row of the Gram matrix.
  void admitted(const Head& head, const double* row);
  void remove(Gram& gram, std::size_t member);  // the last one will take its place
  void clear(Gram& gram);

 private:
  using Row = Wiped<double>;
  std::vector<Row> rows_;  // by members, or none; an empty one is not at hand
};

}  // namespace supple
