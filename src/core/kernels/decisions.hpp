// Decision functions as sums of kernel values, prepared once for any number of queries.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/points.hpp"

namespace supple {

// f_h(z) = sum over k of coef[h][k] k(z, point k), for heads h. It owns its points and never
// changes, so several threads may ask at once.
class Decisions {
 public:
  // Points that have coefficients in the same heads: one row of `coef` for each of these.
  struct Terms {
    Slots slots;
    std::vector<std::size_t> heads;
    const double* coef;
  };
  Decisions(const Kernel& kernel, const Points& points, std::size_t heads,
            std::span<const Terms> terms);
  std::size_t heads() const { return heads_; }
  const Points& points() const { return *points_; }
  // out[i * heads + h]. Queries are sparse if the points are.
  void decide(const Points& queries, std::size_t n_threads, double* out) const;

 private:
  // The terms of points_[from:to]. They begin and end with a panel: the last point is repeated,
  // with coefficients 0. Head k of these has its row at coef + k * (to - from).
  struct Block {
    std::size_t from, to, coef;
    std::vector<std::size_t> heads;
  };
  Kernel kernel_;
  std::size_t heads_;
  std::unique_ptr<const Points> points_;
  std::vector<Block> blocks_;
  std::vector<double> coef_;
};

}  // namespace supple
