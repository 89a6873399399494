#include "solvers/working_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace supple {

namespace {

constexpr std::size_t kLargest = 3072, kSmallest = 256;  // members, if their rows fit
constexpr std::size_t kFewest = 16;                      // rows, however small the cache

}  // namespace

void WorkingSet::restart(std::size_t active, std::size_t bytes, bool with_rows,
                         SingleMatrix* matrix) {
  matrix_ = matrix;
  length_ = padded(active);
  // A fourth of the cache has room for their values with each other, and all of it for the rows.
  const auto fitting = static_cast<std::size_t>(std::sqrt(static_cast<double>(bytes / 16)));
  most_ = std::clamp(fitting, kSmallest, kLargest);
  if (with_rows) most_ = std::min(most_, std::max(kFewest, bytes / (length_ * sizeof(float))));
  rows_.clear();
  rows_.resize(with_rows && !matrix ? most_ * length_ : 0);
  // Memory that is touched for the first time costs as much as the values: low lines come first.
  line_.resize(most_);
  std::iota(line_.begin(), line_.end(), 0);
  who_.resize(matrix ? active : 0);
  std::iota(who_.begin(), who_.end(), 0);
}

void WorkingSet::keep(const Positions& staying) {
  if (staying.size() == size()) return;
  for (std::size_t k = 0; k < staying.size(); ++k) {
    const std::size_t from = staying[k];
    for (std::size_t i = 0; i < staying.size(); ++i) own_row(k)[i] = own_row(from)[staying[i]];
    who_[k] = who_[from];
    std::swap(line_[k], line_[from]);
  }
  who_.resize(staying.size());
}

void WorkingSet::make_room(std::size_t needed) {
  if (needed <= stride_) return;
  const std::size_t stride = padded(std::max(needed, std::min(2 * needed, most_)));
  AlignedSingles grown(stride * stride);
  for (std::size_t k = 0; k < size(); ++k)
    std::copy_n(own_row(k), size(), grown.data() + k * stride);
  kernel_.swap(grown);
  stride_ = stride;
}

void WorkingSet::join(const Positions& joining, const SinglePoints& points, std::size_t threads) {
  if (joining.empty()) return;
  const std::size_t before = size();
  make_room(before + joining.size());
  Positions places;
  std::vector<float*> among, rows;
  for (std::int32_t a : joining) {
    places.push_back(size());
    among.push_back(own_row(size()));
    rows.push_back(rows_.data() + line_[size()] * length_);
    who_.push_back(a);
  }
  if (rows_.empty()) {
    points.subset(who_)->rows(places, among, threads);
  } else {
    points.rows(joining, rows, threads);
    for (std::size_t k = 0; k < places.size(); ++k)
      for (std::size_t t = 0; t < size(); ++t) among[k][t] = rows[k][who_[t]];
  }
  for (std::size_t t = 0; t < before; ++t)
    for (std::size_t k = 0; k < places.size(); ++k) own_row(t)[before + k] = among[k][t];
}

}  // namespace supple
