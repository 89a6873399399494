#include "kernels/bytes.hpp"
#include "linalg/watch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace supple {

namespace {

constexpr int kBytes = 255;
constexpr std::uint32_t kFlip = 0x80808080u;  // u to u - 128 and back, four at once
// Four times as large a sum of squares as there may be is a 32-bit integer.
constexpr std::size_t kMostFeatures = (1u << 29) / (kBytes * kBytes);
// Squares of such factors, times all sums that there may be, are numbers of single precision.
constexpr double kSmallestStep = 1e-15, kLargestStep = 1e12;

bool whole(double ratio) {
  const double q = std::nearbyint(ratio);
  return std::abs(ratio - q) <= kRepresented * std::abs(q);
}

// 255 where the first of some values divided by 255 has led to a neighbour of it.
double without_rounding(double per_step) {
  const double q = std::nearbyint(per_step);
  return std::abs(per_step - q) <= kExact * q ? q : per_step;
}

Multiples multiples(const double* v, std::size_t n, double per_step) {
  return byte_simd()->multiples_f64(v, n, per_step);
}
Multiples multiples(const float* v, std::size_t n, double per_step) {
  return byte_simd()->multiples_f32(v, n, per_step);
}
void convert(const double* v, std::size_t n_features, std::size_t n_panels, double per_step,
             std::int32_t shift, std::uint32_t* panels) {
  byte_simd()->convert_f64(v, n_features, n_panels, per_step, shift, panels);
}
void convert(const float* v, std::size_t n_features, std::size_t n_panels, double per_step,
             std::int32_t shift, std::uint32_t* panels) {
  byte_simd()->convert_f32(v, n_features, n_panels, per_step, shift, panels);
}

}  // namespace

// The largest factor that all values are multiples of: the first one but 0, then such parts of it
// as the others ask for. Real numbers ask for none that leaves them below 256 times the factor,
// and the second of them ends the search.
template <typename T>
bool ByteSingle::find(const T* values, std::size_t count, Integers& found) {
  std::size_t first = 0;
  while (first < count && values[first] == T(0)) ++first;
  if (first == count) return false;
  double step = std::abs(static_cast<double>(values[first]));
  for (;;) {
    if (step < kSmallestStep || step > kLargestStep) return false;
    const double per_step = without_rounding(1.0 / step);
    const Multiples all = multiples(values, count, per_step);
    if (all.count == count) {
      found = {per_step, static_cast<std::int32_t>(all.low), all.exact};
      return all.high - all.low <= kBytes;
    }
    bool finer = false;
    for (std::size_t k = all.count; k < all.count + kLanes; ++k) {
      const double ratio = std::abs(static_cast<double>(values[k])) / step;
      int parts = 1;
      while (parts <= kBytes && !whole(parts * ratio)) ++parts;
      if (parts > kBytes || parts * ratio > kBytes + 0.5) return false;
      step /= parts;
      finer |= parts > 1;
    }
    if (!finer) return false;
  }
}

template <typename T>
std::unique_ptr<ByteSingle> ByteSingle::from(const Kernel& kernel, std::size_t size,
                                             std::size_t n_features, const T* panels) {
  Integers integers;
  const bool known = kernel.base() == Base::dot || kernel.form->gaussian;
  if (!known || !byte_simd() || n_features > kMostFeatures ||
      !find(panels, padded(size) * n_features, integers))
    return nullptr;
  std::unique_ptr<ByteSingle> points(new ByteSingle(kernel, size, n_features, integers));
  convert(panels, n_features, padded(size) / kLanes, integers.per_step, integers.shift,
          points->panels_.data());
  points->measure();
  return points;
}

template std::unique_ptr<ByteSingle> ByteSingle::from(const Kernel&, std::size_t, std::size_t,
                                                      const double*);
template std::unique_ptr<ByteSingle> ByteSingle::from(const Kernel&, std::size_t, std::size_t,
                                                      const float*);

ByteSingle::ByteSingle(const Kernel& kernel, std::size_t size, std::size_t n_features,
                       const Integers& integers)
    : SinglePoints(kernel, size, n_features),
      integers_(integers),
      unit_(1.0 / (integers.per_step * integers.per_step)),
      n_fours_((n_features + 3) / 4),
      origin_(size),
      panels_(padded(size) * n_fours_),
      sum_(padded(size), 0),
      square_(padded(size), 0) {
  norm_.assign(padded(size), 0.0f);
}

