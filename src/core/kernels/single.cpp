#include "kernels/single.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/panels.hpp"
#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

namespace supple {

std::size_t SinglePoints::tile(std::size_t bytes_per_point) {
  constexpr std::size_t kTileBytes = 1u << 18;
  const std::size_t fitting = std::min<std::size_t>(512, kTileBytes / bytes_per_point);
  return std::max(kLanes, fitting / kLanes * kLanes);
}

void FloatSingle::finish(float norm, std::size_t from, std::size_t count, const float* sums,
                         float* out) const {
  const float* norms = norm_.data() + from;
  if (kernel_.form->gaussian)
    return simd().f32.rbf(static_cast<float>(kernel_.gamma), norm, norms, sums, out, count);
  if (kernel_.base() == Base::squared_distance)
    for (std::size_t k = 0; k < count; ++k)
      out[k] = std::max(norm + norms[k] - 2.0f * sums[k], 0.0f);
  else
    std::copy_n(sums, count, out);
  kernel_.form->finish_single(kernel_, out, count);
}

void FloatSingle::block(const std::int32_t* which, std::size_t count, std::size_t from,
                        std::size_t to, float* const* row) const {
  if (evaluations) evaluations->fetch_add(count * (to - from), std::memory_order_relaxed);
  const std::size_t tile = this->tile(bytes_per_point());
  const std::size_t needed = (count + kQueries<float> - 1) / kQueries<float>;
  std::vector<Pack> packs(std::min(packs_together(), needed));
  // Long pieces go to the rows: scattered writes to cold memory would cost more than the values.
  std::vector<float> values(kQueries<float> * tile);
  for (std::size_t first = 0; first < count; first += packs.size() * kQueries<float>) {
    const std::size_t last = std::min(count, first + packs.size() * kQueries<float>);
    for (std::size_t q = first; q < last; q += kQueries<float>)
      pack(which + q, std::min(kQueries<float>, last - q), packs[(q - first) / kQueries<float>]);
    for (std::size_t start = from; start < to; start += tile) {
      look();
      const std::size_t length = std::min(to, start + tile) - start;
      for (std::size_t q = first; q < last; q += kQueries<float>) {
        const Pack& queries = packs[(q - first) / kQueries<float>];
        sums(queries, start, start + length, values.data(), tile);
        for (std::size_t k = 0; k < std::min(kQueries<float>, last - q); ++k) {
          finish(queries.norm[k], start, length, values.data() + k * tile,
                 row[q + k] + (start - from));
        }
      }
    }
    for (std::size_t q = first; q < last; q += kQueries<float>)
      unpack(which + q, std::min(kQueries<float>, last - q), packs[(q - first) / kQueries<float>]);
  }
}

void SinglePoints::rows(const Positions& which, const std::vector<float*>& row,
                        std::size_t threads) const {
  constexpr std::size_t kWidth = 16 * kLanes;
  // Each thread has rows of its own, as new memory comes in pages of many rows, and of the row of
  // blocks on the border between two threads each has a part.
  const std::size_t across = (size_ + kWidth - 1) / kWidth;
  const std::size_t down = (which.size() + kQueries<float> - 1) / kQueries<float>;
  share(threads, across * down, 1, [&](std::size_t at, std::size_t end) {
    while (at < end) {
      const std::size_t first = at / across * kQueries<float>, from = at % across;
      const std::size_t whole = from == 0 ? (end - at) / across : 0;
      const std::size_t to = whole > 0 ? across : std::min(across, from + end - at);
      const std::size_t count = std::max<std::size_t>(1, whole) * kQueries<float>;
      std::vector<float*> part(row.begin() + static_cast<std::ptrdiff_t>(first),
                               row.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min(row.size(), first + count)));
      for (float*& p : part) p += from * kWidth;
      block(which.data() + first, part.size(), from * kWidth, std::min(size_, to * kWidth),
            part.data());
      at += whole > 0 ? whole * across : to - from;
    }
  });
}

void SinglePoints::among(float* out, std::size_t stride, std::size_t threads) const {
  constexpr std::size_t kTile = 4 * kQueries<float>;
  const std::size_t tiles = (size_ + kTile - 1) / kTile;
  Positions all(size_);
  std::iota(all.begin(), all.end(), 0);
  const auto fill = [&](std::size_t tile) {
    look();
    const std::size_t first = tile * kTile, count = std::min(kTile, size_ - first);
    std::vector<float*> from_here(count);
    for (std::size_t k = 0; k < count; ++k) from_here[k] = out + (first + k) * stride + first;
    block(all.data() + first, count, first, size_, from_here.data());
    // The mirror image, while the values are in the second-level cache.
    std::size_t j = first + kTile;
    for (; j + kLanes <= size_; j += kLanes)
      for (std::size_t k = first; k < first + kTile; k += kLanes)
        simd().f32.transpose(out + k * stride + j, out + j * stride + k, stride);
    for (; j < size_; ++j)
      for (std::size_t k = first; k < first + kTile; ++k)
        out[j * stride + k] = out[k * stride + j];
  };
  share_both_ends(threads, tiles, fill);
}

