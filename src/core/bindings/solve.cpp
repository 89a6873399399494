// Python's view of the solvers.
#include <algorithm>
#include <numeric>

#include "bindings/bindings.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/watch.hpp"
#include "solvers/solve.hpp"

namespace supple {

namespace {

using SettingsTuple = std::tuple<double, std::int64_t, bool, bool, bool, bool>;

Settings to_settings(const SettingsTuple& values) {
  return std::apply([](auto... value) { return Settings{value...}; }, values);
}

// `test` is a function of Python, called with the head.
DefiniteTest ask(const nb::callable& test) {
  return [&test](Head& h) {
    nb::gil_scoped_acquire gil;
    return nb::cast<bool>(test(nb::find(h)));
  };
}

SolveResult solve_one(Head& h, const In1<std::int64_t>& variables, const In1<double>& lo,
                      const In1<double>& hi, const In1<double>& ridge,
                      const std::vector<double>& target, const SettingsTuple& settings, bool cold,
                      const nb::callable& is_definite) {
  check_moved(h, variables, lo, hi, ridge);
  const Move move{to_vector(variables), to_vector(lo), to_vector(hi), to_vector(ridge),
                  to_groups(target)};
  nb::gil_scoped_release release;
  return solve(h, move, to_settings(settings), cold, ask(is_definite));
}

// Several heads one after the other, each with its part of the arrays.
std::vector<SolveResult> solve_first(const std::vector<Head*>& heads,
                                     const std::vector<std::size_t>& counts,
                                     const In1<std::int64_t>& slots, const In1<double>& c,
                                     const In1<double>& lo, const In1<double>& hi,
                                     const In1<std::uint8_t>& groups, const In1<double>& ridge,
                                     const std::vector<std::vector<double>>& targets,
                                     const SettingsTuple& settings,
                                     const nb::callable& is_definite) {
  require(counts.size() == heads.size() && targets.size() == heads.size(),
          "counts and targets need one entry per head");
  std::size_t members = 0, variables = 0;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    require(heads[k]->members() == 0, "the head has members already");
    const std::size_t end = variables + counts[k] * heads[k]->per;
    require(members + counts[k] <= slots.shape(0) && end <= groups.shape(0),
            "slots, c, lo, hi and groups must be as long as counts say");
    check_slots(heads[k]->gram, {slots.data() + members, counts[k]});
    for (std::size_t v = variables; v < end; ++v)
      require(groups.data()[v] < heads[k]->n_groups, "group out of range");
    members += counts[k];
    variables = end;
  }
  require(members == slots.shape(0) && variables == c.shape(0) && variables == lo.shape(0) &&
              variables == hi.shape(0) && variables == groups.shape(0) &&
              (ridge.shape(0) == 0 || ridge.shape(0) == variables),
          "slots, c, lo, hi, groups and ridge must be as long as counts say");
  for (std::size_t v = 0; v < variables; ++v)
    require(lo.data()[v] <= hi.data()[v], "lo must not exceed hi");
  std::vector<SolveResult> out;
  nb::gil_scoped_release release;
  members = variables = 0;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    Head& h = *heads[k];
    send({Phase::machine, k + 1, heads.size()});
    h.admit(slots.data() + members, c.data() + variables, groups.data() + variables, counts[k]);
    const std::size_t n = h.variables();
    const auto own = [&](const In1<double>& values) {
      return std::vector<double>(values.data() + variables, values.data() + variables + n);
    };
    Move move{Slots(n), own(lo), own(hi), {}, to_groups(targets[k])};
    std::iota(move.variables.begin(), move.variables.end(), 0);
    if (ridge.shape(0) > 0) move.ridge = own(ridge);
    members += counts[k];
    variables += n;
    out.push_back(solve(h, move, to_settings(settings), true, ask(is_definite)));
  }
  return out;
}

}  // namespace

void bind_solve(nb::module_& m) {
  nb::enum_<Route>(m, "Route", nb::is_arithmetic())
      .value("none", Route::none)
      .value("leap", Route::leap)
      .value("path", Route::path)
      .value("polish", Route::polish)
      .value("block", Route::block)
      .value("smo", Route::smo)
      .value("simple", Route::simple);
  nb::enum_<Reason>(m, "Reason")
      .value("none", Reason::none)
      .value("iteration_limit", Reason::iteration_limit)
      .value("rounding", Reason::rounding)
      .value("indefinite", Reason::indefinite)
      .value("infeasible", Reason::infeasible);
  nb::class_<SolveResult>(m, "SolveResult")
      .def(nb::init<>())
      .def_ro("route", &SolveResult::route)
      .def_ro("breakpoints", &SolveResult::breakpoints)
      .def_ro("iterations", &SolveResult::iterations)
      .def_ro("polishes", &SolveResult::polishes)
      .def_ro("kkt", &SolveResult::kkt)
      .def_ro("reason", &SolveResult::reason)
      .def_prop_ro("within_tolerance", &SolveResult::within_tolerance)
      .def_prop_ro("indefinite",
                   [](const SolveResult& r) { return r.reason == Reason::indefinite; });
  m.def("solve", &solve_one);
  m.def("solve_first", &solve_first);
  m.def("make_ready_for_paths", &make_ready_for_paths, nb::call_guard<nb::gil_scoped_release>());
  // (U, order): matrix[order][:, order] = U'U but for pivots up to `tiny`
  m.def("cholesky_with_pivots", [](const In2<double>& matrix, double tiny) {
    const std::size_t n = matrix.shape(0);
    require(matrix.shape(1) == n, "the matrix must be square");
    std::vector<double> upper(matrix.data(), matrix.data() + n * n);
    std::vector<std::size_t> order;
    {
      nb::gil_scoped_release release;
      upper.resize(n * cholesky_with_pivots(upper.data(), n, n, tiny, order));
    }
    for (std::size_t i = 0; i * n < upper.size(); ++i) std::fill_n(upper.data() + i * n, i, 0.0);
    const std::size_t rank = n > 0 ? upper.size() / n : 0;
    return std::make_pair(to_numpy(std::move(upper), {rank, n}),
                          to_numpy(std::vector<std::int64_t>(order.begin(), order.end()), {n}));
  });
}

}  // namespace supple
