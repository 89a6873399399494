// The block solver: decomposition with a working set of up to some thousand members. The kernel
// rows of those that join come in one block, SMO solves the small QP, and one pass brings the
// gradient of all members up to date. Kernel rows are in single precision; whenever the working
// sets run dry, F is brought up to date in double precision, so that the errors of the rows do not
// stay.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "linalg/threads.hpp"
#include "linalg/watch.hpp"
#include "solvers/pair_step.hpp"
#include "solvers/smo.hpp"
#include "solvers/working_set.hpp"

namespace supple {

namespace {

constexpr std::size_t kFewest = 64, kFresh = 128;  // members that join the working set at first
constexpr double kShare = 0.1;                     // of the gap that the small QP may leave
constexpr std::size_t kGrain = 1024;               // members that a thread takes at least

// Over the variables that may go up, and down: the smallest and the largest F - c of each group.
struct Extremes {
  PerGroup up{kInf, kInf}, low{-kInf, -kInf};
  double gap() const {  // the largest of the groups
    double worst = 0.0;
    for (std::size_t g = 0; g < kMaxGroups; ++g) worst = std::max(worst, low[g] - up[g]);
    return worst;
  }
};

class BlockSolver {
 public:
  BlockSolver(Head& head, bool shrinking)
      : h(head),
        linear_(head.gram.linear()),
        matrix_(head.matrix()),
        shrinking_(shrinking && !linear_ && !matrix_) {}
  SmoResult run(double eps, std::int64_t max_iterations);

 private:
  const SinglePoints& points() { return part_ ? *part_ : h.single(); }
  std::size_t member(std::size_t a) const { return static_cast<std::size_t>(active_[a]); }
  double slope(std::size_t a, std::size_t v) const {  // variable v of active member a
    return F_[a] - h.c[v] + h.ridge_term(v);
  }
  double sum_of(std::size_t m) const { return h.per == 1 ? h.x[m] : h.x[2 * m] + h.x[2 * m + 1]; }
  // visit(active member, variable, its slope, whether it may go up, and down)
  template <typename Visit>
  void for_each(const Visit& visit) const;
  Extremes extremes() const;
  std::size_t violators(const Extremes& e, double eps) const;
  void activate_all();
  void shrink(const Extremes& e, Positions& joining);
  Positions joining(const Extremes& e, double eps) const;
  Positions staying(const Extremes& e, std::size_t joining) const;
  void restart() { set_.restart(active_.size(), h.gram.cache_bytes(), !linear_, matrix_); }
  std::int64_t solve_local(double eps, double unit, std::int64_t max_iterations);
  void spread();

