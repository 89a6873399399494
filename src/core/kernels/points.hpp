// The feature vectors, in the layout that makes kernel rows cheap. Slots are positions; removal
// moves the last point into the freed slot.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/single.hpp"

namespace supple {

// One point spread out densely, whatever its storage.
struct Query {
  Wiped<double> value;          // n_features entries
  Wiped<std::int64_t> touched;  // non-zero positions of a sparse query, to clear it cheaply
  double norm = 0.0;            // squared Euclidean norm
  void clear();
};

// Up to kQueries of them, packed feature by feature.
class QueryBlock {
 public:
  explicit QueryBlock(std::size_t n_features) : value_(n_features * kQueries<double>, 0.0) {}
  void put(std::size_t q, const Query& query);
  template <typename T>  // from values that stand `stride` apart feature by feature
  void put(std::size_t q, const T* values, std::size_t stride, double norm);
  void clear();  // all queries are 0
  const double* data() const { return value_.data(); }
  double norm(std::size_t q) const { return norm_[q]; }
  // Non-zero features of a sparse query.
  const Wiped<std::int64_t>& touched(std::size_t q) const { return touched_[q]; }

 private:
  Wiped<double> value_;
  Wiped<std::int64_t> touched_[kQueries<double>];
  double norm_[kQueries<double>] = {};
};

struct CsrView {
  const std::int64_t* offset;
  const std::int64_t* column;
  const double* value;
  std::size_t rows;
};

class Points {
 public:
  explicit Points(std::size_t n_features) : n_features_(n_features) {}
  virtual ~Points() = default;
  std::size_t size() const { return size_; }
  std::size_t n_features() const { return n_features_; }
  const double* norms() const { return norm_.data(); }  // squared
  double largest_norm() const { return largest_norm_; }

  virtual void remove(std::size_t slot) = 0;
  virtual void truncate(std::size_t size) = 0;
  virtual void load(std::size_t slot, Query& query) const = 0;
  // Up to kQueries of them; should there be fewer, the rest are 0.
  virtual void load_block(std::span<const std::int64_t> slots, QueryBlock& queries) const;
  // out[j - from] for j in [from, to); out has room for kLanes more on both sides of the range
  virtual void compare(Base base, const Query& query, std::size_t from, std::size_t to,
                       double* out) const = 0;
  // The same for a block of queries and whole panels: `from` is a multiple of kLanes, and so is
  // the space from there on in each of the kQueries rows out + q * stride.
  virtual void compare_block(Base base, const QueryBlock& queries, std::size_t from,
                             std::size_t to, double* out, std::size_t stride) const = 0;
  virtual double filled() const = 0;  // share of the entries that are not 0, about
  virtual std::unique_ptr<Points> subset(const std::int64_t* slots, std::size_t count) const = 0;
  virtual std::unique_ptr<SinglePoints> single(const Kernel& kernel) const = 0;
  // The same points as sparse rows, where that saves time and loses nothing; or nothing.
  virtual std::unique_ptr<Points> without_zeros(const Kernel&) const { return nullptr; }

 protected:
  std::size_t n_features_;
  std::size_t size_ = 0;
  void note_norm(double norm);  // of a new point
  void truncate_norms(std::size_t size);
  Wiped<double> norm_;
  double largest_norm_ = 0.0;
};

template <typename T>
class DensePoints final : public Points {
 public:
  using Points::Points;
  void append(const T* rows, std::size_t count);
  void row(std::size_t slot, T* out) const;
  void remove(std::size_t slot) override;
  void truncate(std::size_t size) override;
  void load(std::size_t slot, Query& query) const override;
  void load_block(std::span<const std::int64_t> slots, QueryBlock& queries) const override;
  void compare(Base base, const Query& query, std::size_t from, std::size_t to,
               double* out) const override;
  void compare_block(Base base, const QueryBlock& queries, std::size_t from, std::size_t to,
                     double* out, std::size_t stride) const override;
  std::unique_ptr<Points> subset(const std::int64_t* slots, std::size_t count) const override;
  std::unique_ptr<SinglePoints> single(const Kernel& kernel) const override;
  double filled() const override;
  std::unique_ptr<Points> without_zeros(const Kernel& kernel) const override;

 private:
  std::size_t at(std::size_t slot, std::size_t feature) const {
    return ((slot / kLanes) * n_features_ + feature) * kLanes + slot % kLanes;
  }
  template <typename Fn>
  void by_panel(Fn fn, std::size_t from, std::size_t to, double* out) const;
  Wiped<T> panels_;
};

// Rows have their columns in ascending order, and so have sparse queries.
class CsrPoints final : public Points {
 public:
  using Points::Points;
  void append(const CsrView& rows);
  void load(const CsrView& rows, std::size_t row, Query& query) const;
  std::span<const std::int32_t> columns(std::size_t slot) const {
    return {column_.data() + rows_[slot].start, rows_[slot].count};
  }
  std::span<const double> values(std::size_t slot) const {
    return {value_.data() + rows_[slot].start, rows_[slot].count};
  }
  void remove(std::size_t slot) override;
  void truncate(std::size_t size) override;
  void load(std::size_t slot, Query& query) const override;
  void compare(Base base, const Query& query, std::size_t from, std::size_t to,
               double* out) const override;
  void compare_block(Base base, const QueryBlock& queries, std::size_t from, std::size_t to,
                     double* out, std::size_t stride) const override;
  std::unique_ptr<Points> subset(const std::int64_t* slots, std::size_t count) const override;
  std::unique_ptr<SinglePoints> single(const Kernel& kernel) const override;
  double filled() const override {
    return static_cast<double>(entries_) / static_cast<double>(size_ * n_features_);
  }

 private:
  template <typename Column>
  void push(const Column* column, const double* value, std::size_t count);
  template <typename Column>
  void spread(const Column* column, const double* value, std::size_t count, Query& query) const;
  struct Sparse {  // a query
    const Wiped<std::int64_t>& touched;
    const double* value;
    std::size_t stride;
    double norm;
    double at(std::int64_t f) const { return value[static_cast<std::size_t>(f) * stride]; }
  };
  // What one row adds up to with a query: the dot, or what it adds to the query's L1 norm.
  template <bool l1>
  double row_sum(const double* query, std::size_t slot) const;
  // Distances to [from, to), from these sums in out[j - from].
  void from_sums(Base base, const Sparse& query, std::size_t from, std::size_t to,
                 double* out) const;
  double sum_of_differences(Base base, const Sparse& query, std::size_t slot) const;
  void compact();
  // The entries of all rows, one row after the other and mostly in the order of the slots. Rows
  // that have left make gaps of zeros, which are closed when they take up half of the room.
  Wiped<std::int32_t> column_;
  Wiped<double> value_;
  std::vector<SparseRow> rows_;
  std::size_t entries_ = 0;  // of the rows present
};

}  // namespace supple