void ByteSingle::measure() {
  auto rows = std::make_shared<Wiped<std::uint8_t>>(4 * n_fours_ * size_);
  std::iota(origin_.begin(), origin_.end(), 0);
  const double shift = integers_.shift, all = static_cast<double>(n_features_) * shift * shift;
  for (std::size_t k = 0; k < size_; ++k) {
    std::uint8_t* own = rows->data() + 4 * n_fours_ * k;
    const std::uint32_t* panel = panels_.data() + k / kLanes * n_fours_ * kLanes + k % kLanes;
    for (std::size_t g = 0; g < n_fours_; ++g) {
      const std::uint32_t four = panel[g * kLanes] ^ kFlip;
      std::memcpy(own + 4 * g, &four, sizeof four);
    }
    std::int32_t sum = 0, square = 0;
    for (std::size_t f = 0; f < n_features_; ++f) {
      sum += own[f];
      square += own[f] * own[f];
    }
    std::fill(own + n_features_, own + 4 * n_fours_, std::uint8_t{0});
    sum_[k] = sum;
    square_[k] = square;
    norm_[k] = static_cast<float>(unit_ * (square + 2.0 * shift * sum + all));
  }
  rows_ = std::move(rows);
}

// Distances are exact but for the factor, and exp takes off what a large one would add.
double ByteSingle::error() const {
  return integers_.exact && kernel_.form->gaussian ? kRounding : SinglePoints::error();
}

template <typename Position>
std::unique_ptr<ByteSingle> ByteSingle::part(const Position* kept, std::size_t count) const {
  std::unique_ptr<ByteSingle> part(new ByteSingle(kernel_, count, n_features_, integers_));
  part->rows_ = rows_;
  for (std::size_t k = 0; k < count; ++k) {
    const auto old = static_cast<std::size_t>(kept[k]);
    part->origin_[k] = origin_[old];
    part->sum_[k] = sum_[old];
    part->square_[k] = square_[old];
    part->norm_[k] = norm_[old];
  }
  byte_simd()->panels_from_rows(rows_->data(), part->origin_.data(), count, n_fours_,
                                part->panels_.data());
  part->evaluations = evaluations;
  return part;
}

template std::unique_ptr<ByteSingle> ByteSingle::part(const std::int32_t*, std::size_t) const;
template std::unique_ptr<ByteSingle> ByteSingle::part(const std::int64_t*, std::size_t) const;

// With u = value * per_step - shift, what the bytes v - 128 of the other examples and the shift
// take off is added at the start, but for the share of the others' sums.
std::int32_t ByteSingle::start(std::size_t k) const {
  const bool distances = kernel_.form->gaussian;  // the shift does not change them
  const std::int32_t shift = distances ? 0 : integers_.shift;
  return (128 + shift) * sum_[k] + static_cast<std::int32_t>(n_features_) * shift * shift;
}

template <typename Position>
void ByteSingle::pack(const Position* which, std::size_t count, Pack& pack) const {
  pack.value.resize(n_fours_ * kByteQueries);
  pack.used.resize(n_fours_);
  pack.n_used = 0;
  const std::uint8_t* query[kByteQueries];  // the last one again where there are fewer
  for (std::size_t q = 0; q < kByteQueries; ++q)
    query[q] = bytes(static_cast<std::size_t>(which[std::min(q, count - 1)]));
  for (std::size_t g = 0; g < n_fours_; ++g) {
    std::uint32_t* four = pack.value.data() + pack.n_used * kByteQueries;
    std::uint32_t any = 0;
    for (std::size_t q = 0; q < kByteQueries; ++q) {
      std::memcpy(four + q, query[q] + 4 * g, sizeof any);
      any |= four[q];
    }
    pack.used[pack.n_used] = static_cast<std::uint32_t>(g);
    pack.n_used += any != 0;
  }
  for (std::size_t q = 0; q < kByteQueries; ++q) {
    const auto k = static_cast<std::size_t>(which[std::min(q, count - 1)]);
    pack.start[q] = start(k);
    pack.norm[q] = square_[k];
  }
}

template void ByteSingle::pack(const std::int64_t*, std::size_t, Pack&) const;

void ByteSingle::finish(std::int32_t norm, std::size_t from, std::size_t count,
                        const std::int32_t* dots, float* out) const {
  if (kernel_.form->gaussian) {
    byte_simd()->rbf(kernel_.gamma * unit_, norm, square_.data() + from, dots, out, count);
    return;
  }
  const auto unit = static_cast<float>(unit_);
  for (std::size_t j = 0; j < count; ++j)
    out[j] = unit * static_cast<float>(dots[j] + integers_.shift * sum_[from + j]);
  kernel_.form->finish_single(kernel_, out, count);
}

