// The block solver: decomposition with a working set of up to some thousand members. The kernel
// rows of those that join come in one block, SMO solves the small QP, and one pass brings the
// gradient of all members up to date. Kernel rows are in single precision and cached; whenever the
// working sets run dry, F is brought up to date in double precision, so that the errors of the rows
// do not stay.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solvers/active_set.hpp"
#include "kernels/row_cache.hpp"
#include "linalg/threads.hpp"
#include "linalg/watch.hpp"
#include "solvers/smo.hpp"
#include "solvers/working_set.hpp"

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kFewest = 64, kFresh = 128;  // members that join the working set at first
constexpr std::size_t kLargest = 3072;             // working set
constexpr double kShare = 0.1;                     // of the gap that the small QP may leave
constexpr std::size_t kGrain = 1024;               // members that a thread takes at least

class BlockSolver {
 public:
  BlockSolver(Head& head, bool shrinking, bool polish_follows);
  ~BlockSolver() { h.F.drop_anchor(); }
  BlockSolver(const BlockSolver&) = delete;
  BlockSolver& operator=(const BlockSolver&) = delete;
  SmoResult run(double eps, std::int64_t max_iterations);

 private:
  const SinglePoints& points() { return part_ ? *part_ : h.single(); }
  void activate_all();
  Positions joining(const Extremes& e, double eps) const;
  Positions leaving(const Extremes& e, std::size_t joining) const;
  std::size_t largest_set() const;
  double slope(std::size_t a, std::size_t v) const {  // variable v of active member a
    return active_.F[a] - h.c[v] + h.ridge_term(v);
  }
  void fill_local(double unit);
  void fill_kernel(const Positions& joined);
  bool takes_all() const { return matrix_ || active_.size() <= Head::kWhole; }
  bool whole() const { return set_.size() == active_.size(); }
  void spread();
  void set_aside_far();
  void keep(const Positions& kept);
  double drift() const;
  // F of the active members goes to the head; the others are then stale.
  void hand_over() { h.F.adopt(active_.members(), active_.F); }

  Head& h;
  bool shrinking_, polish_follows_;
  Positions movable_;  // members with a box that is not a point
  bool all_movable_;
  ActiveSet active_;  // those of them that have not been set aside
  bool shrunk_ = false;
  double slack_ = kInf;                 // that F of those set aside as far may use up
  SingleMatrix* matrix_ = nullptr;      // all members are then one working set
  std::unique_ptr<SinglePoints> part_;  // the active members, unless they are all
  std::unique_ptr<RowCache> rows_;
  WorkingSet set_;
  std::uint32_t round_ = 0;
  bool linear_;
};

BlockSolver::BlockSolver(Head& head, bool shrinking, bool polish_follows)
    : h(head),
      shrinking_(shrinking),
      polish_follows_(polish_follows),
      active_(head),
      linear_(head.gram.linear()) {
  h.F.set_anchor();
  movable_.reserve(h.members());
  for (std::size_t m = 0; m < h.members(); ++m)
    for (std::size_t j = 0; j < h.per; ++j)
      if (!h.fixed(m * h.per + j)) {
        movable_.push_back(m);
        break;
      }
  all_movable_ = movable_.size() == h.members();
  if (all_movable_) matrix_ = h.matrix();
}

void BlockSolver::activate_all() {
  active_.assign(movable_);
  part_.reset();
  if (!all_movable_) part_ = h.single().subset(movable_);
  rows_.reset();
  set_.restart(active_.size(), kLargest);
  set_.matrix = matrix_;
  shrunk_ = false;
  slack_ = kInf;
}

// The most violating from both ends.
Positions BlockSolver::joining(const Extremes& e, double eps) const {
  Positions out;
  if (takes_all()) {
    for (std::size_t a = 0; a < active_.size(); ++a)
      if (!set_.holds(a)) out.push_back(a);
    return out;
  }
  const std::size_t most = largest_set();
  const std::size_t base = std::clamp(active_.size() / 16, kFewest, kFresh);
  const std::size_t fresh = std::min(std::clamp(set_.size() / 4, base, 3 * kFresh), most / 2);
  if (set_.size() == 0) {  // a problem that was solved before begins with its margin set
    out = active_.inside();
    out.resize(std::min(out.size(), most - fresh));
  }
  std::vector<char> taken(active_.size(), 0);
  for (std::int32_t a : out) taken[a] = 1;
  const Positions worst =
      active_.worst(e, eps, fresh, [&](std::size_t a) { return set_.holds(a) || taken[a]; });
  out.insert(out.end(), worst.begin(), worst.end());
  std::sort(out.begin(), out.end());
  return out;
}

