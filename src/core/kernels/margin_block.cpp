#include "kernels/margin_block.hpp"

#include <algorithm>

namespace supple {

std::size_t MarginBlock::column_of(std::int64_t variable) const {
  return std::find(variables_.begin(), variables_.end(), variable) - variables_.begin();
}

void MarginBlock::clear() {
  variables_.clear();
  value_.clear();
  value_.shrink_to_fit();
  rows_ = stride_ = 0;
}

void MarginBlock::reserve(std::size_t rows, std::size_t columns) {
  if (columns <= stride_ && rows * stride_ <= value_.capacity()) return;
  const std::size_t stride = columns <= stride_ ? stride_ : stride_for(columns);
  AlignedVector grown;
  grown.reserve(with_room(rows) * stride);
  grown.resize(rows_ * stride);
  for (std::size_t i = 0; i < rows_; ++i)
    std::copy_n(at(i), variables_.size(), grown.data() + i * stride);
  value_.swap(grown);
  stride_ = stride;
}

void MarginBlock::append_rows(std::size_t count, const double* values) {
  reserve(rows_ + count, columns());
  value_.resize((rows_ + count) * stride_);
  for (std::size_t k = 0; k < count; ++k)
    std::copy_n(values + k * columns(), columns(), at(rows_ + k));
  rows_ += count;
}

void MarginBlock::remove_row(std::size_t row) {
  if (rows_ == 0) return;
  --rows_;
  if (row != rows_) std::copy_n(at(rows_), columns(), at(row));
  value_.resize(rows_ * stride_);
}

void MarginBlock::append_columns(const std::vector<std::int64_t>& variables, const double* values) {
  const std::size_t column = columns(), count = variables.size();
  reserve(rows_, column + count);
  for (std::size_t i = 0; i < rows_; ++i)
    for (std::size_t k = 0; k < count; ++k) at(i)[column + k] = values[k * rows_ + i];
  variables_.insert(variables_.end(), variables.begin(), variables.end());
}

void MarginBlock::keep_columns(const std::vector<std::size_t>& kept) {
  const auto keep = [&](auto* values) {
    for (std::size_t k = 0; k < kept.size(); ++k) values[k] = values[kept[k]];
  };
  keep(variables_.data());
  variables_.resize(kept.size());
  for (std::size_t i = 0; i < rows_; ++i) keep(at(i));
}

void MarginBlock::rename(std::int64_t from, std::int64_t to) {
  std::replace(variables_.begin(), variables_.end(), from, to);
}

}  // namespace supple
