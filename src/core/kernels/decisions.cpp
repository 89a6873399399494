#include "kernels/decisions.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {

constexpr std::size_t kTile = 512;  // points whose values for a block of queries are held
static_assert(kTile % kLanes == 0);

}  // namespace

Decisions::Decisions(const Kernel& kernel, const Points& points, std::size_t heads,
                     std::span<const Terms> terms)
    : kernel_(kernel), heads_(heads) {
  Slots slots;
  for (const Terms& own : terms) {
    const std::size_t count = own.slots.size(), length = padded(count);
    if (count == 0) continue;
    blocks_.push_back({slots.size(), slots.size() + length, coef_.size(), own.heads});
    slots.insert(slots.end(), own.slots.begin(), own.slots.end());
    slots.resize(blocks_.back().to, own.slots.back());
    coef_.resize(coef_.size() + own.heads.size() * length, 0.0);
    for (std::size_t h = 0; h < own.heads.size(); ++h)
      std::copy_n(own.coef + h * count, count, coef_.data() + blocks_.back().coef + h * length);
  }
  points_ = points.subset(slots.data(), slots.size());
}

struct Decisions::Scratch {
  explicit Scratch(std::size_t n_features)
      : queries(n_features), values(kQueries<double> * kTile) {}
  Query query;
  QueryBlock queries;
  std::vector<double> values;
};

void Decisions::decide(std::size_t n_queries, const Load& load, std::size_t n_threads,
                       double* out) const {
  constexpr std::size_t kFew = 4;  // queries that are worth a block
  std::fill_n(out, n_queries * heads_, 0.0);
  if (points_->size() == 0) return;
  share(n_threads, n_queries, kQueries<double>, [&](std::size_t begin, std::size_t end) {
    Scratch scratch(points_->n_features());
    for (std::size_t first = begin; first < end;) {
      look();
      const std::size_t left = end - first, count = left < kFew ? 1 : std::min(kQueries<double>, left);
      double* own = out + first * heads_;
      if (count == 1)
        decide_one(first, load, scratch, own);
      else
        decide_block(first, count, load, scratch, own);
      first += count;
    }
  });
}

// compute(from, to) the values of one tile of points after the other; use(block, from, to, tile)
// those of points_[from:to] with the coefficients of a block, in the tile that begins at `tile`.
template <typename Compute, typename Use>
void Decisions::by_tiles(const Compute& compute, const Use& use) const {
  auto block = blocks_.begin();
  for (std::size_t from = 0; from < points_->size(); from += kTile) {
    const std::size_t to = std::min(from + kTile, points_->size());
    compute(from, to);
    for (; block != blocks_.end() && block->from < to; ++block) {
      use(*block, std::max(from, block->from), std::min(to, block->to), from);
      if (block->to > to) break;  // it goes on in the next tile
    }
  }
}

void Decisions::decide_one(std::size_t first, const Load& load, Scratch& scratch,
                           double* out) const {
  double* values = scratch.values.data();
  load(first, scratch.query);
  by_tiles(
      [&](std::size_t from, std::size_t to) {
        kernel_values(kernel_, *points_, scratch.query, from, to, values);
      },
      [&](const Block& block, std::size_t from, std::size_t to, std::size_t tile) {
        const double* coef = coef_.data() + block.coef + (from - block.from);
        for (std::size_t h = 0; h < block.heads.size(); ++h)
          out[block.heads[h]] +=
              simd().dot(values + (from - tile), coef + h * (block.to - block.from), to - from);
      });
  replace_unknown(scratch.query.norm, out);
}

void Decisions::decide_block(std::size_t first, std::size_t count, const Load& load,
                             Scratch& scratch, double* out) const {
  double* values = scratch.values.data();
  constexpr std::int64_t kInOrder[] = {0, 1, 2, 3, 4, 5, 6, 7};
  double sums[kQueries<double>];
  scratch.queries.clear();
  for (std::size_t q = 0; q < count; ++q) {
    load(first + q, scratch.query);
    scratch.queries.put(q, scratch.query);
  }
  by_tiles(
      [&](std::size_t from, std::size_t to) {
        kernel_block(kernel_, *points_, scratch.queries, from, to, values, kTile);
      },
      [&](const Block& block, std::size_t from, std::size_t to, std::size_t tile) {
        const double* coef = coef_.data() + block.coef + (from - block.from);
        for (std::size_t h = 0; h < block.heads.size(); ++h) {
          simd().product_rows(values + (from - tile), kTile, kInOrder, count,
                              coef + h * (block.to - block.from), to - from, sums);
          for (std::size_t q = 0; q < count; ++q) out[q * heads_ + block.heads[h]] += sums[q];
        }
      });
  for (std::size_t q = 0; q < count; ++q)
    replace_unknown(scratch.queries.norm(q), out + q * heads_);
}

// Products of a query whose norm overflows are not known, but all points are far from it, where
// kernels of distances are 0.
void Decisions::replace_unknown(double norm, double* out) const {
  if (!std::isinf(norm)) return;
  std::fill_n(out, heads_, kernel_.base() == Base::dot ? std::nan("") : 0.0);
}

}  // namespace supple
