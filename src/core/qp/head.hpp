// One machine: the state of one signed QP over some of the stored examples,
//
//   minimise 1/2 x'(K + D)x - c'x,   lo <= x <= hi,   sum of x over group e = target_e,
//
// where D is diagonal, the ridge. It belongs to the variables: kernel values know nothing of it. A
// member is an example that takes part; it has `per` variables (two for regression). Variable v
// belongs to member v / per. The members' kernel expansion F = Kx is kept up to date
// (gradient.hpp); the gradient of variable v is g_v = F + d_v x_v - c_v + mu_group. A box may be
// unbounded where d_v > 0. Factor and block are derived from the variables strictly inside their
// box (the margin set S) and can be rebuilt at any time.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "qp/factor.hpp"
#include "qp/gradient.hpp"
#include "kernels/gram.hpp"
#include "kernels/margin_block.hpp"
#include "kernels/single_matrix.hpp"

namespace supple {

// How good the state is, by the Kx carried along.
struct Audit {
  double violation;  // largest violation of KKT, absolute
  double scale;
  double rounding;
  bool balanced;  // the sums over the groups meet their targets
};

struct Problem {
  // per member
  std::vector<std::int64_t> slot;
  // per variable
  std::vector<double> x, c, lo, hi, ridge;  // the ridge is d
  std::vector<std::uint8_t> group;
  // per group
  PerGroup mu{}, target{};
};

// A copy of what defines a head. Factor and block are rebuilt from it.
struct Snapshot {
  Problem problem;
  Gradient::State F;
  // For trials, which leave a head with the same members as it was to the last bit. To copy the
  // factor back costs one pass over it, less than to follow a path back. The block, if there was
  // one, may have gained columns, which are valid at any state.
  struct Trial {
    Factor factor;
    std::uint64_t evaluations;
    bool with_block;
  };
  std::optional<Trial> trial{};
};

// New boxes of some variables, and the targets to meet with them.
struct Move {
  std::vector<std::int64_t> variables{};
  std::vector<double> lo{}, hi{}, ridge{};  // no ridge: it stays as it is
  PerGroup target{};
  void add(std::size_t v, double low, double high) {
    variables.push_back(v);
    lo.push_back(low);
    hi.push_back(high);
  }
};

struct Head : Problem {
  Head(Gram& gram, std::size_t per, std::size_t groups);
  ~Head() { gram.let_go(block); }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  Gram& gram;
  const std::size_t per;
  const std::size_t n_groups;

  Gradient F{*this};
  Factor factor;
  MarginBlock block;
  // The members for blocks of kernel values (where gram.has_blocks), built when first needed.
  const SinglePoints& single();
  // All values among the members, if they are so few that this is a small matrix; else null.
  static constexpr std::size_t kWhole = 1024;
  SingleMatrix* matrix();
  SingleMatrix* built_matrix() { return matrix_.get(); }  // null unless it has been asked for
  void release();

  double reach = 0.0;  // how far gradients moved in recent paths (see path.cpp, screening)
  std::size_t members() const { return slot.size(); }
  // SMO iterations after which a head that nothing else can solve is given up: at an indefinite
  // kernel, or at a tolerance beyond rounding, SMO may never end by itself.
  std::int64_t most_iterations() const {
    return 1'000'000 + 100 * static_cast<std::int64_t>(members());
  }
  std::size_t variables() const { return x.size(); }
  std::size_t member_of(std::size_t v) const { return v >> (per - 1); }  // per is 1 or 2
  double diagonal(std::size_t v) const { return gram.diagonal(slot[member_of(v)]); }
  double ridge_term(std::size_t v) const { return ridge[v] * x[v]; }
  double curvature(std::size_t v) const { return diagonal(v) + ridge[v]; }
  double slope(std::size_t v) const { return F[member_of(v)] - c[v] + ridge_term(v); }
  double gradient(std::size_t v) const { return slope(v) + mu[group[v]]; }
  bool inside(std::size_t v) const { return lo[v] < x[v] && x[v] < hi[v]; }
  bool inside_any(std::size_t member) const {
    return inside(member * per) || inside(member * per + per - 1);
  }
  bool fixed(std::size_t v) const { return lo[v] == hi[v]; }

  // Margin variables on a bound, or so near that they are by rounding, leave the factor: they would
  // fix mu.
  void drop_edges();
  // Of the many ways to write down one optimum take the same, whichever solver found it: no two
  // variables of one member are both non-zero, nobody is inside its box by rounding alone, and mu
  // follows from balance_mu.
  void make_canonical();
  void clear();         // x = 0, with boxes and targets as they are
  double mass() const;  // sum of |x|

  // New members enter with an empty box at 0, which is optimal whatever their gradient.
  // Those at slots that have a member already are passed over.
  void admit(const std::int64_t* slots, const double* c_values, const std::uint8_t* groups,
             std::size_t count);
  // The same with Kx given.
  void enter(const Slots& entering, const std::vector<double>& c_new,
             const std::vector<std::uint8_t>& groups_new, const std::vector<double>& kx);
  // Kx at an example, by its kernel row.
  double expansion_at(const double* row) const;
  // Members leave, with all variables at 0.
  void dismiss(const Slots& slots);
  // The same where the store removes the examples at these slots, which descend, and each time the
  // example in the last slot takes the freed one.
  void take_out(const Slots& slots, std::int64_t n_examples);
  std::int64_t member_at(std::int64_t slot_wanted) const {  // -1 if there is none
    return static_cast<std::size_t>(slot_wanted) < member_at_.size() ? member_at_[slot_wanted] : -1;
  }

