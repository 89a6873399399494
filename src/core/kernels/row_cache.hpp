// Single-precision kernel rows of the block solver, in a bounded number of lines. Memory that is
// touched for the first time costs as much as the values, so lines are added only when rows that
// were given up are wanted again.
#pragma once
#include "linalg/aligned.hpp"
#include "kernels/single.hpp"

namespace supple {

class RowCache {
 public:
  RowCache(std::size_t size, std::size_t bytes);
  // How many rows of this size can be together in a cache of this many bytes.
  static std::size_t capacity(std::size_t size, std::size_t bytes);
  std::size_t capacity() const { return capacity_; }
  // Make sure that these rows (no more than the capacity) are here.
  void fetch(const SinglePoints& points, const Positions& wanted, std::size_t threads);
  const float* row(std::size_t position) { return line(line_of_[position]); }

 private:
  float* line(std::int32_t k) { return values_.data() + static_cast<std::size_t>(k) * stride_; }
  void find_lines(std::size_t count, Positions& lines);
  std::size_t stride_, capacity_;
  std::size_t open_ = 0;  // lines in use or about to be
  AlignedSingles values_;
  Positions line_of_;                // per example, or kNever, or kGivenUp
  Positions holder_;                 // per line in use: the example, or -1
  std::vector<std::uint64_t> used_;  // per line in use: when
  std::uint64_t clock_ = 0;
};

}  // namespace supple
