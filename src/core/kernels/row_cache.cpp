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

}  // namespace supple
