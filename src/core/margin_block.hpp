// The kernel values of all members of a head with its margin variables, one contiguous row per
// member: gamma_i = dot(row i, beta) then runs only over the members that need it. To write or to
// remove a column touches every row, so columns of variables that have left the margin stay for a
// while, with beta = 0 (many return), and so do those whose variable is gone altogether: kNobody.
#pragma once
#include <cstdint>
#include <vector>

#include "aligned.hpp"

namespace supple {

class MarginBlock {
 public:
  static constexpr std::int64_t kNobody = -1;
  std::size_t columns() const { return variables_.size(); }
  std::size_t rows() const { return rows_; }
  std::size_t stride() const { return stride_; }
  const double* data() const { return value_.data(); }
  const double* row(std::size_t member) const { return value_.data() + member * stride_; }
  const std::vector<std::int64_t>& variables() const { return variables_; }

  void clear();
  void start(std::size_t rows, std::size_t expected_columns);  // empty block of that many rows
  void append_row(const double* values);
  void remove_row(std::size_t member);  // the last row moves here
  // Columns one after the other in `values`, `rows()` entries each.
  void append_columns(const std::int64_t* variables, std::size_t count, const double* values);
  // One after the other, in descending order; each time the last column takes the place.
  void remove_columns(const std::vector<std::size_t>& gone);
  void rename(std::int64_t from, std::int64_t to);

 private:
  std::vector<std::int64_t> variables_;
  AlignedVector value_;
  std::size_t rows_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace supple
