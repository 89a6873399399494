#include "linalg/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/aligned.hpp"
#include "linalg/simd.hpp"
#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {

constexpr std::size_t kColumns = 32;  // of a block, for four threads at most
constexpr std::size_t kSquare = kQueries<double>;
static_assert(kColumns % kSquare == 0);

// Rows from `first` on, all of them short, of a matrix from which nothing is left to be taken off.
bool factor_rows(double* a, std::size_t stride, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    double* own = a + i * stride;
    for (std::size_t k = first; k < i; ++k)
      simd().axpy(-a[k * stride + i], a + k * stride + i, own + i, end - i);
    if (!(own[i] > 0.0) || !std::isfinite(own[i])) return false;
    const double root = std::sqrt(own[i]);
    for (std::size_t j = i; j < end; ++j) own[j] /= root;
  }
  return true;
}

// to[j][i] = from[i][j] for i < rows and j < columns, by squares that cache lines fill.
void turn(const double* from, std::size_t rows, std::size_t columns, std::size_t stride,
          double* to) {
  for (std::size_t i = 0; i < rows; i += kSquare)
    for (std::size_t j = 0; j < columns; j += kSquare)
      if (i + kSquare <= rows && j + kSquare <= columns)
        simd().f64.transpose(from + i * stride + j, to + j * stride + i, stride);
      else
        for (std::size_t k = i; k < std::min(rows, i + kSquare); ++k)
          for (std::size_t l = j; l < std::min(columns, j + kSquare); ++l)
            to[l * stride + k] = from[k * stride + l];
}

}  // namespace

// Blocks of columns from left to right: with the rows of U above them, a column z of A becomes
// U^-T z, and what is left of the triangle on the diagonal is factored by itself.
bool cholesky(double* a, std::size_t n, std::size_t stride, std::size_t threads) {
  AlignedVector column(kColumns * stride);
  std::int64_t in_order[kColumns];
  std::iota(in_order, in_order + kColumns, 0);
  for (std::size_t first = 0; first < n; first += kColumns) {
    tell([&] { return News{Phase::factoring, first, n}; });
    const std::size_t count = std::min(kColumns, n - first);
    turn(a + first, first, count, stride, column.data());
    share(threads, count, kSquare, [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; k += kSquare) {
        look();
        simd().solve_transposed(a, stride, first, column.data() + k * stride, stride,
                                std::min(kSquare, to - k));
      }
    });
    for (std::size_t k = 0; k < count; ++k) {  // a row from the diagonal on
      const double* own = column.data() + k * stride;
      double dots[kColumns];
      simd().product_rows(own, stride, in_order, count - k, own, first, dots);
      simd().axpy(-1.0, dots, a + (first + k) * (stride + 1), count - k);
    }
    turn(column.data(), count, first, stride, a + first);
    if (!factor_rows(a, stride, first, first + count)) return false;
  }
  return true;
}

}  // namespace supple
