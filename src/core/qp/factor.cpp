#include "qp/factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "linalg/simd.hpp"
#include "linalg/threads.hpp"
#include "linalg/watch.hpp"

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
  const std::size_t stride = (count + count / 8 + 16) / 8 * 8;
  AlignedVector grown(stride * stride);
  const std::size_t n = empty_.size();
  for (std::size_t i = 0; i < n; ++i) std::copy(row(i), row(i) + n, grown.data() + i * stride);
  upper_.swap(grown);
  stride_ = stride;
}

void Factor::forward(double* z, std::size_t count, std::size_t z_stride,
                     std::size_t threads) const {
  constexpr std::size_t kTogether = 8;
  share(threads, count, kTogether, [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to; k += kTogether) {
      look();
      simd().solve_transposed(upper_.data(), stride_, empty_.size(), z + k * z_stride, z_stride,
                              std::min(kTogether, to - k));
    }
  });
}

void Factor::backward(double* z) const { simd().solve(upper_.data(), stride_, empty_.size(), z); }

bool Factor::append(std::span<const Entry> entries, const double* columns, std::size_t threads) {
  const std::size_t before = size(), n = empty_.size(), stride = n + entries.size();
  // Vectors that are solved for come cheaper in eights, even if some are empty.
  const std::size_t rest = entries.size() % 8;
  const std::size_t solved = entries.size() + (rest > 4 ? 8 - rest : 0);
  work_.assign(solved * stride, 0.0);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const double* column = columns + e * (before + entries.size());
    double* w = work_.data() + e * stride;
    for (std::size_t k = 0; k < before; ++k)
      w[rows_[k]] = column[k] + (groups_[k] == entries[e].group ? sigma_ : 0.0);
    for (std::size_t k = 0; k <= e; ++k)
      w[n + k] = column[before + k] + (entries[k].group == entries[e].group ? sigma_ : 0.0);
  }
  forward(work_.data(), solved, stride, threads);
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
    if (!(pivot > kDependent * static_cast<double>(size() + 4) * std::abs(shifted))) break;
    const double root = std::sqrt(pivot);
    row(last)[last] = root;
    for (std::size_t k = 0; k <= kMaxGroups; ++k) {
      const double own =
          k == kMaxGroups ? entries[e].right_side : (k == entries[e].group ? 1.0 : 0.0);
      v_[k].push_back((own - simd().dot(w, v_[k].data(), last)) / root);
    }
    variables_.push_back(entries[e].variable);
    groups_.push_back(entries[e].group);
    rows_.push_back(last);
    empty_.push_back(0);
    ++members_[entries[e].group];
  }
  for (std::size_t i = 0; i < n + appended; ++i)  // row by row, so that each is touched once
    for (std::size_t e = i < n ? 0 : i - n + 1; e < appended; ++e)
      row(i)[n + e] = work_[e * stride + i];
  return appended == entries.size();
}

void Factor::dependence(std::vector<double>& weights) {
  backward(work_.data());
  weights.resize(size());
  for (std::size_t k = 0; k < size(); ++k) weights[k] = work_[rows_[k]];
}

void Factor::remove(std::size_t variable, double share) {
  look();
  const auto found = std::find(variables_.begin(), variables_.end(), variable);
  if (found == variables_.end()) throw std::logic_error("a variable left a factor without it");
  const std::ptrdiff_t position = found - variables_.begin();
  const std::size_t n = empty_.size(), gone = rows_[position], group = groups_[position];
  auto& r = v_[kMaxGroups];
  // All rows lose this column, and the rows below take up the row that goes.
  for (std::size_t i = 0; i <= gone; ++i) r[i] += share * row(i)[gone];
  for (std::size_t i = 0; i < gone; ++i) row(i)[gone] = 0.0;
  work_.resize(2 * n);
  double *cosine = work_.data(), *sine = cosine + n;
  simd().absorb(upper_.data(), stride_, gone, n, cosine, sine);
  for (std::size_t i = gone + 1; i < n; ++i)
    for (auto& v : v_) {
      const double x = v[i], y = v[gone];
      v[i] = cosine[i] * x + sine[i] * y;
      v[gone] = cosine[i] * y - sine[i] * x;
    }
  empty_[gone] = 1;
  std::fill(row(gone) + gone, row(gone) + n, 0.0);
  row(gone)[gone] = 1.0;
  for (auto& v : v_) v[gone] = 0.0;
  simd().axpy(-share * sigma_, v_[group].data(), r.data(), n);  // K, not K~
  --members_[group];
  variables_.erase(found);
  groups_.erase(groups_.begin() + position);
  rows_.erase(rows_.begin() + position);
  resize(rows_.empty() ? 0 : rows_.back() + 1);  // what came late is likely to leave soon
  if (empty_.size() > size() + size() / 8 + 8) squeeze();
}

void Factor::resize(std::size_t n) {
  for (auto& v : v_) v.resize(n);
  empty_.resize(n);
}

void Factor::squeeze() {
  for (std::size_t k = 0; k < size(); ++k) {  // rows_ ascends, so nothing is overwritten early
    const double* from = row(rows_[k]);
    double* to = row(k);
    for (std::size_t j = k; j < size(); ++j) to[j] = from[rows_[j]];
    for (auto& v : v_) v[k] = v[rows_[k]];
  }
  for (std::size_t k = 0; k < size(); ++k) rows_[k] = k;
  resize(size());
  std::fill(empty_.begin(), empty_.end(), 0);
}

void Factor::rename(std::int64_t from, std::int64_t to) {
  std::replace(variables_.begin(), variables_.end(), from, to);
}

void Factor::set_right_side(const std::vector<double>& r) {
  clear_right_side();
  for (std::size_t k = 0; k < size(); ++k) v_[kMaxGroups][rows_[k]] = r[k];
  forward(v_[kMaxGroups].data(), 1, 0, 1);
}

void Factor::scale_right_side(double factor) {
  for (double& r : v_[kMaxGroups]) r *= factor;
}

void Factor::clear_right_side() { v_[kMaxGroups].assign(empty_.size(), 0.0); }

std::vector<double> Factor::eliminate(const PerGroup& s, PerGroup& dmu) const {
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
  return z;
}

void Factor::solve(const PerGroup& s, std::vector<double>& dx, PerGroup& dmu) const {
  std::vector<double> z = eliminate(s, dmu);
  backward(z.data());
  dx.resize(size());
  for (std::size_t k = 0; k < size(); ++k) dx[k] = z[rows_[k]];
}

void Factor::solve_last(const PerGroup& s, std::size_t count, std::vector<double>& dx) const {
  PerGroup dmu;
  std::vector<double> z = eliminate(s, dmu);
  const std::size_t start = rows_[size() - count];
  simd().solve(row(start) + start, stride_, z.size() - start, z.data() + start);
  dx.resize(count);
  for (std::size_t k = 0; k < count; ++k) dx[k] = z[rows_[size() - count + k]];
}

}  // namespace supple