namespace {

constexpr std::size_t kTile = 1024;  // points that a thread takes at least

}  // namespace

void SinglePoints::add(const Positions& which, const std::vector<double>& coef, std::size_t to,
                       double* out, std::size_t threads) const {
  share(threads, to, kTile, [&](std::size_t begin, std::size_t end) {
    add_part(which, coef, begin, end, out + begin);
  });
}

void SinglePoints::add_part(const Positions& which, const std::vector<double>& coef,
                            std::size_t from, std::size_t to, double* out) const {
  constexpr std::size_t kTogether = 4 * kQueries<float>;
  std::vector<float> values(kTogether * kTile);
  std::vector<float*> row(kTogether);
  for (std::size_t k = 0; k < kTogether; ++k) row[k] = values.data() + k * kTile;
  for (std::size_t first = 0; first < which.size(); first += kTogether) {
    tell([&] { return News{Phase::kernel, first, which.size()}; });
    const std::size_t count = std::min(kTogether, which.size() - first);
    for (std::size_t start = from; start < to; start += kTile) {
      const std::size_t length = std::min(to, start + kTile) - start;
      block(which.data() + first, count, start, start + length, row.data());
      simd().add_rows_single(row.data(), coef.data() + first, count, out + (start - from), length);
    }
  }
}

double SinglePoints::error() const {
  double largest = 0.0;
  for (float norm : norm_) largest = std::max(largest, static_cast<double>(norm));
  // The errors of many additions mostly cancel, unless features are far from 0 and all alike, as
  // they are not for distances: the mean is taken off, or most of them are 0.
  const auto many = static_cast<double>(additions());
  const double rounding = kernel_.base() == Base::dot
                              ? kRounding + 0x1p-25 * many
                              : std::max(kRounding, 0x1p-24 * std::sqrt(many));
  return rounding * kernel_.form->error(kernel_, kernel_.gamma * largest);
}

DenseSingle::DenseSingle(const DenseSingle& whole, const Positions& kept)
    : FloatSingle(whole.kernel_, kept.size(), whole.n_features_),
      panels_(padded(kept.size()) * whole.n_features_, 0.0f) {
  norm_.assign(padded(size_), 0.0f);
  take_points(whole.panels_.data(), n_features_, kept.data(), kept.size(), panels_.data());
  for (std::size_t k = 0; k < kept.size(); ++k)
    norm_[k] = whole.norm_[static_cast<std::size_t>(kept[k])];
}

void DenseSingle::measure() {
  norm_.assign(padded(size_), 0.0f);
  for (std::size_t first = 0; first < size_; first += kLanes) {
    double sum[kLanes] = {};
    const float* panel = panels_.data() + first * n_features_;
    for (std::size_t f = 0; f < n_features_; ++f)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        sum[lane] += norm_of(panel[f * kLanes + lane]);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      norm_[first + lane] = static_cast<float>(sum[lane]);
  }
}

std::unique_ptr<SinglePoints> DenseSingle::subset(const Positions& kept) const {
  std::unique_ptr<SinglePoints> part(new DenseSingle(*this, kept));
  part->evaluations = evaluations;
  return part;
}

void DenseSingle::pack(const std::int32_t* which, std::size_t count, Pack& pack) const {
  pack.value.assign(n_features_ * kQueries<float>, 0.0f);
  for (std::size_t q = 0; q < count; ++q) {
    const auto k = static_cast<std::size_t>(which[q]);
    for (std::size_t f = 0; f < n_features_; ++f)
      pack.value[f * kQueries<float> + q] = panels_[at(k, f)];
    pack.norm[q] = norm_[k];
  }
}

void DenseSingle::sums(const Pack& pack, std::size_t from, std::size_t to, float* out,
                       std::size_t stride) const {
  simd().f32.compare(l1() ? Base::l1_distance : Base::dot, pack.value.data(), kQueries<float>, panels_.data() + from * n_features_, n_features_,
                      (to - from + kLanes - 1) / kLanes, out, stride);
}

