// Kernel values in single precision, from copies of the examples. They lead the block solver to the
// optimum; what is reported comes from the double-precision values of points.hpp.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/points.hpp"

namespace supple {

using Positions = std::vector<std::int32_t>;

class SinglePoints {
 public:
  // The examples are held in units that make gamma about 1: single precision has no room for the
  // square of a small feature, or for a gamma that makes up for it. Units are powers of 2, so that
  // nothing is rounded anew. Distances do not change when the mean is taken off, and single
  // precision then keeps more of them. `evaluations` counts the values computed, also of subsets.
  SinglePoints(const Kernel& kernel, const Points& points, const Slots& slots,
               std::atomic<std::uint64_t>& evaluations);
  std::size_t size() const { return points_->size(); }
  std::size_t n_features() const { return points_->n_features(); }
  bool sparse() const { return points_->sparse(); }

  // The values of one example with all, in whole panels; `query` is room for it.
  void row(std::int64_t which, Queries<float>& query, float* out) const;
  // The same of several, row[k][j].
  void rows(const Positions& which, const std::vector<float*>& row, std::size_t threads) const;
  // All values among the examples, out[k * stride + j].
  void among(float* out, std::size_t stride, std::size_t threads) const;
  // out[j] += sum over k of coef[k] times the value of which[k] with j, for j < to
  void add(const Positions& which, const std::vector<double>& coef, std::size_t to, double* out,
           std::size_t threads) const;
  // The same for all j and a linear kernel, which needs no values.
  void add_linear(const Positions& which, const std::vector<double>& coef, double* out) const;
  double error() const;  // of a value, about
  // The examples at these positions, in this order.
  std::unique_ptr<SinglePoints> subset(const Positions& kept) const;

 private:
  template <typename Use>
  void tiles(const Slots& which, std::size_t from, std::size_t to, const Use& use) const;

  Kernel kernel_;
  std::shared_ptr<const PointsOf<float>> points_;
  std::atomic<std::uint64_t>& evaluations_;
};

}  // namespace supple
