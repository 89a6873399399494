// Blocks of rows are finished one after the other. Within a block, eight rows at a time are freed
// from the rows above them in the block and solved for; what the block means to the rows below is
// then taken off in one go. Both are products of packed columns: the same primitive that computes
// blocks of kernel values, rows of the block taking the part of the features.
#include "linalg/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "linalg/aligned.hpp"
#include "linalg/simd.hpp"
#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {

constexpr std::size_t kQueries = supple::kQueries<double>;
constexpr std::size_t kRows = 320;          // of a block
constexpr std::size_t kStrip = 8 * kLanes;  // columns whose part stays in the second-level cache

class BlockRow {
 public:
  BlockRow(double* a, std::size_t n, std::size_t stride)
      : a_(a),
        n_(n),
        stride_(stride),
        height_(std::clamp(padded(n / 8), std::size_t{48}, kRows)),
        packed_(padded(n) * height_),
        left_(height_ * height_),
        triangle_(height_ * kQueries),
        inverse_(height_) {}
  std::size_t height() const { return height_; }
  bool finish(std::size_t first, std::size_t threads);  // the rows from `first` on
  // The same, each time the row with the largest pivot, and all rows below follow. False: there is
  // none above `tiny`, and rows up to `done` are finished.
  bool finish_with_pivots(std::size_t first, double tiny, std::vector<std::size_t>& order,
                          std::size_t& done);
  void take_off(std::size_t threads);                   // from the rows below

 private:
  std::size_t below() const { return std::min(n_, first_ + height_); }
  double* packed(std::size_t column) {
    return packed_.data() + (column - first_) / kLanes * kLanes * height_;
  }
  double* left(std::size_t top) { return left_.data() + top * height_; }
  void pack_left(std::size_t column, std::size_t depth, double* out);
  void reduce(std::size_t top, std::size_t column, double* x);
  bool factor(std::size_t top, std::size_t offset, double* x);
  void solve(std::size_t top, double* x) const;
  void keep(std::size_t top, std::size_t column, const double* x);
  double* row(std::size_t i) { return a_ + i * stride_; }
  void interchange(std::size_t i, std::size_t j);

  double* a_;
  std::size_t n_, stride_, height_, first_ = 0;
  AlignedVector packed_;    // per panel of kLanes columns: its values in the rows of the block
  AlignedVector left_;      // per kQueries rows: their columns in the rows above, packed as queries
  AlignedVector queries_;   // all columns behind the block, packed as queries
  std::vector<double> triangle_, inverse_;  // per kQueries rows: U among them; 1 / diagonal
};

// `depth` rows of kQueries columns.
void BlockRow::pack_left(std::size_t column, std::size_t depth, double* out) {
  const double* from = packed(column) + (column - first_) % kLanes;
  for (std::size_t q = 0; q < depth; ++q)
    std::copy_n(from + q * kLanes, kQueries, out + q * kQueries);
}

// x: kQueries rows of the block from `top` on, kLanes columns, freed from the rows above.
void BlockRow::reduce(std::size_t top, std::size_t column, double* x) {
  simd().f64.compare(Base::dot, left(top), kQueries, packed(column), top, 1, x, kLanes);
  for (std::size_t r = 0; r < kQueries; ++r) {
    const std::size_t row = first_ + top + r;
    for (std::size_t l = 0; l < kLanes; ++l)
      x[r * kLanes + l] =
          row < n_ && column + l < n_ ? a_[row * stride_ + column + l] - x[r * kLanes + l] : 0.0;
  }
}

// The columns of these rows begin at `offset` of x.
bool BlockRow::factor(std::size_t top, std::size_t offset, double* x) {
  const std::size_t rows = std::min(kQueries, n_ - first_ - top);
  double* U = triangle_.data() + top * kQueries;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t s = 0; s < r; ++s)
      for (std::size_t l = 0; l < kLanes; ++l)
        x[r * kLanes + l] -= U[s * kQueries + r] * x[s * kLanes + l];
    const double pivot = x[r * kLanes + offset + r];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    inverse_[top + r] = 1.0 / std::sqrt(pivot);
    for (std::size_t l = 0; l < kLanes; ++l) x[r * kLanes + l] *= inverse_[top + r];
    for (std::size_t s = r + 1; s < rows; ++s) U[r * kQueries + s] = x[r * kLanes + offset + s];
  }
  return true;
}

void BlockRow::solve(std::size_t top, double* x) const {
  const double* U = triangle_.data() + top * kQueries;
  const std::size_t rows = std::min(kQueries, n_ - first_ - top);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t s = 0; s < r; ++s)
      for (std::size_t l = 0; l < kLanes; ++l)
        x[r * kLanes + l] -= U[s * kQueries + r] * x[s * kLanes + l];
    for (std::size_t l = 0; l < kLanes; ++l) x[r * kLanes + l] *= inverse_[top + r];
  }
}

void BlockRow::keep(std::size_t top, std::size_t column, const double* x) {
  std::copy_n(x, kQueries * kLanes, packed(column) + top * kLanes);
  for (std::size_t r = 0; r < kQueries && first_ + top + r < n_; ++r) {
    const std::size_t row = first_ + top + r;
    for (std::size_t l = row > column ? row - column : 0; l < kLanes && column + l < n_; ++l)
      a_[row * stride_ + column + l] = x[r * kLanes + l];
  }
}

