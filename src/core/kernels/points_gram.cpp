// The kernel matrix of points that the core holds itself: blocks of values at a time.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/gram.hpp"
#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

namespace supple {

void PointsGram::set_kernel(const Kernel& kernel) {
  kernel_ = kernel;
  release();
  clear();
  for (std::size_t slot = 0; slot < size(); ++slot) diagonal_[slot] = diagonal_value(slot);
}

double PointsGram::diagonal_value(std::size_t slot) {
  if (constant_diagonal()) return kernel_.at(0.0);
  double value[2 * kLanes];
  compute(slot, slot, slot + 1, value);
  count(1);
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

constexpr std::size_t kTile = 1024;  // points whose values for a block of queries are held

bool counts_up(const Slots& slots, std::size_t size) {
  for (std::size_t k = 0; k < slots.size(); ++k)
    if (slots[k] != static_cast<std::int64_t>(k)) return false;
  return slots.size() == size;
}

// The same points as sparse rows where they are mostly zeros (images, counts), or nothing: to skip
// these saves more than whole vectors gain, provided that values can do without the mean taken off.
std::unique_ptr<Points> without_zeros(const Kernel& kernel, const Points& points) {
  constexpr double kSparse = 0.3, kHarmless = 16.0;
  constexpr std::size_t kEnough = 64;  // points to look at before it gives up
  const auto d = static_cast<double>(points.n_features());
  const double longest = points.largest_norm();  // and no L1 norm exceeds the root of d times this
  const double reach = kernel.base() == Base::l1_distance ? std::sqrt(d * longest) : longest;
  const bool rounds = kernel.base() != Base::dot && kernel.gamma * reach > kHarmless;
  if (rounds || points.sparse()) return nullptr;
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
    if (known && sparse->entries() >= kSparse * d) return nullptr;
  }
  return sparse;
}

}  // namespace

std::shared_ptr<const Points> PointsGram::choose(const Slots& slots) const {
  if (counts_up(slots, size())) return {std::shared_ptr<const Points>(), &held()};
  return held().subset(slots.data(), slots.size());
}

// Values of some sources with some targets, use(block, values, stride), in threads that share the
// targets.
template <typename Use>
void PointsGram::for_blocks(const Slots& sources, const Slots& targets, const Use& use) {
  const std::shared_ptr<const Points> chosen = choose(targets);
  share(threads, targets.size(), 4 * kLanes, [&](std::size_t begin, std::size_t end) {
    Queries<double> queries(points_->n_features(), kQueries<double>);
    const std::size_t width = std::min(kTile, padded(end - begin));
    std::vector<double> values(kQueries<double> * width);
    for (std::size_t first = 0; first < sources.size(); first += kQueries<double>) {
      const std::size_t here = std::min(sources.size() - first, kQueries<double>);
      held().load({sources.data() + first, here}, queries);
      tell([&] { return News{Phase::kernel, first, sources.size()}; });
      for (std::size_t from = begin; from < end; from += width) {
        const std::size_t length = std::min(end, from + width) - from;
        kernel_values(kernel_, *chosen, queries, from, from + length, values.data(), width);
        use(Block{first, here, from, length}, values.data(), width);
      }
    }
  });
  count(sources.size() * targets.size());
}

void PointsGram::values(const Slots& sources, const Slots& targets, double* out) {
  // A row may be of use later; many cost less as blocks.
  const bool few = sources.size() < kQueries<double> && 2 * targets.size() > size();
  const auto at_hand = [&](std::int64_t slot) { return cached(static_cast<std::size_t>(slot)); };
  if (keep_all_rows || few || std::ranges::all_of(sources, at_hand))
    return Gram::values(sources, targets, out);
  for_blocks(sources, targets, [&](const Block& b, const double* block, std::size_t stride) {
    for (std::size_t q = 0; q < b.count; ++q)
      std::copy_n(block + q * stride, b.length, out + (b.first + q) * targets.size() + b.from);
  });
}

const std::shared_ptr<const SinglePoints>& PointsGram::all_single() {
  if (!single_) {
    compact_ = without_zeros(kernel_, *points_);
    single_ = std::make_shared<SinglePoints>(kernel_, held(), evaluations_);
  }
  return single_;
}

std::shared_ptr<const SinglePoints> PointsGram::single(const Slots& slots) {
  if (counts_up(slots, size())) return all_single();
  return all_single()->subset(Positions(slots.begin(), slots.end()));
}

std::vector<double> PointsGram::expand(const Slots& sources, const std::vector<double>& coef,
                                       const Slots& targets) {
  // A few rows may be at hand, or of use later; all of a row for few targets is not.
  if (keep_all_rows || (sources.size() < kQueries<double> && 4 * targets.size() > size()))
    return Gram::expand(sources, coef, targets);
  if (linear()) return expand_linear(sources, coef, targets);
  std::vector<double> sum(targets.size(), 0.0), lost(targets.size(), 0.0);
  for_blocks(sources, targets, [&](const Block& b, const double* block, std::size_t stride) {
    double weight[kQueries<double>] = {};
    std::copy_n(coef.data() + b.first, b.count, weight);
    simd().add_block(weight, block, stride, sum.data() + b.from, lost.data() + b.from, b.length);
  });
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += lost[i];
  return sum;
}

// A linear kernel needs no values: X (X_sources' coef).
std::vector<double> PointsGram::expand_linear(const Slots& sources, const std::vector<double>& coef,
                                              const Slots& targets) const {
  const std::size_t d = points_->n_features();
  Wiped<double> w(d, 0.0), lost(d, 0.0);
  Queries<double> query(d, 1);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    held().load({&sources[k], 1}, query);
    query.each(0, [&](std::size_t f, double v) { add_keeping(coef[k] * v, w[f], lost[f]); });
  }
  for (std::size_t f = 0; f < d; ++f) w[f] += lost[f];
  query.put(0, w.data(), 1, 0.0);
  std::vector<double> out(padded(targets.size()));
  choose(targets)->compare(Base::dot, query, 0, targets.size(), out.data(), 0);
  out.resize(targets.size());
  return out;
}

void PointsGram::compute(std::size_t slot, std::size_t from, std::size_t to, double* out) {
  const auto own = static_cast<std::int64_t>(slot);
  held().load({&own, 1}, query_);
  const std::size_t start = from / kLanes * kLanes;
  if (start == from) return kernel_values(kernel_, held(), query_, from, to, out);
  std::vector<double> panels(padded(to - start));
  kernel_values(kernel_, held(), query_, start, to, panels.data());
  std::copy_n(panels.data() + (from - start), to - from, out);
}

}  // namespace supple
