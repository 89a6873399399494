// Who is to enter the margin set next.
#include <algorithm>

#include "solvers/polish.hpp"

namespace supple {

double Polish::violation(std::size_t v) const {
  return h.x[v] <= h.lo[v] ? -h.gradient(v) : h.gradient(v);
}

std::vector<Polish::Violator> Polish::violators() const {
  std::vector<Violator> found;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    if (h.fixed(v) || h.inside(v) || h.F.is_stale(h.member_of(v))) continue;
    if (violation(v) > goal_) found.push_back({v, violation(v)});
  }
  std::sort(found.begin(), found.end(), worse);
  return found;
}

// The worst of each group and direction.
std::vector<Polish::Violator> Polish::worst_violators() const {
  std::vector<Violator> found;
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const auto size = [&](std::size_t v, bool upward) {
      const bool may =
          h.group[v] == e && !h.fixed(v) && (upward ? h.x[v] <= h.lo[v] : h.x[v] >= h.hi[v]);
      return may ? violation(v) : 0.0;
    };
    double up = 0.0, down = 0.0;
#pragma omp simd reduction(max : up, down)
    for (std::size_t v = 0; v < h.variables(); ++v) {
      up = std::max(up, size(v, true));
      down = std::max(down, size(v, false));
    }
    for (const bool upward : {true, false}) {
      const double worst = upward ? up : down;
      if (!(worst > goal_)) continue;
      std::size_t v = 0;
      while (size(v, upward) != worst) ++v;
      found.push_back({v, worst});
    }
  }
  std::sort(found.begin(), found.end(), worse);
  return found;
}

}  // namespace supple
