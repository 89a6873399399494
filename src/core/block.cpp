// The block solver: decomposition with a working set of some hundred members. Their kernel rows
// come in one block, SMO solves the small QP, and one pass brings the gradient of all members up
// to date. Kernel rows are in single precision and cached; whenever the working sets run dry, F
// is brought up to date in double precision, so that the errors of the rows do not stay.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "head.hpp"
#include "local_smo.hpp"
#include "row_cache.hpp"
#include "threads.hpp"

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kSmallest = 64, kWorkingSet = 256, kLargest = 768;  // members
constexpr std::size_t kWhole = 1024;  // so few active members are one working set
constexpr double kShare = 0.1;        // of the gap that the small QP may leave
constexpr std::size_t kGrain = 1024;  // members that a thread takes at least

class BlockSolver {
 public:
  BlockSolver(Head& head, bool shrinking, bool polish_follows);
  SmoResult run(double eps, std::int64_t max_iterations, const Progress& progress);

 private:
  struct Extremes {
    PerGroup up{kInf, kInf}, low{-kInf, -kInf};
    std::size_t inside = 0;  // variables strictly inside their box
  };
  const SinglePoints& points() { return part_ ? *part_ : h.single(); }
  void activate_all();
  void refresh();  // F_ from the head
  template <typename Gradient>
  Extremes extremes(const Positions& members, const Gradient& F) const;
  double gap(const Extremes& e) const;
  void choose(const Extremes& e, double eps);
  void fill_local();
  void fill_kernel(const Positions& work_before, std::size_t stride_before);
  bool whole() const { return work_.size() == active_.size(); }
  void spread();
  void shrink(const Extremes& e);
  void set_aside_far();
  void keep(const Positions& kept);
  double drift() const;
  double roughness() const;  // of F_
  void leave_behind();  // F of the active members goes to the head
  void catch_up();      // and that of the others follows, in single precision

  Head& h;
  bool shrinking_, polish_follows_;
  std::vector<double> x_known_;  // the x that h.F belongs to
  Positions movable_;            // members with a box that is not a point
  Positions active_;             // those of them that have not been set aside
  bool shrunk_ = false;
  double slack_ = kInf;          // that F of those set aside as far may use up
  std::vector<double> F_;        // of the active members
  std::shared_ptr<const Sheet> sheet_;  // all members are then one working set
  std::unique_ptr<SinglePoints> part_;  // the active members, unless they are all
  std::unique_ptr<RowCache> rows_;
  Positions recent_;             // the working set in active_, those that came last first
  Positions work_;               // the same, ascending within a group
  Positions place_;              // per active member: where in work_ it is, or -1
  LocalProblem local_;
  std::size_t known_ = 0;        // the size of the working set whose values are in local_.K
  LocalProblem::Kernel K_before_;  // of the working set before
  bool linear_;
  // What bounds the errors of F_: how rough F was, and the changes of x that F_ has followed in
  // single precision, to and fro.
  const double rough_at_start_;
  const std::vector<double> x_at_start_;
  double moved_ = 0.0;
};

BlockSolver::BlockSolver(Head& head, bool shrinking, bool polish_follows)
    : h(head),
      shrinking_(shrinking),
      polish_follows_(polish_follows),
      x_known_(head.x),
      sheet_(head.gram.sheet()),
      linear_(head.gram.linear()),
      rough_at_start_(head.roughness),
      x_at_start_(head.x) {
  for (std::size_t m = 0; m < h.members(); ++m)
    for (std::size_t j = 0; j < h.per; ++j)
      if (!h.fixed(m * h.per + j)) {
        movable_.push_back(static_cast<std::int32_t>(m));
        break;
      }
}

void BlockSolver::activate_all() {
  active_ = movable_;
  F_.resize(active_.size());
  refresh();
  part_.reset();
  if (active_.size() < h.members() && !sheet_) part_ = h.single().subset(active_);
  rows_.reset();
  recent_.clear();
  work_.clear();
  place_.assign(active_.size(), -1);
  shrunk_ = false;
  slack_ = kInf;
}

