// The members that the block solver looks at in every round: their F, and what decides who is to
// move, side by side so that a scan of all takes microseconds.
#pragma once
#include <limits>

#include "qp/head.hpp"

namespace supple {

// Over the variables that may go up, and down: the smallest and the largest F - c.
struct Extremes {
  PerGroup up, low;
  double gap(std::size_t groups) const;  // the largest of the groups
};

class ActiveSet {
 public:
  explicit ActiveSet(const Head& head) : h(head) {}

  std::vector<double> F;

  void assign(const Positions& members);  // those of one group together
  void keep(const Positions& kept);       // only these remain
  void refresh();                         // F from the head
  void moved(std::size_t a, std::size_t j) {  // x of its variable j has changed
    const std::size_t v = member(a) * h.per + j, at = j * size() + a;
    bar_up_[at] = h.x[v] < h.hi[v] ? 0.0 : std::numeric_limits<double>::infinity();
    bar_low_[at] = h.x[v] > h.lo[v] ? 0.0 : -std::numeric_limits<double>::infinity();
  }

  std::size_t size() const { return member_.size(); }
  std::size_t member(std::size_t a) const { return static_cast<std::size_t>(member_[a]); }
  std::size_t group(std::size_t a) const { return a < border_ ? 0 : 1; }

  Extremes extremes() const;
  std::size_t violators(const Extremes& e, double eps) const;
  Positions inside() const;  // those with a variable inside its box
  // The `count` with the largest violations above eps, half of them from each end, ascending.
  // `passed_over(a)` says who does not count.
  template <typename PassedOver>
  Positions worst(const Extremes& e, double eps, std::size_t count,
                  const PassedOver& passed_over) const;
  // Those that are not at a bound which they strive to even against the extremes.
  Positions unsettled(const Extremes& e) const;

 private:
  // visit(group, start, from, to): variables start + a of the arrays below, a in [from, to).
  template <typename Visit>
  void for_each_run(const Visit& visit) const;
  void take_largest(const std::vector<float>& violation, std::size_t count, Positions& out) const;

  const Head& h;
  Positions member_;
  std::size_t border_ = 0;  // members of the first group
  // Variable j of a is at j * size() + a. The bars are as in LocalProblem.
  std::vector<double> c_, bar_up_, bar_low_;
};

template <typename Visit>
void ActiveSet::for_each_run(const Visit& visit) const {
  for (std::size_t j = 0; j < h.per; ++j) {
    const std::size_t start = j * size();
    if (border_ > 0) visit(std::size_t{0}, start, std::size_t{0}, border_);
    if (border_ < size()) visit(std::size_t{1}, start, border_, size());
  }
}

template <typename PassedOver>
Positions ActiveSet::worst(const Extremes& e, double eps, std::size_t count,
                           const PassedOver& passed_over) const {
  const double gap = e.gap(h.n_groups);  // as the unit: single precision then suffices
  std::vector<float> up(size(), 0.0f), down(size(), 0.0f);
  for_each_run([&](std::size_t g, std::size_t start, std::size_t from, std::size_t to) {
    const double low = e.low[g] - 0.5 * eps, high = e.up[g] + 0.5 * eps;
    for (std::size_t a = from; a < to; ++a) {
      const double G = F[a] - c_[start + a];
      up[a] = std::max(up[a], static_cast<float>((low - (G + bar_up_[start + a])) / gap));
      down[a] = std::max(down[a], static_cast<float>(((G + bar_low_[start + a]) - high) / gap));
    }
  });
  for (std::size_t a = 0; a < size(); ++a)
    if (passed_over(a)) up[a] = down[a] = 0.0f;
  Positions out;
  take_largest(up, count / 2, out);
  for (std::int32_t a : out) down[static_cast<std::size_t>(a)] = 0.0f;
  take_largest(down, count - out.size(), out);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace supple