// Those at a bound that they do not strive to leave make room. The others stay: a working set that
// holds the whole margin set is solved for all of it, and who violates then will most likely be a
// support vector.
Positions BlockSolver::leaving(const Extremes& e, std::size_t joining) const {
  Positions out, staying;
  if (takes_all()) return out;
  for (std::size_t t = 0; t < set_.size(); ++t) {
    const std::size_t a = set_.who(t);
    bool content = set_.since(t) + 1 < round_;
    for (std::size_t j = 0; j < h.per && content; ++j) {
      const std::size_t v = active_.member(a) * h.per + j, group = h.group[v];
      const double g = slope(a, v) - 0.5 * (e.up[group] + e.low[group]);
      content = (h.x[v] <= h.lo[v] && g > 0.0) || (h.x[v] >= h.hi[v] && g < 0.0);
    }
    (content ? out : staying).push_back(t);
  }
  const std::size_t most = largest_set();
  if (staying.size() + joining <= most) return out;
  // Too many for one set: those that joined first go.
  const auto surplus = std::min(staying.size(), staying.size() + joining - most);
  std::nth_element(staying.begin(), staying.begin() + surplus, staying.end(),
                   [&](std::int32_t s, std::int32_t t) { return set_.since(s) < set_.since(t); });
  out.insert(out.end(), staying.begin(), staying.begin() + surplus);
  return out;
}

// As many as a fourth of the cache has room for with each other, and all of it with their rows.
std::size_t BlockSolver::largest_set() const {
  const std::size_t bytes = h.gram.cache_bytes();
  const auto fitting = static_cast<std::size_t>(std::sqrt(static_cast<double>(bytes / 16)));
  const std::size_t most = std::clamp(fitting, 2 * kFresh, kLargest);
  if (linear_) return most;
  return std::min(most, rows_ ? rows_->capacity() : RowCache::capacity(active_.size(), bytes));
}

// The QP of the working set.
void BlockSolver::fill_local(double unit) {
  set_.pairs.unit = unit;
  set_.pairs.resize(h, set_.size());
  for (std::size_t t = 0; t < set_.size(); ++t) {
    const std::size_t a = set_.who(t);
    for (std::size_t j = 0; j < h.per; ++j) {
      const std::size_t v = active_.member(a) * h.per + j;
      set_.pairs.fill(j * set_.size() + t, h, v, slope(a, v));
    }
  }
}

void BlockSolver::fill_kernel(const Positions& joined) {
  if (matrix_) return;
  if (!linear_ && !whole()) {
    if (!rows_) rows_ = std::make_unique<RowCache>(active_.size(), h.gram.cache_bytes());
    rows_->fetch(points(), set_.who(), h.gram.threads);
  }
  if (joined.empty()) return;
  if (whole() && joined.size() == set_.size())  // places are in the order of the members
    return set_.fill(joined, points(), h.gram.threads);
  // To gather the values from rows that are in no cache would take longer.
  set_.fill(joined, *points().subset(set_.who()), h.gram.threads);
}

// The changes of the working set go to x and to F of all active members.
void BlockSolver::spread() {
  Positions changed;
  std::vector<const float*> row;
  std::vector<double> coefficient;
  double unit = 0.0, travelled = 0.0;
  for (std::size_t t = 0; t < set_.size(); ++t) {
    const std::size_t a = set_.who(t), m = active_.member(a);
    double change = 0.0;
    for (std::size_t j = 0; j < h.per; ++j) {
      double& x = h.x[m * h.per + j];
      change += set_.pairs.x[j * set_.size() + t] - x;
      x = set_.pairs.x[j * set_.size() + t];
    }
    active_.moved(a);
    if (change == 0.0) continue;
    changed.push_back(a);
    if (!linear_ || whole()) row.push_back(whole() ? set_.row(t) : rows_->row(a));
    coefficient.push_back(change);
    travelled += std::abs(change);
    unit = std::max(unit, std::abs(change));
  }
  h.F.note_travel(travelled);
  for (double& change : coefficient) change /= unit;  // single precision then has room for them
  std::vector<double> added;
  if (whole()) {  // the rows of the working set say all
    added.assign(set_.size(), 0.0);
    simd().add_rows_single(row.data(), coefficient.data(), row.size(), added.data(), added.size());
    for (std::size_t t = 0; t < set_.size(); ++t) active_.F[set_.who(t)] += unit * added[t];
    return;
  }
  if (linear_) {
    added.assign(active_.size(), 0.0);
    points().add_linear(changed, coefficient, added.data(), added.size());
    simd().axpy(unit, added.data(), active_.F.data(), added.size());
    return;
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
      simd().axpy(unit, added.data(), active_.F.data() + start, length);
    }
  });
}

