// How F follows x in the polish: at the margin it is what the factor has solved for, near to it F
// follows in single precision, and the others wait until nothing else is to be done.
#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/polish.hpp"

namespace supple {

namespace {

constexpr std::size_t kFewest = 1024;  // members that are near

}  // namespace

// Single precision is worth while: there are many members, and it holds their kernel values.
bool Polish::may_be_rough() const {
  constexpr double kTame = 0x1p-10;
  return h.members() > kFewest && h.gram.has_blocks() && !h.gram.linear() &&
         h.single_error() < kTame * h.gram.largest_diagonal();
}

// Where F may be in single precision, or is in part, only the margin needs more. Members far from it
// cannot be violators until x has moved far enough: they are looked at only when the others leave
// nothing to do.
void Polish::set_far_behind() {
  rough_ = pace_ != Pace::one && (h.roughest() > 0.0 || may_be_rough());
  if (!rough_) return;
  far_.assign(h.behind.begin(), h.behind.end());
  if (far_.empty() && h.members() <= kFewest) return;  // nobody is far
  known_ = {h.x, h.F, h.rough};
  if (far_.empty()) {
    const Head::Slack slack = h.slack(kFewest);
    far_.resize(h.members());
    for (std::size_t m = 0; m < h.members(); ++m) far_[m] = slack.of[m] >= slack.far;
    h.leave_behind(far_, h.x);
  }
  const double rounding = h.rounding();
  for (std::size_t m = 0; m < h.members(); ++m)
    if (far_[m]) h.rough[m] = std::max(h.rough[m], rounding);
}

void Polish::sync_expansion() {
  if (pace_ == Pace::one)
    h.follow_by_rows(x_known_);
  else if (far_.empty())
    follow_all();
  else if (h.x != x_known_)
    follow_near();
  x_known_ = h.x;
  sharpen(!solved_);
  solved_ = false;
}

void Polish::follow_all() {
  if (rough_) {
    std::vector<char> at_margin(h.members(), 0);
    for (std::int64_t v : h.factor.variables())
      at_margin[h.member_of(static_cast<std::size_t>(v))] = 1;
    const double rounding = h.rounding();
    for (std::size_t m = 0; m < h.members(); ++m)
      if (!at_margin[m]) h.rough[m] = std::max(h.rough[m], rounding);
  }
  h.follow(x_known_);
}

void Polish::follow_near() {
  const double rounding = h.rounding();
  std::vector<char> at_margin(h.members(), 0);
  for (std::int64_t k : h.factor.variables()) {
    const auto v = static_cast<std::size_t>(k);
    const std::size_t m = h.member_of(v);
    if (!solved_ && !h.inside_any(m)) continue;  // on a bound, for once: it follows as others do
    at_margin[m] = 1;
    solved_for_[m] = solved_;
    h.rough[m] = std::max(h.rough[m], rounding);
    if (solved_) h.F[m] = h.c[v] - h.mu[h.group[v]];
  }
  Positions near;
  std::vector<double> moved;
  for (std::size_t m = 0; m < h.members(); ++m) {
    if (at_margin[m] || h.is_behind(m) || has_left(m)) continue;
    solved_for_[m] = 0;
    h.rough[m] = std::max(h.rough[m], rounding);
    near.push_back(static_cast<std::int32_t>(m));
    moved.push_back(-h.F[m]);
  }
  h.add_roughly(h.change_since(x_known_), near);
  h.note_changes(1);
  for (std::size_t k = 0; k < near.size(); ++k)
    moved[k] = std::abs(moved[k] + h.F[static_cast<std::size_t>(near[k])]);
  leave_quiet_behind(near, std::move(moved));
}

// Steps become shorter from round to round: who is further from violating KKT than F of most has
// moved need not be looked at again soon.
void Polish::leave_quiet_behind(const Positions& near, std::vector<double> moved) {
  if (far_.empty() || near.size() <= kFewest) return;
  const auto most = moved.begin() + static_cast<std::ptrdiff_t>(moved.size() / 10 * 9);
  std::nth_element(moved.begin(), most, moved.end());
  std::vector<char> quiet(h.members(), 0);
  std::size_t count = 0;
  for (std::int32_t k : near) {
    const auto m = static_cast<std::size_t>(k);
    quiet[m] = slack(m) > *most;
    count += quiet[m] != 0;
  }
  if (2 * count > near.size()) h.leave_behind(quiet, h.x);
}

double Polish::slack(std::size_t m) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v)
    if (!h.fixed(v)) least = std::min(least, -violation(v));
  return least;
}

bool Polish::anyone_behind() const {
  return !h.behind.empty() && std::any_of(h.x_behind.begin(), h.x_behind.end(),
                                          [&](const auto& x) { return x != h.x; });
}

void Polish::sync_behind(std::size_t kept) {
  h.catch_up(kept);
  if (kept == 0) {
    h.sharpen();
    std::fill(solved_for_.begin(), solved_for_.end(), 0);
  }
  sharpen();
  if (kept > 0 || far_.empty()) return;
  for (std::size_t m = 0; m < h.members(); ++m)
    if (h.rough[m] == 0.0) far_[m] = 0;  // no more
  h.leave_behind(far_, h.x);
}

bool Polish::look_at_margin() {
  if (!rough_ || all_sharp_) return false;
  const bool solved = std::find(solved_for_.begin(), solved_for_.end(), 1) != solved_for_.end();
  std::fill(solved_for_.begin(), solved_for_.end(), 0);
  sharpen();
  if (solved) known_ = {h.x, h.F, h.rough};
  return solved;
}

// Who has left the margin is seen in double precision, and so are all who may be violators.
void Polish::sharpen(bool all) {
  if (!rough_) return;
  const auto may_violate = [&](std::size_t m) {
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v)
      if (h.inside(v) || (!h.fixed(v) && violation(v) + h.rough[m] > goal_)) return true;
    return false;
  };
  std::vector<std::size_t> doubtful;
  for (std::size_t m = 0; m < h.members(); ++m) {
    if (h.rough[m] == 0.0 || h.is_behind(m)) continue;
    const bool left = has_left(m);
    if (left || (all && !solved_for_[m] && may_violate(m))) doubtful.push_back(m);
    if (left) solved_for_[m] = 0;
  }
  h.sharpen(doubtful, known_ ? &*known_ : nullptr);
  all_sharp_ = all && std::find(solved_for_.begin(), solved_for_.end(), 1) == solved_for_.end();
}

}  // namespace supple
