#include "kernels/gram.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/tiles.hpp"

namespace supple {

void Gram::values(const Slots& sources, const Slots& targets, double* out) {
  for (std::int64_t source : sources) {
    const double* all = row(source);
    for (std::int64_t target : targets) *out++ = all[target];
  }
}

std::vector<double> Gram::expand(const Slots& sources, const std::vector<double>& coef,
                                 const Slots& targets) {
  std::vector<double> sum(targets.size(), 0.0), lost(targets.size(), 0.0);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    tell([&] { return News{Phase::kernel, k, sources.size()}; });
    const double* values = row(sources[k]);
    for (std::size_t i = 0; i < targets.size(); ++i)
      add_keeping(coef[k] * values[targets[i]], sum[i], lost[i]);
  }
  for (std::size_t i = 0; i < targets.size(); ++i) sum[i] += lost[i];
  return sum;
}

std::pair<std::size_t, std::size_t> Gram::closest_pair(const Slots& slots, const double* label,
                                                       const double* weight) {
  std::pair<std::size_t, std::size_t> best{0, 0};
  double least = kInf;
  for (std::size_t i = 1; i < slots.size(); ++i) {
    const double* all = row(slots[i]);
    const double own = diagonal_[slots[i]];
    for (std::size_t j = 0; j < i; ++j) {
      if (label[j] != label[i]) continue;
      const std::size_t other = slots[j];
      const double squared = std::max(own + diagonal_[other] - 2.0 * all[other], 0.0);
      const double cost = squared * (weight[i] * weight[j] / (weight[i] + weight[j]));
      if (cost < least) {
        least = cost;
        best = {j, i};
      }
    }
  }
  return best;
}

Gram::Entry& Gram::enter(std::size_t slot, std::size_t n) {
  Entry& entry = entries_[slot];
  if (entry.cached)
    used_.splice(used_.begin(), used_, entry.use);
  else
    entry = {{}, 0, true, used_.insert(used_.begin(), slot)};
  make_room(entry, n);
  return entry;
}

void Gram::make_room(Entry& entry, std::size_t n) {
  const std::size_t room = (n + 2 * kLanes) / kLanes * kLanes, before = entry.value.size();
  if (before >= room) return;
  entry.value.resize(entry.value.empty() ? room : room + room / 4);
  cached_bytes_ += (entry.value.size() - before) * sizeof(double);
}

void Gram::keep_to_budget() {
  // Rows of a few hundred examples stay whatever the budget: a solver that computes them again at
  // each step would take hundreds of times as long.
  constexpr std::size_t kAlwaysKept = 3, kLeastBytes = 1u << 21;
  const std::size_t budget = std::max(cache_bytes_, kLeastBytes);
  while (held_bytes() > budget) {
    const bool may_drop = held_.size() > 1, may_evict = used_.size() > kAlwaysKept;
    // Neither takes more than half from the other; rows that are to last stay.
    if (may_drop && (keep_all_rows || !may_evict || 2 * cached_bytes_ <= budget)) {
      let_go(*held_.front());
    } else if (may_evict && (!keep_all_rows || cached_bytes_ > budget)) {
      evict(used_.back());
    } else {
      break;
    }
  }
}

void Gram::hold(MarginBlock& block) {
  std::erase(held_, &block);
  held_.push_back(&block);
  keep_to_budget();
}

void Gram::let_go(MarginBlock& block) {
  block.clear();
  std::erase(held_, &block);
}

std::size_t Gram::held_bytes() const {
  std::size_t bytes = cached_bytes_;
  for (const MarginBlock* block : held_) bytes += block->bytes();
  return bytes;
}

const double* Gram::row(std::size_t slot) {
  const std::size_t n = size();
  Entry& entry = enter(slot, n);
  keep_to_budget();
  if (const std::size_t from = entry.valid; from < n) {
    look();
    compute(slot, from, n, entry.value.data() + from);
    count(n - from);
    entry.valid = n;
  }
  return entry.value.data();
}

void Gram::complete(std::size_t slot) {
  Entry& entry = enter(slot, slot + 1);
  compute(slot, 0, slot + 1, entry.value.data());
  count(slot + 1);
  entry.valid = slot + 1;
  for (std::size_t other : used_) {
    Entry& known = entries_[other];
    if (known.valid != slot) continue;
    make_room(known, slot + 1);
    known.value[slot] = entry.value[other];
    known.valid = slot + 1;
  }
  keep_to_budget();
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
}

double Gram::largest_diagonal() const {
  if (constant_diagonal() && size() > 0) return std::abs(diagonal_[0]);
  double largest = 0.0;
  for (double value : diagonal_) largest = std::max(largest, std::abs(value));
  return largest;
}

void Gram::appended(const double* diagonal, std::size_t count) {
  diagonal_.insert(diagonal_.end(), diagonal, diagonal + count);
  entries_.resize(entries_.size() + count);
  if (keep_all_rows)
    for (std::size_t slot = entries_.size() - count; slot < entries_.size(); ++slot) complete(slot);
}

void Gram::remove(std::size_t slot) {
  const std::size_t last = entries_.size() - 1;
  evict(slot);
  for (std::size_t other : used_) {
    Entry& entry = entries_[other];
    if (entry.valid > last)
      entry.value[slot] = entry.value[last];
    else  // what belongs there was never computed: the row goes on from here
      entry.valid = std::min(entry.valid, slot);
    entry.valid = std::min(entry.valid, last);
  }
  if (slot != last) {
    if (entries_[last].cached) *entries_[last].use = slot;
    entries_[slot] = std::move(entries_[last]);
    diagonal_[slot] = diagonal_[last];
  }
  entries_.pop_back();
  diagonal_.pop_back();
}

void Gram::truncate(std::size_t size) {
  for (std::size_t slot = size; slot < entries_.size(); ++slot) evict(slot);
  for (std::size_t other : used_) entries_[other].valid = std::min(entries_[other].valid, size);
  entries_.resize(size);
  diagonal_.resize(size);
}

void FunctionGram::compute(std::size_t slot, std::size_t from, std::size_t to, double* out) {
  if (busy_)
    throw std::runtime_error(
        "The kernel function asks for kernel values of the model that has called it. A kernel must "
        "not use the model it belongs to.");
  busy_ = true;
  const struct Done {
    bool& busy;
    ~Done() { busy = false; }
  } done{busy_};
  fn_(slot, from, to, out);
}

}  // namespace supple
