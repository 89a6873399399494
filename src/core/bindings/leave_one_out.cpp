// Python's view of leaving members out.

#include "bindings/bindings.hpp"
#include "solvers/leave_one_out.hpp"

namespace supple {

namespace {

// (answer, F, mu, rounding): one entry per slot, mu one row.
auto leave_out_at(Head& h, const In1<std::int64_t>& slots, const In2<double>& targets,
                  const In1<double>& stretch) {
  const std::size_t n = slots.shape(0);
  require(targets.shape(0) == n && targets.shape(1) == h.n_groups && stretch.shape(0) == n,
          "targets and stretch need one entry per slot");
  require(h.factored() && h.F.largest_error() == 0.0, "the head must be ready for a path");
  std::vector<Departure> departures;
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t member = h.member_at(slots.data()[k]);
    require(member >= 0, "the example is no member");
    Departure d{static_cast<std::size_t>(member), {}, stretch.data()[k]};
    std::copy_n(targets.data() + k * h.n_groups, h.n_groups, d.target.begin());
    departures.push_back(d);
  }
  std::vector<std::uint8_t> answer;
  std::vector<double> F, mu, rounding;
  {
    nb::gil_scoped_release release;
    for (const LeftOut& one : leave_out(h, departures)) {
      answer.push_back(static_cast<std::uint8_t>(one.answer));
      F.push_back(one.F);
      mu.insert(mu.end(), one.mu.begin(), one.mu.begin() + static_cast<std::ptrdiff_t>(h.n_groups));
      rounding.push_back(one.rounding);
    }
  }
  return std::make_tuple(to_numpy(answer), to_numpy(F), to_numpy(std::move(mu), {n, h.n_groups}),
                         to_numpy(rounding));
}

}  // namespace

void bind_leave_one_out(nb::module_& m) {
  nb::class_<MemberValues>(m, "MemberValues")
      .def(nb::init<const Head&>())
      .def("put_back", &MemberValues::put_back);
  m.attr("OPEN") = static_cast<int>(Answer::open);
  m.attr("SOLVED") = static_cast<int>(Answer::solved);
  m.def("leave_out", &leave_out_at);
  // The kernel values that paths need, ahead of a MemberValues that is put back many times.
  m.def("gather_margin", [](Head& h) {
    nb::gil_scoped_release release;
    h.sync_block();
  });
}

}  // namespace supple
