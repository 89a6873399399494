#include "solvers/polish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/watch.hpp"

namespace supple {

namespace {

// Where the margin set is full and violations are this share of the scale of c, and they have not
// fallen for so many rounds, there is nothing to polish yet: other solvers are cheaper.
constexpr double kFar = 0.1;
constexpr int kPatience = 16;
constexpr std::size_t kFewBlockers = 16;

}  // namespace

void Polish::drop_edges() {
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * h.F.peak_mass();
  std::vector<std::size_t> leaving;
  for (std::size_t v : h.factor.variables()) {
    h.snap(v, rounding);
    if (!h.inside(v)) leaving.push_back(v);
  }
  h.leave_margin(leaving, std::vector<double>(leaving.size(), 0.0));
}

void Polish::sync_factor() {
  drop_edges();
  std::vector<char> in_factor(h.variables(), 0);
  for (std::int64_t v : h.factor.variables()) in_factor[v] = 1;
  std::vector<Violator> missing;
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (h.inside(v) && !in_factor[v]) missing.push_back({v, 0.0});
  admit_several(missing, missing.size());
}

void Polish::report() const {
  tell([&] {
    const bool singly = pace_ == Pace::one;
    const std::size_t waiting = singly ? violators(false).size() : waiting_;
    return News{singly ? Phase::admitting : Phase::finishing, h.factor.size(),
                h.factor.size() + waiting, round_ > 0 ? worst_ : h.violation(h.F.values())};
  });
}

void Polish::admit(std::size_t v) {
  report();
  if (h.enter_margin(v)) return;
  full_ = true;
  slide(v);
}

// A pass over the factor serves some of them at a time. Where there are more than room, and the
// factor is full already, the others had better be looked at again first.
void Polish::admit_several(const std::vector<Violator>& found, std::size_t room) {
  const std::size_t count = std::min(room, found.size());
  for (std::size_t first = 0; first < count; first += kTogether) {
    waiting_ = found.size() - first;
    report();
    std::vector<std::size_t> together;
    for (std::size_t k = first; k < std::min(count, first + kTogether); ++k)
      together.push_back(found[k].variable);
    const std::size_t before = h.factor.size();
    waiting_ -= together.size();
    if (h.enter_margin(together, std::vector<double>(together.size(), 0.0))) continue;
    for (std::size_t k = h.factor.size() - before; k < together.size(); ++k) {
      admit(together[k]);
      if (room < found.size()) return;
    }
  }
}

// v depends on the margin set. It arrives at a bound, or replaces a variable that does.
void Polish::slide(std::size_t v) {
  do {
    const Head::Slide slid = h.slide(v);
    if (slid.end != Head::Slide::End::bound || slid.arrived == v) return;
    report();
    h.leave_margin(slid.arrived);
  } while (!h.enter_margin(v) && h.inside(v));
}

double Polish::margin_residual() {
  const auto& margin = h.factor.variables();
  g_.resize(margin.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < margin.size(); ++i) {
    const std::size_t v = margin[i];
    g_[i] = h.gradient(v);
    worst = std::max(worst, std::abs(g_[i]));
  }
  return worst;
}

// One step of the equality system, cut at the box. False: variables were blocked and have left.
// Half of those that the whole step would take out of the box go at a time, or all of a few: most
// of them would follow one by one, each at the cost of a solution. The missing sum is made up for
// by the next step.
bool Polish::step_to_box(double& alpha) {
  h.factor.solve(h.missing(), dx_, dmu_);
  struct Blocker {
    double alpha;
    std::size_t variable;
    double bound;
  };
  std::vector<Blocker> blockers;
  const auto& margin = h.factor.variables();
  for (std::size_t i = 0; i < margin.size(); ++i) {
    const std::size_t v = margin[i];
    const double bound = dx_[i] > 0.0 ? h.hi[v] : h.lo[v];
    const double gap = std::max(0.0, dx_[i] > 0.0 ? bound - h.x[v] : h.x[v] - bound);
    if (gap < std::abs(dx_[i])) blockers.push_back({gap / std::abs(dx_[i]), v, bound});
  }
  std::size_t count = blockers.size();
  if (careful_ || stalls_ > 1)
    count = std::min<std::size_t>(1, count);
  else if (count > kFewBlockers)
    count = (count + 1) / 2;
  std::partial_sort(blockers.begin(), blockers.begin() + count, blockers.end(),
                    [](const Blocker& a, const Blocker& b) { return a.alpha < b.alpha; });
  blockers.resize(count);
  alpha = blockers.empty() ? 1.0 : blockers[0].alpha;
  for (std::size_t i = 0; i < margin.size(); ++i) h.x[margin[i]] += alpha * dx_[i];
  h.factor.scale_right_side(1.0 - alpha);  // what is left of the gradients
  for (std::size_t e = 0; e < h.n_groups; ++e) h.mu[e] += alpha * dmu_[e];
  if (blockers.empty()) return true;
  report();
  hasty_ = hasty_ || count > 1;
  std::vector<std::size_t> leaving;
  std::vector<double> shares;
  for (const Blocker& b : blockers) {
    leaving.push_back(b.variable);
    shares.push_back(&b == &blockers[0] ? 0.0 : h.x[b.variable] - b.bound);
    h.x[b.variable] = b.bound;
  }
  h.leave_margin(leaving, shares);
  return false;
}

void Polish::newton() {
  hasty_ = false;
  mu_before_ = h.mu;
  margin_residual();
  for (double& g : g_) g = -g;
  h.factor.set_right_side(g_);
  double alpha = 0.0;
  while (h.factor.size() > 0 && !step_to_box(alpha))
    if (alpha == 0.0) turned_away_ = true;
}

// F follows x; if several left together and the objective has not fallen, they will leave one by
// one from now on, and what made it rise is undone.
void Polish::take_back_rise() {
  if (!hasty_) return sync_expansion();
  hasty_ = false;
  const Gradient::State before = h.F.state();
  sync_expansion();
  double rise = 0.0, moved = 0.0;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const std::size_t m = h.member_of(v);
    const double ridge_term = h.ridge_of(v) * (before.x[v] + h.x[v]);
    rise += (h.x[v] - before.x[v]) * (0.5 * (before.F[m] + h.F[m] + ridge_term) - h.c[v]);
    moved += std::abs(h.x[v] - before.x[v]);
  }
  const bool lost = !h.balanced(1e-12);
  careful_ = lost || !(rise < 0.0);
  if (!lost && !(rise > moved * h.rounding())) return;
  h.x = before.x;
  h.F.restore(before);
  h.mu = mu_before_;
  sync_factor();
  sync_expansion();
}

