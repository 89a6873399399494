// The kernel matrix of points that the core holds itself: blocks of values at a time.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/gram.hpp"
#include "kernels/tiles.hpp"
#include "linalg/threads.hpp"

namespace supple {

void PointsGram::set_kernel(const Kernel& kernel) {
  kernel_ = kernel;
  release();
  clear();
  for (std::size_t slot = 0; slot < size(); ++slot) diagonal_[slot] = diagonal_value(slot);
}

double PointsGram::diagonal_value(std::size_t slot) {
  double value[2 * kLanes] = {};
  if (constant_diagonal()) {
    kernel_.finish(value, 1);
  } else {
    compute(slot, slot, slot + 1, value);
    count(1);
  }
  return value[0];
}

void PointsGram::points_appended() {
  release();
  std::vector<double> diagonal;
  for (std::size_t slot = diagonal_.size(); slot < points_->size(); ++slot)
    diagonal.push_back(diagonal_value(slot));
  appended(diagonal.data(), diagonal.size());
}

void PointsGram::remove(std::size_t slot) {
  release();
  points_->remove(slot);
  Gram::remove(slot);
}

void PointsGram::truncate(std::size_t size) {
  release();
  points_->truncate(size);
  Gram::truncate(size);
}

namespace {

// The same points, as sparse rows where they are mostly zeros (images, counts): to skip these saves
// more than whole vectors gain, provided that values can do without the mean taken off.
std::shared_ptr<const Points> without_zeros(const Kernel& kernel,
                                            const std::shared_ptr<const Points>& all) {
  const Points& points = *all;
  constexpr double kSparse = 0.3, kHarmless = 16.0;
  constexpr std::size_t kEnough = 64;  // points to look at before it gives up
  const auto d = static_cast<double>(points.n_features());
  const double longest = points.largest_norm();  // and no L1 norm exceeds the root of d times this
  const double reach = kernel.base() == Base::l1_distance ? std::sqrt(d * longest) : longest;
  const bool rounds = kernel.base() != Base::dot && kernel.gamma * reach > kHarmless;
  if (rounds || points.sparse()) return all;
  auto sparse = std::make_unique<CsrPoints>(points.n_features());
  Queries<double> query(points.n_features(), 1);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto slot = static_cast<std::int64_t>(k);
    Wiped<std::int64_t> column;
    Wiped<double> value;
    points.load({&slot, 1}, query);
    query.each(0, [&](std::size_t f, double v) {
      if (v == 0.0) return;
      column.push_back(static_cast<std::int64_t>(f));
      value.push_back(v);
    });
    const std::int64_t offset[] = {0, static_cast<std::int64_t>(column.size())};
    sparse->append({offset, column.data(), value.data(), 1});
    const bool known = k >= kEnough || k + 1 == points.size();
    if (known && sparse->entries() >= kSparse * d) return all;
  }
  return sparse;
}

}  // namespace

std::shared_ptr<const Points> PointsGram::choose(const Slots& slots) const {
  bool all = slots.size() == size();
  for (std::size_t k = 0; k < slots.size(); ++k) all &= slots[k] == static_cast<std::int64_t>(k);
  if (all) return {std::shared_ptr<const Points>(), &held()};
  return held().subset(slots);
}

// Values of some sources with some targets, in threads that share the targets.
template <typename Use>
void PointsGram::for_blocks(const Slots& sources, const Slots& targets, const Use& use) {
  const std::shared_ptr<const Points> chosen = choose(targets);
  share(threads, targets.size(), 4 * kLanes, [&](std::size_t begin, std::size_t end) {
    for_tiles<double>(kernel_, held(), sources, *chosen, begin, end, [&](const Tile<double>& t) {
      tell([&] { return News{Phase::kernel, t.first, sources.size()}; });
      use(t);
    });
  });
  count(sources.size() * targets.size());
}

void PointsGram::values(const Slots& sources, const Slots& targets, double* out) {
  // A row may be of use later; many cost less as blocks.
  const bool few = sources.size() < kQueries<double> && 2 * targets.size() > size();
  const auto at_hand = [&](std::int64_t slot) { return cached(static_cast<std::size_t>(slot)); };
  if (keep_all_rows || few || std::ranges::all_of(sources, at_hand))
    return Gram::values(sources, targets, out);
  for_blocks(sources, targets, [&](const Tile<double>& t) {
    for (std::size_t q = 0; q < t.count; ++q)
      std::copy_n(t.row(q), t.length, out + (t.first + q) * targets.size() + t.from);
  });
}

std::shared_ptr<const SinglePoints> PointsGram::single(const Slots& slots) {
  if (!held_) held_ = without_zeros(kernel_, points_);
  return std::make_shared<SinglePoints>(kernel_, *held_, slots, evaluations_);
}

std::vector<double> PointsGram::expand(const Slots& sources, const std::vector<double>& coef,
                                       const Slots& targets) {
  // A few rows may be at hand, or of use later; all of a row for few targets is not.
  if (keep_all_rows || (sources.size() < kQueries<double> && 4 * targets.size() > size()))
    return Gram::expand(sources, coef, targets);
  if (linear()) return linear_sums(held(), sources, coef, *choose(targets));
  std::vector<double> sum(targets.size(), 0.0), lost(targets.size(), 0.0);
  for_blocks(sources, targets, [&](const Tile<double>& t) {
    double weight[kQueries<double>] = {};
    std::copy_n(coef.data() + t.first, t.count, weight);
    simd().add_block(weight, t.values, t.stride, sum.data() + t.from, lost.data() + t.from,
                     t.length);
  });
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += lost[i];
  return sum;
}

void PointsGram::compute(std::size_t slot, std::size_t from, std::size_t to, double* out) {
  const auto own = static_cast<std::int64_t>(slot);
  held().load({&own, 1}, query_);
  const std::size_t start = from / kLanes * kLanes;
  std::vector<double> panels(start == from ? 0 : padded(to - start));
  double* values = start == from ? out : panels.data();
  kernel_values(kernel_, held(), query_, false, start, to, values, 0);
  if (start != from) std::copy_n(values + (from - start), to - from, out);
}

}  // namespace supple
