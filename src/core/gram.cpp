#include "gram.hpp"

#include <algorithm>
#include <cmath>

namespace supple {

namespace {

double integer_power(double base, int exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

}  // namespace

void kernel_values(const Kernel& kernel, const Points& points, const Query& query,
                   std::size_t from, std::size_t to, double* out) {
  const std::size_t n = to - from;
  if (kernel.kind == KernelKind::rbf) {
    points.distances(query, from, to, out);
    simd().exp_scaled(-kernel.gamma, out, n);
    return;
  }
  points.dots(query, from, to, out);
  if (kernel.kind == KernelKind::poly)
    for (std::size_t k = 0; k < n; ++k)
      out[k] = integer_power(kernel.gamma * out[k] + kernel.coef0, kernel.degree);
  if (kernel.kind == KernelKind::sigmoid)
    for (std::size_t k = 0; k < n; ++k) out[k] = std::tanh(kernel.gamma * out[k] + kernel.coef0);
}

const double* Gram::row(std::size_t slot) {
  constexpr std::size_t kAlwaysKept = 3;
  const std::size_t n = size();
  Entry& entry = entries_[slot];
  if (entry.cached) {
    used_.splice(used_.begin(), used_, entry.use);
  } else {
    used_.push_front(slot);
    entry.use = used_.begin();
    entry.cached = true;
    entry.valid = 0;
    entry.moves_seen = moves_.size();
  }
  follow_moves(entry);
  const std::size_t room = (n + 2 * kLanes) / kLanes * kLanes;
  if (entry.value.size() < room) {
    const std::size_t before = entry.value.size();
    entry.value.resize(entry.value.empty() ? room : room + room / 4);
    cached_bytes_ += (entry.value.size() - before) * sizeof(double);
    while (cached_bytes_ > cache_bytes_ && used_.size() > kAlwaysKept) evict(used_.back());
  }
  if (entry.valid < n) {
    const std::size_t from = entry.valid;
    compute(slot, from, n, entry.value.data() + from);
    entry.valid = n;
  }
  return entry.value.data();
}

void Gram::follow_moves(Entry& entry) {
  for (; entry.moves_seen < moves_.size(); ++entry.moves_seen) {
    const Move& move = moves_[entry.moves_seen];
    if (entry.valid > move.last)
      entry.value[move.slot] = entry.value[move.last];
    else if (entry.valid > move.slot)
      entry.valid = move.slot;  // the value at `last` was never computed: start again from here
    entry.valid = std::min(entry.valid, move.last);
  }
}

void Gram::follow_moves_everywhere() {
  for (std::size_t slot : used_) {
    follow_moves(entries_[slot]);
    entries_[slot].moves_seen = 0;
  }
  moves_.clear();
}

void Gram::evict(std::size_t slot) {
  Entry& entry = entries_[slot];
  if (!entry.cached) return;
  used_.erase(entry.use);
  cached_bytes_ -= entry.value.size() * sizeof(double);
  entry = Entry{};
}

void Gram::clear() {
  while (!used_.empty()) evict(used_.back());
  moves_.clear();
}

double Gram::largest_diagonal() const {
  if (largest_ < 0.0) {
    largest_ = 0.0;
    for (double value : diagonal_) largest_ = std::max(largest_, std::abs(value));
  }
  return largest_;
}

void Gram::appended(const double* diagonal, std::size_t count) {
  if (largest_ >= 0.0)
    for (std::size_t k = 0; k < count; ++k) largest_ = std::max(largest_, std::abs(diagonal[k]));
  diagonal_.insert(diagonal_.end(), diagonal, diagonal + count);
  entries_.resize(entries_.size() + count);
}

void Gram::removed(std::size_t slot) {
  const std::size_t last = entries_.size() - 1;
  evict(slot);
  if (std::abs(diagonal_[slot]) == largest_) largest_ = -1.0;
  moves_.push_back({slot, last});
  if (slot != last) {
    if (entries_[last].cached) *entries_[last].use = slot;
    entries_[slot] = std::move(entries_[last]);
    diagonal_[slot] = diagonal_[last];
  }
  entries_.pop_back();
  diagonal_.pop_back();
  constexpr std::size_t kManyMoves = 4096;
  if (moves_.size() > kManyMoves) follow_moves_everywhere();
}

void Gram::truncated(std::size_t size) {
  follow_moves_everywhere();
  for (std::size_t slot = size; slot < entries_.size(); ++slot) evict(slot);
  for (std::size_t other : used_) entries_[other].valid = std::min(entries_[other].valid, size);
  entries_.resize(size);
  diagonal_.resize(size);
  largest_ = -1.0;
}

void PointsGram::set_kernel(const Kernel& kernel) {
  kernel_ = kernel;
  clear();
  largest_ = -1.0;
  for (std::size_t slot = 0; slot < size(); ++slot) diagonal_[slot] = diagonal_value(slot);
}

double PointsGram::diagonal_value(std::size_t slot) {
  if (kernel_.kind == KernelKind::rbf) return 1.0;
  double buffer[2 * kLanes];
  points_->load(slot, query_);
  kernel_values(kernel_, *points_, query_, slot, slot + 1, buffer);
  return buffer[0];
}

void PointsGram::points_appended() {
  for (std::size_t slot = diagonal_.size(); slot < points_->size(); ++slot) {
    const double value = diagonal_value(slot);
    appended(&value, 1);
  }
}

void PointsGram::remove(std::size_t slot) {
  points_->remove(slot);
  removed(slot);
}

void PointsGram::truncate(std::size_t size) {
  points_->truncate(size);
  truncated(size);
}

void PointsGram::compute(std::size_t slot, std::size_t from, std::size_t to, double* out) {
  points_->load(slot, query_);
  kernel_values(kernel_, *points_, query_, from, to, out);
}

void FunctionGram::append(const double* diagonal, std::size_t count) {
  appended(diagonal, count);
  size_ += count;
}

void FunctionGram::remove(std::size_t slot) {
  removed(slot);
  --size_;
}

void FunctionGram::truncate(std::size_t size) {
  truncated(size);
  size_ = size;
}

void FunctionGram::compute(std::size_t slot, std::size_t from, std::size_t to, double* out) {
  fn_(slot, from, to, out);
}

}  // namespace supple
