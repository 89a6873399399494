#include "factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd.hpp"

namespace supple {

namespace {
// A Schur complement below this share of the diagonal, times the size of the factor, is lost in
// rounding.
constexpr double kDependent = 8.0 * std::numeric_limits<double>::epsilon();
}  // namespace

void Factor::clear() {
  variables_.clear();
  groups_.clear();
  for (auto& v : v_) v.clear();
  members_.fill(0);
}

void Factor::reserve(std::size_t count) {
  if (count <= stride_) return;
  const std::size_t stride = std::max<std::size_t>(16, count + count / 2);
  std::vector<double> grown(stride * stride);
  for (std::size_t i = 0; i < size(); ++i)
    std::copy(row(i) + i, row(i) + size(), grown.data() + i * stride + i);
  upper_.swap(grown);
  stride_ = stride;
}

void Factor::forward(double* z) const {
  const std::size_t n = size();
  for (std::size_t i = 0; i < n; ++i) {
    z[i] /= row(i)[i];
    simd().axpy(-z[i], row(i) + i + 1, z + i + 1, n - i - 1);
  }
}

void Factor::backward(double* z) const {
  const std::size_t n = size();
  for (std::size_t i = n; i-- > 0;)
    z[i] = (z[i] - simd().dot(row(i) + i + 1, z + i + 1, n - i - 1)) / row(i)[i];
}

bool Factor::append(std::int64_t variable, std::size_t group, const double* column,
                    double diagonal, double right_side) {
  const std::size_t n = size();
  work_.resize(n);
  for (std::size_t i = 0; i < n; ++i) work_[i] = column[i] + (groups_[i] == group ? sigma_ : 0.0);
  forward(work_.data());
  const double shifted = diagonal + sigma_;
  const double pivot = shifted - simd().dot(work_.data(), work_.data(), n);
  schur_ = pivot / shifted;
  if (!(schur_ > kDependent * static_cast<double>(n + 4))) return false;
  reserve(n + 1);
  const double root = std::sqrt(pivot);
  for (std::size_t i = 0; i < n; ++i) row(i)[n] = work_[i];
  row(n)[n] = root;
  for (std::size_t e = 0; e <= kMaxGroups; ++e) {
    const double own = e == kMaxGroups ? right_side : (e == group ? 1.0 : 0.0);
    v_[e].push_back((own - simd().dot(work_.data(), v_[e].data(), n)) / root);
  }
  variables_.push_back(variable);
  groups_.push_back(group);
  ++members_[group];
  return true;
}

void Factor::dependence(std::vector<double>& weights) {
  weights = work_;
  backward(weights.data());
}

void Factor::remove(std::size_t position) {
  const std::size_t n = size();
  for (std::size_t i = 0; i < n; ++i) {
    double* r = row(i);
    // Below the deleted one, row i now starts one entry left of the diagonal.
    const std::size_t from = std::max(position, i == 0 ? 0 : i - 1);
    std::copy(r + from + 1, r + n, r + from);
  }
  for (std::size_t i = position; i + 1 < n; ++i) {
    double* upper = row(i);
    double* lower = row(i + 1);
    const double a = upper[i], b = lower[i];
    const double norm = std::hypot(a, b);
    const double c = a / norm, s = b / norm;
    upper[i] = norm;
    simd().rotate(upper + i + 1, lower + i + 1, c, s, n - i - 2);
    for (auto& v : v_) {
      const double x = v[i], y = v[i + 1];
      v[i] = c * x + s * y;
      v[i + 1] = c * y - s * x;
    }
  }
  for (auto& v : v_) v.pop_back();
  --members_[groups_[position]];
  variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(position));
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(position));
}

void Factor::rename(std::int64_t from, std::int64_t to) {
  std::replace(variables_.begin(), variables_.end(), from, to);
}

void Factor::set_right_side(const std::vector<double>& r) {
  v_[kMaxGroups] = r;
  forward(v_[kMaxGroups].data());
}

void Factor::solve(const PerGroup& s, std::vector<double>& dx, PerGroup& dmu) const {
  const std::size_t n = size();
  dx = v_[kMaxGroups];
  PerGroup h{};
  for (std::size_t e = 0; e < kMaxGroups; ++e)
    if (has_group(e)) h[e] = simd().dot(v_[e].data(), dx.data(), n) - s[e];
  PerGroup nu{};
  const double g00 = simd().dot(v_[0].data(), v_[0].data(), n);
  const double g11 = simd().dot(v_[1].data(), v_[1].data(), n);
  if (has_group(0) && has_group(1)) {
    const double g01 = simd().dot(v_[0].data(), v_[1].data(), n);
    const double determinant = g00 * g11 - g01 * g01;
    nu[0] = (g11 * h[0] - g01 * h[1]) / determinant;
    nu[1] = (g00 * h[1] - g01 * h[0]) / determinant;
  } else if (has_group(0)) {
    nu[0] = h[0] / g00;
  } else if (has_group(1)) {
    nu[1] = h[1] / g11;
  }
  dmu = PerGroup{};
  for (std::size_t e = 0; e < kMaxGroups; ++e)
    if (has_group(e)) {
      simd().axpy(-nu[e], v_[e].data(), dx.data(), n);
      dmu[e] = nu[e] + sigma_ * s[e];
    }
  backward(dx.data());
}

void Factor::assign(const std::int64_t* variables, const std::int64_t* groups, std::size_t count,
                    const double* upper, double sigma) {
  clear();
  sigma_ = sigma;
  stride_ = 0;
  upper_.clear();
  reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    variables_.push_back(variables[i]);
    groups_.push_back(static_cast<std::size_t>(groups[i]));
    ++members_[groups_[i]];
    std::copy(upper + i * count + i, upper + (i + 1) * count, row(i) + i);
  }
  for (std::size_t e = 0; e <= kMaxGroups; ++e) {
    v_[e].resize(count);
    for (std::size_t i = 0; i < count; ++i) v_[e][i] = groups_[i] == e ? 1.0 : 0.0;
    forward(v_[e].data());
  }
}

}  // namespace supple
