// The kernel values of members of a head with its margin variables, one contiguous row per member:
// gamma_i = dot(row i, beta) then runs only over the members that need it. Members get a row when
// they first need one. To write or to remove a column touches every row, so columns of variables
// that have left the margin stay for a while, with beta = 0 (many return), and so do those whose
// variable is gone altogether: kNobody.
#pragma once
#include <cstdint>
#include <vector>

#include "linalg/aligned.hpp"

namespace supple {

class MarginBlock {
 public:
  static constexpr std::int64_t kNobody = -1;
  std::size_t columns() const { return variables_.size(); }
  std::size_t stride() const { return stride_; }
  const double* data() const { return value_.data(); }
  const std::vector<std::int64_t>& variables() const { return variables_; }
  const std::vector<std::int64_t>& owners() const { return owner_; }  // of the rows: members
  bool has_row(std::size_t member) const { return place(member) >= 0; }
  std::int64_t place(std::size_t member) const {  // of its row, or -1
    return member < place_.size() ? place_[member] : -1;
  }
  const double* row(std::size_t member) const {
    return value_.data() + static_cast<std::size_t>(place_[member]) * stride_;
  }
  bool column(std::int64_t variable, std::vector<double>& out) const;  // false: there is none

  void clear();
  // Rows one after the other in `values`, `columns()` entries each, for members that have none.
  void append_rows(const std::int64_t* members, std::size_t count, const double* values);
  void remove_member(std::size_t member, std::size_t last);  // the last one takes its place
  // Columns one after the other in `values`, an entry for each row.
  void append_columns(const std::int64_t* variables, std::size_t count, const double* values);
  // One after the other, in descending order; each time the last column takes the place.
  void remove_columns(const std::vector<std::size_t>& gone);
  void rename(std::int64_t from, std::int64_t to);
  void reserve(std::size_t rows, std::size_t columns);
  static std::size_t bytes(std::size_t rows, std::size_t columns) {  // that it takes at first
    return with_room(rows) * stride_for(columns) * sizeof(double);
  }
  std::size_t bytes_with(std::size_t rows, std::size_t columns) const {  // after reserve()
    return enough(rows, columns) ? value_.capacity() * sizeof(double)
                                 : with_room(rows) * stride_with(columns) * sizeof(double);
  }

 private:
  static std::size_t with_room(std::size_t n) { return n + n / 8 + 16; }
  static std::size_t stride_for(std::size_t columns) { return with_room(columns) / 8 * 8; }
  std::size_t stride_with(std::size_t columns) const {
    return columns <= stride_ ? stride_ : stride_for(columns);
  }
  bool enough(std::size_t rows, std::size_t columns) const {
    return columns <= stride_ && rows * stride_ <= value_.capacity();
  }
  double* at(std::size_t row) { return value_.data() + row * stride_; }

  std::vector<std::int64_t> variables_, owner_, place_;
  AlignedVector value_;
  std::size_t stride_ = 0;
};

}  // namespace supple
