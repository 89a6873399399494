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

void Decisions::decide(std::size_t n_queries, const Load& load, std::size_t n_threads,
                       double* out) const {
  constexpr std::size_t kPack = kQueries<double>, kFew = 4;  // queries that are worth a pack
  std::fill_n(out, n_queries * heads_, 0.0);
  if (points_->size() == 0) return;
  share(n_threads, n_queries, kPack, [&](std::size_t begin, std::size_t end) {
    const std::size_t rest = (end - begin) % kPack, packed = rest < kFew ? end - rest : end;
    if (begin < packed) decide_part(begin, packed, kPack, load, out);
    if (packed < end) decide_part(packed, end, 1, load, out);
  });
}

// Queries in packs of this width.
void Decisions::decide_part(std::size_t first, std::size_t last, std::size_t width,
                            const Load& load, double* out) const {
  constexpr std::int64_t kInOrder[] = {0, 1, 2, 3, 4, 5, 6, 7};
  static_assert(std::size(kInOrder) == kQueries<double>);
  Queries<double> queries(points_->n_features(), width);
  std::vector<double> values(width * kTile), sums(width);
  for (; first < last; first += width) {
    look();
    const std::size_t count = std::min(width, last - first);
    double* own = out + first * heads_;
    queries.clear();
    for (std::size_t q = 0; q < count; ++q) load(first + q, queries, q);
    for (const Block& block : blocks_)
      for (std::size_t from = block.from; from < block.to; from += kTile) {
        const std::size_t to = std::min(block.to, from + kTile);
        kernel_values(kernel_, *points_, queries, from, to, values.data(), kTile);
        const double* coef = coef_.data() + block.coef + (from - block.from);
        for (std::size_t head : block.heads) {
          simd().product_rows(values.data(), kTile, kInOrder, count, coef, to - from, sums.data());
          for (std::size_t q = 0; q < count; ++q) own[q * heads_ + head] += sums[q];
          coef += block.to - block.from;
        }
      }
    // Products of a query whose norm overflows are not known, but all points are far from it,
    // where kernels of distances are 0.
    const double unknown = kernel_.base() == Base::dot ? std::nan("") : 0.0;
    for (std::size_t q = 0; q < count; ++q)
      if (std::isinf(queries.norm(q))) std::fill_n(own + q * heads_, heads_, unknown);
  }
}

}  // namespace supple
