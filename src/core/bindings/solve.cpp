// Python's view of the solvers.
#include <algorithm>
#include <numeric>

#include "bindings/bindings.hpp"
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
                      const nb::sequence& target, const SettingsTuple& settings, bool cold,
                      const nb::callable& is_definite) {
  const Move move = checked_move(h, to_vector(variables), view(lo), view(hi), view(ridge),
                                 to_groups(target));
  return unlocked([&] { return solve(h, move, to_settings(settings), cold, ask(is_definite)); });
}

// Several heads one after the other, each with its part of the arrays.
std::vector<SolveResult> solve_first(const nb::sequence& all_heads,
                                     const nb::sequence& all_counts,
                                     const In1<std::int64_t>& slots, const In1<double>& c,
                                     const In1<double>& lo, const In1<double>& hi,
                                     const In1<std::uint8_t>& groups, const In1<double>& ridge,
                                     const nb::sequence& all_targets, const SettingsTuple& settings,
                                     const nb::callable& is_definite) {
  const auto heads = elements<Head*>(all_heads);
  const auto counts = elements<std::size_t>(all_counts);
  std::vector<PerGroup> targets;
  for (nb::handle own : all_targets) targets.push_back(to_groups(nb::borrow<nb::sequence>(own)));
  require(counts.size() == heads.size() && targets.size() == heads.size(),
          "counts and targets need one entry per head");
  std::vector<SolveResult> out;
  nb::gil_scoped_release release;
  std::size_t start = 0;  // in `slots`
  for (std::size_t k = 0; k < heads.size(); start += counts[k++]) {
    Head& h = *heads[k];
    require(h.members() == 0, "the head has members already");
    const auto part = [&](const auto& values, std::size_t per) {
      require((start + counts[k]) * per <= values.shape(0), "an array is shorter than counts say");
      return view(values).subspan(start * per, counts[k] * per);
    };
    send({Phase::machine, k + 1, heads.size()});
    admit(h, part(slots, 1), part(c, h.per), part(groups, h.per));
    Slots variables(h.variables());
    std::iota(variables.begin(), variables.end(), 0);
    const Move move = checked_move(h, std::move(variables), part(lo, h.per), part(hi, h.per),
                                   part(ridge, ridge.shape(0) > 0 ? h.per : 0), targets[k]);
    out.push_back(solve(h, move, to_settings(settings), true, ask(is_definite)));
  }
  require(start == slots.shape(0), "slots must be as many as counts say");
  return out;
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
  m.def("solve_first", &solve_first);
  m.def("make_ready_for_paths", &make_ready_for_paths, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace supple