bool BlockRow::finish(std::size_t first, std::size_t threads) {
  first_ = first;
  const std::size_t rows = below() - first_;
  double x[kQueries * kLanes];
  for (std::size_t top = 0; top < rows; top += kQueries) {
    const std::size_t own = first_ + top / kLanes * kLanes;
    pack_left(first_ + top, top, left(top));
    reduce(top, own, x);
    if (!factor(top, first_ + top - own, x)) return false;
    keep(top, own, x);
    for (std::size_t column = own + kLanes; column < below(); column += kLanes) {
      reduce(top, column, x);
      solve(top, x);
      keep(top, column, x);
    }
  }
  const std::size_t panels = (n_ - below() + kLanes - 1) / kLanes;
  share(threads, panels, 1, [&](std::size_t begin, std::size_t end) {
    double own[kQueries * kLanes];
    for (std::size_t p = begin; p < end; ++p) {
      look();
      for (std::size_t top = 0; top < rows; top += kQueries) {
        reduce(top, below() + p * kLanes, own);
        solve(top, own);
        keep(top, below() + p * kLanes, own);
      }
    }
  });
  return true;
}

// Rows and columns i < j of the symmetric matrix; U above them has columns only.
void BlockRow::interchange(std::size_t i, std::size_t j) {
  for (std::size_t k = 0; k < i; ++k) std::swap(row(k)[i], row(k)[j]);
  std::swap(row(i)[i], row(j)[j]);
  for (std::size_t k = i + 1; k < j; ++k) std::swap(row(i)[k], row(k)[j]);
  std::swap_ranges(row(i) + j + 1, row(i) + n_, row(j) + j + 1);
}

bool BlockRow::finish_with_pivots(std::size_t first, double tiny, std::vector<std::size_t>& order,
                                  std::size_t& done) {
  first_ = first;
  std::vector<double> pivot(n_);  // what is left of the diagonal
  for (std::size_t i = first_; i < n_; ++i) pivot[i] = row(i)[i];
  for (done = first_; done < below(); ++done) {
    look();
    const std::size_t i = done;
    const auto best = static_cast<std::size_t>(
        std::max_element(pivot.begin() + static_cast<std::ptrdiff_t>(i), pivot.end()) -
        pivot.begin());
    if (!(pivot[best] > tiny) || !std::isfinite(pivot[best])) return false;
    if (best != i) {
      interchange(i, best);
      std::swap(pivot[i], pivot[best]);
      std::swap(order[i], order[best]);
    }
    double* own = row(i);
    for (std::size_t k = first_; k < i; ++k)
      simd().axpy(-row(k)[i], row(k) + i + 1, own + i + 1, n_ - i - 1);
    own[i] = std::sqrt(pivot[i]);
    for (std::size_t j = i + 1; j < n_; ++j) {
      own[j] /= own[i];
      pivot[j] -= own[j] * own[j];
    }
  }
  for (std::size_t column = below(); column < n_; column += kLanes)
    for (std::size_t k = first_; k < below(); ++k) {
      double* to = packed(column) + (k - first_) * kLanes;
      std::fill_n(to, kLanes, 0.0);
      std::copy_n(row(k) + column, std::min(kLanes, n_ - column), to);
    }
  return true;
}

void BlockRow::take_off(std::size_t threads) {
  const std::size_t start = below(), strips = (n_ - start + kStrip - 1) / kStrip;
  queries_.resize((n_ - start + kQueries) * height_);
  for (std::size_t i = start; i < n_; i += kQueries)
    pack_left(i, height_, queries_.data() + (i - start) * height_);
  const auto strip = [&](std::size_t number) {
    const std::size_t from = start + number * kStrip, to = std::min(n_, from + kStrip);
    double products[kQueries * kStrip];
    for (std::size_t i = start; i < to; i += kQueries) {
      look();
      const std::size_t column = std::max(from, i / kLanes * kLanes);
      simd().f64.compare(Base::dot, queries_.data() + (i - start) * height_, kQueries, packed(column), height_,
                       (to - column + kLanes - 1) / kLanes, products, kStrip);
      for (std::size_t r = 0; r < kQueries && i + r < to; ++r) {
        const std::size_t j = std::max(column, i + r);
        simd().axpy(-1.0, products + r * kStrip + (j - column), a_ + (i + r) * stride_ + j, to - j);
      }
    }
  };
  share_both_ends(threads, strips, strip);
}

}  // namespace

bool cholesky(double* a, std::size_t n, std::size_t stride, std::size_t threads) {
  BlockRow block(a, n, stride);
  for (std::size_t first = 0; first < n; first += block.height()) {
    tell([&] { return News{Phase::factoring, first, n}; });
    if (!block.finish(first, threads)) return false;
    if (first + block.height() < n) block.take_off(threads);
  }
  return true;
}

std::size_t cholesky_with_pivots(double* a, std::size_t n, std::size_t stride, double tiny,
                                 std::vector<std::size_t>& order, std::size_t threads) {
  order.resize(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  BlockRow block(a, n, stride);
  std::size_t done = 0;
  for (std::size_t first = 0; first < n; first += block.height()) {
    tell([&] { return News{Phase::factoring, first, n}; });
    if (!block.finish_with_pivots(first, tiny, order, done)) break;
    if (first + block.height() < n) block.take_off(threads);
  }
  return done;
}

}  // namespace supple
