// The kernel values of the members of a head with its margin variables, one contiguous row per
// member: gamma_i = dot(row i, beta) then runs only over the members that need it. To write or to
// remove a column touches every row, so columns of variables that have left the margin stay for a
// while, with beta = 0 (many return), and so do those whose variable no longer exists: kGone.
#pragma once
#include <cstdint>
#include <vector>

#include "linalg/aligned.hpp"

namespace supple {

class MarginBlock {
 public:
  static constexpr std::int64_t kGone = -1;
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return variables_.size(); }
  std::size_t stride() const { return stride_; }
  const double* data() const { return value_.data(); }
  const double* row(std::size_t member) const { return value_.data() + member * stride_; }
  const std::vector<std::int64_t>& variables() const { return variables_; }
  std::size_t column_of(std::int64_t variable) const;  // columns() if it has none

  void clear();
  // Rows one after the other in `values`, columns() entries each.
  void append_rows(std::size_t count, const double* values);
  void remove_row(std::size_t row);  // the last one takes its place
  // Columns one after the other in `values`, an entry for each row.
  void append_columns(const std::vector<std::int64_t>& variables, const double* values);
  void keep_columns(const std::vector<std::size_t>& kept);  // ascending; no others
  void rename(std::int64_t from, std::int64_t to);
  void reserve(std::size_t rows, std::size_t columns);
  static std::size_t bytes(std::size_t rows, std::size_t columns) {  // that it takes at first
    return with_room(rows) * stride_for(columns) * sizeof(double);
  }
  std::size_t bytes() const { return value_.capacity() * sizeof(double); }

 private:
  static std::size_t with_room(std::size_t n) { return n + n / 8 + 16; }
  static std::size_t stride_for(std::size_t columns) { return with_room(columns) / 8 * 8; }
  double* at(std::size_t row) { return value_.data() + row * stride_; }

  std::vector<std::int64_t> variables_;  // per column
  AlignedVector value_;
  std::size_t rows_ = 0, stride_ = 0;
};

}  // namespace supple
