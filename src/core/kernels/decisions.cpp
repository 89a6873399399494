#include "kernels/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/tiles.hpp"
#include "linalg/threads.hpp"

namespace supple {

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
  points_ = points.subset(slots);
}

void Decisions::decide(const Points& queries, std::size_t n_threads, double* out) const {
  constexpr std::int64_t kInOrder[] = {0, 1, 2, 3, 4, 5, 6, 7};
  static_assert(std::size(kInOrder) == kQueries<double>);
  std::fill_n(out, queries.size() * heads_, 0.0);
  if (points_->size() == 0) return;
  Slots which(queries.size());
  std::iota(which.begin(), which.end(), 0);
  share(n_threads, which.size(), kQueries<double>, [&](std::size_t begin, std::size_t end) {
    const auto add = [&](const Tile<double>& t) {
      double sums[kQueries<double>], *own = out + (begin + t.first) * heads_;
      for (const Block& block : blocks_) {
        const std::size_t from = std::max(block.from, t.from);
        const std::size_t to = std::min(block.to, t.from + t.length);
        if (from >= to) continue;
        const double* coef = coef_.data() + block.coef + (from - block.from);
        for (std::size_t head : block.heads) {
          simd().product_rows(t.values + (from - t.from), t.stride, kInOrder, t.count, coef,
                              to - from, sums);
          for (std::size_t q = 0; q < t.count; ++q) own[q * heads_ + head] += sums[q];
          coef += block.to - block.from;
        }
      }
    };
    for_tiles<double>(kernel_, queries, std::span(which).subspan(begin, end - begin), *points_, 0,
                      points_->size(), add);
  });
  // Products of a query whose norm overflows are not known, but all points are far from it, where
  // kernels of distances are 0.
  const double unknown = kernel_.base() == Base::dot ? std::nan("") : 0.0;
  for (std::size_t i = 0; i < queries.size(); ++i)
    if (std::isinf(queries.norms()[i])) std::fill_n(out + i * heads_, heads_, unknown);
}

}  // namespace supple