  Head& h;
  const bool linear_;
  SingleMatrix* const matrix_;  // all members are then one working set
  const bool shrinking_;
  Positions active_;                    // those that have not been set aside
  std::vector<double> F_;               // of them
  std::unique_ptr<SinglePoints> part_;  // they, unless they are all
  WorkingSet set_;
  PairSteps<float> pairs_{h};  // its columns are the places of the working set
  std::vector<double> sums_;   // by places: of x of a member, before they were solved for
  std::size_t fresh_ = 0;      // members that joined the working set in this round
  double travelled_ = 0.0;     // what x has changed, to and fro, since F was exact
};

template <typename Visit>
void BlockSolver::for_each(const Visit& visit) const {
  for (std::size_t a = 0; a < active_.size(); ++a)
    for (std::size_t v = member(a) * h.per; v < (member(a) + 1) * h.per; ++v) {
      const bool may_rise = h.x[v] < h.hi[v];
      const bool may_fall = h.x[v] > h.lo[v];
      visit(a, v, slope(a, v), may_rise, may_fall);
    }
}

Extremes BlockSolver::extremes() const {
  Extremes e;
  for_each([&](std::size_t, std::size_t v, double G, bool may_rise, bool may_fall) {
    double &up = e.up[h.group[v]], &low = e.low[h.group[v]];
    up = std::min(up, may_rise ? G : kInf);
    low = std::max(low, may_fall ? G : -kInf);
  });
  return e;
}

std::size_t BlockSolver::violators(const Extremes& e, double eps) const {
  std::size_t count = 0;
  for_each([&](std::size_t, std::size_t v, double G, bool may_rise, bool may_fall) {
    const double above = G - 0.5 * (e.up[h.group[v]] + e.low[h.group[v]]);
    count += (may_rise && above < -0.5 * eps) || (may_fall && above > 0.5 * eps);
  });
  return count;
}

void BlockSolver::activate_all() {
  active_.resize(h.members());
  std::iota(active_.begin(), active_.end(), 0);
  part_.reset();
  restart();
}

// Members at a bound that they strive to even against the extremes are set aside, if they are many.
// The working set then joins anew.
void BlockSolver::shrink(const Extremes& e, Positions& joining) {
  Positions kept;
  for_each([&](std::size_t a, std::size_t v, double G, bool may_rise, bool may_fall) {
    const bool stuck = (!may_fall && G > e.low[h.group[v]]) || (!may_rise && G < e.up[h.group[v]]);
    if (h.fixed(v) || stuck || (!kept.empty() && kept.back() == static_cast<std::int32_t>(a)))
      return;
    kept.push_back(a);
  });
  if (kept.size() * 3 > active_.size() * 2) return;
  // F of those set aside waits at this x, where most of the others have already come to.
  if (active_.size() == h.members()) h.F.adopt(active_, F_, std::exchange(travelled_, 0.0));
  part_ = points().subset(kept);
  Positions now(active_.size(), -1), anew;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    now[kept[k]] = k;
    active_[k] = active_[kept[k]];
    F_[k] = F_[kept[k]];
  }
  active_.resize(kept.size());
  F_.resize(kept.size());
  for (const Positions& part : {set_.who(), joining})
    for (std::int32_t a : part)
      if (now[a] >= 0) anew.push_back(now[a]);
  joining = std::move(anew);
  restart();
}

// The most violating from both ends.
Positions BlockSolver::joining(const Extremes& e, double eps) const {
  const std::size_t most = set_.most();
  const std::size_t base = std::clamp(active_.size() / 16, kFewest, kFresh);
  const std::size_t fresh = std::min(std::clamp(set_.size() / 4, base, 3 * kFresh), most / 2);
  Positions out;
  std::vector<char> taken(active_.size(), 0);
  for (std::int32_t a : set_.who()) taken[a] = 1;
  // A problem that was solved before begins with its margin set.
  for (std::size_t a = 0; a < taken.size() && set_.size() == 0 && out.size() < most - fresh; ++a)
    if (h.inside_any(member(a))) {
      taken[a] = 1;
      out.push_back(a);
    }
  using Worst = std::vector<std::pair<double, std::int32_t>>;
  Worst up, down;
  for_each([&](std::size_t a, std::size_t v, double G, bool may_rise, bool may_fall) {
    const double low = e.low[h.group[v]] - 0.5 * eps, high = e.up[h.group[v]] + 0.5 * eps;
    if (!taken[a] && may_rise && G < low) up.emplace_back(G - low, a);
    if (!taken[a] && may_fall && G > high) down.emplace_back(high - G, a);
  });
  const std::size_t before = out.size();
  const auto take = [&](Worst& from, std::size_t count) {
    if (from.size() > count) {
      std::nth_element(from.begin(), from.begin() + count, from.end());
      from.resize(count);
    }
    for (const auto& [violation, a] : from)
      if (!std::exchange(taken[a], 1)) out.push_back(a);
  };
  take(up, fresh / 2);
  take(down, fresh - (out.size() - before));
  std::sort(out.begin(), out.end());
  return out;
}

// Those at a bound that they do not strive to leave make room. The others stay: a working set that
// holds the whole margin set is solved for all of it, and who violates then will most likely be a
// support vector.
Positions BlockSolver::staying(const Extremes& e, std::size_t joining) const {
  Positions out;
  for (std::size_t t = 0; t < set_.size(); ++t) {
    const std::size_t a = set_.who(t);
    bool content = t + fresh_ < set_.size();
    for (std::size_t v = member(a) * h.per; v < (member(a) + 1) * h.per; ++v) {
      const double g = slope(a, v) - 0.5 * (e.up[h.group[v]] + e.low[h.group[v]]);
      content &= (h.x[v] <= h.lo[v] && g > 0.0) || (h.x[v] >= h.hi[v] && g < 0.0);
    }
    if (!content) out.push_back(t);
  }
  // Too many for one set: those that joined first go.
  const std::size_t room = set_.most() - joining;
  if (out.size() > room) out.erase(out.begin(), out.end() - room);
  return out;
}

// SMO on the QP of the working set; returns the iterations.
std::int64_t BlockSolver::solve_local(double eps, double unit, std::int64_t max_iterations) {
  const auto who = [&](std::size_t t) { return member(set_.who(t)); };
  sums_.resize(set_.size());
  for (std::size_t t = 0; t < set_.size(); ++t) sums_[t] = sum_of(who(t));
  pairs_.start(set_.size(), unit, who,
               [&](std::size_t t, std::size_t v) { return slope(set_.who(t), v); });
  const double goal = std::max(eps / unit, matrix_ ? 0.0 : kShare * pairs_.gap());
  const auto row = [&](std::size_t t, std::size_t) { return set_.row(t); };
  std::int64_t iterations = 0;
  while (pairs_.gap() > goal && iterations < max_iterations && pairs_.step(row))
    if (++iterations % 1024 == 0) look();
  pairs_.give_back();
  return iterations;
}

// The changes of x in the working set go to F of all active members.
void BlockSolver::spread() {
  Positions changed;
  std::vector<const float*> row;
  std::vector<double> coefficient;
  double unit = 0.0;
  for (std::size_t t = 0; t < set_.size(); ++t) {
    const double change = sum_of(member(set_.who(t))) - sums_[t];
    if (change == 0.0) continue;
    changed.push_back(set_.who(t));
    if (!linear_ || matrix_) row.push_back(set_.long_row(t));
    coefficient.push_back(change);
    travelled_ += std::abs(change);
    unit = std::max(unit, std::abs(change));
  }
  if (changed.empty()) return;
  for (double& change : coefficient) change /= unit;  // single precision then has room for them
  if (row.empty()) {
    std::vector<double> added(active_.size(), 0.0);
    points().add_linear(changed, coefficient, added.data());
    return simd().axpy(unit, added.data(), F_.data(), added.size());
  }
  share(h.gram.threads, active_.size(), kGrain, [&](std::size_t from, std::size_t to) {
    std::vector<const float*> part(row.size());
    std::vector<double> added(kGrain);
    // A piece of the sum stays in the first-level cache while all rows are added.
    for (std::size_t start = from; start < to; start += kGrain) {
      look();
      const std::size_t length = std::min(to, start + kGrain) - start;
      for (std::size_t k = 0; k < row.size(); ++k) part[k] = row[k] + start;
      std::fill_n(added.begin(), length, 0.0);
      simd().add_rows_single(part.data(), coefficient.data(), part.size(), added.data(), length);
      simd().axpy(unit, added.data(), F_.data() + start, length);
    }
  });
}

SmoResult BlockSolver::run(double eps, std::int64_t max_iterations) {
  std::int64_t iterations = 0;
  bool stuck = false;       // no pair of the working set moves: rounding
  double known_gap = kInf;  // at the last F in double precision
  activate_all();
  F_ = h.F.values();
  while (true) {
    const Extremes e = extremes();
    const double now = e.gap();
    const bool out_of_time = max_iterations >= 0 && iterations >= max_iterations;
    if (now <= eps || out_of_time || stuck) {
      h.F.adopt(active_, F_, std::exchange(travelled_, 0.0));
      h.balance_mu();
      h.sharpen();
      F_ = h.F.values();
      if (active_.size() < h.members()) activate_all();
      const double exact = extremes().gap();
      // Rows in single precision may be too coarse to come closer.
      if (exact <= eps || out_of_time || stuck || exact > 0.5 * known_gap) {
        h.balance_mu();
        return {exact <= eps, iterations};
      }
      known_gap = exact;
      continue;
    }
    tell([&] {
      const std::size_t n = h.members();
      return News{Phase::solving, n - std::min(n, violators(e, eps)), n, now};
    });
    if (!matrix_) {
      Positions joining = this->joining(e, eps);
      set_.keep(staying(e, joining.size()));
      fresh_ = joining.size();
      if (shrinking_ && active_.size() > 4 * kFresh && set_.size() > 0) shrink(e, joining);
      set_.join(joining, points(), h.gram.threads);
    }
    constexpr std::int64_t kMost = 50'000;
    const std::int64_t left = max_iterations < 0 ? kMost : max_iterations - iterations;
    const std::int64_t spent = solve_local(0.5 * eps, now, std::min(left, kMost));
    iterations += spent;
    stuck = spent == 0;
    spread();
  }
}

}  // namespace

SmoResult block_smo(Head& head, double eps, std::int64_t max_iterations, bool shrinking) {
  return BlockSolver(head, shrinking).run(eps, max_iterations);
}

}  // namespace supple
