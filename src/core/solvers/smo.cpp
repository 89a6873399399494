// Sequential minimal optimisation on the signed QP, with kernel rows in double precision. Starts
// from any feasible x.
#include "linalg/watch.hpp"
#include "solvers/pair_step.hpp"
#include "solvers/smo.hpp"

namespace supple {

SmoResult smo(Head& h, double eps, std::int64_t max_iterations) {
  const std::size_t n = h.members();
  PairSteps<double> pairs;
  pairs.resize(h, n);
  const auto for_each = [&](const auto& visit) {  // visit(variable of the head, of `pairs`, member)
    for (std::size_t m = 0; m < n; ++m)
      for (std::size_t j = 0; j < h.per; ++j) visit(m * h.per + j, j * n + m, m);
  };
  for_each([&](std::size_t v, std::size_t at, std::size_t) { pairs.fill(at, h, v, h.slope(v)); });
  std::array<std::vector<double>, kMaxGroups + 1> buffers;
  const auto row = [&](std::size_t member, std::size_t buffer) {
    return h.member_row(member, buffers[buffer]);
  };
  pairs.start();
  std::int64_t iterations = 0;
  while (pairs.gap() > eps && iterations != max_iterations && pairs.step(row))
    if (++iterations % 64 == 0)
      tell([&] {
        const std::size_t optimal = n - std::min(n, pairs.violators(eps));
        return News{Phase::solving, optimal, n, pairs.gap()};
      });
  for_each([&](std::size_t v, std::size_t at, std::size_t m) {
    h.x[v] = pairs.x[at];
    h.F.set(m, pairs.G[at] + h.c[v] - h.ridge_term(v));
  });
  h.balance_mu();
  h.F.arrive(static_cast<std::uint64_t>(iterations));
  return {pairs.gap() <= eps, iterations};
}

}  // namespace supple
