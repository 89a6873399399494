// SMO on a small dense QP: the working set of the block solver. The kernel matrix is in single
// precision and complete; x and the gradient are in double precision.
#pragma once
#include <cstdint>
#include <vector>

#include "simd.hpp"

namespace supple {

struct LocalProblem {
  // Variables [start, start + length) belong to one group and to consecutive kernel columns.
  struct Segment {
    std::size_t group, start, length, column;
  };
  std::vector<Segment> segments;
  std::size_t n_groups = 1;
  std::vector<double> x, lo, hi, G;  // per variable
  std::vector<float> diagonal;
  std::vector<float> K;
  std::size_t stride = 0;

  void resize(std::size_t variables, std::size_t columns);
  // Until the gap is at most max(eps, share * gap at the start); returns the iterations.
  std::int64_t solve(double eps, double share, std::int64_t max_iterations);

 private:
  struct Pick {
    std::ptrdiff_t i = -1;
    double smallest, low_max;
  };
  void set_bars(std::size_t v);
  void scan(double delta, const float* row_i, const float* row_j);
  double gap() const;
  bool step();
  const float* row(std::size_t v) const { return K.data() + column_[v] * stride; }

  std::vector<double> bar_up_, bar_low_;
  std::vector<std::size_t> column_;
  std::vector<Pick> pick_;  // per group
};

}  // namespace supple