void BlockSolver::refresh() {
  for (std::size_t a = 0; a < active_.size(); ++a)
    F_[a] = h.F[static_cast<std::size_t>(active_[a])];
}

template <typename Gradient>
BlockSolver::Extremes BlockSolver::extremes(const Positions& members, const Gradient& F) const {
  Extremes e;
  for (std::size_t a = 0; a < members.size(); ++a)
    for (std::size_t j = 0; j < h.per; ++j) {
      const std::size_t v = static_cast<std::size_t>(members[a]) * h.per + j, g = h.group[v];
      const double G = F(a) - h.c[v];
      if (h.x[v] < h.hi[v]) e.up[g] = std::min(e.up[g], G);
      if (h.x[v] > h.lo[v]) e.low[g] = std::max(e.low[g], G);
      e.inside += h.inside(v);
    }
  return e;
}

double BlockSolver::gap(const Extremes& e) const {
  double worst = 0.0;
  for (std::size_t g = 0; g < h.n_groups; ++g)
    if (e.up[g] < kInf && e.low[g] > -kInf) worst = std::max(worst, e.low[g] - e.up[g]);
  return worst;
}

// The most violating from both ends, then those of the last working set.
void BlockSolver::choose(const Extremes& e, double eps) {
  if (sheet_ || active_.size() <= kWhole) {
    recent_.resize(active_.size());
    std::iota(recent_.begin(), recent_.end(), 0);
    return;
  }
  // Many margin variables that depend on each other converge faster in larger sets.
  const std::size_t base = std::clamp(active_.size() / 16, kSmallest, kWorkingSet);
  const std::size_t wanted = std::clamp(e.inside / 2, base, kLargest);
  const std::size_t most =
      rows_ ? rows_->capacity() : RowCache::capacity(active_.size(), h.gram.cache_bytes());
  const std::size_t size = linear_ ? wanted : std::min(wanted, most);
  using Candidate = std::pair<double, std::int32_t>;  // violation, position
  std::vector<Candidate> ends[2];
  for (std::size_t a = 0; a < active_.size(); ++a)
    for (std::size_t j = 0; j < h.per; ++j) {
      const std::size_t v = static_cast<std::size_t>(active_[a]) * h.per + j, g = h.group[v];
      const double G = F_[a] - h.c[v], up = e.low[g] - G, down = G - e.up[g];
      const auto position = static_cast<std::int32_t>(a);
      if (h.x[v] < h.hi[v] && up > 0.5 * eps) ends[0].emplace_back(up, position);
      if (h.x[v] > h.lo[v] && down > 0.5 * eps) ends[1].emplace_back(down, position);
    }
  const std::size_t fresh = recent_.empty() ? size : size / 2;
  std::vector<char> taken(active_.size(), 0);
  Positions chosen;
  for (std::size_t side = 0; side < 2; ++side) {
    auto& list = ends[side];
    const std::size_t room = fresh * (side + 1) / 2 - chosen.size();
    const auto last = list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), room));
    std::nth_element(list.begin(), last, list.end(), std::greater<Candidate>());
    for (auto candidate = list.begin(); candidate != last; ++candidate) {
      char& mark = taken[static_cast<std::size_t>(candidate->second)];
      if (!mark) chosen.push_back(candidate->second);
      mark = 1;
    }
  }
  for (std::int32_t a : recent_) {
    if (chosen.size() >= size) break;
    if (!taken[static_cast<std::size_t>(a)]) chosen.push_back(a);
  }
  recent_ = std::move(chosen);
}

