// Single-precision copies of chosen examples, for blocks of kernel values. They lead the block
// solver to the optimum; what is reported comes from the double-precision values of points.hpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/kernel.hpp"
#include "linalg/simd.hpp"
#include "linalg/wiped.hpp"

namespace supple {

using Positions = std::vector<std::int32_t>;

class SinglePoints {
 public:
  SinglePoints(const Kernel& kernel, std::size_t size, std::size_t n_features)
      : kernel_(kernel), size_(size), n_features_(n_features) {}
  virtual ~SinglePoints() = default;
  std::size_t size() const { return size_; }

  // Values of the examples at `which` with those in [from, to), row[k][j - from]. `from` is a
  // multiple of kLanes.
  virtual void block(const std::int32_t* which, std::size_t count, std::size_t from,
                     std::size_t to, float* const* row) const = 0;
  // The same with all examples.
  void rows(const Positions& which, const std::vector<float*>& row, std::size_t threads) const;
  // Those of one example; false where that would take as long as those of several.
  virtual bool row(std::int32_t, float*) const { return false; }
  // All values among the examples, out[k * stride + j].
  void among(float* out, std::size_t stride, std::size_t threads) const;
  // out[j] += sum over k of coef[k] times the value of which[k] with j, for j < to
  void add(const Positions& which, const std::vector<double>& coef, std::size_t to, double* out,
           std::size_t threads) const;
  virtual double error() const;  // of a value, about
  // The same for a linear kernel, which needs no values: out += X (X[which]' coef).
  virtual void add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                          std::size_t to) const = 0;
  // The examples at these positions, in this order.
  virtual std::unique_ptr<SinglePoints> subset(const Positions& kept) const = 0;
  std::atomic<std::uint64_t>* evaluations = nullptr;  // counts the values computed, also of subsets

 protected:
  // What add() does for j in [from, to), to out[j - from]; `from` is a multiple of kLanes.
  void add_part(const Positions& which, const std::vector<double>& coef, std::size_t from,
                std::size_t to, double* out) const;
  static constexpr double kRounding = 0x1p-21;  // a few
  virtual std::size_t additions() const { return 1; }  // in single precision, to one sum of a dot
  // What an entry adds to the norm of its example.
  double norm_of(float entry) const {
    const double value = entry;
    return kernel_.base() == Base::l1_distance ? std::abs(value) : value * value;
  }
  // Points of a tile that serves all queries while it is in the second-level cache.
  static std::size_t tile(std::size_t bytes_per_point);

  static constexpr std::size_t kRowTile = 32 * kLanes;  // values of a row at a time

  Kernel kernel_;
  std::size_t size_, n_features_;
  Wiped<float> norm_;  // squared, or in L1 for such distances; padded to whole panels
};

// Those that hold floats, in units that make gamma about 1: single precision has no room for the
// square of a small feature, or for a gamma that makes up for it. Units are powers of 2, so that
// nothing is rounded anew.
class FloatSingle : public SinglePoints {
 public:
  FloatSingle(const Kernel& kernel, std::size_t size, std::size_t n_features)
      : SinglePoints(kernel, size, n_features) {
    int exponent;
    std::frexp(kernel.gamma, &exponent);
    const int power = kernel.base() == Base::l1_distance ? 1 : 2;  // of features in the base
    scale_ = std::ldexp(1.0, exponent / power);
    kernel_.gamma = std::ldexp(kernel.gamma, -(exponent / power * power));
  }
  void block(const std::int32_t* which, std::size_t count, std::size_t from, std::size_t to,
             float* const* row) const override;

 protected:
  // Values of an example of this norm with [from, from + count), from the sums.
  void finish(float norm, std::size_t from, std::size_t count, const float* sums,
              float* out) const;
  struct Pack {  // kQueries<float> examples, spread out densely
    Wiped<float> value;
    float norm[kQueries<float>] = {};
  };
  double scale_ = 1.0;  // of features
  virtual void pack(const std::int32_t* which, std::size_t count, Pack& pack) const = 0;
  virtual void unpack(const std::int32_t* which, std::size_t count, Pack& pack) const = 0;
  // Dots, or L1 distances for a kernel of these.
  bool l1() const { return kernel_.base() == Base::l1_distance; }
  virtual void sums(const Pack& pack, std::size_t from, std::size_t to, float* out,
                    std::size_t stride) const = 0;
  virtual std::size_t bytes_per_point() const = 0;
  virtual std::size_t packs_together() const = 0;  // how many are held at once
};

