#include "kernels/row_cache.hpp"

#include <algorithm>

namespace supple {

namespace {

constexpr std::size_t kFewest = 16;  // lines, however small the cache
constexpr std::int32_t kNever = -1, kGivenUp = -2;

}  // namespace

std::size_t RowCache::capacity(std::size_t size, std::size_t bytes) {
  return std::min(size, std::max(kFewest, bytes / (padded(size) * sizeof(float))));
}

RowCache::RowCache(std::size_t size, std::size_t bytes)
    : stride_(padded(size)),
      capacity_(capacity(size, bytes)),
      values_(capacity_ * stride_),
      line_of_(size, kNever) {}

void RowCache::fetch(const SinglePoints& points, const Positions& wanted, std::size_t threads) {
  ++clock_;
  Positions missing, lines;
  std::size_t regretted = 0;
  for (std::int32_t k : wanted) {
    const std::int32_t at = line_of_[k];
    if (at >= 0) {
      used_[at] = clock_;
      continue;
    }
    missing.push_back(k);
    regretted += at == kGivenUp;
  }
  if (missing.empty()) return;
  open_ = std::min(capacity_, std::max(open_ + regretted, wanted.size()));
  find_lines(missing.size(), lines);
  std::vector<float*> row(missing.size());
  for (std::size_t k = 0; k < missing.size(); ++k) {
    const std::size_t at = lines[k];
    if (holder_[at] >= 0) line_of_[holder_[at]] = kGivenUp;
    holder_[at] = missing[k];
    used_[at] = clock_;
    line_of_[missing[k]] = lines[k];
    row[k] = line(lines[k]);
  }
  points.rows(missing, row, threads);
}

// Unused lines first, then those that were used longest ago.
void RowCache::find_lines(std::size_t count, Positions& lines) {
  while (holder_.size() < open_ && lines.size() < count) {
    lines.push_back(holder_.size());
    holder_.push_back(-1);
    used_.push_back(clock_);
  }
  if (lines.size() == count) return;
  Positions old;
  for (std::size_t k = 0; k < holder_.size(); ++k)
    if (used_[k] != clock_) old.push_back(k);
  const auto needed = static_cast<std::ptrdiff_t>(count - lines.size());
  std::nth_element(old.begin(), old.begin() + (needed - 1), old.end(),
                   [&](std::int32_t a, std::int32_t b) { return used_[a] < used_[b]; });
  lines.insert(lines.end(), old.begin(), old.begin() + needed);
}

void RowCache::keep(const Positions& kept) {
  const std::size_t stride = padded(kept.size());
  const std::size_t capacity =
      std::min(kept.size(), capacity_ * stride_ / std::max<std::size_t>(1, stride));
  // Rows of examples that stay move to the front, shortened; those not used of late are not worth
  // the way.
  std::size_t count = 0;
  Positions holder;
  std::vector<std::uint64_t> used;
  Positions place(line_of_.size(), -1);
  for (std::size_t k = 0; k < kept.size(); ++k) place[kept[k]] = k;
  line_of_.assign(kept.size(), kNever);
  for (std::size_t k = 0; k < holder_.size() && count < capacity; ++k) {
    const std::int32_t example = holder_[k] < 0 ? -1 : place[holder_[k]];
    if (example < 0 || used_[k] < clock_) continue;
    const float* from = line(static_cast<std::int32_t>(k));
    float* to = values_.data() + count * stride;  // never beyond `from`
    for (std::size_t j = 0; j < kept.size(); ++j) to[j] = from[kept[j]];
    holder.push_back(example);
    used.push_back(used_[k]);
    line_of_[example] = count++;
  }
  holder_ = std::move(holder);
  used_ = std::move(used);
  stride_ = stride;
  capacity_ = capacity;
}

}  // namespace supple
