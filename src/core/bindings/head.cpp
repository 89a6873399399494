// Python's view of a head and its solvers.
#include "bindings/bindings.hpp"
#include "linalg/watch.hpp"

namespace supple {

Move checked_move(const Head& head, const In1<std::int64_t>& moved, const In1<double>& lo,
                  const In1<double>& hi, const In1<double>& ridge, const nb::sequence& target) {
  const std::size_t n = moved.shape(0);
  require(n == lo.shape(0) && n == hi.shape(0) && (ridge.shape(0) == 0 || ridge.shape(0) == n),
          "moved, lo, hi and ridge must have the same length");
  for (std::size_t k = 0; k < n; ++k) {
    require(static_cast<std::size_t>(moved.data()[k]) < head.variables(), "variable out of range");
    require(lo.data()[k] <= hi.data()[k], "lo must not exceed hi");
  }
  Move move{to_vector(moved), to_vector(lo), to_vector(hi), to_vector(ridge), {}};
  const auto sums = elements<double>(target);
  std::copy_n(sums.begin(), std::min(sums.size(), kMaxGroups), move.target.begin());
  return move;
}

// Lets Ctrl-C end a long computation: raises KeyboardInterrupt in the calling thread.
void check_signals() {
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

namespace {

// A property that is copied to an array.
template <typename Get>
void bind_array(nb::class_<Head>& head, const char* name, Get get) {
  head.def_prop_ro(
      name, [get](const Head& h) { return to_numpy(std::invoke(get, h)); },
      nb::rv_policy::automatic);
}

// The same of the variables, which may be replaced: F and the factor do not follow.
void bind_values(nb::class_<Head>& head, const char* name, std::vector<double> Head::* values) {
  head.def_prop_rw(
      name, [values](const Head& h) { return to_numpy(h.*values); },
      [values](Head& h, const In1<double>& given) {
        require(given.shape(0) == h.variables(), "one value per variable is needed");
        h.*values = to_vector(given);
      },
      nb::rv_policy::automatic);
}

Out<std::int64_t> variables_at(const Head& h, const In1<std::int64_t>& slots) {
  Slots out;
  for (std::size_t k = 0; k < slots.shape(0); ++k) {
    const std::int64_t m = h.member_at(slots.data()[k]);
    for (std::size_t j = 0; j < h.per && m >= 0; ++j) out.push_back(m * h.per + j);
  }
  return to_numpy(out);
}

}  // namespace

void bind_head(nb::module_& m) {
  set_check(check_signals);
  bind_enum<Phase>(m, "Phase",
                   {"machine", "solving", "factoring", "finishing", "admitting", "path", "kernel"});
  // Who hears of the computations of this thread, listener(phase, done, total, value) or None,
  // until the next call, and at which intervals. The caller keeps the listener alive.
  m.def(
      "listen",
      [](nb::handle listener, double pause) {
        if (listener.is_none()) return listen(nullptr, pause);
        listen(
            [listener](const News& news) {
              nb::gil_scoped_acquire gil;
              listener(news.phase, news.done, news.total, news.value);
            },
            pause);
      },
      nb::arg().none(), nb::arg());
  // For loops in Python: look, and the listener hears of it.
  m.def("tell", [](Phase phase, std::size_t done, std::size_t total) {
    tell([&] { return News{phase, done, total}; });
  });
  m.def("send",
        [](Phase phase, std::size_t done, std::size_t total) { send({phase, done, total}); });
  nb::class_<Snapshot>(m, "Snapshot");
  nb::class_<Head> head(m, "Head");
  bind_array(head, "slot", &Head::slot);
  bind_values(head, "x", &Head::x);
  bind_values(head, "c", &Head::c);
  bind_values(head, "lo", &Head::lo);
  bind_values(head, "hi", &Head::hi);
  bind_values(head, "ridge", &Head::ridge);
  bind_array(head, "group", &Head::group);
  bind_array(head, "kx", [](const Head& h) { return h.F.values(); });
  bind_array(head, "margin", [](const Head& h) { return h.factor.variables(); });
  head.def(nb::init<Gram&, std::size_t, std::size_t>(), nb::keep_alive<1, 2>())
      .def_rw("mu", &Head::mu)
      .def_rw("target", &Head::target)
      .def_prop_ro("members", &Head::members)
      .def_prop_ro("rough", [](const Head& h) { return h.F.largest_error() > 0.0; })
      // Slots of the members whose variables do not sum to 0, and these sums.
      .def_prop_ro(
          "support",
          [](const Head& h) {
            const Expansion e = h.support();
            return std::make_tuple(to_numpy(e.slots), to_numpy(e.coef));
          },
          nb::rv_policy::automatic)
      .def_prop_ro("n_margin", [](const Head& h) { return h.factor.size(); })
      .def_prop_ro("factored", &Head::factored)
      // Those that are no members yet become members.
      .def("admit",
           [](Head& h, const In1<std::int64_t>& slots, const In1<double>& c,
              const In1<std::uint8_t>& groups) {
             const std::size_t n = c.shape(0);
             require(n == slots.shape(0) * h.per && groups.shape(0) == n,
                     "c and groups need one entry per variable");
             for (std::uint8_t group : view(groups))
               require(group < h.n_groups, "group out of range");
             const Slots own = checked_slots(h.gram, slots);
             unlocked([&] { h.admit(own.data(), c.data(), groups.data(), own.size()); });
           })
      // All variables of the members at these slots.
      .def("variables_at", &variables_at)
      .def("take_out",
           [](Head& h, const In1<std::int64_t>& slots, std::size_t n_examples) {
             h.take_out(checked_removals(slots, n_examples), n_examples);
           })
      .def("dismiss", [](Head& h, const In1<std::int64_t>& slots) { h.dismiss(to_vector(slots)); })
      .def("save", &Head::save, nb::arg("for_trials") = false)
      .def("restore", &Head::restore)
      .def(
          "refresh", [](Head& h) { h.F.refresh(); }, nb::call_guard<nb::gil_scoped_release>())
      .def("forget_factor", &Head::forget_factor)
      .def("release", &Head::release)
      // Kx from scratch, for an audit: its kernel values are not counted as learning.
      .def("expansion",
           [](Head& h) {
             return to_numpy(unlocked([&] {
               const std::lock_guard reading(h.gram.audits);
               const struct Uncounted {  // also where the user stops it
                 Gram& gram;
                 std::uint64_t before = gram.evaluations();
                 ~Uncounted() { gram.set_evaluations(before); }
               } scope{h.gram};
               return h.expansion(h.slot);
             }));
           })
      .def("scale",
           [](const Head& h, const In1<double>& kx) {
             require(kx.shape(0) == h.members(), "kx needs one entry per member");
             return h.scale(to_vector(kx));
           })
      .def("rounding", &Head::rounding)
      .def("jump",
           [](Head& h, const In1<std::int64_t>& moved, const In1<double>& lo, const In1<double>& hi,
              const In1<double>& ridge, const nb::sequence& target) {
             const Move move = checked_move(h, moved, lo, hi, ridge, target);
             return unlocked([&] { return h.jump(move); });
           })
      // The matrix of kernel values of the examples at these slots.
      .def("kernel_among", [](Head& h, const In1<std::int64_t>& given) {
        const Slots slots = checked_slots(h.gram, given);
        const std::size_t n = slots.size();
        std::vector<double> out(n * n);
        unlocked([&] { h.gram.values(slots, slots, out.data()); });
        return to_numpy(std::move(out), {n, n});
      });
}

}  // namespace supple
