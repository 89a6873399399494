// How F follows x in the polish: in double precision at the margin and where it may decide who
// violates, in single precision near to them, and the others wait until nothing else is to be done.
#include <algorithm>

#include "solvers/polish.hpp"

namespace supple {

namespace {

constexpr std::size_t kFewest = 1024;  // members that are near

}  // namespace

// Single precision is worth while: there are many members, and it holds their kernel values.
bool Polish::may_be_single() const {
  constexpr double kTame = 0x1p-10;
  return h.members() > kFewest && h.gram.has_blocks() && !h.gram.linear() &&
         h.single_error() < kTame * h.gram.largest_diagonal();
}

// Where F may be in single precision, or is in part, only the margin needs more. Members far from
// it cannot be violators until x has moved far enough: they are looked at only when the others
// leave nothing to do.
void Polish::mark_far() {
  if (pace_ == Pace::one || !(h.F.largest_error() > 0.0 || may_be_single())) return;
  if (!h.F.has_stale() && h.members() <= kFewest) return;  // nobody is far
  h.F.set_anchor();
  if (!h.F.has_stale()) {
    const Head::Slack slack = h.slack(kFewest, h.F.values());
    std::vector<char> far(h.members());
    for (std::size_t m = 0; m < h.members(); ++m) far[m] = slack.of[m] >= slack.far;
    h.F.mark_stale(far);
  }
  const double rounding = h.rounding();
  for (std::size_t m = 0; m < h.members(); ++m)
    if (h.F.is_stale(m)) h.F.loosen(m, rounding);
}

void Polish::sync_expansion() {
  if (pace_ == Pace::one)
    h.F.follow_by_rows();
  else
    h.F.follow();
}

void Polish::sync_stale() {
  std::vector<char> far = h.F.stale();
  h.F.catch_up();
  h.sharpen();
  sharpen();
  if (far.empty()) return;
  for (std::size_t m = 0; m < h.members(); ++m)
    if (h.F.error_bound(m) == 0.0) far[m] = 0;  // no more
  h.F.mark_stale(std::move(far));
}

void Polish::sharpen() {
  const auto may_violate = [&](std::size_t m) {
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v)
      if (h.inside(v) || (!h.fixed(v) && violation(v) + h.F.error_bound(m) > goal_)) return true;
    return false;
  };
  std::vector<std::size_t> doubtful;
  for (std::size_t m = 0; m < h.members(); ++m) {
    if (h.F.error_bound(m) == 0.0 || h.F.is_stale(m)) continue;
    if (may_violate(m)) doubtful.push_back(m);
  }
  h.F.sharpen(doubtful);
}

}  // namespace supple
