// Kernel values in double precision among the few examples that decide a small head: its support
// vectors and those near the margin. Gradients, factor and polish ask for the same ones.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "linalg/aligned.hpp"

namespace supple {

using Slots = std::vector<std::int64_t>;

class Patch {
 public:
  // Writes k(fresh[i], all[j]) to out[i * stride + j], whole blocks of queries and panels; `all`
  // ends with `fresh`.
  using Fill = std::function<void(const Slots& fresh, const Slots& all, double* out,
                                  std::size_t stride)>;
  explicit Patch(Fill fill) : fill_(std::move(fill)) {}

  // From now on for another head. What has been allocated stays.
  void open();
  void close();
  bool has_room(std::size_t examples) const;  // for so many, if none is in it yet
  // Make the values of `sources` with `targets` available. False: the patch is closed, they are
  // too many, or it would have to compute far more than these.
  bool cover(const Slots& sources, const Slots& targets);
  // For examples that are covered: as Gram has them.
  std::vector<double> expand(const Slots& sources, const std::vector<double>& coef,
                             const Slots& targets) const;
  void values(std::int64_t slot, const Slots& targets, double* out) const;
  void among(const Slots& slots, double* out, std::size_t stride) const;

 private:
  std::size_t place(std::int64_t slot) const {
    return static_cast<std::size_t>(place_[static_cast<std::size_t>(slot)]);
  }
  bool is_new(std::int64_t slot) const {
    return static_cast<std::size_t>(slot) >= place_.size() ||
           place_[static_cast<std::size_t>(slot)] < 0;
  }
  void add(const Slots& fresh);
  void reserve(std::size_t count);
  const double* row(std::int64_t slot) const { return values_.data() + place(slot) * stride_; }

  Fill fill_;
  bool open_ = false;
  Slots slots_;
  std::vector<std::int32_t> place_;  // per slot, or -1
  AlignedVector values_;
  std::size_t stride_ = 0;
};

}  // namespace supple
