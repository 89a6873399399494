// The kernel matrix of the stored examples: rows on demand, kept in a byte-bounded LRU cache that
// all heads share.
#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "points.hpp"

namespace supple {

enum class KernelKind { linear, rbf, poly, sigmoid };

struct Kernel {
  KernelKind kind = KernelKind::linear;
  double gamma = 1.0;
  double coef0 = 0.0;
  int degree = 3;
};

// k(query, points[from:to]) into out, which has room for kLanes entries beyond the range.
void kernel_values(const Kernel& kernel, const Points& points, const Query& query,
                   std::size_t from, std::size_t to, double* out);

class Gram {
 public:
  explicit Gram(std::size_t cache_bytes) : cache_bytes_(cache_bytes) {}
  virtual ~Gram() = default;
  virtual std::size_t size() const = 0;

  // k(x_slot, .) for all examples held. The last three rows asked for stay valid.
  const double* row(std::size_t slot);
  double diagonal(std::size_t slot) const { return diagonal_[slot]; }
  double largest_diagonal() const;  // in absolute value
  void clear();
  std::size_t cache_bytes() const { return cache_bytes_; }

 protected:
  // k(x_slot, x_j) for j in [from, to)
  virtual void compute(std::size_t slot, std::size_t from, std::size_t to, double* out) = 0;
  void appended(const double* diagonal, std::size_t count);
  void removed(std::size_t slot);     // the last example has moved to `slot`
  void truncated(std::size_t size);   // examples from `size` on are gone
  std::vector<double> diagonal_;
  mutable double largest_ = -1.0;  // of diagonal_, or negative: not known

 private:
  struct Entry {
    std::vector<double> value;
    std::size_t valid = 0;
    std::size_t moves_seen = 0;  // how many of moves_ the row has followed
    bool cached = false;
    std::list<std::size_t>::iterator use;
  };
  struct Move {
    std::size_t slot, last;  // the example at `last` has taken `slot`
  };
  void evict(std::size_t slot);
  void follow_moves(Entry& entry);
  void follow_moves_everywhere();
  std::size_t cache_bytes_;
  std::size_t cached_bytes_ = 0;
  std::vector<Entry> entries_;
  std::list<std::size_t> used_;  // most recent first
  std::vector<Move> moves_;      // rows follow when they are asked for
};

// Kernels of the core on feature vectors.
class PointsGram final : public Gram {
 public:
  PointsGram(const Kernel& kernel, std::unique_ptr<Points> points, std::size_t cache_bytes)
      : Gram(cache_bytes), kernel_(kernel), points_(std::move(points)) {}
  std::size_t size() const override { return points_->size(); }
  Points& points() { return *points_; }
  const Kernel& kernel() const { return kernel_; }
  void set_kernel(const Kernel& kernel);
  void points_appended();
  void remove(std::size_t slot);
  void truncate(std::size_t size);

 protected:
  void compute(std::size_t slot, std::size_t from, std::size_t to, double* out) override;

 private:
  double diagonal_value(std::size_t slot);
  Kernel kernel_;
  std::unique_ptr<Points> points_;
  Query query_;
};

// Rows from a function: Python callables and precomputed matrices.
class FunctionGram final : public Gram {
 public:
  // fn(slot, from, to, out)
  using RowFunction = std::function<void(std::size_t, std::size_t, std::size_t, double*)>;
  FunctionGram(RowFunction fn, std::size_t cache_bytes) : Gram(cache_bytes), fn_(std::move(fn)) {}
  std::size_t size() const override { return size_; }
  void append(const double* diagonal, std::size_t count);
  void remove(std::size_t slot);
  void truncate(std::size_t size);

 protected:
  void compute(std::size_t slot, std::size_t from, std::size_t to, double* out) override;

 private:
  RowFunction fn_;
  std::size_t size_ = 0;
};

}  // namespace supple