bool ByteSingle::row(std::int32_t which, float* out) const {
  if (evaluations) evaluations->fetch_add(size_, std::memory_order_relaxed);
  const auto k = static_cast<std::size_t>(which);
  const std::uint8_t* own = bytes(k);
  Wiped<std::uint32_t> value(n_fours_), used(n_fours_);
  std::size_t n_used = 0;
  for (std::size_t g = 0; g < n_fours_; ++g) {
    std::memcpy(&value[n_used], own + 4 * g, sizeof(std::uint32_t));
    used[n_used] = static_cast<std::uint32_t>(g);
    n_used += value[n_used] != 0;
  }
  for (std::size_t from = 0; from < size_; from += kRowTile) {
    const std::size_t count = std::min(kRowTile, size_ - from);
    std::int32_t dots[kRowTile];
    byte_simd()->panel_dot(value.data(), used.data(), n_used, start(k),
                           panels_.data() + from * n_fours_, n_fours_, padded(count) / kLanes,
                           dots);
    finish(square_[k], from, count, dots, out + from);
  }
  return true;
}

void ByteSingle::block(const std::int32_t* which, std::size_t count, std::size_t from,
                       std::size_t to, float* const* row) const {
  if (evaluations) evaluations->fetch_add(count * (to - from), std::memory_order_relaxed);
  constexpr std::size_t kPacks = 128;  // held at once
  const std::size_t tile = this->tile(1 + 4 * n_fours_);
  std::vector<Pack> packs(std::min(kPacks, (count + kByteQueries - 1) / kByteQueries));
  std::vector<std::int32_t> dots(kByteQueries * tile);
  for (std::size_t first = 0; first < count; first += packs.size() * kByteQueries) {
    const std::size_t last = std::min(count, first + packs.size() * kByteQueries);
    for (std::size_t q = first; q < last; q += kByteQueries)
      pack(which + q, std::min(kByteQueries, last - q), packs[(q - first) / kByteQueries]);
    for (std::size_t start = from; start < to; start += tile) {
      look();
      const std::size_t length = std::min(to, start + tile) - start;
      for (std::size_t q = first; q < last; q += kByteQueries) {
        const Pack& queries = packs[(q - first) / kByteQueries];
        byte_simd()->block_dot(queries.value.data(), queries.used.data(), queries.n_used,
                               queries.start, panels_.data() + start * n_fours_, n_fours_,
                               padded(length) / kLanes, dots.data(), tile);
        for (std::size_t k = 0; k < std::min(kByteQueries, last - q); ++k)
          finish(queries.norm[k], start, length, dots.data() + k * tile,
                 row[q + k] + (start - from));
      }
    }
  }
}

void ByteSingle::block_products(const Pack& queries, std::size_t count, std::size_t from,
                                std::size_t to, double* out, std::size_t stride) const {
  const std::size_t tile = this->tile(1 + 4 * n_fours_);
  std::vector<std::int32_t> dots(kByteQueries * tile);
  for (std::size_t start = from; start < to; start += tile) {
    const std::size_t length = std::min(to, start + tile) - start;
    byte_simd()->block_dot(queries.value.data(), queries.used.data(), queries.n_used,
                           queries.start, panels_.data() + start * n_fours_, n_fours_,
                           padded(length) / kLanes, dots.data(), tile);
    for (std::size_t q = 0; q < count; ++q) {
      const std::int32_t* here = dots.data() + q * tile;
      double* to_here = out + q * stride + (start - from);
      if (kernel_.form->gaussian)
        byte_simd()->distances(unit_, queries.norm[q], square_.data() + start, here, to_here,
                               length);
      else
        for (std::size_t j = 0; j < length; ++j)
          to_here[j] = unit_ * static_cast<double>(here[j] + integers_.shift * sum_[start + j]);
    }
  }
}

// w in units of the factor, as the integers are.
void ByteSingle::add_linear(const Positions& which, const std::vector<double>& coef, double* out,
                            std::size_t to) const {
  std::vector<double> w(4 * n_fours_, 0.0);
  double total = 0.0;
  for (std::size_t k = 0; k < which.size(); ++k) {
    const double c = unit_ * coef[k];
    const std::uint8_t* own = bytes(static_cast<std::size_t>(which[k]));
    for (std::size_t f = 0; f < n_features_; ++f) w[f] += c * own[f];
    total += c;
  }
  const double shift = integers_.shift;
  double start = 0.0;
  for (std::size_t f = 0; f < n_features_; ++f) {
    w[f] += total * shift;
    start += shift * w[f];
  }
  byte_simd()->add_dot(w.data(), start, panels_.data(), n_fours_, to, out);
}

}  // namespace supple