// The QP of the working set. Members of one group come together; a member's second variables
// follow all the first ones.
void BlockSolver::fill_local() {
  const Positions work_before = std::move(work_);
  work_ = recent_;
  std::sort(work_.begin(), work_.end());
  if (h.n_groups > 1)
    std::stable_partition(work_.begin(), work_.end(), [&](std::int32_t a) {
      return h.group[static_cast<std::size_t>(active_[static_cast<std::size_t>(a)]) * h.per] == 0;
    });
  const std::size_t size = work_.size();
  const bool same = work_ == work_before && size == known_;
  known_ = size;
  const std::size_t stride_before = local_.stride;
  if (!same) local_.swap_kernel(K_before_);
  local_.resize(size * h.per, size);
  local_.n_groups = h.n_groups;
  local_.segments.clear();
  for (std::size_t j = 0; j < h.per; ++j)
    for (std::size_t k = 0; k < size; ++k) {
      const auto a = static_cast<std::size_t>(work_[k]);
      const auto m = static_cast<std::size_t>(active_[a]);
      const std::size_t v = m * h.per + j, at = j * size + k;
      local_.x[at] = h.x[v];
      local_.lo[at] = h.lo[v];
      local_.hi[at] = h.hi[v];
      local_.G[at] = F_[a] - h.c[v];
      local_.diagonal[at] = static_cast<float>(h.diagonal(v));
      auto& segments = local_.segments;
      if (k == 0 || segments.back().group != h.group[v]) segments.push_back({h.group[v], at, 0, k});
      ++segments.back().length;
    }
  if (!same) fill_kernel(work_before, stride_before);
}

void BlockSolver::fill_kernel(const Positions& work_before, std::size_t stride_before) {
  const std::size_t size = work_.size(), stride = local_.stride;
  float* K = local_.kernel();
  if (sheet_) {
    Positions places(size);
    for (std::size_t k = 0; k < size; ++k)
      places[k] = sheet_->place(
          h.slot[static_cast<std::size_t>(active_[static_cast<std::size_t>(work_[k])])]);
    local_.take_from(*sheet_, places);
    return;
  }
  std::unique_ptr<SinglePoints> part;
  if (!whole() || h.n_groups > 1) part = points().subset(work_);
  if (linear_ || whole()) {
    (part ? *part : points()).among(K, stride, h.gram.threads);
    return;
  }
  if (!rows_) rows_ = std::make_unique<RowCache>(active_.size(), h.gram.cache_bytes());
  rows_->fetch(points(), work_, h.gram.threads);
  // Values among those that stay are at hand. The others are cheaper to compute again than to
  // gather from rows that are in no cache.
  Positions stay, fresh, before;
  for (std::size_t k = 0; k < size; ++k) {
    const std::int32_t old = place_[static_cast<std::size_t>(work_[k])];
    (old < 0 ? fresh : stay).push_back(static_cast<std::int32_t>(k));
    if (old >= 0) before.push_back(old);
  }
  for (std::size_t k = 0; k < stay.size(); ++k) {
    const float* row =
        K_before_.values.get() + static_cast<std::size_t>(before[k]) * stride_before;
    float* out = K + static_cast<std::size_t>(stay[k]) * stride;
    for (std::size_t l = 0; l < stay.size(); ++l) out[stay[l]] = row[before[l]];
  }
  std::vector<float*> row(fresh.size());
  for (std::size_t k = 0; k < fresh.size(); ++k)
    row[k] = K + static_cast<std::size_t>(fresh[k]) * stride;
  part->block(fresh.data(), fresh.size(), 0, size, row.data());
  for (std::int32_t l : stay)
    for (std::int32_t k : fresh)
      K[static_cast<std::size_t>(l) * stride + static_cast<std::size_t>(k)] =
          K[static_cast<std::size_t>(k) * stride + static_cast<std::size_t>(l)];
  for (std::int32_t a : work_before) place_[static_cast<std::size_t>(a)] = -1;
  for (std::size_t k = 0; k < size; ++k)
    place_[static_cast<std::size_t>(work_[k])] = static_cast<std::int32_t>(k);
}

