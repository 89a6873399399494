// Single-precision kernel values of examples that are small integers times one factor (pixels,
// counts, one-hot columns): their dots are sums of products of bytes, exact and several at once.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/single.hpp"

namespace supple {

class ByteSingle final : public SinglePoints {
 public:
  // From panels in the same order; null where the values are not such integers, or where the
  // machine has no instructions for them.
  template <typename T>
  static std::unique_ptr<ByteSingle> from(const Kernel& kernel, std::size_t size,
                                          std::size_t n_features, const T* panels);
  void block(const std::int32_t* which, std::size_t count, std::size_t from, std::size_t to,
             float* const* row) const override;
  bool row(std::int32_t which, float* out) const override;
  double error() const override;
  void add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                  std::size_t to) const override;
  std::unique_ptr<SinglePoints> subset(const Positions& kept) const override {
    return part(kept.data(), kept.size());
  }

  // The same values in double precision, where `exact`: the integers times the factor are then the
  // examples to within rounding.
  bool exact() const { return integers_.exact; }
  template <typename Position>
  std::unique_ptr<ByteSingle> part(const Position* kept, std::size_t count) const;
  struct Pack {  // kByteQueries examples without what is 0 in all of them
    Wiped<std::uint32_t> value, used;
    std::size_t n_used;
    std::int32_t start[kByteQueries], norm[kByteQueries];
  };
  template <typename Position>  // `count` of them at most; the last one again if there are fewer
  void pack(const Position* which, std::size_t count, Pack& pack) const;
  // Dots (rbf: squared distances) of packed examples with those in [from, to) here, for the first
  // `count`: out[q * stride + j - from]. `from` is a multiple of kLanes.
  void block_products(const Pack& queries, std::size_t count, std::size_t from, std::size_t to,
                      double* out, std::size_t stride) const;

 private:
  // A value is (u + shift) / per_step with u of 0 to 255.
  struct Integers {
    double per_step;
    std::int32_t shift;
    bool exact;
  };
  template <typename T>
  static bool find(const T* values, std::size_t count, Integers& found);
  ByteSingle(const Kernel& kernel, std::size_t size, std::size_t n_features,
             const Integers& integers);
  void measure();  // the rows, sums and norms, from the panels

  std::int32_t start(std::size_t example) const;
  // Values of an example of this norm with [from, from + count), from the dots.
  void finish(std::int32_t norm, std::size_t from, std::size_t count, const std::int32_t* dots,
              float* out) const;
  const std::uint8_t* bytes(std::size_t example) const {
    return rows_->data() + 4 * n_fours_ * static_cast<std::size_t>(origin_[example]);
  }

  Integers integers_;
  double unit_;          // squared factor
  std::size_t n_fours_;  // features in fours
  // Rows of u, shared by all subsets: what is taken out of panels would come from far apart.
  std::shared_ptr<const Wiped<std::uint8_t>> rows_;
  Positions origin_;  // the row of each example
  Wiped<std::uint32_t> panels_;
  std::vector<std::int32_t> sum_, square_;  // of u and u^2 over the features; whole panels
};

}  // namespace supple
