// Python's view of the batch way.
#include <nanobind/stl/optional.h>

#include <algorithm>

#include "bindings/bindings.hpp"
#include "linalg/cholesky.hpp"
#include "solvers/settle.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {

using QualityTuple = std::tuple<double, bool, bool, bool>;
using RoundTuple = std::tuple<bool, std::int64_t, std::optional<QualityTuple>>;

QualityTuple to_tuple(const Quality& q) { return {q.kkt, q.kept, q.sharp, q.settled}; }

std::optional<RoundTuple> to_tuple(const std::optional<Round>& r) {
  if (!r) return std::nullopt;
  std::optional<QualityTuple> reached;
  if (r->quality) reached = to_tuple(*r->quality);
  return RoundTuple{r->descent.converged, r->descent.iterations, reached};
}

// Several heads one after the other, each with its part of the arrays.
std::vector<std::optional<RoundTuple>> begin_all(
    const std::vector<Head*>& heads, const std::vector<std::size_t>& counts,
    const In1<std::int64_t>& slots, const In1<double>& c, const In1<double>& lo,
    const In1<double>& hi, const In1<std::uint8_t>& groups,
    const std::vector<std::vector<double>>& targets, const Settings& settings) {
  require(counts.size() == heads.size() && targets.size() == heads.size(),
          "counts and targets need one entry per head");
  std::size_t members = 0, variables = 0;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    require(heads[k]->members() == 0, "the head has members already");
    const std::size_t end = variables + counts[k] * heads[k]->per;
    require(members + counts[k] <= slots.shape(0) && end <= groups.shape(0),
            "slots, c, lo, hi and groups must be as long as counts say");
    for (std::size_t i = members; i < members + counts[k]; ++i)
      checked_slot(heads[k]->gram, slots.data()[i]);
    for (std::size_t v = variables; v < end; ++v)
      require(groups.data()[v] < heads[k]->n_groups, "group out of range");
    members += counts[k];
    variables = end;
  }
  require(members == slots.shape(0) && variables == c.shape(0) && variables == lo.shape(0) &&
              variables == hi.shape(0) && variables == groups.shape(0),
          "slots, c, lo, hi and groups must be as long as counts say");
  for (std::size_t v = 0; v < variables; ++v)
    require(lo.data()[v] <= hi.data()[v], "lo must not exceed hi");
  std::vector<std::optional<RoundTuple>> out;
  nb::gil_scoped_release release;
  members = variables = 0;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    Head& h = *heads[k];
    send({Phase::machine, k + 1, heads.size()});
    const Beginning start{slots.data() + members, counts[k],
                          c.data() + variables,   lo.data() + variables,
                          hi.data() + variables,  groups.data() + variables,
                          to_groups(targets[k])};
    members += counts[k];
    variables += counts[k] * h.per;
    out.push_back(to_tuple(begin(h, start, settings)));
  }
  return out;
}

}  // namespace

void bind_settle(nb::module_& m) {
  nb::class_<Settings>(m, "CoreSettings").def(nb::init<double, std::int64_t, bool, bool, bool>());
  m.def("begin", &begin_all);
  m.attr("PROMISED") = kPromised;
  // (U, order): matrix[order][:, order] = U'U but for pivots up to `tiny`
  m.def("cholesky_with_pivots", [](const In2<double>& matrix, double tiny, std::size_t threads) {
    const std::size_t n = matrix.shape(0);
    require(matrix.shape(1) == n, "the matrix must be square");
    std::vector<double> upper(matrix.data(), matrix.data() + n * n);
    std::vector<std::size_t> order;
    {
      nb::gil_scoped_release release;
      upper.resize(n * cholesky_with_pivots(upper.data(), n, n, tiny, order, threads));
    }
    for (std::size_t i = 0; i * n < upper.size(); ++i) std::fill_n(upper.data() + i * n, i, 0.0);
    const std::size_t rank = n > 0 ? upper.size() / n : 0;
    return std::make_pair(to_numpy(std::move(upper), {rank, n}),
                          to_numpy(std::vector<std::int64_t>(order.begin(), order.end()), {n}));
  });
  m.def("patience", &patience);
  m.def("descend", [](Head& h, const Settings& settings, bool first) {
    nb::gil_scoped_release release;
    const SmoResult r = descend(h, settings, first);
    return std::make_pair(r.converged, r.iterations);
  });
  m.def("factor_margin", &factor_margin, nb::call_guard<nb::gil_scoped_release>());
  m.def("quality", [](Head& h) {
    nb::gil_scoped_release release;
    return to_tuple(quality(h));
  });
  m.def("make_exact", [](Head& h) {
    nb::gil_scoped_release release;
    make_exact(h);
  });
  m.def("refine", [](Head& h) {
    nb::gil_scoped_release release;
    return to_tuple(refine(h));
  });
}

}  // namespace supple
