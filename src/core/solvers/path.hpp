// The exact path (Cauwenberghs & Poggio; Tax & Laskov eqs. 4-19; Karasuyama & Takeuchi for
// several variables at once) in one form: boxes and targets move linearly from their present
// values (t = 0) to new ones (t = 1), and the optimum is followed from breakpoint to breakpoint.
// Learning opens a box, unlearning closes it, re-weighting and the regularisation path move its
// ends, a change of nu moves the target.
#pragma once
#include <cstdint>
#include <vector>

#include "qp/head.hpp"

namespace supple {

enum class Side : std::uint8_t { lower, upper, margin, frozen };

struct Event {
  double dt = kInf;
  std::size_t variable = 0;
  Side to = Side::frozen;
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
  // Members that are likely to meet a breakpoint are awake: those within so many times the way that
  // gradients mostly go.
  Path(Head& head, const Move& move, double width);
  PathResult run();
  // Straight to the end; not finished: all is as before. The path is used up.
  PathResult leap();

 private:
  // --- path.cpp: one step ---
  void set_off();  // the rates of the bounds
  void direction(const PerGroup& sums, double share);
  void spread(const std::vector<double>& way);  // over the columns of the block
  void rates(const std::vector<double>& way);
  Event next_event(double largest_diagonal) const;
  void move(double dt);  // margin and driven variables, mu and gradients
  void finish();

  // --- path_margin.cpp: sides, and changes of the margin set ---
  void put_on_side(std::size_t v, Side side);
  void set_side(std::size_t v, Side side);  // and let it move as its bound there does
  void drive(std::size_t v, double rate);   // bound variable v moves at this rate from now on
  double pull(std::size_t m) const;         // K times the rates of the driven variables
  PerGroup left_over(PerGroup sums) const;  // by the driven variables
  bool refill_groups();                     // false: a group cannot meet its target
  void enter(std::size_t v);
  void leave(std::size_t v, Side side);
  void exchange(std::size_t v);
  bool take_in(const std::vector<std::size_t>& entering);  // false: see Head::enter_margin

  // --- path_margin.cpp: screening; members that can hardly reach a breakpoint sleep ---
  void wake(double radius);
  void wake_sleepers(bool all);
  void wake_members(const std::vector<std::size_t>& chosen);
  bool on_margin(std::size_t m) const;
  void settle_members();  // bring F of all members up to date
  bool all_awake() const { return awake.size() == h.members(); }
  double sign_of(std::size_t v) const;
  double& awake_gradient(std::size_t v);
  std::size_t awake_variable(std::size_t k) const {  // that g[k] belongs to
    return static_cast<std::size_t>(awake[h.member_of(k)]) * h.per + (k & (h.per - 1));
  }

  // --- path_leap.cpp ---
  std::vector<std::size_t> open_boxes();
  template <typename Variables>
  std::size_t put_on_edges(const Variables& some, double share);
  bool step(const std::vector<std::size_t>& entered);
  std::vector<std::size_t> crossed() const;

  Head& h;
  const Move& end;
  const Snapshot start;
  PerGroup target_rate{};
  std::vector<double> dlo, dhi, dx;  // per variable; dx is 0 but in the margin and where driven
  std::vector<Side> side;
  struct Driven {
    std::size_t variable, column;  // of the block
  };
  std::vector<Driven> driven;  // variables on bounds that move
  double t = 0.0;
  bool endless = false;  // an exchange that no bound ends: the ridge is lost in rounding

  std::vector<double> solution, right_side;  // in the order of the factor
  AlignedVector dx_block;
  PerGroup dmu{};

  std::vector<std::int64_t> awake;  // members
  std::vector<std::int64_t> place;  // in `awake`, or -1
  // per awake variable, `per` for each member in the order of `awake`
  std::vector<double> g, rate, sign;
  std::vector<double> dF;                  // per awake member
  std::int64_t changes = 0, too_many = 0;  // of the margin set, by the leap
  double travelled = 0.0;                  // sum of |dx|, by the leap
};

}  // namespace supple
