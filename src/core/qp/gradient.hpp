// F = Kx of a head's members, a bound on its error, and the x it was computed for. The gradient of
// variable v is F - c_v + mu. Only the methods of this class change F, and each of them keeps the
// bound and the reference x true.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/gram.hpp"

namespace supple {

struct Head;

// A sum of kernel functions at members.
struct Expansion {
  Positions member;
  Slots slots;
  std::vector<double> coef;
};

// The last `count` values take the place of those of `member`; they leave nothing in memory.
template <typename T>
void replace_by_last(std::vector<T>& values, std::size_t member, std::size_t count) {
  if (values.empty()) return;
  const auto last = values.end() - count;
  std::copy(last, values.end(), values.begin() + member * count);
  std::fill(last, values.end(), T{});
  values.erase(last, values.end());
}

class Gradient {
 public:
  // All that is known; a copy can be restored while the head has the same members.
  struct State {
    std::vector<double> F;
    // F of members away from the margin may follow x in single precision: the bound is then
    // positive. 0 stands for double precision.
    std::vector<double> error_bound;
    std::vector<double> x;  // what F belongs to
    // While the polish works, F of members in single precision may be left behind and belong to
    // this x. Empty if it is not.
    std::vector<double> rough_x;
    // Since F was last computed from scratch: its changes, and the largest mass and K_vv of its
    // terms, of which it keeps the rounding.
    std::uint64_t updates = 0;
    double peak_mass = 0.0, peak_diagonal = 0.0;
  };

  explicit Gradient(Head& head) : h(head) {}

  // --- what is known ---
  double operator[](std::size_t member) const { return s_.F[member]; }
  const std::vector<double>& values() const { return s_.F; }
  const std::vector<double>& x() const { return s_.x; }
  std::vector<double> moved() const { return moved_from(s_.x); }  // the way of x from there
  double error_bound(std::size_t member) const { return s_.error_bound[member]; }
  const std::vector<double>& error_bounds() const { return s_.error_bound; }
  double largest_error() const;
  bool behind() const { return !s_.rough_x.empty(); }
  bool behind(std::size_t member) const { return behind() && s_.error_bound[member] > 0.0; }
  std::uint64_t updates() const { return s_.updates; }
  double peak_mass() const { return s_.peak_mass; }
  bool worn() const;  // F has gathered more rounding than it need have

  const State& state() const { return s_; }
  void restore(const State& state) { s_ = state; }

  // --- members come and go ---
  void append(const std::vector<double>& kx);  // F of new members, whose x is 0
  void remove(std::size_t member);             // the last member moves into the freed place

  // --- F of all members belongs to the head's x afterwards ---
  void refresh();         // from scratch
  void follow();          // sharp members in double precision, others in single
  void follow_sharp();    // only those in double precision
  void follow_by_rows();  // in double precision, by cached kernel rows
  // F has been brought here by set, shift and add_row, in so many changes; or what x has changed is
  // less than F rounds.
  void arrive(std::uint64_t changes = 0);

  // --- in double precision, on the way of the head's x; arrive() comes last ---
  void set(std::size_t member, double value) { s_.F[member] = value; }
  void shift(std::size_t member, double change) { s_.F[member] += change; }
  void add_row(double coef, const double* row);  // to all members
  void note_peaks();

  // --- precision ---
  // F of these members in double precision at the head's x, from scratch.
  void sharpen(const std::vector<std::size_t>& members);
  // From now on F of this member may follow x in single precision.
  void loosen(std::size_t member, double rounding) {
    s_.error_bound[member] = std::max(s_.error_bound[member], rounding);
  }
  // F of these members, which the block solver has brought to the head's x in single precision by
  // changes of x that are `travelled` long, to and fro. The others follow.
  void adopt(const Positions& members, const std::vector<double>& values, double travelled);

 private:
  void add_in_single(const Expansion& change, const Positions& targets);
  std::vector<double> moved_from(const std::vector<double>& from) const;
  // The expansion at these members, in double precision.
  std::vector<double> values_at(const Expansion& e, const std::vector<std::size_t>& wanted);

  Head& h;
  State s_;
  std::vector<double> buffer_;
};

}  // namespace supple
