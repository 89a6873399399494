// Python's view of LASVM.
#include "bindings/bindings.hpp"
#include "solvers/lasvm.hpp"

namespace supple {

namespace {

// Several examples one after the other; returns which of them are of use.
Out<std::uint8_t> visit(Lasvm& lasvm, const In1<std::int64_t>& slots,
                        const In1<std::int64_t>& codes, const In1<double>& bounds, double tau,
                        std::size_t reprocess) {
  const std::size_t n = slots.shape(0);
  require(codes.shape(0) == n && bounds.shape(0) == n,
          "slots, codes and bounds must have the same length");
  for (std::size_t slot : view(slots)) require(slot < lasvm.examples(), "slot out of range");
  for (std::size_t code : view(codes)) require(code < lasvm.classes(), "class out of range");
  std::vector<std::uint8_t> used(n);
  unlocked([&] {
    for (std::size_t i = 0; i < n; ++i)
      used[i] = lasvm.visit(slots.data()[i], codes.data()[i], bounds.data()[i], {tau, reprocess});
  });
  return to_numpy(std::move(used), {n});
}

}  // namespace

void bind_lasvm(nb::module_& m) {
  m.def("finish", &finish, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<Lasvm>(m, "Lasvm")
      .def(
          "__init__",
          [](Lasvm* self, Gram& gram, const nb::sequence& all_heads,
             const In2<std::int8_t>& targets) {
            const auto heads = elements<Head*>(all_heads);
            for (const Head* head : heads)
              require(head->per == 1 && head->n_groups == 1 && &head->gram == &gram,
                      "heads need one variable per member, one group, and this Gram matrix");
            require(targets.shape(1) == heads.size(), "targets need one column per head");
            new (self) Lasvm(gram, heads, targets.shape(0),
                             {targets.data(), targets.data() + targets.size()});
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("begin", &Lasvm::begin)
      .def("visit", &visit)
      // (head, steps, gap) of each that was visited
      .def("settle", &Lasvm::settle)
      .def("absorb",
           [](Lasvm& lasvm, std::size_t from, std::size_t into, std::size_t code, double bound,
              double tau, std::size_t reprocess) {
             require(from < lasvm.examples() && into < lasvm.examples() && from != into,
                     "slot out of range");
             require(code < lasvm.classes(), "class out of range");
             unlocked([&] { lasvm.absorb(from, into, code, bound, {tau, reprocess}); });
           })
      .def("sweep", [](Lasvm& lasvm) { return to_numpy(lasvm.sweep()); });
}

}  // namespace supple
