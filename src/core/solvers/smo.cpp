// Sequential minimal optimisation on the signed QP, with kernel rows in double precision. Starts
// from any feasible x.
#include <functional>

#include "linalg/watch.hpp"
#include "solvers/pair_step.hpp"
#include "solvers/smo.hpp"

namespace supple {

SmoResult smo(Head& h, double eps, std::int64_t max_iterations) {
  const std::size_t n = h.members();
  PairSteps<double> pairs(h);
  pairs.start(n, 1.0, std::identity(), [&](std::size_t, std::size_t v) { return h.slope(v); });
  std::array<std::vector<double>, kMaxGroups + 1> buffers;
  const auto row = [&](std::size_t member, std::size_t buffer) {
    return h.member_row(member, buffers[buffer]);
  };
  std::int64_t iterations = 0;
  while (pairs.gap() > eps && iterations != max_iterations && pairs.step(row))
    if (++iterations % 64 == 0)
      tell([&] {
        const std::size_t optimal = n - std::min(n, pairs.violators(eps));
        return News{Phase::solving, optimal, n, pairs.gap()};
      });
  pairs.give_back();
  for (std::size_t m = 0; m < n; ++m)
    h.F.set(m, pairs.slope(m) + h.c[m * h.per] - h.ridge_term(m * h.per));
  h.balance_mu();
  h.F.arrive(static_cast<std::uint64_t>(iterations));
  return {pairs.gap() <= eps, iterations};
}

}  // namespace supple
