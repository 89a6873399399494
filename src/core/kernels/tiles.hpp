// Kernel values of some points with others, in either precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/points.hpp"
#include "linalg/watch.hpp"

namespace supple {

// Whether squared distances are made of dots: it halves the work of a pack. This loses gamma |x|^2
// roundings, too much in double precision when these are many; and where all values are nearly 1,
// the distances themselves matter.
template <typename A>
bool from_dots(const Kernel& kernel, const PointsOf<A>& points, std::size_t width) {
  constexpr double kNearlyOne = 1e-4, kHarmless = 16.0;
  if (kernel.base() != Base::squared_distance || std::is_same_v<A, float>)
    return kernel.base() == Base::squared_distance;
  if (width == 1 || !kernel.form->gaussian) return false;
  const double longest = kernel.gamma * points.largest_norm();
  return kNearlyOne <= longest && longest <= kHarmless;
}

// k(query q, points[from:to]) into out[q * stride + j - from], whole panels (see Points).
template <typename A>
void kernel_values(const Kernel& kernel, const PointsOf<A>& points, const Queries<A>& queries,
                   bool dots, std::size_t from, std::size_t to, A* out, std::size_t stride) {
  points.compare(dots ? Base::dot : kernel.base(), queries, from, to, out, stride);
  for (std::size_t q = 0; q < queries.width(); ++q, out += stride) {
    if (dots) simd_of<A>().to_distances(queries.norm(q), points.norms() + from, out, to - from);
    kernel.finish(out, to - from);
  }
}

// Values of `count` sources from `first` on with `length` targets from `from` on.
template <typename A>
struct Tile {
  std::size_t first, count, from, length, stride;
  const A* values;
  const A* row(std::size_t q) const { return values + q * stride; }  // of source first + q
};

// use(tile) for the values of sources[which] with targets[from:to]: packs of sources against as
// many targets as a near cache has room for. `from` is a multiple of kLanes. All kQueries<A> rows
// of a tile may be read; those that no source has are of no use.
template <typename A, typename Use>
void for_tiles(const Kernel& kernel, const PointsOf<A>& sources,
               std::span<const std::int64_t> which, const PointsOf<A>& targets, std::size_t from,
               std::size_t to, const Use& use) {
  constexpr std::size_t kTile = 512, kFew = 4;  // sources that are worth a pack
  const std::size_t stride = std::min(kTile, padded(to - from)), n = which.size();
  const auto run = [&](std::size_t first, std::size_t last, std::size_t width) {
    const bool dots = from_dots(kernel, targets, width);
    Queries<A> queries(targets.n_features(), width);
    std::vector<A> values(width * stride);
    for (; first < last; first += width) {
      const std::size_t count = std::min(width, last - first);
      sources.load(which.subspan(first, count), queries);
      for (std::size_t start = from; start < to; start += stride) {
        look();
        const std::size_t length = std::min(to - start, stride);
        kernel_values(kernel, targets, queries, dots, start, start + length, values.data(), stride);
        use(Tile<A>{first, count, start, length, width == 1 ? 0 : stride, values.data()});
      }
    }
  };
  const std::size_t rest = n % kQueries<A>, packed = rest < kFew ? n - rest : n;
  if (packed > 0) run(0, packed, kQueries<A>);
  if (packed < n) run(packed, n, 1);
}

// Neumaier's sum: what `sum` loses is kept in `lost`.
inline void add_keeping(double term, double& sum, double& lost) {
  const double next = sum + term;
  lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
  sum = next;
}

// Sums of values of a linear kernel, which need none: targets (sources[which]' coef).
template <typename A>
std::vector<A> linear_sums(const PointsOf<A>& sources, std::span<const std::int64_t> which,
                           const std::vector<double>& coef, const PointsOf<A>& targets) {
  const std::size_t d = sources.n_features();
  Wiped<double> w(d, 0.0), lost(d, 0.0);
  Queries<A> query(d, 1);
  for (std::size_t k = 0; k < which.size(); ++k) {
    sources.load(which.subspan(k, 1), query);
    query.each(0, [&](std::size_t f, double v) { add_keeping(coef[k] * v, w[f], lost[f]); });
  }
  for (std::size_t f = 0; f < d; ++f) w[f] += lost[f];
  query.put(0, w.data(), 1, 0.0);
  std::vector<A> out(padded(targets.size()));
  targets.compare(Base::dot, query, 0, targets.size(), out.data(), 0);
  out.resize(targets.size());
  return out;
}

}  // namespace supple
