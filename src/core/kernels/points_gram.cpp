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
  largest_ = -1.0;
  for (std::size_t slot = 0; slot < size(); ++slot) diagonal_[slot] = diagonal_value(slot);
}

double PointsGram::diagonal_value(std::size_t slot) {
  if (constant_diagonal()) return kernel_.at(0.0);
  double buffer[2 * kLanes];
  points_->load(slot, query_);
  kernel_values(kernel_, *points_, query_, slot, slot + 1, buffer);
  count(1);
  return buffer[0];
}

void PointsGram::points_appended() {
  release();
  std::vector<double> diagonal;
  for (std::size_t slot = diagonal_.size(); slot < points_->size(); ++slot)
    diagonal.push_back(diagonal_value(slot));
  appended(diagonal.data(), diagonal.size());
}

void PointsGram::remove(std::size_t slot) {
  forget_copies();
  points_->remove(slot);
  removed(slot);
}

void PointsGram::truncate(std::size_t size) {
  forget_copies();
  points_->truncate(size);
  truncated(size);
}

namespace {

constexpr std::size_t kTile = 1024;  // points whose values for a block of queries are held

bool counts_up(const Slots& slots, std::size_t size) {
  for (std::size_t k = 0; k < slots.size(); ++k)
    if (slots[k] != static_cast<std::int64_t>(k)) return false;
  return slots.size() == size;
}

}  // namespace

PointsGram::Chosen PointsGram::choose(const Slots& slots) const {
  Chosen out;
  const bool all = counts_up(slots, size());
  if (!all) out.part = held().subset(slots.data(), slots.size());
  out.points = all ? &held() : out.part.get();
  return out;
}

void PointsGram::values(const Slots& sources, const Slots& targets, double* out) {
  // A row may be of use later; many cost less as blocks.
  const bool by_rows = sources.size() < kQueries<double> && 2 * targets.size() > size();
  Slots rest;
  std::vector<double*> row;  // of each
  for (std::size_t k = 0; k < sources.size(); ++k) {
    double* own = out + k * targets.size();
    if (lasting || by_rows || cached(static_cast<std::size_t>(sources[k]))) {
      Gram::values({sources[k]}, targets, own);
    } else {
      rest.push_back(sources[k]);
      row.push_back(own);
    }
  }
  if (rest.empty()) return;
  const Chosen chosen = choose(targets);
  QueryBlock queries(points_->n_features());
  const std::size_t width = targets.size() + 2 * kLanes;
  std::vector<double> values(kQueries<double> * width);
  for (std::size_t first = 0; first < rest.size(); first += kQueries<double>) {
    pack(rest, first, queries);
    kernel_block(kernel_, *chosen.points, queries, 0, targets.size(), values.data(), width);
    for (std::size_t q = 0; q < std::min(kQueries<double>, rest.size() - first); ++q)
      std::copy_n(values.data() + q * width, targets.size(), row[first + q]);
  }
  count(rest.size() * targets.size());
}

void PointsGram::forget_copies() {
  release();
  query_.clear();
}

const std::shared_ptr<const SinglePoints>& PointsGram::all_single() {
  if (!single_) {
    compact_ = points_->without_zeros(kernel_);
    std::unique_ptr<SinglePoints> all = held().single(kernel_);
    all->evaluations = &evaluations_;
    single_ = std::move(all);
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
  if (lasting || (sources.size() < kQueries<double> && 4 * targets.size() > size()))
    return Gram::expand(sources, coef, targets);
  if (linear()) return expand_linear(sources, coef, targets);
  const Chosen chosen = choose(targets);
  std::vector<double> sum(targets.size(), 0.0);
  share(threads, targets.size(), 4 * kLanes, [&](std::size_t begin, std::size_t end) {
    QueryBlock queries(points_->n_features());
    const std::size_t width = std::min(kTile, padded(end - begin));
    std::vector<double> values(kQueries<double> * width), lost(end - begin, 0.0);
    for (std::size_t first = 0; first < sources.size(); first += kQueries<double>) {
      pack(sources, first, queries);
      double weight[kQueries<double>] = {};
      std::copy_n(coef.data() + first, std::min(kQueries<double>, coef.size() - first), weight);
      tell([&] { return News{Phase::kernel, first, sources.size()}; });
      for (std::size_t from = begin; from < end; from += width) {
        const std::size_t length = std::min(end, from + width) - from;
        kernel_block(kernel_, *chosen.points, queries, from, from + length, values.data(), width);
        simd().add_block(weight, values.data(), width, sum.data() + from,
                         lost.data() + (from - begin), length);
      }
    }
    count(sources.size() * (end - begin));
    for (std::size_t i = begin; i < end; ++i) sum[i] += lost[i - begin];
  });
  return sum;
}

// A linear kernel needs no values: X (X_sources' coef).
std::vector<double> PointsGram::expand_linear(const Slots& sources,
                                              const std::vector<double>& coef,
                                              const Slots& targets) const {
  const std::size_t d = points_->n_features();
  std::vector<double> lost(d, 0.0);
  Query w, query;
  w.value.assign(d, 0.0);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    points_->load(static_cast<std::size_t>(sources[k]), query);
    const auto take = [&](std::size_t f) {
      add_keeping(coef[k] * query.value[f], w.value[f], lost[f]);
    };
    if (query.touched.empty())
      for (std::size_t f = 0; f < d; ++f) take(f);
    else
      for (std::int64_t f : query.touched) take(static_cast<std::size_t>(f));
  }
  for (std::size_t f = 0; f < d; ++f) w.value[f] += lost[f];
  std::unique_ptr<Points> part;
  if (!counts_up(targets, size())) part = points_->subset(targets.data(), targets.size());
  std::vector<double> out(targets.size() + 2 * kLanes);
  (part ? *part : *points_).compare(Base::dot, w, 0, targets.size(), out.data());
  out.resize(targets.size());
  return out;
}

void PointsGram::among(const Slots& slots, double* out, std::size_t stride) {
  if (lasting) return Gram::among(slots, out, stride);
  const std::size_t n = slots.size();
  const Chosen chosen = choose(slots);
  const std::size_t blocks = (n + kQueries<double> - 1) / kQueries<double>;
  // Rows in pairs from both ends, so that the triangles of all threads are alike.
  share(threads, (blocks + 1) / 2, 1, [&](std::size_t begin, std::size_t end) {
    QueryBlock queries(points_->n_features());
    const std::size_t width = n + 2 * kLanes;
    std::vector<double> values(kQueries<double> * width);
    const auto fill = [&](std::size_t first) {
      const std::size_t from = first / kLanes * kLanes;
      pack(slots, first, queries);
      kernel_block(kernel_, *chosen.points, queries, from, n, values.data(), width);
      count(std::min(kQueries<double>, n - first) * (n - from));
      for (std::size_t q = 0; q < std::min(kQueries<double>, n - first); ++q)
        std::copy(values.data() + q * width + (first + q - from),
                  values.data() + q * width + (n - from), out + (first + q) * (stride + 1));
    };
    for (std::size_t b = begin; b < end; ++b) {
      tell([&] { return News{Phase::kernel, n * (b - begin) / (end - begin), n}; });
      fill(b * kQueries<double>);
      if (blocks - 1 - b != b) fill((blocks - 1 - b) * kQueries<double>);
    }
  });
}

void PointsGram::compute(std::size_t slot, std::size_t from, std::size_t to, double* out) {
  held().load(slot, query_);
  kernel_values(kernel_, held(), query_, from, to, out);
}

}  // namespace supple