PolishResult Polish::run(std::int64_t max_rounds) {
  mark_far();
  sync_factor();
  double best = std::numeric_limits<double>::infinity();
  int idle = 0;  // rounds since the violations fell markedly
  for (; round_ < max_rounds; ++round_) {
    report();
    take_back_rise();
    for (std::size_t e = 0; e < h.n_groups; ++e)
      if (!h.factor.has_group(e)) {
        sync_stale();
        h.balance_mu();
        break;
      }
    std::vector<Violator> found;
    if (far_ && !full_ && stalls_ == 0) found = strong_violators();
    if (found.empty()) found = pace_ == Pace::one ? worst_violators() : violators(true);
    const double residual = margin_residual();
    const double worst = found.empty() ? residual : std::max(residual, found[0].size);
    worst_ = worst;
    idle = worst < 0.5 * best ? 0 : idle + 1;
    best = std::min(best, worst);
    const bool stuck = worst <= floor_ && idle > 4;
    if (pace_ == Pace::several && full_ && idle > kPatience &&
        worst > kFar * h.magnitude(h.F.values()))
      break;
    if ((worst <= goal_ && h.balanced(1e-14)) || stuck) {
      if (h.F.behind()) {
        sync_stale();
        continue;
      }
      h.F.clear_stale();
      drop_edges();
      h.make_canonical();
      return {true, round_};
    }
    // Many violators may enter at once while that makes progress; where some are turned away
    // twice in a row and the violations do not fall markedly, the next round admits a single one,
    // and only to a point that is optimal on the margin set, as the theory of active sets asks.
    std::size_t room = std::max<std::size_t>(8, h.factor.size() / 2);
    stalls_ = turned_away_ && idle > 0 ? stalls_ + 1 : 0;
    turned_away_ = false;
    if (stalls_ > 1 || pace_ == Pace::one) room = residual <= goal_ ? 1 : 0;
    if (room == 1)
      pair_up(found);
    else
      pass_over_twins(found, room);
    full_ = false;
    admit_several(found, room == 1 ? found.size() : room);
    newton();
  }
  sync_expansion();
  sync_stale();
  h.F.clear_stale();
  drop_edges();
  h.make_canonical();
  return {false, round_};
}

PolishResult polish(Head& head, double goal, double floor, Pace pace, std::int64_t max_rounds) {
  return Polish(head, goal, floor, pace).run(max_rounds);
}

}  // namespace supple
