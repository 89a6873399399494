// LASVM (Bordes, Ertekin, Weston & Bottou 2005) on the signed QP, for all heads of one model: an
// example joins the expansions of its heads and takes a step with the member at the other extreme
// (PROCESS); then the most violating pair takes steps (REPROCESS). Members at zero beyond the
// extremes are idle and may leave. Heads have one variable per member and one group.
#pragma once
#include <tuple>
#include <vector>

#include "linalg/simd.hpp"
#include "qp/head.hpp"

namespace supple {

class Lasvm {
 public:
  struct Schedule {
    double tau;  // violation from which a pair is worth a step
    std::size_t reprocess;
  };
  // What became of a head: its number, steps, gap of the extremes.
  using Record = std::tuple<std::size_t, std::uint64_t, double>;

  // targets[class * heads + head]: 1 or -1, or 0 where examples of the class do not join the head.
  Lasvm(Gram& gram, const std::vector<Head*>& heads, std::size_t classes,
        std::vector<std::int8_t> targets);

  std::size_t classes() const { return classes_; }
  std::size_t examples() const { return gram_.size(); }
  void begin(bool all);  // an operation, which visits some heads, or all

  // PROCESS in all heads that an example of this class may join, then REPROCESS. Its box is
  // [0, bound], or [-bound, 0] where the target is -1. False: no head has taken it, and its class
  // is not the only one so far, which will be needed.
  bool visit(std::size_t slot, std::size_t code, double bound, const Schedule& schedule);
  // mu in the middle of the extremes, where a head was visited.
  std::vector<Record> settle();
  // Members at zero that no step would choose leave their heads. Returns the slots of those who
  // are then in no head, ascending.
  std::vector<std::int64_t> sweep();
  // The example at `into`, of the same class and with this bound from now on, takes over the
  // coefficients of the one at `from`, which leaves all heads. Then REPROCESS there.
  void absorb(std::size_t from, std::size_t into, std::size_t code, double bound,
              const Schedule& schedule);

 private:
  struct Machine {
    Head& head;
    std::uint64_t steps = 0;  // of the present operation
    bool visited = false;
  };
  template <typename Use>
  void for_heads(std::size_t code, const Use& use);
  bool process(Machine& machine, std::size_t slot, double target, double bound, double tau);
  void reprocess(Machine& machine, const Schedule& schedule);
  static void admit(Head& head, std::size_t slot, double kx, double target, double bound);
  void step(Head& head, std::size_t i, std::size_t j);
  static std::vector<std::int64_t> dismiss_idle(Head& head);
  Gram& gram_;
  std::vector<Machine> machines_;
  std::vector<double> buffer_[2];
  std::size_t classes_;
  std::vector<std::int8_t> targets_;
};

// Lower the gap of a head to `tol` in at most `max_iter` steps (negative: a built-in limit). With
// `trusted`, the kernel being positive semi-definite, blocks begin. Returns the number of steps.
std::int64_t finish(Head& head, double tol, std::int64_t max_iter, bool trusted);

}  // namespace supple
