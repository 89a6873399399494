// The two-variable step of SMO, of the working sets of the block solver and of LASVM: x_i rises and
// x_j falls by the same amount, so that the sum of their group stays.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "linalg/aligned.hpp"
#include "linalg/simd.hpp"
#include "qp/head.hpp"

namespace supple {

// As far as the quadratic model asks for, or a box allows; a variable that meets its bound takes
// its exact value. Without curvature (copies of one example, an indefinite kernel) only the boxes
// end the step. Returns its length, 0 if there is none.
inline double step_pair(double slope, double curvature, double& x_i, double hi_i, double& x_j,
                        double lo_j) {
  const double room_i = hi_i - x_i, room_j = x_j - lo_j;
  const double wanted =
      curvature <= 0.0 ? std::numeric_limits<double>::infinity() : slope / curvature;
  const double delta = std::min({wanted, room_i, room_j});
  if (!(delta > 0.0)) return 0.0;  // also if the kernel values have overflowed
  x_i = delta == room_i ? hi_i : x_i + delta;
  x_j = delta == room_j ? lo_j : x_j - delta;
  return delta;
}

// A QP with its gradient G = Kx - c in precision T, solved by steps of the pair with the largest
// second-order gain (Fan, Chen & Lin 2005). Kernel rows have a value for each column; variable j of
// column k is at j * columns + k. `Row` is called as row(column, buffer), with another number of
// the buffer for each of the rows that are needed at the same time.
template <typename T>
class PairSteps {
 public:
  using Values = std::vector<T, OnCacheLine<T>>;
  std::vector<double> x, lo, hi;
  std::vector<std::uint8_t> group;
  Values G, diagonal;
  std::vector<double> ridge;  // that is part of the diagonal; none if it is 0
  double unit = 1.0;          // of G

  void resize(const Head& h, std::size_t columns);
  // Variable v of the head, with its G = Kx - c, is at this place from now on.
  void fill(std::size_t at, const Head& h, std::size_t v, double slope);
  void start();  // after all places were filled
  double gap() const;
  std::size_t violators(double eps) const;  // variables, given the extremes of G
  template <typename Row>
  bool step(const Row& row);  // false: no pair moves

 private:
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  struct Extremes {  // of a group: the variable with the smallest G that may rise, and the values
    std::ptrdiff_t rising;
    T up, low;
  };
  void set_bars(std::size_t v);
  void scan(T delta, const T* row_i, const T* row_j);
  std::size_t bar(std::size_t e, std::size_t v) const { return e * x.size() + v; }

