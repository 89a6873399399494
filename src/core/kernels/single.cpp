#include "kernels/single.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

namespace supple {

SinglePoints::SinglePoints(const Kernel& kernel, const Points& points,
                           std::atomic<std::uint64_t>& evaluations)
    : kernel_(kernel), evaluations_(evaluations) {
  int exponent;
  std::frexp(kernel.gamma, &exponent);
  const int power = kernel.base() == Base::l1_distance ? 1 : 2;  // of features in the base
  kernel_.gamma = std::ldexp(kernel.gamma, -(exponent / power * power));
  points_ = points.single(std::ldexp(1.0, exponent / power), kernel.base() != Base::dot);
}

SinglePoints::SinglePoints(const SinglePoints& whole, const Positions& kept)
    : kernel_(whole.kernel_), evaluations_(whole.evaluations_) {
  const std::vector<std::int64_t> slots(kept.begin(), kept.end());
  points_ = whole.points_->subset(slots.data(), slots.size());
}

std::unique_ptr<SinglePoints> SinglePoints::subset(const Positions& kept) const {
  return std::unique_ptr<SinglePoints>(new SinglePoints(*this, kept));
}

void SinglePoints::finish(double norm, std::size_t from, std::size_t count, const float* base,
                          float* out) const {
  const float own = static_cast<float>(norm), *norms = points_->norms() + from;
  if (kernel_.form->gaussian)
    return simd().f32.rbf(static_cast<float>(kernel_.gamma), own, norms, base, out, count);
  if (kernel_.base() == Base::squared_distance)
    for (std::size_t k = 0; k < count; ++k)
      out[k] = std::max(own + norms[k] - 2.0f * base[k], 0.0f);
  else
    std::copy_n(base, count, out);
  kernel_.form->finish_single(kernel_, out, count);
}

void SinglePoints::block(const std::int32_t* which, std::size_t count, std::size_t from,
                         std::size_t to, float* const* row) const {
  evaluations_.fetch_add(count * (to - from), std::memory_order_relaxed);
  const std::size_t width = count == 1 ? 1 : kQueries<float>;
  Pack pack(points_->n_features(), width);
  // Long pieces go to the rows: scattered writes to cold memory would cost more than the values.
  constexpr std::size_t kTile = 512;
  std::vector<float> values(width * kTile);
  for (std::size_t first = 0; first < count; first += width) {
    std::array<std::int64_t, kQueries<float>> slots;
    const std::size_t here = std::min(width, count - first);
    std::copy_n(which + first, here, slots.begin());
    points_->load({slots.data(), here}, pack);
    for (std::size_t start = from; start < to; start += kTile) {
      look();
      const std::size_t length = std::min(to, start + kTile) - start;
      points_->compare(base(), pack, start, start + length, values.data(), kTile);
      for (std::size_t q = 0; q < here; ++q)
        finish(pack.norm(q), start, length, values.data() + q * kTile,
               row[first + q] + (start - from));
    }
  }
}

void SinglePoints::row(std::int64_t which, Queries<float>& query, float* out) const {
  evaluations_.fetch_add(size(), std::memory_order_relaxed);
  points_->load({&which, 1}, query);
  points_->compare(base(), query, 0, size(), out, 0);
  finish(query.norm(0), 0, size(), out, out);
}

void SinglePoints::rows(const Positions& which, const std::vector<float*>& row,
                        std::size_t threads) const {
  share(threads, size(), 16 * kLanes, [&](std::size_t from, std::size_t to) {
    std::vector<float*> part = row;
    for (float*& p : part) p += from;
    block(which.data(), which.size(), from, to, part.data());
  });
}

void SinglePoints::among(float* out, std::size_t stride, std::size_t threads) const {
  constexpr std::size_t kSquare = kQueries<float>, kTile = 4 * kSquare;
  const std::size_t n = size();
  Positions all(n);
  std::iota(all.begin(), all.end(), 0);
  const auto fill = [&](std::size_t tile) {
    look();
    const std::size_t first = tile * kTile, count = std::min(kTile, n - first);
    std::vector<float*> from_here(count);
    for (std::size_t k = 0; k < count; ++k) from_here[k] = out + (first + k) * stride + first;
    block(all.data() + first, count, first, n, from_here.data());
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
  constexpr std::size_t kTile = 1024, kTogether = 4 * kQueries<float>;
  share(threads, to, kTile, [&](std::size_t begin, std::size_t end) {
    std::vector<float> values(kTogether * kTile);
    std::vector<float*> row(kTogether);
    for (std::size_t k = 0; k < kTogether; ++k) row[k] = values.data() + k * kTile;
    for (std::size_t first = 0; first < which.size(); first += kTogether) {
      tell([&] { return News{Phase::kernel, first, which.size()}; });
      const std::size_t count = std::min(kTogether, which.size() - first);
      for (std::size_t start = begin; start < end; start += kTile) {
        const std::size_t length = std::min(end, start + kTile) - start;
        block(which.data() + first, count, start, start + length, row.data());
        simd().add_rows_single(row.data(), coef.data() + first, count, out + start, length);
      }
    }
  });
}

void SinglePoints::add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                              std::size_t to) const {
  Pack query(points_->n_features(), 1);
  std::vector<double> w(points_->n_features(), 0.0);
  for (std::size_t k = 0; k < which.size(); ++k) {
    const std::int64_t slot = which[k];
    points_->load({&slot, 1}, query);
    query.each(0, [&](std::size_t f, double value) { w[f] += coef[k] * value; });
  }
  query.put(0, w.data(), 1, 0.0);
  std::vector<float> dots(padded(to));
  points_->compare(Base::dot, query, 0, to, dots.data(), 0);
  for (std::size_t j = 0; j < to; ++j) out[j] += static_cast<double>(dots[j]);
}

double SinglePoints::error() const {
  double reach = points_->largest_norm();
  if (base() == Base::l1_distance) {  // from the origin
    std::vector<float> norms(padded(size()));
    points_->compare(base(), Pack(points_->n_features(), 1), 0, size(), norms.data(), 0);
    reach = *std::max_element(norms.begin(), norms.end());
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