class DenseSingle final : public FloatSingle {
 public:
  // From panels in the same order. Distances do not change when the mean is taken off, and single
  // precision then keeps more of them.
  template <typename T>
  DenseSingle(const Kernel& kernel, std::size_t size, std::size_t n_features, const T* panels);
  bool row(std::int32_t which, float* out) const override;
  void add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                  std::size_t to) const override;
  std::unique_ptr<SinglePoints> subset(const Positions& kept) const override;

 protected:
  void pack(const std::int32_t* which, std::size_t count, Pack& pack) const override;
  void unpack(const std::int32_t*, std::size_t, Pack&) const override {}
  void sums(const Pack& pack, std::size_t from, std::size_t to, float* out,
            std::size_t stride) const override;
  std::size_t additions() const override {
    return std::min(n_features_, kFeaturesTogether) + n_features_ / kFeaturesTogether;
  }
  std::size_t bytes_per_point() const override { return 1 + n_features_ * sizeof(float); }
  std::size_t packs_together() const override { return 64; }

 private:
  DenseSingle(const DenseSingle& whole, const Positions& kept);
  std::size_t at(std::size_t k, std::size_t f) const {
    return (k / kLanes * n_features_ + f) * kLanes + k % kLanes;
  }
  void measure();  // the norms
  Wiped<float> panels_;
};

class CsrSingle final : public FloatSingle {
 public:
  CsrSingle(const Kernel& kernel, std::size_t n_features) : FloatSingle(kernel, 0, n_features) {}
  void append(const std::int32_t* column, const double* value, std::size_t count);
  void add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                  std::size_t to) const override;
  std::unique_ptr<SinglePoints> subset(const Positions& kept) const override;

 protected:
  void pack(const std::int32_t* which, std::size_t count, Pack& pack) const override;
  void unpack(const std::int32_t* which, std::size_t count, Pack& pack) const override;
  void sums(const Pack& pack, std::size_t from, std::size_t to, float* out,
            std::size_t stride) const override;
  std::size_t additions() const override { return entries_per_point(); }
  std::size_t bytes_per_point() const override { return 1 + 8 * entries_per_point(); }
  std::size_t packs_together() const override {  // they are as wide as the data
    constexpr std::size_t kBytes = 1u << 17;
    const std::size_t bytes = 1 + n_features_ * kQueries<float> * sizeof(float);
    return std::clamp<std::size_t>(kBytes / bytes, 1, 64);
  }

 private:
  std::size_t entries_per_point() const { return column_.size() / (size_ > 0 ? size_ : 1); }
  template <typename Use>  // use(feature, value)
  void entries(std::int32_t example, const Use& use) const {
    const SparseRow row = rows_[static_cast<std::size_t>(example)];
    for (std::size_t e = row.start; e < row.start + row.count; ++e)
      use(static_cast<std::size_t>(column_[e]), value_[e]);
  }
  std::vector<SparseRow> rows_;
  Wiped<std::int32_t> column_;
  Wiped<float> value_;
};

template <typename T>
DenseSingle::DenseSingle(const Kernel& kernel, std::size_t size, std::size_t n_features,
                         const T* panels)
    : FloatSingle(kernel, size, n_features),
      panels_((size + kLanes - 1) / kLanes * n_features * kLanes, 0.0f) {
  std::vector<double> centre(n_features, 0.0);
  if (kernel.base() != Base::dot) {
    for (std::size_t start = 0; start < panels_.size(); start += n_features * kLanes)
      for (std::size_t f = 0; f < n_features; ++f)
        for (std::size_t lane = 0; lane < kLanes; ++lane)  // no points: zeros
          centre[f] += static_cast<double>(panels[start + f * kLanes + lane]);
    for (double& c : centre) c /= static_cast<double>(size);
  }
  for (std::size_t first = 0; first < size; first += kLanes) {
    const std::size_t start = first * n_features, lanes = std::min(kLanes, size - first);
    for (std::size_t f = 0; f < n_features; ++f)
      for (std::size_t at = start + f * kLanes; at < start + f * kLanes + lanes; ++at)
        panels_[at] = static_cast<float>((static_cast<double>(panels[at]) - centre[f]) * scale_);
  }
  measure();
}

}  // namespace supple
