#include "solvers/leave_one_out.hpp"

#include <algorithm>

#include "solvers/solve.hpp"
#include "linalg/watch.hpp"

namespace supple {

MemberValues::MemberValues(const Head& h)
    : solution_(h.solution()),
      lo_(h.lo),
      hi_(h.hi),
      target_(h.target),
      factor_(h.factor),
      evaluations_(h.gram.evaluations()),
      reach_(h.reach),
      with_block_(h.block.columns() > 0) {}

void MemberValues::put_back(Head& h) const {
  h.x = solution_.x;
  h.mu = solution_.mu;
  h.F.restore(solution_.F);
  h.lo = lo_;
  h.hi = hi_;
  h.target = target_;
  h.factor = factor_;
  h.gram.set_evaluations(evaluations_);
  h.reach = reach_;
  if (!with_block_) h.gram.let_go(h.block);
}

namespace {

// Nobody's x depends on a member that is 0, and mu only where no margin variable fixes it.
bool idle(const Head& h, const Departure& d) {
  if (d.stretch != 1.0 || d.target != h.target) return false;
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (!h.factor.has_group(e)) return false;
  const std::size_t first = d.member * h.per;
  return std::all_of(&h.x[first], &h.x[first] + h.per, [](double x) { return x == 0.0; });
}

LeftOut read(const Head& h, std::size_t member, Answer answer) {
  return {answer, h.F[member], h.mu, h.rounding()};
}

// The path to the optimum without a member; false: it has failed.
bool close(Head& h, const Departure& d) {
  Move move{.target = d.target};
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (h.member_of(v) == d.member)
      move.add(v, 0.0, 0.0);
    else if (d.stretch != 1.0)
      move.add(v, d.stretch * h.lo[v], d.stretch * h.hi[v]);
  const PathResult path = follow_path(h, move);
  if (!path.finished || path.breakpoints == 0) return path.finished;
  std::int64_t polishes = 0;
  const Quality found = mend(h, polishes);
  return found.settled && found.within_tolerance && h.finite();
}

}  // namespace

std::vector<LeftOut> leave_out(Head& h, const std::vector<Departure>& departures) {
  h.sync_block();  // once: a head without a block would lose it each time it is put back
  const MemberValues before(h);
  const struct PutBack {
    Head& head;
    const MemberValues& values;
    ~PutBack() { values.put_back(head); }
  } at_the_end{h, before};
  std::vector<LeftOut> out;
  out.reserve(departures.size());
  bool moved = false;
  for (const Departure& d : departures) {
    look();
    if (moved) before.put_back(h);
    moved = !idle(h, d);
    if (!moved) {
      out.push_back(read(h, d.member, Answer::known));
      continue;
    }
    const bool found = close(h, d);
    out.push_back(read(h, d.member, found ? Answer::solved : Answer::open));
  }
  return out;
}

}  // namespace supple
