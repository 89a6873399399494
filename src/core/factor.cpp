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
  rows_.clear();
  empty_.clear();
  for (auto& v : v_) v.clear();
  members_.fill(0);
}

void Factor::reserve(std::size_t count) {
  if (count <= stride_) return;
  const std::size_t stride = std::max<std::size_t>(16, count + count / 2);
  std::vector<double> grown(stride * stride);
  const std::size_t n = empty_.size();
  for (std::size_t i = 0; i < n; ++i)
    std::copy(row(i) + i, row(i) + n, grown.data() + i * stride + i);
  upper_.swap(grown);
  stride_ = stride;
}

void Factor::forward(double* z) const {
  simd().solve_transposed(upper_.data(), stride_, empty_.size(), z);
}

void Factor::backward(double* z) const {
  simd().solve(upper_.data(), stride_, empty_.size(), z);
}

bool Factor::append(std::int64_t variable, std::size_t group, const double* column,
                    double diagonal, double right_side) {
  const std::size_t n = empty_.size();
  work_.assign(n, 0.0);
  for (std::size_t k = 0; k < size(); ++k)
    work_[rows_[k]] = column[k] + (groups_[k] == group ? sigma_ : 0.0);
  forward(work_.data());
  const double shifted = diagonal + sigma_;
  const double pivot = shifted - simd().dot(work_.data(), work_.data(), n);
  // Also false for a kernel that is not positive semi-definite, whatever the sign of the diagonal.
  if (!(pivot > kDependent * static_cast<double>(size() + 4) * std::abs(shifted))) return false;
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
  rows_.push_back(n);
  empty_.push_back(0);
  ++members_[group];
  return true;
}

void Factor::dependence(std::vector<double>& weights) {
  backward(work_.data());
  weights.resize(size());
  for (std::size_t k = 0; k < size(); ++k) weights[k] = work_[rows_[k]];
}

void Factor::remove(std::size_t position) {
  const std::size_t n = empty_.size(), gone = rows_[position];
  // The rows above lose a column, the rows below take up the row that goes.
  for (std::size_t i = 0; i < gone; ++i) row(i)[gone] = 0.0;
  double* leaving = row(gone);
  for (std::size_t i = gone + 1; i < n; ++i) {
    if (empty_[i]) continue;
    double* below = row(i);
    const double norm = std::sqrt(below[i] * below[i] + leaving[i] * leaving[i]);
    const double c = below[i] / norm, s = leaving[i] / norm;
    below[i] = norm;
    simd().rotate(below + i + 1, leaving + i + 1, c, s, n - i - 1);
    for (auto& v : v_) {
      const double x = v[i], y = v[gone];
      v[i] = c * x + s * y;
      v[gone] = c * y - s * x;
    }
  }
  empty_[gone] = 1;
  std::fill(leaving + gone, leaving + n, 0.0);
  leaving[gone] = 1.0;
  for (auto& v : v_) v[gone] = 0.0;
  --members_[groups_[position]];
  const auto at = static_cast<std::ptrdiff_t>(position);
  variables_.erase(variables_.begin() + at);
  groups_.erase(groups_.begin() + at);
  rows_.erase(rows_.begin() + at);
  if (empty_.size() > size() + size() / 8 + 8) squeeze();
}

void Factor::squeeze() {
  for (std::size_t k = 0; k < size(); ++k) {  // rows_ ascends, so nothing is overwritten early
    const double* from = row(rows_[k]);
    double* to = row(k);
    for (std::size_t j = k; j < size(); ++j) to[j] = from[rows_[j]];
    for (auto& v : v_) v[k] = v[rows_[k]];
  }
  for (std::size_t k = 0; k < size(); ++k) rows_[k] = k;
  for (auto& v : v_) v.resize(size());
  empty_.assign(size(), 0);
}

void Factor::rename(std::int64_t from, std::int64_t to) {
  std::replace(variables_.begin(), variables_.end(), from, to);
}

void Factor::set_right_side(const std::vector<double>& r) {
  v_[kMaxGroups].assign(empty_.size(), 0.0);
  for (std::size_t k = 0; k < size(); ++k) v_[kMaxGroups][rows_[k]] = r[k];
  forward(v_[kMaxGroups].data());
}

void Factor::solve(const PerGroup& s, std::vector<double>& dx, PerGroup& dmu) const {
  const std::size_t n = empty_.size();
  std::vector<double> z = v_[kMaxGroups];
  PerGroup h{};
  for (std::size_t e = 0; e < kMaxGroups; ++e)
    if (has_group(e)) h[e] = simd().dot(v_[e].data(), z.data(), n) - s[e];
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
      simd().axpy(-nu[e], v_[e].data(), z.data(), n);
      dmu[e] = nu[e] + sigma_ * s[e];
    }
  backward(z.data());
  dx.resize(size());
  for (std::size_t k = 0; k < size(); ++k) dx[k] = z[rows_[k]];
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
    rows_.push_back(i);
    empty_.push_back(0);
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
