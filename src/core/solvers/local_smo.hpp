// SMO on a small dense QP: the working set of the block solver. Kernel matrix and gradient are in
// single precision, x is in double precision: what F becomes by the changes of x is not computed
// here.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "linalg/aligned.hpp"
#include "linalg/simd.hpp"
#include "kernels/single_matrix.hpp"

namespace supple {

struct LocalProblem {
  // Variables [start, start + length) belong to one group and to consecutive kernel columns.
  struct Segment {
    std::size_t group, start, length, column;
  };
  std::vector<Segment> segments;
  std::vector<double> x, lo, hi;  // per variable
  double unit = 1.0;  // of G: whatever the scale of the problem, single precision has room for it
  AlignedSingles G, diagonal;
  std::size_t stride = 0;  // from row to row

  void resize(std::size_t variables, std::size_t columns);  // the kernel is then undefined
  float* kernel() { return kernel_.data(); }
  void swap_kernel(AlignedSingles& other) { std::swap(kernel_, other); }
  SingleMatrix* matrix = nullptr;  // whose rows are those of the columns; or they are in `kernel`
  const float* row(std::size_t column) {
    return matrix ? matrix->row(column) : kernel() + column * stride;
  }
  // Until the gap is at most max(eps, share * gap at the start); returns the iterations.
  std::int64_t solve(double eps, double share, std::int64_t max_iterations);

 private:
  struct Pick {
    std::ptrdiff_t i = -1;
    float smallest, low_max;
  };
  void set_bars(std::size_t v);
  void scan(float delta, const float* row_i, const float* row_j);
  double gap() const;
  bool step();

  AlignedSingles kernel_;  // of each row with the columns
  AlignedSingles bar_up_, bar_low_;
  std::vector<std::size_t> column_;
  std::array<Pick, 2> pick_;  // per group
};

}  // namespace supple
