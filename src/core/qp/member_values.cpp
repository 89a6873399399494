#include "qp/member_values.hpp"

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

}  // namespace supple
