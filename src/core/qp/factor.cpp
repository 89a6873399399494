#include "qp/factor.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "linalg/simd.hpp"
#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {
// A Schur complement below this share of the diagonal, times the size of the factor, is lost in
// rounding.
constexpr double kDependent = 8.0 * kEps;
}  // namespace

void Factor::clear() {
  variables_.clear();
  groups_.clear();
  for (auto& v : v_) v.clear();
}

void Factor::reserve(std::size_t count) {
  if (count <= stride_) return;
  const std::size_t stride = (count + count / 8 + 16) / 8 * 8;
  AlignedVector grown(stride * stride);
  for (std::size_t i = 0; i < size(); ++i)
    std::copy(row(i) + i, row(i) + size(), grown.data() + i * stride + i);
  upper_.swap(grown);
  stride_ = stride;
}

bool Factor::append(std::span<const Entry> entries, const double* columns, std::size_t threads) {
  const std::size_t n = size(), stride = n + entries.size();
  work_.assign(columns, columns + entries.size() * stride);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    double* w = work_.data() + e * stride;
    for (std::size_t k = 0; k < n; ++k) w[k] += groups_[k] == entries[e].group ? sigma_ : 0.0;
    for (std::size_t k = 0; k <= e; ++k)
      w[n + k] += entries[k].group == entries[e].group ? sigma_ : 0.0;
  }
  constexpr std::size_t kFewest = 8;  // for a thread
  share(threads, entries.size(), kFewest, [&](std::size_t from, std::size_t to) {
    look();
    simd().solve_transposed(upper_.data(), stride_, n, work_.data() + from * stride, stride,
                            to - from);
  });
  reserve(stride);
  std::size_t appended = 0;
  for (; appended < entries.size(); ++appended) {
    const std::size_t e = appended, last = n + e;
    double* w = work_.data() + e * stride;
    for (std::size_t i = n; i < last; ++i)  // the rows that have just been appended
      w[i] = (w[i] - simd().dot(work_.data() + (i - n) * stride, w, i)) / row(i)[i];
    const double shifted = w[last];
    const double pivot = shifted - simd().dot(w, w, last);
    // Also for a kernel that is not positive semi-definite, whatever the sign of the diagonal.
    if (!(pivot > kDependent * static_cast<double>(last + 4) * std::abs(shifted))) break;
    const double root = std::sqrt(pivot);
    row(last)[last] = root;
    for (std::size_t k = 0; k < kMaxGroups; ++k) {
      const double own = k == entries[e].group ? 1.0 : 0.0;
      v_[k].push_back((own - simd().dot(w, v_[k].data(), last)) / root);
    }
    v_[kMaxGroups].push_back(0.0);
    variables_.push_back(entries[e].variable);
    groups_.push_back(entries[e].group);
  }
  for (std::size_t i = 0; i < n + appended; ++i)  // row by row, so that each is touched once
    for (std::size_t e = i < n ? 0 : i - n + 1; e < appended; ++e)
      row(i)[n + e] = work_[e * stride + i];
  return appended == entries.size();
}

void Factor::dependence(std::vector<double>& weights) {
  weights.assign(work_.begin(), work_.begin() + size());
  simd().solve(upper_.data(), stride_, size(), weights.data());
}

void Factor::remove(std::size_t variable) {
  look();
  const auto found = std::find(variables_.begin(), variables_.end(), variable);
  if (found == variables_.end()) throw std::logic_error("a variable left a factor without it");
  const std::size_t gone = found - variables_.begin(), n = size();
  work_.assign(n, 0.0);
  std::copy(row(gone) + gone, row(gone) + n, work_.data() + gone);  // what is left of its row
  for (std::size_t i = 0; i < gone; ++i) std::copy(row(i) + gone + 1, row(i) + n, row(i) + gone);
  for (std::size_t i = gone + 1; i < n; ++i) {
    const double x = row(i)[i], y = work_[i], norm = std::sqrt(x * x + y * y);
    const double c = x / norm, s = y / norm;
    simd().rotate(c, s, row(i) + i, work_.data() + i, row(i - 1) + i - 1, n - i);
    for (auto& v : v_) {
      const double below = v[i], left = v[i - 1];
      v[i - 1] = c * below + s * left;
      v[i] = c * left - s * below;
    }
  }
  for (auto& v : v_) v.pop_back();
  variables_.erase(found);
  groups_.erase(groups_.begin() + gone);
}

void Factor::rename(std::int64_t from, std::int64_t to) {
  std::replace(variables_.begin(), variables_.end(), from, to);
}

void Factor::set_right_side(const std::vector<double>& r) {
  v_[kMaxGroups] = r;
  simd().solve_transposed(upper_.data(), stride_, size(), v_[kMaxGroups].data(), size(), 1);
}

void Factor::scale_right_side(double factor) {
  for (double& r : v_[kMaxGroups]) r *= factor;
}

void Factor::solve(const PerGroup& s, std::vector<double>& dx, PerGroup& dmu) const {
  dx = v_[kMaxGroups];
  dmu = PerGroup{};
  PerGroup h{}, g{1.0, 1.0};
  for (std::size_t e = 0; e < kMaxGroups; ++e)
    if (has_group(e)) {
      g[e] = simd().dot(v_[e].data(), v_[e].data(), size());
      h[e] = simd().dot(v_[e].data(), dx.data(), size()) - s[e];
    }
  const double g01 = simd().dot(v_[0].data(), v_[1].data(), size());  // 0 if one has no members
  const double determinant = g[0] * g[1] - g01 * g01;
  const PerGroup nu{(g[1] * h[0] - g01 * h[1]) / determinant,
                    (g[0] * h[1] - g01 * h[0]) / determinant};
  for (std::size_t e = 0; e < kMaxGroups; ++e)
    if (has_group(e)) {
      simd().axpy(-nu[e], v_[e].data(), dx.data(), size());
      dmu[e] = nu[e] + sigma_ * s[e];
    }
  simd().solve(upper_.data(), stride_, size(), dx.data());
}

}  // namespace supple
