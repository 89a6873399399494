#include "kernels/patch.hpp"

#include <algorithm>

#include "linalg/simd.hpp"

namespace supple {

namespace {

constexpr std::size_t kMost = 96;    // examples; beyond, a square costs more than it saves
constexpr std::size_t kExcess = 3;   // times as many values as were asked for

}  // namespace

void Patch::open() {
  close();
  open_ = true;
}

void Patch::close() {
  for (std::int64_t slot : slots_) place_[static_cast<std::size_t>(slot)] = -1;
  slots_.clear();
  open_ = false;
}

bool Patch::has_room(std::size_t examples) const {
  return open_ && slots_.size() + examples <= kMost;
}

bool Patch::cover(const Slots& sources, const Slots& targets) {
  if (!open_) return false;
  Slots fresh;
  for (const Slots* wanted : {&sources, &targets})
    for (std::int64_t slot : *wanted)
      if (is_new(slot)) {
        if (place_.size() <= static_cast<std::size_t>(slot))
          place_.resize(static_cast<std::size_t>(slot) + 1, -1);
        place_[static_cast<std::size_t>(slot)] =
            static_cast<std::int32_t>(slots_.size() + fresh.size());
        fresh.push_back(slot);
      }
  if (fresh.empty()) return true;
  const std::size_t now = slots_.size() + fresh.size();
  if (now > kMost || fresh.size() * now > kExcess * sources.size() * targets.size()) {
    for (std::int64_t slot : fresh) place_[static_cast<std::size_t>(slot)] = -1;
    return false;
  }
  add(fresh);
  return true;
}

void Patch::add(const Slots& fresh) {
  const std::size_t before = slots_.size();
  slots_.insert(slots_.end(), fresh.begin(), fresh.end());
  reserve(slots_.size());
  fill_(fresh, slots_, values_.data() + before * stride_, stride_);
  for (std::size_t i = 0; i < before; ++i)
    for (std::size_t j = before; j < slots_.size(); ++j)
      values_[i * stride_ + j] = values_[j * stride_ + i];
}

// Rows come in whole blocks of queries and panels.
void Patch::reserve(std::size_t count) {
  const std::size_t rows = (count + 2 * kQueries) / kQueries * kQueries;
  if (padded(count) <= stride_ && rows * stride_ <= values_.size()) return;
  const std::size_t stride = padded(count + count / 2);
  AlignedVector grown((rows + rows / 2) * stride, 0.0);
  for (std::size_t i = 0; i < count && i * stride_ < values_.size(); ++i)
    std::copy_n(values_.data() + i * stride_, stride_, grown.data() + i * stride);
  values_.swap(grown);
  stride_ = stride;
}

std::vector<double> Patch::expand(const Slots& sources, const std::vector<double>& coef,
                                  const Slots& targets) const {
  const std::size_t n = slots_.size(), rows = (n + kQueries - 1) / kQueries * kQueries;
  std::vector<double> weight(rows, 0.0), sum(n, 0.0), lost(n, 0.0), out(targets.size());
  for (std::size_t k = 0; k < sources.size(); ++k) weight[place(sources[k])] += coef[k];
  for (std::size_t i = 0; i < n; i += kQueries)
    simd().add_block(weight.data() + i, values_.data() + i * stride_, stride_, sum.data(),
                     lost.data(), n);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const std::size_t at = place(targets[k]);
    out[k] = sum[at] + lost[at];
  }
  return out;
}

void Patch::values(std::int64_t slot, const Slots& targets, double* out) const {
  const double* own = row(slot);
  for (std::size_t k = 0; k < targets.size(); ++k) out[k] = own[place(targets[k])];
}

void Patch::among(const Slots& slots, double* out, std::size_t stride) const {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const double* own = row(slots[i]);
    for (std::size_t j = i; j < slots.size(); ++j) out[i * stride + j] = own[place(slots[j])];
  }
}

}  // namespace supple