// The changes of the working set go to x and to F of all active members.
void BlockSolver::spread() {
  const std::size_t size = work_.size();
  Positions changed;
  std::vector<double> coefficient;
  for (std::size_t k = 0; k < size; ++k) {
    const auto m = static_cast<std::size_t>(active_[static_cast<std::size_t>(work_[k])]);
    double change = 0.0;
    for (std::size_t j = 0; j < h.per; ++j) {
      double& x = h.x[m * h.per + j];
      change += local_.x[j * size + k] - x;
      x = local_.x[j * size + k];
    }
    if (change == 0.0) continue;
    changed.push_back(work_[k]);
    coefficient.push_back(change);
    moved_ += std::abs(change);
  }
  if (whole()) {  // the small QP has followed every gradient
    for (std::size_t k = 0; k < size; ++k) {
      const auto a = static_cast<std::size_t>(work_[k]);
      F_[a] = local_.G[k] + h.c[static_cast<std::size_t>(active_[a]) * h.per];
    }
    return;
  }
  if (linear_) {
    points().add_linear(changed, coefficient, F_.data(), F_.size());
    return;
  }
  std::vector<const float*> row(changed.size());
  for (std::size_t k = 0; k < changed.size(); ++k)
    row[k] = rows_->row(static_cast<std::size_t>(changed[k]));
  share(h.gram.threads, active_.size(), kGrain, [&](std::size_t from, std::size_t to) {
    std::vector<const float*> part(row.size());
    // A piece of F stays in the first-level cache while all rows are added.
    for (std::size_t start = from; start < to; start += kGrain) {
      for (std::size_t k = 0; k < row.size(); ++k) part[k] = row[k] + start;
      simd().add_rows_single(part.data(), coefficient.data(), part.size(), F_.data() + start,
                             std::min(to, start + kGrain) - start);
    }
  });
}

void BlockSolver::shrink(const Extremes& e) {
  Positions kept;
  for (std::size_t a = 0; a < active_.size(); ++a) {
    bool stuck = true;
    for (std::size_t j = 0; j < h.per && stuck; ++j) {
      const std::size_t v = static_cast<std::size_t>(active_[a]) * h.per + j, g = h.group[v];
      const double G = F_[a] - h.c[v];
      stuck = h.fixed(v) || (h.x[v] <= h.lo[v] && G > e.low[g]) ||
              (h.x[v] >= h.hi[v] && G < e.up[g]);
    }
    if (!stuck) kept.push_back(static_cast<std::int32_t>(a));
  }
  keep(kept);
}

// A problem that was solved before some examples joined or left: those far from the margin will
// hardly move.
void BlockSolver::set_aside_far() {
  std::vector<double> slack(active_.size(), kInf);
  for (std::size_t a = 0; a < active_.size(); ++a)
    for (std::size_t j = 0; j < h.per; ++j) {
      const std::size_t v = static_cast<std::size_t>(active_[a]) * h.per + j;
      if (h.x[v] < h.hi[v]) slack[a] = std::min(slack[a], h.gradient(v));
      if (h.x[v] > h.lo[v]) slack[a] = std::min(slack[a], -h.gradient(v));
    }
  const auto needed = std::count_if(slack.begin(), slack.end(), [](double s) { return s <= 0.0; });
  const std::size_t wanted = std::max(kWhole, 2 * static_cast<std::size_t>(needed));
  if (wanted >= active_.size()) return;
  std::vector<double> sorted = slack;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(wanted), sorted.end());
  Positions kept;
  for (std::size_t a = 0; a < active_.size(); ++a)
    if (slack[a] < sorted[wanted]) kept.push_back(static_cast<std::int32_t>(a));
  keep(kept);
  if (shrunk_) slack_ = sorted[wanted];
}

// How far F has moved where x has not.
double BlockSolver::drift() const {
  double most = 0.0;
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const auto m = static_cast<std::size_t>(active_[a]);
    bool moved = false;
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) moved |= h.x[v] != x_known_[v];
    if (!moved) most = std::max(most, std::abs(F_[a] - h.F[m]));
  }
  return most;
}

