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
  const double wanted = curvature <= 0.0 ? kInf : slope / curvature;
  const double delta = std::min({wanted, room_i, room_j});
  if (!(delta > 0.0)) return 0.0;  // also if the kernel values have overflowed
  x_i = delta == room_i ? hi_i : x_i + delta;
  x_j = delta == room_j ? lo_j : x_j - delta;
  return delta;
}

// The QP of some members of a head with its gradient G = Kx - c in precision T, solved by steps of
// the pair with the largest second-order gain (Fan, Chen & Lin 2005). Kernel rows have a value for
// each column; variable j of the member of column k is at j * columns + k. `Row` is called as
// row(column, buffer), with another number of the buffer for each of the rows that are needed at
// the same time.
template <typename T>
class PairSteps {
 public:
  explicit PairSteps(Head& head) : h(head) {}
  // member(column) and slope(column, variable of the head), its G; `unit` is that of G.
  template <typename Member, typename Slope>
  void start(std::size_t columns, double unit, const Member& member, const Slope& slope);
  double slope(std::size_t at) const { return unit_ * static_cast<double>(G_[at]); }
  double gap() const;
  std::size_t violators(double eps) const;  // variables, given the extremes of G
  template <typename Row>
  bool step(const Row& row);  // false: no pair moves
  void give_back() const {    // x, to the head
    for (const Variable& own : variables_) h.x[own.of_head] = own.x;
  }

 private:
  using Values = std::vector<T, OnCacheLine<T>>;
  static constexpr T kNever = std::numeric_limits<T>::infinity();
  struct Variable {  // all that a step asks for, side by side
    std::size_t of_head, group;
    double x, lo, hi, ridge;
  };
  struct Extremes {  // of a group: the variable with the smallest G that may rise, and the values
    std::ptrdiff_t rising = -1;
    T up = kNever, low = -kNever;
  };
  void set_bars(std::size_t at);
  void scan(T delta, const T* row_i, const T* row_j);
  std::size_t bar(std::size_t e, std::size_t at) const { return e * variables_.size() + at; }

  Head& h;
  std::size_t columns_ = 0;
  double unit_ = 1.0;
  std::vector<Variable> variables_;
  Values G_, diagonal_;
  // For each group, per variable: 0 where a variable of the group may rise, or fall, and else an
  // infinity that takes it out of the extremes.
  Values bar_up_, bar_low_;
  std::array<Extremes, kMaxGroups> extremes_;
};

template <typename T>
template <typename Member, typename Slope>
void PairSteps<T>::start(std::size_t columns, double unit, const Member& member,
                         const Slope& slope) {
  columns_ = columns;
  unit_ = unit;
  const std::size_t size = h.per * columns;
  variables_.resize(size);
  G_.resize(size);
  diagonal_.resize(size);
  bar_up_.assign(h.n_groups * size, kNever);
  bar_low_.assign(h.n_groups * size, -kNever);
  for (std::size_t j = 0, at = 0; j < h.per; ++j)
    for (std::size_t column = 0; column < columns; ++column, ++at) {
      const std::size_t v = member(column) * h.per + j;
      variables_[at] = {v, h.group[v], h.x[v], h.lo[v], h.hi[v], h.ridge[v]};
      G_[at] = static_cast<T>(slope(column, v) / unit);
      diagonal_[at] = static_cast<T>(h.curvature(v));
      set_bars(at);
    }
  scan(T(0), G_.data(), G_.data());
}

template <typename T>
void PairSteps<T>::set_bars(std::size_t at) {
  const Variable& own = variables_[at];
  bar_up_[bar(own.group, at)] = own.x < own.hi ? T(0) : kNever;
  bar_low_[bar(own.group, at)] = own.x > own.lo ? T(0) : -kNever;
}

// G follows a step of length delta, and the extremes are found on the way.
template <typename T>
void PairSteps<T>::scan(T delta, const T* row_i, const T* row_j) {
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    Extremes& found = extremes_[e] = {};
    for (std::size_t start = 0; start < variables_.size(); start += columns_) {
      const T *up = &bar_up_[bar(e, start)], *low = &bar_low_[bar(e, start)];
      const Scan part =
          simd_of<T>().step_and_scan(delta, row_i, row_j, &G_[start], up, low, columns_);
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
  T worst = T(0);
  for (const Extremes& e : extremes_) worst = std::max(worst, e.low - e.up);
  return static_cast<double>(worst);
}

template <typename T>
std::size_t PairSteps<T>::violators(double eps) const {
  std::size_t count = 0;
  for (std::size_t at = 0; at < G_.size(); ++at) {
    const std::size_t e = variables_[at].group, own = bar(e, at);
    const T level = T(0.5) * (extremes_[e].up + extremes_[e].low);
    count += std::max(level - (G_[at] + bar_up_[own]), G_[at] + bar_low_[own] - level) > eps / 2;
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
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    if (!(extremes_[e].low > extremes_[e].up)) continue;
    const auto candidate = static_cast<std::size_t>(extremes_[e].rising);
    const T *own = row(candidate % columns_, e), up = extremes_[e].up, K_ii = diagonal_[candidate];
    for (std::size_t start = 0; start < variables_.size(); start += columns_) {
      const T* low = &bar_low_[bar(e, start)];
      const Extreme partner =
          simd_of<T>().best_partner(up, K_ii, own, &diagonal_[start], &G_[start], low, columns_);
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
  Variable &rising = variables_[i], &falling = variables_[j];
  // Of examples that are the same nothing but their ridge is left.
  const double curvature =
      std::max(static_cast<double>(diagonal_[i] + diagonal_[j] - T(2) * row_i[column]),
               rising.ridge + falling.ridge);
  const double delta = step_pair(unit_ * static_cast<double>(G_[j] - G_[i]), curvature, rising.x,
                                 rising.hi, falling.x, falling.lo) /
                       unit_;
  if (delta == 0.0) return false;
  G_[i] += static_cast<T>(rising.ridge * delta);
  G_[j] -= static_cast<T>(falling.ridge * delta);
  set_bars(i);
  set_bars(j);
  scan(static_cast<T>(delta), row_i, row_j);
  return true;
}

}  // namespace supple
