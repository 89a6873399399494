// The exact path (Cauwenberghs & Poggio; Tax & Laskov eqs. 4-19; Karasuyama & Takeuchi for
// several variables at once) in one form: boxes and targets move linearly from their present
// values (t = 0) to new ones (t = 1), and the optimum follows. Learning opens a box, unlearning
// closes it, re-weighting and the regularisation path move its ends, a change of nu moves the
// target. The walk goes from breakpoint to breakpoint; the leap goes straight to t = 1.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "qp/head.hpp"

namespace supple {

enum class Side : std::uint8_t { lower, upper, margin, frozen };

// The side of a variable whose bounds move at these rates. An empty box that opens is left on the
// side where the gradient holds the variable.
Side side_of(const Head& h, std::size_t v, double dlo, double dhi);

// What the leap and the walk share.
class Path {
 protected:
  Path(Head& head, const Move& move);
  // Of a gradient that satisfies KKT there; 0: any does.
  static double sign_of(Side side);
  void give_columns(const std::vector<std::size_t>& entering);  // of the block
  // dF = K times the rates of x at these members. All variables with a rate have a column.
  void multiply(const std::vector<std::int64_t>& members);
  void sharpen(const std::vector<std::size_t>& variables);  // F of their members
  // x is at its end, and F follows: margin variables that end on a bound leave.
  void finish();

  Head& h;
  const Move& goal;
  std::vector<Side> side;        // per variable
  std::vector<double> rates;     // of x per variable
  std::vector<double> dx, dF;    // of the factor's variables; of the members of multiply()
  AlignedVector dx_block;        // per column of the block
  PerGroup dmu{}, bound_rate{};  // bound_rate: of the sum over variables that move with a bound
  double way = 0.0;              // sum of all |changes| of x
};

// Straight to the end, see leap.cpp.
class Leap : private Path {
 public:
  Leap(Head& head, const Move& move);
  // False: it failed, and all is as before.
  bool run();
  std::int64_t changes_made() const { return static_cast<std::int64_t>(made_); }

 private:
  struct Change {
    std::size_t variable;
    Side to;
  };
  struct Return {  // to the bound of a box
    std::size_t variable, column;
    double way;
  };
  void screen();
  void activate(std::size_t member);
  void open_boxes();
  Side side_outside(std::size_t v, double x) const;
  bool make_changes(bool all_sides);
  void leave_box(std::size_t v, Side to);
  void return_to_bound(std::size_t v);
  double driven(std::size_t m) const;  // K times the returns
  void leave_early();
  bool regular() const;           // every group has a margin variable
  PerGroup sums_to_move() const;  // by the margin variables
  void step(bool all_sides);
  void find_changes();
  void find_changes_everywhere();
  bool inexact() const;
  bool near_edge() const;
  void settle_screened();  // F of screened members follows
  void learn_reach();
  void undo();

  const Solution start_;
  const std::vector<double> lo_, hi_;
  const PerGroup target_;
  const std::vector<std::int64_t> margin_;
  std::vector<std::int64_t> active_;  // members
  std::vector<char> is_active_;       // per member
  std::vector<double> pending_;  // per column: the changes of x that screened members have not seen
  PerGroup mu_settled_{};        // when they last saw them
  std::vector<Return> returns_;  // in the coming step
  std::vector<Change> changes_;  // still to be made
  std::size_t made_ = 0;         // so far
  double tolerance_;             // a gradient with the wrong sign is 0 up to here
};

// From breakpoint to breakpoint, see walk.cpp. Boxes are bounded.
class Walk : private Path {
 public:
  Walk(Head& head, const Move& move);
  PathResult run();

 private:
  struct Event {
    enum class Kind { none, leave_lower, leave_upper, enter } kind = Kind::none;
    std::size_t variable = 0;
    double dt = std::numeric_limits<double>::infinity();
    double rate = 0.0;  // among simultaneous events the fastest is taken
  };
  bool at_rest() const;
  void sum_bound_rates();
  void direction();
  Event next_event() const;
  static void consider(Event& best, Event::Kind kind, std::size_t v, double gap, double speed);
  void advance(double dt);
  void set_side(std::size_t v, Side to);  // it then moves as its bound there does
  bool refill_groups();                   // false: a group cannot meet its target
  void enter(std::size_t v);
  void leave(std::size_t v, Side to);
  void exchange(std::size_t v);
  void sharpen(std::size_t v);
  void settle();  // F from the gradients

  std::vector<std::int64_t> members_;  // all of them
  std::vector<double> dlo_, dhi_;      // per variable
  PerGroup target_rate_{};
  std::vector<double> g_, dg_, sign_;  // per variable: gradient, its rate, its sign by KKT
  double t_ = 0.0;
  bool endless_ = false;  // an exchange that no bound ends: the ridge is lost in rounding
};

}  // namespace supple
