// Python's view of the solvers.
#include "bindings/bindings.hpp"
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
                      const In1<double>& hi, const In1<double>& ridge, const nb::sequence& target,
                      const SettingsTuple& settings, bool cold, const nb::callable& is_definite) {
  const Move move = checked_move(h, variables, lo, hi, ridge, target);
  return unlocked([&] { return solve(h, move, to_settings(settings), cold, ask(is_definite)); });
}

}  // namespace

void bind_solve(nb::module_& m) {
  bind_enum<Route>(m, "Route", {"none", "leap", "path", "polish", "block", "smo", "simple"},
                   nb::is_arithmetic());
  bind_enum<Reason>(m, "Reason",
                    {"none", "iteration_limit", "rounding", "indefinite", "infeasible"});
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
  m.def("make_ready_for_paths", &make_ready_for_paths, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace supple
