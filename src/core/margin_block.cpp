#include "margin_block.hpp"

#include <algorithm>

namespace supple {

void MarginBlock::clear() {
  variables_.clear();
  value_.clear();
  value_.shrink_to_fit();
  rows_ = stride_ = 0;
}

void MarginBlock::start(std::size_t rows, std::size_t expected_columns) {
  clear();
  rows_ = rows;
  stride_ = (expected_columns + expected_columns / 4 + 16) / 8 * 8;
  value_.reserve((rows_ + rows_ / 8 + 16) * stride_);
  value_.assign(rows_ * stride_, 0.0);
}

void MarginBlock::append_row(const double* values) {
  value_.resize((rows_ + 1) * stride_);
  std::copy(values, values + columns(), value_.data() + rows_ * stride_);
  ++rows_;
}

void MarginBlock::remove_row(std::size_t member) {
  --rows_;
  if (member != rows_)
    std::copy(row(rows_), row(rows_) + columns(), value_.data() + member * stride_);
  value_.resize(rows_ * stride_);
}

void MarginBlock::append_columns(const std::int64_t* variables, std::size_t count,
                                 const double* values) {
  const std::size_t column = columns();
  if (column + count > stride_) {
    const std::size_t stride = (column + count + stride_ / 2 + 16) / 8 * 8;
    AlignedVector grown(rows_ * stride);
    for (std::size_t i = 0; i < rows_; ++i)
      std::copy(row(i), row(i) + column, grown.data() + i * stride);
    value_.swap(grown);
    stride_ = stride;
  }
  for (std::size_t i = 0; i < rows_; ++i)
    for (std::size_t k = 0; k < count; ++k)
      value_[i * stride_ + column + k] = values[k * rows_ + i];
  variables_.insert(variables_.end(), variables, variables + count);
}

void MarginBlock::remove_columns(const std::vector<std::size_t>& gone) {
  struct Shift {
    std::size_t to, from;
  };
  std::vector<Shift> shifts;
  for (std::size_t column : gone) {
    const std::size_t last = columns() - 1;
    if (column != last) {
      shifts.push_back({column, last});
      variables_[column] = variables_[last];
    }
    variables_.pop_back();
  }
  for (std::size_t i = 0; i < rows_; ++i) {  // each row is touched once for all columns
    double* values = value_.data() + i * stride_;
    for (const Shift& shift : shifts) values[shift.to] = values[shift.from];
  }
}

void MarginBlock::rename(std::int64_t from, std::int64_t to) {
  std::replace(variables_.begin(), variables_.end(), from, to);
}

}  // namespace supple
