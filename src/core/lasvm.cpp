// LASVM (Bordes, Ertekin, Weston & Bottou 2005) on the signed QP: an example joins the expansion
// and takes a step with the member at the other extreme (PROCESS); the most violating pair takes a
// step (REPROCESS). Members at zero beyond the extremes are idle and may leave.
#include "lasvm.hpp"

#include <algorithm>
#include <limits>

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The extremes of G = F - c: the member that would rise most, and the one that would fall most.
struct Extremes {
  double up = kInf, low = -kInf;
  std::ptrdiff_t rising = -1, falling = -1;
  double gap() const { return rising < 0 || falling < 0 ? -kInf : low - up; }
};

Extremes extremes(const Head& h) {
  Extremes e;
  const std::size_t n = h.members();
  const double *F = h.F.data(), *c = h.c.data(), *x = h.x.data();
  const double *lo = h.lo.data(), *hi = h.hi.data();
  double up = kInf, low = -kInf;
#pragma omp simd reduction(min : up) reduction(max : low)
  for (std::size_t m = 0; m < n; ++m) {
    const double G = F[m] - c[m];
    const double rising = x[m] < hi[m] ? G : kInf, falling = x[m] > lo[m] ? G : -kInf;
    up = rising < up ? rising : up;
    low = falling > low ? falling : low;
  }
  e.up = up;
  e.low = low;
  for (std::size_t m = 0; m < n && (e.rising < 0 || e.falling < 0); ++m) {
    const double G = F[m] - c[m];
    if (e.rising < 0 && G == up && x[m] < hi[m]) e.rising = static_cast<std::ptrdiff_t>(m);
    if (e.falling < 0 && G == low && x[m] > lo[m]) e.falling = static_cast<std::ptrdiff_t>(m);
  }
  return e;
}

// x_i rises and x_j falls, as far as the box or the quadratic model allow.
void step(Head& h, std::size_t i, std::size_t j, std::vector<double> (&buffer)[2]) {
  const double* row_i = h.member_row(i, buffer[0]);
  const double* row_j = h.member_row(j, buffer[1]);
  const double curvature = h.diagonal(i) + h.diagonal(j) - 2.0 * row_i[j];
  const double slope = (h.F[j] - h.c[j]) - (h.F[i] - h.c[i]);
  const double room_i = h.hi[i] - h.x[i], room_j = h.x[j] - h.lo[j];
  // Without curvature (copies of one example, an indefinite kernel) only the box ends the step.
  const double wanted = curvature > 0.0 ? slope / curvature : kInf;
  const double delta = std::min({wanted, room_i, room_j});
  h.x[i] = delta == room_i ? h.hi[i] : h.x[i] + delta;
  h.x[j] = delta == room_j ? h.lo[j] : h.x[j] - delta;
  simd().axpy(delta, row_i, h.F.data(), h.members());
  simd().axpy(-delta, row_j, h.F.data(), h.members());
  h.note_changes(1);
}

}  // namespace

bool lasvm_process(Head& h, std::int64_t slot, double c, double lo, double hi, double tau) {
  std::vector<double> buffer[2];
  h.admit_by_row(slot, c);
  const std::size_t k = h.members() - 1;
  h.lo[k] = lo;
  h.hi[k] = hi;
  const Extremes e = extremes(h);
  const double G = h.F[k] - c;
  const bool rises = hi > 0.0;  // from 0 it can go one way only
  const std::ptrdiff_t other = rises ? e.falling : e.rising;
  if (other < 0) return true;  // nobody to pair with yet: it waits for one
  const double violation = rises ? e.low - G : G - e.up;
  // Within tau of an extreme it may be the partner that another newcomer needs.
  if (!(violation > tau)) return violation > 0.0;
  const auto partner = static_cast<std::size_t>(other);
  if (rises)
    step(h, k, partner, buffer);
  else
    step(h, partner, k, buffer);
  return true;
}

bool lasvm_reprocess(Head& h, double tau) {
  std::vector<double> buffer[2];
  const Extremes e = extremes(h);
  if (!(e.gap() > tau)) return false;
  step(h, static_cast<std::size_t>(e.rising), static_cast<std::size_t>(e.falling), buffer);
  return true;
}

double lasvm_settle(Head& h) {
  const Extremes e = extremes(h);
  if (e.rising >= 0 && e.falling >= 0)
    h.mu[0] = -0.5 * (e.up + e.low);
  else if (e.rising >= 0 || e.falling >= 0)
    h.mu[0] = e.rising >= 0 ? -e.up : -e.low;
  return std::max(0.0, e.gap());
}

std::vector<std::int64_t> lasvm_idle(const Head& h) {
  const Extremes e = extremes(h);
  std::vector<std::int64_t> slots;
  for (std::size_t m = 0; m < h.members(); ++m) {
    const double G = h.F[m] - h.c[m];
    const bool useless =
        h.hi[m] > 0.0 ? e.falling >= 0 && G >= e.low : e.rising >= 0 && G <= e.up;
    if (h.x[m] == 0.0 && (useless || h.fixed(m))) slots.push_back(h.slot[m]);
  }
  return slots;
}

}  // namespace supple
