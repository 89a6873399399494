// The members that the block solver looks at in every round: their F, and what decides who is to
// move, side by side so that a scan of all takes microseconds.
#pragma once
#include <functional>

#include "qp/head.hpp"

namespace supple {

// Over the variables that may go up, and down: the smallest and the largest F - c.
struct Extremes {
  PerGroup up, low;
  double gap() const;  // the largest of the groups
};

class ActiveSet {
 public:
  explicit ActiveSet(const Head& head) : h(head) {}

  std::vector<double> F;

  void assign(const Positions& members);
  void keep(const Positions& kept);  // only these remain
  void refresh();                    // F from the head
  void moved(std::size_t a);         // its x has changed

  const Positions& members() const { return member_; }
  std::size_t size() const { return member_.size(); }
  std::size_t member(std::size_t a) const { return static_cast<std::size_t>(member_[a]); }

  Extremes extremes() const;
  std::size_t violators(const Extremes& e, double eps) const;
  Positions inside() const;  // those with a variable inside its box
  // The `count` with the largest violations above eps, half of them from each end, ascending.
  // `passed_over(a)` says who does not count.
  Positions worst(const Extremes& e, double eps, std::size_t count,
                  const std::function<bool(std::size_t)>& passed_over) const;
  // Those that are not at a bound which they strive to even against the extremes.
  Positions unsettled(const Extremes& e) const;

 private:
  // visit(group, c, bar_up, bar_low): arrays over the active members, for the variables of a group.
  template <typename Visit>
  void for_each_run(const Visit& visit) const;
  void take_members(Positions members);

  const Head& h;
  Positions member_;
  // Variable j of a is at j * size() + a. c is less what the ridge adds to F; for each group there
  // are bars as in PairSteps.
  std::vector<double> c_, bar_up_, bar_low_;
};

}  // namespace supple
