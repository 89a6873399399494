// The feature vectors, in the layout that makes kernel rows cheap. Slots are positions; removal
// moves the last point into the freed slot. A is the precision of what is computed from them.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "linalg/simd.hpp"
#include "linalg/aligned.hpp"

namespace supple {

using Slots = std::vector<std::int64_t>;

// A query, or a pack of kQueries<A>, spread out densely whatever the storage of the points: feature
// f of query q is at data()[f * width() + q].
template <typename A>
class Queries {
 public:
  Queries(std::size_t n_features, std::size_t width)
      : width_(width), value_(n_features * width, A(0)) {}
  std::size_t width() const { return width_; }
  const A* data() const { return value_.data(); }
  double norm(std::size_t q) const { return norm_[q]; }  // squared
  A at(std::size_t f, std::size_t q) const { return value_[f * width_ + q]; }
  // Non-zero features of a sparse query, in ascending order.
  std::span<const std::int32_t> touched(std::size_t q) const {
    return touched_.empty() ? std::span<const std::int32_t>() : touched_[q];
  }
  // From values that are `stride` apart.
  template <typename T>
  void put(std::size_t q, const T* values, std::size_t stride, double norm) {
    for (std::size_t f = 0; f * width_ < value_.size(); ++f)
      value_[f * width_ + q] = static_cast<A>(values[f * stride]);
    norm_[q] = norm;
    if (!touched_.empty()) touched_[q].clear();
  }
  // In place of 0.
  template <typename Column, typename T>
  void put_sparse(std::size_t q, const Column* column, const T* value, std::size_t count,
                  double norm) {
    touched_.resize(width_);
    touched_[q].assign(column, column + count);
    for (std::size_t k = 0; k < count; ++k) value_[column[k] * width_ + q] = value[k];
    norm_[q] = norm;
  }
  void clear();            // all queries are 0
  template <typename Use>  // use(feature, value), at least where it is not 0
  void each(std::size_t q, const Use& use) const {
    for (std::int32_t f : touched(q)) use(static_cast<std::size_t>(f), at(f, q));
    for (std::size_t f = 0; touched(q).empty() && f * width_ < value_.size(); ++f) use(f, at(f, q));
  }

 private:
  std::size_t width_;
  Wiped<A> value_;
  std::array<double, kQueries<A>> norm_{};
  std::vector<Wiped<std::int32_t>> touched_;  // none before the first sparse query
};

template <typename A>
class PointsOf {
 public:
  explicit PointsOf(std::size_t n_features) : n_features_(n_features) {}
  virtual ~PointsOf() = default;
  std::size_t size() const { return norm_.size(); }
  std::size_t n_features() const { return n_features_; }
  const A* norms() const { return norm_.data(); }  // squared
  double largest_norm() const;

  virtual void remove(std::size_t slot) = 0;
  virtual void truncate(std::size_t size) = 0;
  // As many as there is room for at most; should there be fewer, the rest are 0.
  virtual void load(std::span<const std::int64_t> slots, Queries<A>& queries) const = 0;
  // Whole panels: `from` is a multiple of kLanes, and so is the space from there on in each of the
  // rows out + q * stride, one for a query.
  virtual void compare(Base base, const Queries<A>& queries, std::size_t from, std::size_t to,
                       A* out, std::size_t stride) const = 0;
  virtual bool sparse() const = 0;
  virtual double entries() const = 0;  // of a point, about, that are not 0 if it is sparse
  virtual std::unique_ptr<PointsOf> subset(const Slots& slots) const = 0;
  // A copy in single precision, in other units and, if it is dense, from another origin.
  virtual std::unique_ptr<PointsOf<float>> single(const Slots& slots, double scale,
                                                  bool from_mean) const = 0;

