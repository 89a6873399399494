// The kernel matrix of the stored examples: rows on demand, kept in a byte-bounded LRU cache that
// all heads share.
#pragma once
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/margin_block.hpp"
#include "kernels/points.hpp"
#include "kernels/single.hpp"

namespace supple {

class Gram {
 public:
  explicit Gram(std::size_t cache_bytes) : cache_bytes_(cache_bytes) {}
  virtual ~Gram() = default;
  std::size_t size() const { return diagonal_.size(); }
  virtual void remove(std::size_t slot);    // the last example takes its slot
  virtual void truncate(std::size_t size);  // examples from `size` on go

  // k(x_slot, .) for all examples held. The last three rows asked for stay valid.
  const double* row(std::size_t slot);
  bool cached(std::size_t slot) const { return entries_[slot].cached; }
  // k(x_slot, .) for some; cheaper than rows where they are few, or the sources are many, and the
  // rows are not at hand.
  virtual void values(const Slots& sources, const Slots& targets, double* out);
  double diagonal(std::size_t slot) const { return diagonal_[slot]; }
  const std::vector<double>& diagonals() const { return diagonal_; }
  double largest_diagonal() const;                          // in absolute value
  virtual bool constant_diagonal() const { return false; }  // whatever the examples are
  // Sum over k of coef[k] k(x_source[k], x_target[i]) for each target, by compensated summation:
  // at large C the terms exceed their sum by far.
  virtual std::vector<double> expand(const Slots& sources, const std::vector<double>& coef,
                                     const Slots& targets);
  // For the block solver, where `has_blocks`; else only rows are to be had.
  virtual bool has_blocks() const { return false; }
  virtual std::shared_ptr<const SinglePoints> single(const Slots&) { return nullptr; }
  virtual void release() {}  // what blocks are computed from, until it is needed again
  virtual bool linear() const { return false; }
  // The two of these examples, of one label, whose merger costs least: w1 w2 / (w1 + w2) times the
  // squared distance in feature space (Ward). Positions in `slots`, the earlier first and of equal
  // pairs the earliest; {0, 0} if no two have the same label.
  std::pair<std::size_t, std::size_t> closest_pair(const Slots& slots, const double* label,
                                                   const double* weight);
  void clear();
  // Blocks of heads share the budget of the rows. This one is in use: rows and the blocks that have
  // not been used for longest give way.
  void hold(MarginBlock& block);
  void let_go(MarginBlock& block);  // and clear it
  std::size_t held_bytes() const;
  std::size_t cache_bytes() const { return cache_bytes_; }
  std::size_t threads = 1;  // that blocks of rows may use
  double rows_asked = 0.0;  // share of its matrix that the last small head needed
  // Kernel values computed so far to learn; neither decisions nor audits from scratch count.
  std::uint64_t evaluations() const { return evaluations_.load(std::memory_order_relaxed); }
  void set_evaluations(std::uint64_t number) { evaluations_ = number; }
  // Readers that need kernel values use the cache and the count one after the other. A kernel
  // written in Python may ask again within.
  std::recursive_mutex audits;
  // Every value is computed once, when the later of its two examples arrives, and read from then
  // on. For few examples: the cache must have room for all rows. Set before the first one comes.
  bool keep_all_rows = false;

 protected:
  void count(std::size_t evaluated) const {  // blocks are computed by several threads
    evaluations_.fetch_add(evaluated, std::memory_order_relaxed);
  }
  // k(x_slot, x_j) for j in [from, to)
  virtual void compute(std::size_t slot, std::size_t from, std::size_t to, double* out) = 0;
  void appended(const double* diagonal, std::size_t count);
  std::vector<double> diagonal_;
  mutable std::atomic<std::uint64_t> evaluations_ = 0;

 private:
  struct Entry {
    Wiped<double> value;
    std::size_t valid = 0;
    bool cached = false;
    std::list<std::size_t>::iterator use;
  };
  // Into the cache, or to the front of it, with room for so many values.
  Entry& enter(std::size_t slot, std::size_t n);
  void make_room(Entry& entry, std::size_t n);
  void keep_to_budget();
  void complete(std::size_t slot);  // the row and the column of the newest example
  void evict(std::size_t slot);
  std::size_t cache_bytes_;
  std::size_t cached_bytes_ = 0;
  std::vector<MarginBlock*> held_;  // most recent last
  std::vector<Entry> entries_;
  std::list<std::size_t> used_;  // most recent first
};

// Kernels of the core on feature vectors.
class PointsGram final : public Gram {
 public:
  PointsGram(const Kernel& kernel, std::unique_ptr<Points> points, std::size_t cache_bytes)
      : Gram(cache_bytes),
        kernel_(kernel),
        points_(std::move(points)),
        query_(points_->n_features(), 1) {}
  Points& points() { return *points_; }
  const Kernel& kernel() const { return kernel_; }
  void values(const Slots& sources, const Slots& targets, double* out) override;
  std::vector<double> expand(const Slots& sources, const std::vector<double>& coef,
                             const Slots& targets) override;
  bool has_blocks() const override { return !keep_all_rows; }
  std::shared_ptr<const SinglePoints> single(const Slots& slots) override;
  void release() override {
    held_.reset();
    query_.clear();
  }
  bool linear() const override { return kernel_.form->linear; }
  bool constant_diagonal() const override { return kernel_.base() != Base::dot; }
  void set_kernel(const Kernel& kernel);
  void points_appended();
  void remove(std::size_t slot) override;
  void truncate(std::size_t size) override;

 protected:
  void compute(std::size_t slot, std::size_t from, std::size_t to, double* out) override;

 private:
  const Points& held() const { return held_ ? *held_ : *points_; }
  double diagonal_value(std::size_t slot);
  // Some examples, copied unless they are all, to be met by packs of others.
  std::shared_ptr<const Points> choose(const Slots& slots) const;
  template <typename Use>
  void for_blocks(const Slots& sources, const Slots& targets, const Use& use);
  Kernel kernel_;
  std::shared_ptr<Points> points_;
  std::shared_ptr<const Points> held_;  // while heads are solved: without their zeros, if many
  Queries<double> query_;
};

// Rows from a function: Python callables and precomputed matrices.
class FunctionGram final : public Gram {
 public:
  // fn(slot, from, to, out)
  using RowFunction = std::function<void(std::size_t, std::size_t, std::size_t, double*)>;
  FunctionGram(RowFunction fn, std::size_t cache_bytes) : Gram(cache_bytes), fn_(std::move(fn)) {}
  void append(const double* diagonal, std::size_t number) {
    count(number);
    appended(diagonal, number);
  }

 protected:
  void compute(std::size_t slot, std::size_t from, std::size_t to, double* out) override;

 private:
  RowFunction fn_;
  bool busy_ = false;  // with fn_
};

}  // namespace supple