bool DenseSingle::row(std::int32_t which, float* out) const {
  if (evaluations) evaluations->fetch_add(size_, std::memory_order_relaxed);
  const auto k = static_cast<std::size_t>(which);
  Wiped<float> query(n_features_);
  for (std::size_t f = 0; f < n_features_; ++f) query[f] = panels_[at(k, f)];
  for (std::size_t from = 0; from < size_; from += kRowTile) {
    const std::size_t count = std::min(kRowTile, size_ - from);
    float sums[kRowTile];
    simd().f32.compare(l1() ? Base::l1_distance : Base::dot, query.data(), 1, panels_.data() + from * n_features_, n_features_,
                        padded(count) / kLanes, sums, 0);
    finish(norm_[k], from, count, sums, out + from);
  }
  return true;
}

void DenseSingle::add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                             std::size_t to) const {
  std::vector<double> w(n_features_, 0.0), dots(padded(to));
  for (std::size_t k = 0; k < which.size(); ++k)
    for (std::size_t f = 0; f < n_features_; ++f)
      w[f] += coef[k] * static_cast<double>(panels_[at(static_cast<std::size_t>(which[k]), f)]);
  simd().compare_stored_single(Base::dot, w.data(), 1, panels_.data(), n_features_, dots.size() / kLanes,
                   dots.data(), 0);
  simd().axpy(1.0, dots.data(), out, to);
}

void CsrSingle::append(const std::int32_t* column, const double* value, std::size_t count) {
  double norm = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    column_.push_back(column[k]);
    value_.push_back(static_cast<float>(value[k] * scale_));
    norm += norm_of(value_.back());
  }
  rows_.push_back({column_.size() - count, count});
  norm_.push_back(static_cast<float>(norm));
  ++size_;
}

void CsrSingle::add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                           std::size_t to) const {
  std::vector<double> w(n_features_, 0.0);
  for (std::size_t k = 0; k < which.size(); ++k)
    entries(which[k], [&](std::size_t f, float value) {
      w[f] += coef[k] * static_cast<double>(value);
    });
  for (std::size_t k = 0; k < to; ++k) {
    double sum = 0.0;
    entries(static_cast<std::int32_t>(k), [&](std::size_t f, float value) {
      sum += w[f] * static_cast<double>(value);
    });
    out[k] += sum;
  }
}

std::unique_ptr<SinglePoints> CsrSingle::subset(const Positions& kept) const {
  auto part = std::make_unique<CsrSingle>(kernel_, n_features_);
  std::size_t entries = 0;
  for (std::int32_t k : kept) entries += rows_[static_cast<std::size_t>(k)].count;
  part->column_.reserve(entries);
  part->value_.reserve(entries);
  part->rows_.reserve(kept.size());
  part->norm_.reserve(kept.size());
  for (std::int32_t k : kept) {
    const SparseRow row = rows_[static_cast<std::size_t>(k)];
    const auto from = static_cast<std::ptrdiff_t>(row.start), to = from + static_cast<std::ptrdiff_t>(row.count);
    part->rows_.push_back({part->column_.size(), row.count});
    part->column_.insert(part->column_.end(), column_.begin() + from, column_.begin() + to);
    part->value_.insert(part->value_.end(), value_.begin() + from, value_.begin() + to);
    part->norm_.push_back(norm_[static_cast<std::size_t>(k)]);
  }
  part->size_ = kept.size();
  part->evaluations = evaluations;
  return part;
}

void CsrSingle::pack(const std::int32_t* which, std::size_t count, Pack& pack) const {
  pack.value.resize(n_features_ * kQueries<float>, 0.0f);
  for (std::size_t q = 0; q < count; ++q) {
    entries(which[q], [&](std::size_t f, float value) {
      pack.value[f * kQueries<float> + q] = value;
    });
    pack.norm[q] = norm_[static_cast<std::size_t>(which[q])];
  }
}

void CsrSingle::unpack(const std::int32_t* which, std::size_t count, Pack& pack) const {
  for (std::size_t q = 0; q < count; ++q)
    entries(which[q], [&](std::size_t f, float) { pack.value[f * kQueries<float> + q] = 0.0f; });
}

void CsrSingle::sums(const Pack& pack, std::size_t from, std::size_t to, float* out,
                     std::size_t stride) const {
  simd().f32.compare_sparse(l1(), pack.value.data(), rows_.data() + from, column_.data(),
                            value_.data(), to - from, out, stride);
  for (std::size_t q = 0; l1() && q < kQueries<float>; ++q)
    for (std::size_t k = q * stride; k < q * stride + to - from; ++k)
      out[k] = std::max(pack.norm[q] + out[k], 0.0f);
}

}  // namespace supple
