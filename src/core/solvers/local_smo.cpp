#include "solvers/local_smo.hpp"

#include <algorithm>
#include <limits>

#include "linalg/watch.hpp"

namespace supple {

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

void LocalProblem::resize(std::size_t variables, std::size_t columns) {
  for (auto* values : {&x, &lo, &hi}) values->resize(variables);
  for (auto* values : {&G, &diagonal, &bar_up_, &bar_low_}) values->resize(variables);
  column_.resize(variables);
  stride = padded(columns);
  if (!matrix && columns * stride > kernel_.size()) kernel_ = AlignedSingles(columns * stride);
}

void LocalProblem::set_bars(std::size_t v) {
  bar_up_[v] = x[v] < hi[v] ? 0.0f : kInf;
  bar_low_[v] = x[v] > lo[v] ? 0.0f : -kInf;
}

void LocalProblem::scan(float delta, const float* row_i, const float* row_j) {
  pick_.fill({-1, kInf, -kInf});
  for (const Segment& s : segments) {
    const Scan found = simd().step_and_scan_f32(delta, row_i + s.column, row_j + s.column,
                                                G.data() + s.start, bar_up_.data() + s.start,
                                                bar_low_.data() + s.start, s.length);
    Pick& pick = pick_[s.group];
    pick.low_max = std::max(pick.low_max, static_cast<float>(found.low_max));
    if (found.up.index >= 0 && found.up.value < static_cast<double>(pick.smallest)) {
      pick.smallest = static_cast<float>(found.up.value);
      pick.i = found.up.index + static_cast<std::ptrdiff_t>(s.start);
    }
  }
}

double LocalProblem::gap() const {
  double worst = 0.0;
  for (const Pick& pick : pick_)
    if (pick.i >= 0) worst = std::max(worst, static_cast<double>(pick.low_max - pick.smallest));
  return worst;
}

bool LocalProblem::step() {
  // The group whose best pair promises the larger decrease gives the pair.
  double best = 0.0;
  std::size_t i = 0, j = 0;
  for (const Segment& s : segments) {
    const Pick& pick = pick_[s.group];
    if (pick.i < 0 || !(pick.low_max > pick.smallest)) continue;
    const auto candidate = static_cast<std::size_t>(pick.i);
    const Extreme partner = simd().best_partner_f32(
        pick.smallest, diagonal[candidate], row(column_[candidate]) + s.column,
        diagonal.data() + s.start, G.data() + s.start, bar_low_.data() + s.start, s.length);
    if (partner.index >= 0 && partner.value > best) {
      best = partner.value;
      i = candidate;
      j = s.start + static_cast<std::size_t>(partner.index);
    }
  }
  if (best == 0.0) return false;
  const float *row_i = row(column_[i]), *row_j = row(column_[j]);
  const double curvature = std::max(
      static_cast<double>(diagonal[i] + diagonal[j] - 2.0f * row_i[column_[j]]), 1e-12);
  const double room_i = hi[i] - x[i], room_j = x[j] - lo[j];
  const double rise = unit * static_cast<double>(G[j] - G[i]);
  const double delta = std::min({rise / curvature, room_i, room_j});
  if (!(delta > 0.0)) return false;  // values beyond single precision
  x[i] = delta == room_i ? hi[i] : x[i] + delta;
  x[j] = delta == room_j ? lo[j] : x[j] - delta;
  set_bars(i);
  set_bars(j);
  scan(static_cast<float>(delta / unit), row_i, row_j);
  return true;
}

std::int64_t LocalProblem::solve(double eps, double share, std::int64_t max_iterations) {
  for (const Segment& s : segments)
    for (std::size_t k = 0; k < s.length; ++k) {
      column_[s.start + k] = s.column + k;
      set_bars(s.start + k);
    }
  if (segments.empty()) return 0;
  const float* any = row(segments.front().column);
  scan(0.0f, any, any);
  const double goal = std::max(eps / unit, share * gap());
  std::int64_t iterations = 0;
  while (gap() > goal && iterations < max_iterations && step())
    if (++iterations % 1024 == 0) look();
  return iterations;
}

}  // namespace supple
