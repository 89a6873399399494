#include "solvers/polish.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "linalg/watch.hpp"

namespace supple {

namespace {

// Where the margin set is full and violations are this share of the scale of c, and they have not
// fallen for so many rounds, there is nothing to polish yet: other solvers are cheaper.
constexpr double kFar = 0.1;
constexpr int kPatience = 16;
constexpr double kClear = 256.0;  // roundings from which on equal gradients are no accident

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
  // --- who enters ---
  double violation(std::size_t v) const;  // of a variable on a bound
  void loosen_far();                      // F where single precision is worth while
  void sharpen();                         // F at the margin, and of all who may be violators
  // Worst first; or only the worst of each group and direction. sharpen() has seen all of them.
  std::vector<Violator> violators(bool all) const;
  void pass_over_copies(std::vector<Violator>& found) const;

  // --- x and the margin set ---
  double margin_residual();
  void admit(std::size_t v);
  void admit_several(const std::vector<Violator>& found, std::size_t room);
  void slide(std::size_t v);
  void newton();
  bool step_to_box();
  // Says how far it has come; called before each change of the factor, which takes a while.
  void report() const;

  Head& h;
  double goal_, floor_;
  Pace pace_;
  std::vector<double> missing_, dx_;  // by the factor's variables: gradients to 0, steps
  PerGroup dmu_{};
  bool full_ = false;         // in the last round a variable depended on the margin set
  bool turned_away_ = false;  // a variable that entered could not move at all
  double worst_ = 0.0;        // violation in the last round
  std::size_t waiting_ = 0;   // violators found that have not entered
  int stalls_ = 0;            // rounds in a row in which that happened, and nothing was gained
};

double Polish::violation(std::size_t v) const {
  return h.x[v] <= h.lo[v] ? -h.gradient(v) : h.gradient(v);
}

// Where there are many members, those that no path would look at.
void Polish::loosen_far() {
  constexpr std::size_t kMany = 1024;
  if (h.members() <= kMany || !h.gram.has_blocks() || h.gram.linear()) return;
  const double rounding = h.rounding();
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (!h.inside_any(h.member_of(v)) && std::abs(h.gradient(v)) > h.reach)
      h.F.loosen(h.member_of(v), rounding);
}

void Polish::sharpen() {
  const auto may_violate = [&](std::size_t v) {
    return h.inside(v) || (!h.fixed(v) && violation(v) + h.F.error_bound(h.member_of(v)) > goal_);
  };
  std::vector<std::size_t> doubtful;
  for (std::size_t m = 0; m < h.members(); ++m)
    if (h.F.error_bound(m) > 0.0 && !h.F.behind(m) &&
        (may_violate(m * h.per) || may_violate(m * h.per + h.per - 1)))
      doubtful.push_back(m);
  h.F.sharpen(doubtful);
}

std::vector<Polish::Violator> Polish::violators(bool all) const {
  std::vector<Violator> found;
  std::array<Violator, 2 * kMaxGroups> worst{};
  for (std::size_t v = 0; v < h.variables(); ++v) {
    if (h.fixed(v) || h.inside(v) || h.F.behind(h.member_of(v))) continue;
    const Violator own{v, violation(v)};
    if (!(own.size > goal_)) continue;
    Violator& present = worst[2 * h.group[v] + (h.x[v] <= h.lo[v])];
    if (own.size > present.size) present = own;
    if (all) found.push_back(own);
  }
  for (const Violator& own : worst)
    if (!all && own.size > 0.0) found.push_back(own);
  std::sort(found.begin(), found.end(),
            [](const Violator& a, const Violator& b) { return a.size > b.size; });
  return found;
}

// The same example may be there many times. One of them is enough: the others depend on it and
// violate no more when it has been solved for. Till then all of them have the same gradient.
// Another example with that gradient enters a round later.
void Polish::pass_over_copies(std::vector<Violator>& found) const {
  const double rounding = 4.0 * h.rounding();
  const auto same = [&](const Violator& a, const Violator& b) {
    // With a ridge each copy has an x of its own.
    return h.ridge[a.variable] == 0.0 && a.size > kClear * rounding && a.size - b.size <= rounding;
  };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
}

void Polish::report() const {
  tell([&] {
    const bool singly = pace_ == Pace::one;
    const std::size_t waiting = singly ? violators(true).size() : waiting_;
    return News{singly ? Phase::admitting : Phase::finishing, h.factor.size(),
                h.factor.size() + waiting, worst_};
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
  missing_.resize(margin.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < margin.size(); ++i) {
    missing_[i] = -h.gradient(margin[i]);
    worst = std::max(worst, std::abs(missing_[i]));
  }
  return worst;
}

// One step of the equality system, cut at the box. False: a variable was blocked and has left.
bool Polish::step_to_box() {
  h.factor.solve(h.missing(), dx_, dmu_);
  const auto& margin = h.factor.variables();
  double alpha = 1.0;
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
  if (alpha == 0.0) turned_away_ = true;
  report();
  const std::size_t v = margin[blocking];
  h.x[v] = dx_[blocking] > 0.0 ? h.hi[v] : h.lo[v];
  h.leave_margin(v);
  return false;
}

void Polish::newton() {
  margin_residual();
  h.factor.set_right_side(missing_);
  while (h.factor.size() > 0 && !step_to_box()) {
  }
}

PolishResult Polish::run(std::int64_t max_rounds) {
  if (pace_ == Pace::several) loosen_far();
  worst_ = h.violation(h.F.values());
  h.drop_edges();
  for (std::size_t v : h.margin_changes().joined) admit(v);
  double best = kInf;
  bool finished = false;
  std::int64_t round = 0;
  int idle = 0;  // rounds since the violations fell markedly
  for (; round < max_rounds; ++round) {
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
    std::vector<Violator> found = violators(pace_ == Pace::several);
    const double residual = margin_residual();
    worst_ = found.empty() ? residual : std::max(residual, found[0].size);
    idle = worst_ < 0.5 * best ? 0 : idle + 1;
    best = std::min(best, worst_);
    const bool stuck = worst_ <= floor_ && idle > 4;
    if (pace_ == Pace::several && full_ && idle > kPatience &&
        worst_ > kFar * h.magnitude(h.F.values()))
      break;
    if ((worst_ <= goal_ && h.balanced(1e-14)) || stuck) {
      finished = !h.F.behind();
      if (finished) break;
      h.F.follow();
      continue;
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
      found = violators(false);
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
  return {finished, round};
}

}  // namespace

PolishResult polish(Head& head, double goal, double floor, Pace pace, std::int64_t max_rounds) {
  return Polish(head, goal, floor, pace).run(max_rounds);
}

}  // namespace supple
