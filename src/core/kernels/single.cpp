#include "kernels/single.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/tiles.hpp"
#include "linalg/threads.hpp"

namespace supple {

namespace {

Slots slots_of(const Positions& which) { return {which.begin(), which.end()}; }

}  // namespace

SinglePoints::SinglePoints(const Kernel& kernel, const Points& points, const Slots& slots,
                           std::atomic<std::uint64_t>& evaluations)
    : kernel_(kernel), evaluations_(evaluations) {
  int exponent;
  std::frexp(kernel.gamma, &exponent);
  const int power = kernel.base() == Base::l1_distance ? 1 : 2;  // of features in the base
  kernel_.gamma = std::ldexp(kernel.gamma, -(exponent / power * power));
  points_ = points.single(slots, std::ldexp(1.0, exponent / power), kernel.base() != Base::dot);
}

std::unique_ptr<SinglePoints> SinglePoints::subset(const Positions& kept) const {
  auto part = std::make_unique<SinglePoints>(*this);
  part->points_ = points_->subset(slots_of(kept));
  return part;
}

template <typename Use>
void SinglePoints::tiles(const Slots& which, std::size_t from, std::size_t to,
                         const Use& use) const {
  evaluations_.fetch_add(which.size() * (to - from), std::memory_order_relaxed);
  for_tiles<float>(kernel_, *points_, which, *points_, from, to, use);
}

void SinglePoints::row(std::int64_t which, Queries<float>& query, float* out) const {
  evaluations_.fetch_add(size(), std::memory_order_relaxed);
  points_->load({&which, 1}, query);
  kernel_values(kernel_, *points_, query, from_dots(kernel_, *points_, 1), 0, size(), out, 0);
}

void SinglePoints::rows(const Positions& which, const std::vector<float*>& row,
                        std::size_t threads) const {
  const Slots slots = slots_of(which);
  share(threads, size(), 16 * kLanes, [&](std::size_t from, std::size_t to) {
    tiles(slots, from, to, [&](const Tile<float>& t) {
      for (std::size_t q = 0; q < t.count; ++q)
        std::copy_n(t.row(q), t.length, row[t.first + q] + t.from);
    });
  });
}

void SinglePoints::among(float* out, std::size_t stride, std::size_t threads) const {
  constexpr std::size_t kSquare = kQueries<float>, kTile = 4 * kSquare;
  const std::size_t n = size();
  const auto fill = [&](std::size_t tile) {
    const std::size_t first = tile * kTile;
    Slots which(std::min(kTile, n - first));
    std::iota(which.begin(), which.end(), first);
    tiles(which, first, n, [&](const Tile<float>& t) {
      for (std::size_t q = 0; q < t.count; ++q)
        std::copy_n(t.row(q), t.length, out + (first + t.first + q) * stride + t.from);
    });
    // The mirror image, while the values are in the second-level cache.
    std::size_t j = first + kTile;
    for (; j + kSquare <= n; j += kSquare)
      for (std::size_t k = first; k < first + kTile; k += kSquare)
        simd().f32.transpose(out + k * stride + j, out + j * stride + k, stride);
    for (; j < n; ++j)
      for (std::size_t k = first; k < first + kTile; ++k) out[j * stride + k] = out[k * stride + j];
  };
  // Later tiles are shorter: each thread takes every so many.
  share(threads, threads, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t part = from; part < to; ++part)
      for (std::size_t tile = part; tile * kTile < n; tile += threads) fill(tile);
  });
}

void SinglePoints::add(const Positions& which, const std::vector<double>& coef, std::size_t to,
                       double* out, std::size_t threads) const {
  const Slots slots = slots_of(which);
  share(threads, to, 64 * kLanes, [&](std::size_t begin, std::size_t end) {
    tiles(slots, begin, end, [&](const Tile<float>& t) {
      tell([&] { return News{Phase::kernel, t.first, which.size()}; });
      const float* row[kQueries<float>];
      for (std::size_t q = 0; q < t.count; ++q) row[q] = t.row(q);
      simd().add_rows_single(row, coef.data() + t.first, t.count, out + t.from, t.length);
    });
  });
}

void SinglePoints::add_linear(const Positions& which, const std::vector<double>& coef,
                              double* out) const {
  for (float sum : linear_sums<float>(*points_, slots_of(which), coef, *points_)) *out++ += sum;
}

double SinglePoints::error() const {
  double reach = points_->largest_norm();
  if (kernel_.base() == Base::l1_distance) {  // from the origin
    std::vector<float> norms(padded(size()));
    const Queries<float> origin(points_->n_features(), 1);
    points_->compare(Base::l1_distance, origin, 0, size(), norms.data(), 0);
    reach = *std::ranges::max_element(norms);
  }
  // The errors of many additions mostly cancel, unless features are far from 0 and all alike, as
  // they are not for distances: the mean is taken off, or most of them are 0.
  constexpr double kFew = 0x1p-21, kPiece = kFeaturesTogether;
  const double entries = points_->entries();
  const double many = sparse() ? entries : std::min(entries, kPiece) + entries / kPiece;
  const double rounding = kernel_.base() == Base::dot ? kFew + 0x1p-25 * many
                                                      : std::max(kFew, 0x1p-24 * std::sqrt(many));
  return rounding * kernel_.form->error(kernel_, kernel_.gamma * reach);
}

}  // namespace supple
