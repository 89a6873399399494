#include "solvers/working_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/watch.hpp"

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
  free_.resize(most_);
  std::iota(free_.rbegin(), free_.rend(), 0);
  line_.clear();
  who_.resize(matrix ? active : 0);
  std::iota(who_.begin(), who_.end(), 0);
}

void WorkingSet::leave(const std::vector<char>& leaving) {
  Positions staying;
  for (std::size_t t = 0; t < size(); ++t)
    if (leaving[t])
      free_.push_back(line_[t]);
    else
      staying.push_back(t);
  if (staying.size() == size()) return;
  for (std::size_t k = 0; k < staying.size(); ++k) {
    const std::size_t from = staying[k];
    for (std::size_t i = 0; i < staying.size(); ++i) own_row(k)[i] = own_row(from)[staying[i]];
    who_[k] = who_[from];
    line_[k] = line_[from];
  }
  who_.resize(staying.size());
  line_.resize(staying.size());
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
    who_.push_back(a);
    line_.push_back(free_.back());
    free_.pop_back();
    rows.push_back(rows_.data() + line_.back() * length_);
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

std::int64_t WorkingSet::solve(double eps, double share, std::int64_t max_iterations) {
  pairs.start();
  const double goal = std::max(eps / pairs.unit, share * pairs.gap());
  const auto row_of = [this](std::size_t place, std::size_t) { return row(place); };
  std::int64_t iterations = 0;
  while (pairs.gap() > goal && iterations < max_iterations && pairs.step(row_of))
    if (++iterations % 1024 == 0) look();
  return iterations;
}

}  // namespace supple
