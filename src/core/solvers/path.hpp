// The exact path (Cauwenberghs & Poggio; Tax & Laskov eqs. 4-19; Karasuyama & Takeuchi for
// several variables at once) in one form: boxes and targets move linearly from their present
// values (t = 0) to new ones (t = 1), and the optimum is followed from breakpoint to breakpoint.
// Learning opens a box, unlearning closes it, re-weighting and the regularisation path move its
// ends, a change of nu moves the target.
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

struct Event {
  enum class Kind { none, leave_lower, leave_upper, enter } kind = Kind::none;
  std::size_t variable = 0;
  double dt = std::numeric_limits<double>::infinity();
  double rate = 0.0;  // among simultaneous events the fastest is taken
};

struct PathResult {
  bool finished;
  std::int64_t breakpoints;
  bool leapt = false;  // straight to the end
};

// Make a move along the path of optima.
PathResult follow_path(Head& head, const Move& move);

class Path {
 public:
  Path(Head& head, const Move& move);
  PathResult run();
  // Straight to the end; false: that failed, and all is as before. The path is used up.
  bool leap();
  std::int64_t changes_made() const { return static_cast<std::int64_t>(made); }

 private:
  // --- path.cpp: one step ---
  void direction();
  void multiply();
  void rates();
  Event next_event() const;
  void consider(Event& best, Event::Kind kind, std::size_t v, double gap, double speed) const;
  void move(double dt);     // margin variables, mu and gradients
  void advance(double dt);  // these and the boxes
  void finish();
  PathResult give_up(std::int64_t breakpoints);

  // --- path_margin.cpp: sides, and changes of the margin set ---
  void put_on_side(std::size_t v, Side side);
  void set_side(std::size_t v, Side side);  // and let it move as its bound there does
  void drive(std::size_t v, double rate);   // bound variable v moves at this rate from now on
  bool refill_groups();  // false: a group cannot meet its target
  void enter(std::size_t v);
  void leave(std::size_t v, Side side);
  void exchange(std::size_t v);
  void give_columns(const std::vector<std::size_t>& entering);  // of the block

  // --- path_margin.cpp: screening; members that can hardly reach a breakpoint sleep ---
  void wake(double radius);
  void wake_member(std::size_t m);
  void add_awake(std::size_t m);
  bool all_awake() const { return awake.size() == h.members(); }
  void settle_members();  // bring F of all members up to date
  void tell_asleep();     // what is pending
  bool on_margin(std::size_t m) const;
  double sign_of(std::size_t v) const;
  double awake_gradient(std::size_t v) const;
  double rate_of(std::size_t v) const;  // of x

  // --- path_leap.cpp ---
  struct Change {
    std::size_t variable;
    Side to;
  };
  bool open_boxes();
  Side side_outside(std::size_t v, double x) const;
  bool make_changes(bool all_sides);
  void leave_box(std::size_t v, Side to);
  double driven(std::size_t m) const;  // K times the speeds of those on bounds
  void leave_early();
  bool regular() const;           // every group has a margin variable
  PerGroup sums_to_move() const;  // by the margin variables
  void leap_step(bool all_sides);
  void find_changes();
  void find_changes_everywhere();
  void sharpen(const std::vector<std::size_t>& variables);  // F of their members

  Head& h;
  const std::vector<std::int64_t>& moved;
  const std::vector<double>&lo1, &hi1;
  const PerGroup& target1;
  PerGroup target_rate{}, bound_rate{};  // of the target, and of the sum over moving bounds
  std::vector<double> dlo, dhi, speed;   // per variable
  std::vector<Side> side;
  std::vector<double> q;  // per member: K times the speeds of the bound variables
  double q_size = 0.0;    // its largest absolute value
  bool q_changed = true;  // since the factor was given it as right-hand side
  int moving = 0;         // number of bound variables with a speed
  double t = 0.0;
  bool endless = false;  // an exchange that no bound ends: the ridge is lost in rounding

  std::vector<double> dx, by_variable, right_side, buffer;
  AlignedVector dx_block;
  PerGroup dmu{};

  std::vector<std::int64_t> awake;  // members
  std::vector<std::int64_t> place;  // in `awake`, or -1
  // per awake variable, `per` for each member in the order of `awake`
  std::vector<double> g, rate, sign;
  std::vector<double> dF;                  // per awake member
  std::vector<double> pending, pending_q;  // what the sleepers have not been told
  bool dirty = false;                      // there is something pending
  Gradient::State F_start;
  PerGroup mu_start{}, mu_settled{};  // at the start; when F was last brought up to date

  struct Return {
    std::size_t column;  // of the block
    double way;
  };
  std::vector<Return> returns;  // to the edge of the box, in the coming step of the leap
  std::vector<Change> changes;  // that the leap still has to make
  std::size_t made = 0;         // changes so far
  double tolerance = 0.0;       // a gradient with the wrong sign is 0 up to here
};

}  // namespace supple
