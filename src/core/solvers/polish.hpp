// Newton polish: a primal active-set method started from a feasible, nearly optimal x. On the
// margin set the equality system is solved exactly; steps stop at the box and the blocking
// variable leaves; when the margin gradients vanish, violators enter. The objective never rises.
// With one violator at a time, from x = 0, this is SimpleSVM (Vishwanathan, Smola & Murty 2003).
#pragma once
#include <cstdint>
#include <vector>

#include "qp/head.hpp"

namespace supple {

enum class Pace { several, one };  // violators that enter the margin set at a time

struct PolishResult {
  bool finished;
  std::int64_t rounds;
};

// Ends when no KKT violation exceeds `goal`, or when none exceeds `floor` (what rounding permits)
// and the violations fall no more.
PolishResult polish(Head& head, double goal, double floor, Pace pace, std::int64_t max_rounds);

class Polish {
 public:
  Polish(Head& head, double goal, double floor, Pace pace)
      : h(head), goal_(goal), floor_(floor), pace_(pace) {}
  PolishResult run(std::int64_t max_rounds);

 private:
  static constexpr std::size_t kTogether = 32;  // that a pass over the factor lets enter
  struct Violator {
    std::size_t variable;
    double size;
  };
  // --- polish_violators.cpp: who enters ---
  double violation(std::size_t v) const;  // of a variable on a bound
  void loosen_far();                      // F where single precision is worth while
  void sharpen();                         // F at the margin, and of all who may be violators
  static bool worse(const Violator& a, const Violator& b) { return a.size > b.size; }
  std::vector<Violator> violators() const;  // worst first; sharpen() has seen all of them
  std::vector<Violator> worst_violators() const;
  void pass_over_copies(std::vector<Violator>& found) const;

  // --- polish.cpp: x and the margin set ---
  void sync_factor();
  double margin_residual();
  void admit(std::size_t v);
  void admit_several(const std::vector<Violator>& found, std::size_t room);
  void slide(std::size_t v);
  void newton();
  bool step_to_box(double& alpha);
  // Says how far it has come; called before each change of the factor, which takes a while.
  void report() const;

  Head& h;
  double goal_, floor_;
  Pace pace_;
  std::vector<double> g_, dx_;
  PerGroup dmu_{};
  bool full_ = false;         // in the last round a variable depended on the margin set
  bool turned_away_ = false;  // a variable that entered could not move at all
  std::int64_t round_ = 0;
  double worst_ = 0.0;       // violation in the last round
  std::size_t waiting_ = 0;  // violators found that have not entered
  int stalls_ = 0;           // rounds in a row in which that happened, and nothing was gained
};

}  // namespace supple