  // Make a move at once: x is clipped, and what the targets then miss is given to the variables
  // with the most favourable gradients. False: there is no feasible x.
  bool jump(const Move& move);
  void set_boxes(const Move& move);  // and the targets: x stays
  void set_ridge(std::size_t v, double value);
  Snapshot save(bool for_trials = false) const;
  void put(const Snapshot& copy);  // of the same members, where the factor is set right
  void restore(const Snapshot& copy);
  void sharpen();        // F in double precision where its error leaves open what is optimal
  void renew();          // F from scratch if it is worn, and the factor with it
  void forget_factor();  // factor and block will be built again
  // Anew, of the variables inside their box, up to the first that depends on those before it; where
  // few have joined or left, they had better do so one by one.
  void build_factor();
  // Variables inside their box that the factor does not hold, and others that it holds.
  struct MarginChanges {
    std::vector<std::size_t> joined, left;
    std::size_t count() const { return joined.size() + left.size(); }
  };
  MarginChanges margin_changes() const;
  bool factored() const { return margin_changes().count() == 0; }

  // Kernel row of a member against all members (in `buffer` unless it can be used in place).
  const double* member_row(std::size_t member, std::vector<double>& buffer);
  std::vector<double> expansion(const Slots& targets);  // Kx from scratch
  Expansion support() const { return by_member(x); }
  Expansion by_member(const std::vector<double>& values) const;  // sums over members' variables
  double violation(const std::vector<double>& kx) const;         // absolute
  Audit audit() const;
  // What KKT violations are relative to (theory.md, "The scale"). Only open boxes count, as an
  // example without weight is no part of the problem: the largest |c|; where c = 0 and there is one
  // group, the largest |Kx|, or of its terms should they cancel; with two groups half the width of
  // the margin, and 0 if that is no more than rounding.
  double scale(const std::vector<double>& kx) const;
  double magnitude(const std::vector<double>& kx) const;  // the same without a look at the margin
  double largest_diagonal() const;                        // |K_vv| of open boxes
  double rounding() const;            // what the terms of Kx - c lose: no gradient is known better
  PerGroup missing() const;           // target - sum of x
  bool balanced(double share) const;  // what is missing is at most this share of the mass
  // The values of mu for which all variables of a group satisfy KKT, if low <= high, and where it
  // should be by those inside their box. With doubt = 1 every F takes the side of its error that
  // asks for less.
  struct Range {
    double low, high, inside;  // NaN: nobody is inside
    double middle() const {    // or its finite end, if one is infinite
      return 0.5 * ((low > -kInf ? low : high) + (high < kInf ? high : low));
    }
  };
  Range optimal_mu(std::size_t group, double doubt = 0.0) const;
  // mu from the margin variables' gradients; for a group without any, the middle of the interval
  // in which mu satisfies KKT (its finite end if the other is infinite).
  void balance_mu();

  // Into the factor; false: one depends on those present.
  bool enter_margin(const std::vector<std::size_t>& entering);
  bool enter_margin(std::size_t v) { return enter_margin(std::vector{v}); }
  void leave_margin(std::size_t v) { factor.remove(v); }
  void leave_margin(const std::vector<std::size_t>& leaving) {
    for (std::size_t v : leaving) leave_margin(v);
  }
  // Where enter_margin(v) was false, v depends on the margin set: if the others balance it, it
  // moves without a change of any gradient. It does so here, with x of all of them, until one meets
  // a bound: up (sense = 1), down (-1), or by default inward from a bound, else downhill. A ridge
  // that the factor has lost in rounding may end the way downhill earlier.
  struct Slide {
    enum class End { bound, ridge, none };  // none: nothing ends the way, and nobody has moved
    End end = End::bound;
    std::vector<double> dx;  // of the factor's variables
    double dx_own = 0.0;     // of v
    std::size_t arrived;     // v itself or a variable of the factor
    bool upper = false;      // at which bound
  };
  Slide slide(std::size_t v, double sense = 0.0);
  void sync_block();  // it has a column for every variable of the factor
  void give_columns(const std::vector<std::int64_t>& some);  // of the block, if they have none

 private:
  double largest_c() const;  // of open boxes
  // Two variables of one member that are both non-zero leave one of them at 0. Kx stays.
  void cancel_pairs();
  // Where the variables inside their boxes are there by rounding alone, put them on their bounds:
  // the optimum then has a whole interval of mu, and balance_mu takes its middle.
  void snap_empty_margins();
  void hold_block(std::size_t rows, std::size_t columns);       // it is about to have so many
  Slots slots_of(const std::vector<std::int64_t>& some) const;  // of variables
  void remove(std::size_t member);  // the last member moves into the freed place
  void locate(std::size_t first);   // member_at_ for members from this one on
  std::shared_ptr<const SinglePoints> single_;
  std::unique_ptr<SingleMatrix> matrix_;
  std::vector<std::int64_t> member_at_;  // by slots, or -1
  bool in_place_ = true;                 // slot[m] == m for all members, as far as known
};

// Gives back the copy of the examples that blocks are computed from, so that not every head keeps
// one.
struct Released {
  Head& head;
  ~Released() { head.release(); }
};

}  // namespace supple
