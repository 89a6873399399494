#include "solvers/lasvm.hpp"

#include <algorithm>

#include "linalg/watch.hpp"
#include "solvers/pair_step.hpp"
#include "solvers/smo.hpp"

namespace supple {

namespace {

// The extremes of G = F - c: the member that would rise most, and the one that would fall most.
struct Sides {
  Extreme up, down;  // the smallest G, and the smallest -G
};

Sides extremes(const Head& h) {
  const auto extreme = [&](double sign, const std::vector<double>& bound) {
    return simd().extreme(sign, h.F.values().data(), h.c.data(), h.x.data(), bound.data(),
                          h.members());
  };
  return {extreme(1.0, h.hi), extreme(-1.0, h.lo)};
}

double gap(const Sides& e) { return -e.down.value - e.up.value; }  // -infinity without a pair

}  // namespace

Lasvm::Lasvm(Gram& gram, const std::vector<Head*>& heads, std::size_t classes,
             std::vector<std::int8_t> targets)
    : gram_(gram), classes_(classes), targets_(std::move(targets)) {
  for (Head* head : heads) machines_.push_back({*head});
}

void Lasvm::begin(bool all) {
  for (Machine& machine : machines_) {
    machine.steps = 0;
    machine.visited = all;
  }
}

// use(machine, target) for each head that examples of this class may join.
template <typename Use>
void Lasvm::for_heads(std::size_t code, const Use& use) {
  const std::int8_t* target = targets_.data() + code * machines_.size();
  for (Machine& machine : machines_)
    if (const double own = *target++; own != 0.0) use(machine, own);
}

void Lasvm::step(Head& h, std::size_t i, std::size_t j) {
  const double *row_i = h.member_row(i, buffer_[0]), *row_j = h.member_row(j, buffer_[1]);
  const double curvature = h.diagonal(i) + h.diagonal(j) - 2.0 * row_i[j];
  const double slope = (h.F[j] - h.c[j]) - (h.F[i] - h.c[i]);
  const double delta = step_pair(slope, curvature, h.x[i], h.hi[i], h.x[j], h.lo[j]);
  h.F.add_row(delta, row_i);
  h.F.add_row(-delta, row_j);
  h.F.arrive(1);
}

bool Lasvm::visit(std::size_t slot, std::size_t code, double bound, const Schedule& schedule) {
  look();
  if (!(bound > 0.0)) return true;  // an example without weight is in no head
  bool any = false, used = false;
  for_heads(code, [&](Machine& machine, double target) {
    any = true;
    used |= process(machine, slot, target, bound, schedule.tau);
  });
  for_heads(code, [&](Machine& machine, double) { reprocess(machine, schedule); });
  return used || !any;
}

// Whether an example that is no member yet is of use in the head, and has become one.
bool Lasvm::process(Machine& machine, std::size_t slot, double target, double bound, double tau) {
  Head& h = machine.head;
  if (h.member_at(static_cast<std::int64_t>(slot)) >= 0) return false;
  const double* row = gram_.row(slot);
  const Sides e = extremes(h);
  machine.visited = true;
  ++machine.steps;
  const bool rises = target > 0.0;  // from zero it can go one way only
  const double kx = h.expansion_at(row), G = kx - target;
  const std::ptrdiff_t partner = rises ? e.down.index : e.up.index;
  const double violation = rises ? -e.down.value - G : G - e.up.value;
  // Without a partner it waits for one. Within tau of an extreme it may be the partner that another
  // newcomer needs.
  if (partner >= 0 && !(violation > 0.0)) return false;
  admit(h, slot, kx, target, bound);
  if (partner >= 0 && violation > tau) {
    const std::size_t k = h.members() - 1, other = partner;
    step(h, rises ? k : other, rises ? other : k);
  }
  return true;
}

void Lasvm::admit(Head& h, std::size_t slot, double kx, double target, double bound) {
  h.enter({static_cast<std::int64_t>(slot)}, {target}, {0}, {kx});
  (target > 0.0 ? h.hi : h.lo).back() = target > 0.0 ? bound : -bound;
}

void Lasvm::absorb(std::size_t from, std::size_t into, std::size_t code, double bound,
                   const Schedule& schedule) {
  for_heads(code, [&](Machine& machine, double target) {
    Head& h = machine.head;
    const std::int64_t giver = h.member_at(from);
    std::int64_t taker = h.member_at(into);
    if (giver < 0 && taker < 0) return;
    machine.visited = true;
    if (taker < 0) {
      taker = h.members();
      admit(h, into, h.expansion_at(gram_.row(into)), target, bound);
    }
    const std::size_t t = taker;
    (target > 0.0 ? h.hi[t] : h.lo[t]) = target * bound;
    if (giver < 0) return;
    const std::size_t g = giver;
    const double moved = h.x[g];
    const double *row_g = h.member_row(g, buffer_[0]), *row_t = h.member_row(t, buffer_[1]);
    h.F.add_row(-moved, row_g);
    h.F.add_row(moved, row_t);
    h.x[t] = std::clamp(h.x[t] + moved, h.lo[t], h.hi[t]);  // beyond the bound by rounding at most
    h.x[g] = 0.0;
    h.F.arrive(1);
    h.dismiss({static_cast<std::int64_t>(from)});
    reprocess(machine, schedule);
  });
}

void Lasvm::reprocess(Machine& machine, const Schedule& schedule) {
  for (std::size_t k = 0; k < schedule.reprocess; ++k) {
    const Sides e = extremes(machine.head);
    if (!(gap(e) > schedule.tau)) return;
    step(machine.head, e.up.index, e.down.index);
    machine.visited = true;
    ++machine.steps;
  }
}

std::vector<Lasvm::Record> Lasvm::settle() {
  std::vector<Record> records;
  for (std::size_t k = 0; k < machines_.size(); ++k) {
    const Machine& machine = machines_[k];
    if (!machine.visited) continue;
    const Head::Range range = machine.head.optimal_mu(0);
    if (std::isfinite(range.middle())) machine.head.mu[0] = range.middle();
    records.push_back({k, machine.steps, std::max(0.0, range.low - range.high)});
  }
  return records;
}

std::vector<std::int64_t> Lasvm::sweep() {
  std::vector<char> gone(gram_.size(), 0);
  for (Machine& machine : machines_)
    for (std::int64_t s : dismiss_idle(machine.head)) gone[s] = 1;
  for (const Machine& machine : machines_)
    for (std::int64_t s : machine.head.slot) gone[s] = 0;
  std::vector<std::int64_t> slots;
  for (std::size_t s = 0; s < gone.size(); ++s)
    if (gone[s]) slots.push_back(s);
  return slots;
}

std::vector<std::int64_t> Lasvm::dismiss_idle(Head& h) {
  const Sides e = extremes(h);
  // Nobody is beyond an extreme that there is not.
  const double low = e.down.index >= 0 ? -e.down.value : kInf;
  const double up = e.up.index >= 0 ? e.up.value : -kInf;
  std::vector<std::int64_t> slots;
  for (std::size_t m = 0; m < h.members(); ++m) {
    const double G = h.F[m] - h.c[m];
    const bool beyond = h.hi[m] > 0.0 ? G >= low : G <= up;
    if (h.x[m] == 0.0 && (beyond || h.fixed(m))) slots.push_back(h.slot[m]);
  }
  h.dismiss(slots);
  return slots;
}

std::int64_t finish(Head& h, double tol, std::int64_t max_iter, bool trusted) {
  const Released scope{h};
  const std::int64_t limit = max_iter < 0 ? h.most_iterations() : max_iter;
  SmoResult found{false, 0};
  if (trusted && h.gram.has_blocks()) {
    // In single precision a small tolerance may never be met: half of the steps.
    found = block_smo(h, tol, limit / 2, true);
    if (!found.converged) h.F.refresh();
  }
  if (found.converged || found.iterations >= limit) return found.iterations;
  return found.iterations + smo(h, tol, limit - found.iterations).iterations;
}

}  // namespace supple