// A problem that was solved before some examples joined or left: those far from the margin will
// hardly move.
void BlockSolver::set_aside_far() {
  const Head::Slack slack = h.slack(Head::kWhole, h.F.before_move());
  if (slack.far == kInf) return;
  Positions kept;
  for (std::size_t a = 0; a < active_.size(); ++a)
    if (slack.of[active_.member(a)] < slack.far) kept.push_back(a);
  keep(kept);
  if (shrunk_) slack_ = slack.far;
}

// How far F has moved where x has not.
double BlockSolver::drift() const {
  double most = 0.0;
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const auto m = active_.member(a);
    bool moved = false;
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) moved |= h.x[v] != h.F.x()[v];
    if (!moved) most = std::max(most, std::abs(active_.F[a] - h.F.before_move()[m]));
  }
  return most;
}

void BlockSolver::keep(const Positions& kept) {
  if (kept.size() * 3 > active_.size() * 2) return;
  if (!shrunk_) {
    hand_over();
    h.F.catch_up();
  }
  shrunk_ = true;
  rows_.reset();
  part_ = points().subset(kept);
  Positions moved(active_.size(), -1);
  for (std::size_t k = 0; k < kept.size(); ++k) moved[kept[k]] = k;
  Positions leaving;
  for (std::size_t t = 0; t < set_.size(); ++t)
    if (moved[set_.who(t)] < 0) leaving.push_back(t);
  set_.exchange(std::move(leaving), {}, round_);
  active_.keep(kept);
  set_.renumber(moved, kept.size());
}

SmoResult BlockSolver::run(double eps, std::int64_t max_iterations) {
  std::int64_t iterations = 0;
  activate_all();
  if (shrinking_ && !linear_ && h.factor.size() > 0) set_aside_far();
  double known_gap = kInf;  // at the last F in double precision
  while (true) {
    const Extremes e = active_.extremes();
    const double now = e.gap();
    const bool out_of_time = max_iterations >= 0 && iterations >= max_iterations;
    if (now <= eps || out_of_time) {
      // A polish that follows looks at those set aside when it has finished with the others.
      const bool leave = polish_follows_ && shrunk_ && !out_of_time && drift() < slack_;
      hand_over();
      if (!leave) h.F.catch_up();
      h.balance_mu();
      h.sharpen();
      if (shrunk_ && !leave) active_.assign(movable_);
      active_.refresh();
      const double exact = active_.extremes().gap();
      if (leave && exact > eps) h.F.catch_up();
      // Rows in single precision may be too coarse to come closer.
      if (exact <= eps || out_of_time || exact > 0.5 * known_gap) {
        h.balance_mu();
        return {exact <= eps, iterations};
      }
      known_gap = exact;
      h.F.set_anchor();
      if (shrunk_) activate_all();
      continue;
    }
    tell([&] {
      return News{Phase::solving, h.members() - active_.violators(e, eps), h.members(), now};
    });
    if (shrinking_ && !linear_ && !matrix_ && active_.size() > 4 * kFresh && set_.size() > 0)
      keep(active_.unsettled(e));
    ++round_;
    const Positions joining = this->joining(e, eps);
    fill_kernel(set_.exchange(leaving(e, joining.size()), joining, round_));
    fill_local(now);
    constexpr std::int64_t kMost = 50'000;
    const std::int64_t left = max_iterations < 0 ? kMost : max_iterations - iterations;
    const std::int64_t spent = set_.solve(0.5 * eps, whole() ? 0.0 : kShare, std::min(left, kMost));
    iterations += spent;
    spread();
    if (spent == 0) {  // no pair of the working set moves: rounding
      hand_over();
      h.F.catch_up();
      h.balance_mu();
      h.sharpen();
      return {false, iterations};
    }
  }
}

}  // namespace

SmoResult block_smo(Head& head, double eps, std::int64_t max_iterations, bool shrinking,
                    bool polish_follows) {
  return BlockSolver(head, shrinking, polish_follows).run(eps, max_iterations);
}

}  // namespace supple
