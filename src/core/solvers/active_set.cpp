#include "solvers/active_set.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

double Extremes::gap(std::size_t groups) const {
  double worst = 0.0;
  for (std::size_t g = 0; g < groups; ++g)
    if (up[g] < kInf && low[g] > -kInf) worst = std::max(worst, low[g] - up[g]);
  return worst;
}

void ActiveSet::assign(const Positions& members) {
  member_ = members;
  const auto second = [&](std::int32_t m) {
    return h.group[static_cast<std::size_t>(m) * h.per] > 0;
  };
  border_ = static_cast<std::size_t>(
      std::find_if(members.begin(), members.end(), second) - members.begin());
  F.resize(size());
  for (auto* values : {&c_, &bar_up_, &bar_low_}) values->resize(h.per * size());
  for (std::size_t j = 0; j < h.per; ++j)
    for (std::size_t a = 0; a < size(); ++a) {
      c_[j * size() + a] = h.c[member(a) * h.per + j];
      moved(a, j);
    }
  refresh();
}

void ActiveSet::keep(const Positions& kept) {
  const std::size_t before = size(), count = kept.size();
  for (std::size_t j = 0; j < h.per; ++j)
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t to = j * count + k, from = j * before + static_cast<std::size_t>(kept[k]);
      c_[to] = c_[from];
      bar_up_[to] = bar_up_[from];
      bar_low_[to] = bar_low_[from];
    }
  for (std::size_t k = 0; k < count; ++k) {
    member_[k] = member_[static_cast<std::size_t>(kept[k])];
    F[k] = F[static_cast<std::size_t>(kept[k])];
  }
  border_ = static_cast<std::size_t>(
      std::lower_bound(kept.begin(), kept.end(), static_cast<std::int32_t>(border_)) -
      kept.begin());
  member_.resize(count);
  F.resize(count);
  for (auto* values : {&c_, &bar_up_, &bar_low_}) values->resize(h.per * count);
}

void ActiveSet::refresh() {
  for (std::size_t a = 0; a < size(); ++a) F[a] = h.F[member(a)];
}

Extremes ActiveSet::extremes() const {
  Extremes e{{kInf, kInf}, {-kInf, -kInf}};
  for_each_run([&](std::size_t g, std::size_t start, std::size_t from, std::size_t to) {
    double up = e.up[g], low = e.low[g];
    for (std::size_t a = from; a < to; ++a) {
      const double G = F[a] - c_[start + a];
      up = std::min(up, G + bar_up_[start + a]);
      low = std::max(low, G + bar_low_[start + a]);
    }
    e.up[g] = up;
    e.low[g] = low;
  });
  return e;
}

std::size_t ActiveSet::violators(const Extremes& e, double eps) const {
  std::vector<char> violates(size(), 0);
  for_each_run([&](std::size_t g, std::size_t start, std::size_t from, std::size_t to) {
    const double level = 0.5 * (e.up[g] + e.low[g]);
    for (std::size_t a = from; a < to; ++a) {
      const double G = F[a] - c_[start + a];
      violates[a] |= std::max(level - (G + bar_up_[start + a]), (G + bar_low_[start + a]) - level) >
                     0.5 * eps;
    }
  });
  return static_cast<std::size_t>(std::count(violates.begin(), violates.end(), 1));
}

Positions ActiveSet::inside() const {
  Positions out;
  for (std::size_t a = 0; a < size(); ++a)
    for (std::size_t v = a; v < h.per * size(); v += size())
      if (bar_up_[v] == 0.0 && bar_low_[v] == 0.0) {
        out.push_back(static_cast<std::int32_t>(a));
        break;
      }
  return out;
}

void ActiveSet::take_largest(const std::vector<float>& violation, std::size_t count,
                             Positions& out) const {
  if (count == 0) return;
  // The largest so far and one more, in a buffer that is cut back to them whenever it is full: few
  // of the others are larger than the last of these.
  std::vector<float> top;
  top.reserve(2 * count + 2);
  float least = 0.0f;
  const auto cut = [&] {
    if (top.size() <= count) return;
    const auto last = top.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(top.begin(), last, top.end(), std::greater<>());
    least = *last;
    top.resize(count + 1);
  };
  for (float value : violation) {
    if (!(value > least)) continue;
    top.push_back(value);
    if (top.size() == top.capacity()) cut();
  }
  cut();
  const std::size_t room = out.size() + count;
  for (std::size_t a = 0; a < size(); ++a)
    if (violation[a] > least) out.push_back(static_cast<std::int32_t>(a));
  for (std::size_t a = 0; a < size() && least > 0.0f && out.size() < room; ++a)
    if (violation[a] == least) out.push_back(static_cast<std::int32_t>(a));
}

Positions ActiveSet::unsettled(const Extremes& e) const {
  std::vector<char> free(size(), 0);
  for_each_run([&](std::size_t g, std::size_t start, std::size_t from, std::size_t to) {
    const double up = e.up[g], low = e.low[g];
    for (std::size_t a = from; a < to; ++a) {
      const double G = F[a] - c_[start + a];
      const bool at_low = bar_low_[start + a] < 0.0, at_high = bar_up_[start + a] > 0.0;
      // Both: the box is a point.
      const bool stuck = (at_low & (G > low)) | (at_high & (G < up)) | (at_low & at_high);
      free[a] |= static_cast<char>(!stuck);
    }
  });
  Positions out(size());
  std::size_t count = 0;
  for (std::size_t a = 0; a < size(); ++a) {  // without a branch, which would often be mistaken
    out[count] = static_cast<std::int32_t>(a);
    count += static_cast<std::size_t>(free[a]);
  }
  out.resize(count);
  return out;
}

}  // namespace supple