 protected:
  std::size_t n_features_;
  void truncate_norms(std::size_t size);
  Wiped<A> norm_;  // grows last: without memory the points are as before
};

using Points = PointsOf<double>;

// T is the precision of what is stored.
template <typename T, typename A = double>
class DensePoints final : public PointsOf<A> {
 public:
  using PointsOf<A>::PointsOf, PointsOf<A>::size;
  void append(const T* rows, std::size_t count);
  void row(std::size_t slot, T* out) const;
  void remove(std::size_t slot) override;
  void truncate(std::size_t size) override;
  void load(std::span<const std::int64_t> slots, Queries<A>& queries) const override;
  void compare(Base base, const Queries<A>& queries, std::size_t from, std::size_t to, A* out,
               std::size_t stride) const override;
  bool sparse() const override { return false; }
  double entries() const override { return static_cast<double>(n_features_); }
  std::unique_ptr<PointsOf<A>> subset(const Slots& slots) const override {
    return copy<T, A>(slots, 1.0, false);
  }
  std::unique_ptr<PointsOf<float>> single(const Slots& slots, double scale,
                                          bool from_mean) const override {
    return copy<float, float>(slots, scale, from_mean);
  }

 private:
  using PointsOf<A>::n_features_, PointsOf<A>::norm_;
  template <typename, typename>
  friend class DensePoints;
  std::size_t at(std::size_t slot, std::size_t feature) const {
    return ((slot / kLanes) * n_features_ + feature) * kLanes + slot % kLanes;
  }
  void resize(std::size_t size);
  void measure(std::size_t first);  // the norms from there on
  // Scaled, and from their mean if so wanted.
  template <typename U, typename B>
  std::unique_ptr<PointsOf<B>> copy(const Slots& slots, double scale, bool from_mean) const;
  Wiped<T> panels_;
};

struct CsrView {
  const std::int64_t* offset;
  const std::int64_t* column;
  const double* value;
  std::size_t rows;
};

// Rows have their columns in ascending order, and so have sparse queries.
template <typename A>
class SparsePoints final : public PointsOf<A> {
 public:
  using PointsOf<A>::PointsOf, PointsOf<A>::size;
  void append(const CsrView& rows);
  std::span<const std::int32_t> columns(std::size_t slot) const {
    return {column_.data() + rows_[slot].start, rows_[slot].count};
  }
  std::span<const A> values(std::size_t slot) const {
    return {value_.data() + rows_[slot].start, rows_[slot].count};
  }
  void remove(std::size_t slot) override;
  void truncate(std::size_t size) override;
  void load(std::span<const std::int64_t> slots, Queries<A>& queries) const override;
  void compare(Base base, const Queries<A>& queries, std::size_t from, std::size_t to, A* out,
               std::size_t stride) const override;
  bool sparse() const override { return true; }
  double entries() const override {
    return static_cast<double>(entries_) / static_cast<double>(size() > 0 ? size() : 1);
  }
  std::unique_ptr<PointsOf<A>> subset(const Slots& slots) const override {
    return copy<A>(slots, 1.0);
  }
  std::unique_ptr<PointsOf<float>> single(const Slots& slots, double scale, bool) const override {
    return copy<float>(slots, scale);
  }

 private:
  using PointsOf<A>::n_features_, PointsOf<A>::norm_;
  template <typename>
  friend class SparsePoints;
  template <typename Column, typename T>
  void push(const Column* column, const T* value, std::size_t count, double scale = 1.0);
  // What one row adds up to with a query: the dot, or what it adds to the query's L1 norm.
  A row_sum(bool l1, const A* query, std::size_t slot) const;
  // Distances to [from, to), from these sums in out[j - from].
  void from_sums(Base base, const Queries<A>& queries, std::size_t q, std::size_t from,
                 std::size_t to, A* out) const;
  A sum_of_differences(Base base, const Queries<A>& queries, std::size_t q, std::size_t slot) const;
  // Without gaps.
  template <typename B>
  std::unique_ptr<SparsePoints<B>> copy(const Slots& slots, double scale) const;
  // The entries of all rows, one row after the other and mostly in the order of the slots. Rows
  // that have left make gaps of zeros, which are closed when they take up half of the room.
  Wiped<std::int32_t> column_;
  Wiped<A> value_;
  std::vector<SparseRow> rows_;
  std::size_t entries_ = 0;  // of the rows present
};

using CsrPoints = SparsePoints<double>;

}  // namespace supple
