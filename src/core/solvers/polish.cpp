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

}  // namespace

void Polish::sync_factor() {
  h.drop_edges();
  std::vector<Violator> missing;
  for (std::size_t v : h.margin_changes().joined) missing.push_back({v, 0.0});
  admit_several(missing, missing.size());
}

void Polish::report() const {
  tell([&] {
    const bool singly = pace_ == Pace::one;
    const std::size_t waiting = singly ? violators().size() : waiting_;
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
    if (h.enter_margin(together)) continue;
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

// One step of the equality system, cut at the box. False: a variable was blocked and has left.
bool Polish::step_to_box(double& alpha) {
  h.factor.solve(h.missing(), dx_, dmu_);
  const auto& margin = h.factor.variables();
  alpha = 1.0;
  std::size_t blocking = margin.size();
  for (std::size_t i = 0; i < margin.size(); ++i) {
    const std::size_t v = margin[i];
    const double gap = std::max(0.0, dx_[i] > 0.0 ? h.hi[v] - h.x[v] : h.x[v] - h.lo[v]);
    if (!(gap < alpha * std::abs(dx_[i]))) continue;
    alpha = gap / std::abs(dx_[i]);
    blocking = i;
  }
  for (std::size_t i = 0; i < margin.size(); ++i) h.x[margin[i]] += alpha * dx_[i];
  h.factor.scale_right_side(1.0 - alpha);  // what is left of the gradients
  for (std::size_t e = 0; e < h.n_groups; ++e) h.mu[e] += alpha * dmu_[e];
  if (blocking == margin.size()) return true;
  report();
  const std::size_t v = margin[blocking];
  h.x[v] = dx_[blocking] > 0.0 ? h.hi[v] : h.lo[v];
  h.leave_margin(v);
  return false;
}

void Polish::newton() {
  margin_residual();
  for (double& g : g_) g = -g;
  h.factor.set_right_side(g_);
  double alpha = 0.0;
  while (h.factor.size() > 0 && !step_to_box(alpha))
    if (alpha == 0.0) turned_away_ = true;
}

PolishResult Polish::run(std::int64_t max_rounds) {
  if (pace_ == Pace::several) loosen_far();
  sync_factor();
  double best = std::numeric_limits<double>::infinity();
  int idle = 0;  // rounds since the violations fell markedly
  for (; round_ < max_rounds; ++round_) {
    report();
    if (pace_ == Pace::one)
      h.F.follow_by_rows();
    else
      h.F.follow_sharp();  // the others wait until nothing else is to be done
    if (!h.factor.has_group(0) || !h.factor.has_group(h.n_groups - 1)) {
      h.F.follow();
      h.sharpen();
      h.balance_mu();
    }
    sharpen();  // mu may have changed, too
    std::vector<Violator> found = pace_ == Pace::one ? worst_violators() : violators();
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
        h.F.follow();
        continue;
      }
      h.drop_edges();
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
    if (room == 1) {
      h.F.follow();
      sharpen();
      found = worst_violators();
    }
    // Where its group has no margin variable, the worst could not move without the others.
    if (room == 1 && !found.empty() && h.factor.has_group(h.group[found[0].variable]))
      found.resize(1);
    if (room > 1) pass_over_copies(found);
    full_ = false;
    admit_several(found, room == 1 ? found.size() : room);
    newton();
  }
  h.F.follow();
  h.drop_edges();
  h.make_canonical();
  return {false, round_};
}

PolishResult polish(Head& head, double goal, double floor, Pace pace, std::int64_t max_rounds) {
  return Polish(head, goal, floor, pace).run(max_rounds);
}

}  // namespace supple
