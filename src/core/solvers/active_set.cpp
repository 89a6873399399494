#include "solvers/active_set.hpp"

#include <algorithm>
#include <limits>

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The places of the `count` largest values above 0 are added.
void take_largest(const std::vector<float>& values, std::size_t count, Positions& out) {
  Positions order;
  for (std::size_t a = 0; a < values.size(); ++a)
    if (values[a] > 0.0f) order.push_back(a);
  if (order.size() > count) {
    std::nth_element(order.begin(), order.begin() + count, order.end(),
                     [&](std::int32_t a, std::int32_t b) {
                       const float left = values[a], right = values[b];
                       return left > right || (left == right && a < b);
                     });
    order.resize(count);
  }
  out.insert(out.end(), order.begin(), order.end());
}

}  // namespace

double Extremes::gap() const {
  double worst = 0.0;
  for (std::size_t g = 0; g < kMaxGroups; ++g)
    if (up[g] < kInf && low[g] > -kInf) worst = std::max(worst, low[g] - up[g]);
  return worst;
}

template <typename Visit>
void ActiveSet::for_each_run(const Visit& visit) const {
  for (std::size_t g = 0; g < h.n_groups; ++g)
    for (std::size_t j = 0; j < h.per; ++j) {
      const std::size_t bars = (g * h.per + j) * size();
      visit(g, c_.data() + j * size(), bar_up_.data() + bars, bar_low_.data() + bars);
    }
}

void ActiveSet::take_members(Positions members) {
  member_ = std::move(members);
  c_.resize(h.per * size());
  bar_up_.assign(h.n_groups * c_.size(), kInf);
  bar_low_.assign(h.n_groups * c_.size(), -kInf);
  for (std::size_t a = 0; a < size(); ++a) moved(a);
}

void ActiveSet::assign(const Positions& members) {
  take_members(members);
  refresh();
}

void ActiveSet::keep(const Positions& kept) {
  Positions members;
  std::vector<double> kept_F;
  for (std::int32_t a : kept) {
    members.push_back(member_[a]);
    kept_F.push_back(F[a]);
  }
  F = std::move(kept_F);
  take_members(std::move(members));
}

void ActiveSet::refresh() {
  F.resize(size());
  for (std::size_t a = 0; a < size(); ++a) F[a] = h.F[member(a)];
}

void ActiveSet::moved(std::size_t a) {
  for (std::size_t j = 0; j < h.per; ++j) {
    const std::size_t v = member(a) * h.per + j, at = (h.group[v] * h.per + j) * size() + a;
    c_[j * size() + a] = h.c[v] - h.ridge_term(v);
    bar_up_[at] = h.x[v] < h.hi[v] ? 0.0 : kInf;
    bar_low_[at] = h.x[v] > h.lo[v] ? 0.0 : -kInf;
  }
}

Extremes ActiveSet::extremes() const {
  Extremes e{{kInf, kInf}, {-kInf, -kInf}};
  for_each_run([&](std::size_t g, const double* c, const double* bar_up, const double* bar_low) {
    double up = e.up[g], low = e.low[g];
    for (std::size_t a = 0; a < size(); ++a) {
      up = std::min(up, F[a] - c[a] + bar_up[a]);
      low = std::max(low, F[a] - c[a] + bar_low[a]);
    }
    e.up[g] = up;
    e.low[g] = low;
  });
  return e;
}

std::size_t ActiveSet::violators(const Extremes& e, double eps) const {
  std::vector<char> violates(size(), 0);
  for_each_run([&](std::size_t g, const double* c, const double* bar_up, const double* bar_low) {
    const double level = 0.5 * (e.up[g] + e.low[g]);
    for (std::size_t a = 0; a < size(); ++a) {
      const double G = F[a] - c[a];
      violates[a] |= std::max(level - (G + bar_up[a]), (G + bar_low[a]) - level) > 0.5 * eps;
    }
  });
  return static_cast<std::size_t>(std::count(violates.begin(), violates.end(), 1));
}

Positions ActiveSet::inside() const {
  Positions out;
  for (std::size_t a = 0; a < size(); ++a)
    if (h.inside_any(member(a))) out.push_back(a);
  return out;
}

Positions ActiveSet::worst(const Extremes& e, double eps, std::size_t count,
                           const std::function<bool(std::size_t)>& passed_over) const {
  const double gap = e.gap();  // as the unit: single precision then suffices
  std::vector<float> up(size(), 0.0f), down(size(), 0.0f);
  for_each_run([&](std::size_t g, const double* c, const double* bar_up, const double* bar_low) {
    const double low = e.low[g] - 0.5 * eps, high = e.up[g] + 0.5 * eps;
    for (std::size_t a = 0; a < size(); ++a) {
      const double G = F[a] - c[a];
      up[a] = std::max(up[a], static_cast<float>((low - (G + bar_up[a])) / gap));
      down[a] = std::max(down[a], static_cast<float>(((G + bar_low[a]) - high) / gap));
    }
  });
  for (std::size_t a = 0; a < size(); ++a)
    if (passed_over(a)) up[a] = down[a] = 0.0f;
  Positions out;
  take_largest(up, count / 2, out);
  for (std::int32_t a : out) down[a] = 0.0f;
  take_largest(down, count - out.size(), out);
  std::sort(out.begin(), out.end());
  return out;
}

Positions ActiveSet::unsettled(const Extremes& e) const {
  std::vector<char> free(size(), 0);
  for_each_run([&](std::size_t g, const double* c, const double* bar_up, const double* bar_low) {
    const double up = e.up[g], low = e.low[g];
    for (std::size_t a = 0; a < size(); ++a) {
      const double G = F[a] - c[a];
      const bool at_low = bar_low[a] < 0.0, at_high = bar_up[a] > 0.0;
      // Both: the box is a point, or the variable is of the other group.
      const bool stuck = (at_low & (G > low)) | (at_high & (G < up)) | (at_low & at_high);
      free[a] |= static_cast<char>(!stuck);
    }
  });
  Positions out;
  for (std::size_t a = 0; a < size(); ++a)
    if (free[a]) out.push_back(a);
  return out;
}

}  // namespace supple