  std::size_t columns_ = 0, groups_ = 1;
  // For each group, per variable: 0 where a variable of the group may rise, or fall, and else an
  // infinity that takes it out of the extremes.
  Values bar_up_, bar_low_;
  std::array<Extremes, kMaxGroups> extremes_{};
};

template <typename T>
void PairSteps<T>::resize(const Head& h, std::size_t columns) {
  columns_ = columns;
  groups_ = h.n_groups;
  for (auto* values : {&x, &lo, &hi}) values->resize(h.per * columns);
  for (auto* values : {&G, &diagonal}) values->resize(h.per * columns);
  group.resize(h.per * columns);
  ridge.resize(h.ridge.empty() ? 0 : h.per * columns);
}

template <typename T>
void PairSteps<T>::fill(std::size_t at, const Head& h, std::size_t v, double slope) {
  x[at] = h.x[v];
  lo[at] = h.lo[v];
  hi[at] = h.hi[v];
  group[at] = h.group[v];
  G[at] = static_cast<T>(slope / unit);
  diagonal[at] = static_cast<T>(h.curvature(v));
  if (!ridge.empty()) ridge[at] = h.ridge[v];
}

template <typename T>
void PairSteps<T>::start() {
  bar_up_.assign(groups_ * x.size(), kInf);
  bar_low_.assign(groups_ * x.size(), -kInf);
  for (std::size_t v = 0; v < x.size(); ++v) set_bars(v);
  scan(T(0), G.data(), G.data());
}

template <typename T>
void PairSteps<T>::set_bars(std::size_t v) {
  bar_up_[bar(group[v], v)] = x[v] < hi[v] ? T(0) : kInf;
  bar_low_[bar(group[v], v)] = x[v] > lo[v] ? T(0) : -kInf;
}

// G follows a step of length delta, and the extremes are found on the way.
template <typename T>
void PairSteps<T>::scan(T delta, const T* row_i, const T* row_j) {
  for (std::size_t e = 0; e < groups_; ++e) {
    Extremes& found = extremes_[e] = {-1, kInf, -kInf};
    for (std::size_t start = 0; start < x.size(); start += columns_) {
      const T *up = &bar_up_[bar(e, start)], *low = &bar_low_[bar(e, start)];
      const Scan part =
          simd_of<T>().step_and_scan(delta, row_i, row_j, &G[start], up, low, columns_);
      found.low = std::max(found.low, static_cast<T>(part.low_max));
      if (part.up.index < 0 || !(static_cast<T>(part.up.value) < found.up)) continue;
      found.up = static_cast<T>(part.up.value);
      found.rising = part.up.index + static_cast<std::ptrdiff_t>(start);
    }
    delta = T(0);  // G has followed
  }
}

template <typename T>
double PairSteps<T>::gap() const {
  double worst = 0.0;
  for (std::size_t e = 0; e < groups_; ++e)
    if (extremes_[e].rising >= 0)
      worst = std::max(worst, static_cast<double>(extremes_[e].low - extremes_[e].up));
  return worst;
}

template <typename T>
std::size_t PairSteps<T>::violators(double eps) const {
  std::size_t count = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    const Extremes& e = extremes_[group[v]];
    const T level = T(0.5) * (e.up + e.low), up = G[v] + bar_up_[bar(group[v], v)],
            low = G[v] + bar_low_[bar(group[v], v)];
    count += std::max(level - up, low - level) > eps / 2;
  }
  return count;
}

template <typename T>
template <typename Row>
bool PairSteps<T>::step(const Row& row) {
  // The group whose best pair promises the larger decrease gives the pair.
  double best = 0.0;
  std::size_t i = 0, j = 0;
  const T* row_i = nullptr;
  for (std::size_t e = 0; e < groups_; ++e) {
    if (extremes_[e].rising < 0 || !(extremes_[e].low > extremes_[e].up)) continue;
    const auto candidate = static_cast<std::size_t>(extremes_[e].rising);
    const T *own = row(candidate % columns_, e), up = extremes_[e].up, K_ii = diagonal[candidate];
    for (std::size_t start = 0; start < x.size(); start += columns_) {
      const T* low = &bar_low_[bar(e, start)];
      const Extreme partner = simd_of<T>().best_partner(up, K_ii, own, &diagonal[start], &G[start],
                                                        low, columns_);
      if (partner.index < 0 || !(partner.value > best)) continue;
      best = partner.value;
      i = candidate;
      j = start + static_cast<std::size_t>(partner.index);
      row_i = own;
    }
  }
  if (row_i == nullptr) return false;
  const std::size_t column = j % columns_;
  const T* row_j = row(column, kMaxGroups);
  double curvature = static_cast<double>(diagonal[i] + diagonal[j] - T(2) * row_i[column]);
  // Of examples that are the same nothing else is left.
  if (!ridge.empty()) curvature = std::max(curvature, ridge[i] + ridge[j]);
  const double delta =
      step_pair(unit * static_cast<double>(G[j] - G[i]), curvature, x[i], hi[i], x[j], lo[j]);
  if (delta == 0.0) return false;
  if (!ridge.empty()) {
    G[i] += static_cast<T>(ridge[i] * delta / unit);
    G[j] -= static_cast<T>(ridge[j] * delta / unit);
  }
  set_bars(i);
  set_bars(j);
  scan(static_cast<T>(delta / unit), row_i, row_j);
  return true;
}

}  // namespace supple