void BlockSolver::keep(const Positions& kept) {
  if (kept.size() * 3 > active_.size() * 2) return;
  if (!shrunk_) {
    leave_behind();
    catch_up();
  }
  shrunk_ = true;
  if (rows_) rows_->keep(kept);
  part_ = points().subset(kept);
  Positions moved(active_.size(), -1);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const auto a = static_cast<std::size_t>(kept[k]);
    moved[a] = static_cast<std::int32_t>(k);
    active_[k] = active_[a];
    F_[k] = F_[a];
    place_[k] = place_[a];
  }
  active_.resize(kept.size());
  F_.resize(kept.size());
  place_.resize(kept.size());
  for (Positions* list : {&recent_, &work_}) {
    for (std::int32_t& a : *list) a = moved[static_cast<std::size_t>(a)];
    std::erase(*list, -1);
  }
}

// The error of a kernel value is the same whenever it is used, so it comes in by what x has changed
// on the whole; each addition rounds anew.
double BlockSolver::roughness() const {
  constexpr double kAddition = 5.0 * 0x1p-24;  // of eight products, in single precision
  double changed = 0.0;
  for (std::size_t v = 0; v < h.variables(); ++v) changed += std::abs(h.x[v] - x_at_start_[v]);
  return rough_at_start_ + changed * h.single_error() +
         moved_ * kAddition * h.gram.largest_diagonal();
}

void BlockSolver::leave_behind() {
  h.behind.assign(h.members(), 1);
  for (std::size_t a = 0; a < active_.size(); ++a) {
    const auto m = static_cast<std::size_t>(active_[a]);
    h.F[m] = F_[a];
    h.behind[m] = 0;
  }
  h.x_behind = x_known_;
  std::fill(h.rough.begin(), h.rough.end(), 1);
  h.roughness = std::max(h.roughness, roughness());
  h.note_changes(1);
}

void BlockSolver::catch_up() {
  h.catch_up();
  x_known_ = h.x;
}

SmoResult BlockSolver::run(double eps, std::int64_t max_iterations, const Progress& progress) {
  std::int64_t iterations = 0;
  activate_all();
  if (shrinking_ && !linear_ && h.factor.size() > 0) set_aside_far();
  double known_gap = kInf;  // at the last F in double precision
  while (true) {
    const Extremes e = extremes(active_, [&](std::size_t a) { return F_[a]; });
    const double now = gap(e);
    const bool out_of_time = max_iterations >= 0 && iterations >= max_iterations;
    if (now <= eps || out_of_time) {
      // A polish that follows looks at those set aside when it has finished with the others.
      const bool leave = polish_follows_ && shrunk_ && !out_of_time && drift() < slack_;
      leave_behind();
      if (!leave) catch_up();
      h.balance_mu();
      h.sharpen();
      const Positions& known = leave ? active_ : movable_;
      const double exact = gap(extremes(
          known, [&](std::size_t a) { return h.F[static_cast<std::size_t>(known[a])]; }));
      if (leave && exact > eps) catch_up();
      // Rows in single precision may be too coarse to come closer.
      if (exact <= eps || out_of_time || exact > 0.5 * known_gap) {
        h.balance_mu();
        return {exact <= eps, iterations};
      }
      known_gap = exact;
      if (shrunk_)
        activate_all();
      else
        refresh();
      continue;
    }
    progress(iterations, now);
    if (shrinking_ && !linear_ && !sheet_ && active_.size() > 2 * kWorkingSet && !recent_.empty()) shrink(e);
    choose(e, eps);
    fill_local();
    constexpr std::int64_t kMost = 200 * kWorkingSet;
    const std::int64_t left = max_iterations < 0 ? kMost : max_iterations - iterations;
    const std::int64_t spent = local_.solve(0.5 * eps, whole() ? 0.0 : kShare, std::min(left, kMost));
    iterations += spent;
    spread();
    if (spent == 0) {  // no pair of the working set moves: rounding
      leave_behind();
      catch_up();
      h.balance_mu();
      h.sharpen();
      return {false, iterations};
    }
  }
}

}  // namespace

SmoResult block_smo(Head& head, double eps, std::int64_t max_iterations, bool shrinking,
                    bool polish_follows, const Progress& progress) {
  return BlockSolver(head, shrinking, polish_follows).run(eps, max_iterations, progress);
}

}  // namespace supple
