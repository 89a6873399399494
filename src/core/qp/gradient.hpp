// F = Kx of a head's members, a bound on its error, and the x it was computed for. The gradient of
// variable v is F - c_v + mu. Only the methods of this class change F, and each of them keeps the
// bound and the reference x true.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
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
  struct Anchor {
    std::vector<double> x, F, error_bound;
  };

 public:
  // All that is known; a copy can be restored while the head has the same members.
  struct State {
    std::vector<double> F;
    // F of members away from the margin may follow x in single precision: the bound is then
    // positive. 0 stands for double precision.
    std::vector<double> error_bound;
    std::vector<double> x;  // what F of all members belongs to, but for stale ones
    // While the block solver or the polish works, members may be stale: their F belongs to stale_x,
    // and nothing reads it until catch_up. Empty if there are none.
    std::vector<char> stale;
    std::vector<double> stale_x;
    // An earlier F that sharpen() may start from, and the changes of x, to and fro, that F has
    // followed in single precision since.
    std::shared_ptr<const Anchor> anchor;
    double travelled = 0.0;
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
  double error_bound(std::size_t member) const { return s_.error_bound[member]; }
  const std::vector<double>& error_bounds() const { return s_.error_bound; }
  double largest_error() const;
  bool is_stale(std::size_t member) const { return !s_.stale.empty() && s_.stale[member]; }
  bool has_stale() const { return !s_.stale.empty(); }
  const std::vector<char>& stale() const { return s_.stale; }
  bool behind() const { return has_stale() && s_.stale_x != s_.x; }  // stale F is not that of x
  bool sharp_at_anchor(std::size_t member) const {
    return s_.anchor && s_.anchor->error_bound[member] == 0.0;
  }
  std::uint64_t updates() const { return s_.updates; }
  double peak_mass() const { return s_.peak_mass; }
  bool worn() const;  // F has gathered more rounding than it need have

  // F before boxes were last moved. Many members that leave at once shift F far, and the optimum
  // that follows brings it back: this tells better who will be at the margin.
  void note_before_move() { before_move_ = s_.F; }
  const std::vector<double>& before_move() const {
    return before_move_.size() == s_.F.size() ? before_move_ : s_.F;
  }

  const State& state() const { return s_; }
  void restore(const State& state) {
    s_ = state;
    before_move_.clear();
  }

  // --- members come and go ---
  void append(const std::vector<double>& kx);  // F of new members, whose x is 0
  void remove(std::size_t member);             // the last member moves into the freed place
  void clear();                                // F = 0, as x is

  // --- F of all members belongs to the head's x afterwards ---
  void refresh();         // from scratch
  void follow();          // sharp members in double precision, others in single; stale ones stay so
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
  // F of these members in double precision at the head's x: from scratch, or from the anchor where
  // F was sharp.
  void sharpen(const std::vector<std::size_t>& members);
  // F of this member may follow x in single precision from now on.
  void loosen(std::size_t member, double rounding);
  // F of active members, which the block solver has brought to the head's x in single precision.
  // The others become stale.
  void adopt(const Positions& members, const std::vector<double>& values);
  void note_travel(double way) { s_.travelled += way; }
  void set_anchor();
  void drop_anchor() { s_.anchor.reset(); }

  // --- stale members ---
  void mark_stale(std::vector<char> members);  // at the present x
  void clear_stale() { s_.stale.clear(); }
  void catch_up();  // in single precision

 private:
  void add_in_single(const Expansion& change, const Positions& targets);
  Expansion change(const std::vector<double>& from, const std::vector<double>& to) const;
  // The expansion at these members, in double precision.
  std::vector<double> values_at(const Expansion& e, const std::vector<std::size_t>& wanted);

  Head& h;
  State s_;
  std::vector<double> before_move_;  // empty if members have come or gone since
  std::vector<double> buffer_;
};

}  // namespace supple
