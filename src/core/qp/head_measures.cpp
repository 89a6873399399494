// How large the terms of a head are, and how far it is from its optimum.
#include <algorithm>
#include <cmath>

#include "qp/head.hpp"

namespace supple {

double Head::scale(const std::vector<double>& kx) const {
  if (n_groups == 1 || largest_c() > 0.0) return magnitude(kx);
  constexpr double kRoundings = 16.0;
  const double half_width = 0.5 * (mu[1] - mu[0]);
  return half_width > kRoundings * rounding() ? half_width : 0.0;
}

double Head::magnitude(const std::vector<double>& kx) const {
  double value = largest_c();
  if (value == 0.0) {
    for (std::size_t v = 0; v < variables(); ++v)
      if (!fixed(v)) value = std::max(value, std::abs(kx[member_of(v)]));
    value = std::max(value, 1e-6 * mass() * largest_diagonal());
  }
  return value > 0.0 ? value : 1.0;
}

double Head::largest_c() const {
  double best = 0.0;
#pragma omp simd reduction(max : best)
  for (std::size_t v = 0; v < c.size(); ++v)
    best = std::max(best, lo[v] < hi[v] ? std::abs(c[v]) : 0.0);
  return best;
}

double Head::largest_diagonal() const {
  if (gram.constant_diagonal()) return gram.largest_diagonal();
  double best = 0.0;
  for (std::size_t v = 0; v < variables(); ++v)
    if (!fixed(v)) best = std::max(best, std::abs(diagonal(v)));
  return best;
}

double Head::rounding() const {
  double ridge_terms = 0.0;
  for (std::size_t v = 0; v < variables(); ++v)
    ridge_terms = std::max(ridge_terms, std::abs(ridge_term(v)));
  return kEps * (largest_c() + mass() * largest_diagonal() + ridge_terms);
}

PerGroup Head::missing() const {
  PerGroup out = target;
  for (std::size_t e = 0; e < n_groups; ++e) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t v = 0; v < x.size(); ++v) sum += group[v] == e ? x[v] : 0.0;
    out[e] -= sum;
  }
  return out;
}

bool Head::balanced(double share) const {
  const PerGroup m = missing();
  return std::max(std::abs(m[0]), std::abs(m[1])) <= share * mass();
}

double Head::violation(const std::vector<double>& kx) const {
  // Without branches: which side a variable is on cannot be predicted.
  double below = 0.0, above = 0.0, extent = 0.0;
  for (std::size_t v = 0; v < variables(); ++v) {
    const double g = kx[member_of(v)] - c[v] + ridge_term(v) + mu[group[v]];
    const bool counts = lo[v] < hi[v];
    below = std::max(below, counts && x[v] < hi[v] ? -g : 0.0);
    above = std::max(above, counts && x[v] > lo[v] ? g : 0.0);
    extent += counts ? g * 0.0 : 0.0;  // NaN as soon as one g is NaN or infinite
  }
  return extent == 0.0 ? std::max(below, above) : kInf;
}

Audit Head::audit() const {
  const std::vector<double>& kx = F.values();
  const double by_margin = scale(kx);
  return {violation(kx), by_margin > 0.0 ? by_margin : magnitude(kx), rounding(), balanced(1e-13)};
}

void Head::renew() {
  if (!F.worn()) return;
  forget_factor();  // it may keep the rounding of larger kernel values
  F.refresh();
  balance_mu();  // which may have followed from the rounding
}

void Head::sharpen() {
  if (F.largest_error() == 0.0) return;
  // The extremes of F - c decide whether x is optimal, and mu where a group has no margin; the
  // margin variables are to be solved for.
  std::array<Range, kMaxGroups> mu_range;
  for (std::size_t e = 0; e < n_groups; ++e) mu_range[e] = optimal_mu(e, 1.0);
  std::vector<std::size_t> close;
  for (std::size_t m = 0; m < members(); ++m) {
    const double error = F.error_bound(m);
    if (error == 0.0) continue;
    for (std::size_t v = m * per; v < (m + 1) * per; ++v) {
      const double G = slope(v);
      const Range& range = mu_range[group[v]];
      if (inside(v) || (!fixed(v) && ((x[v] < hi[v] && G - error <= -range.low) ||
                                      (x[v] > lo[v] && G + error >= -range.high)))) {
        close.push_back(m);
        break;
      }
    }
  }
  if (2 * close.size() > members())
    F.refresh();
  else
    F.sharpen(close);
}

}  // namespace supple
