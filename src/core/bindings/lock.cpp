// Python's view of the lock of a model: three context managers, one for each way to hold it. They
// are written in C++ because no Ctrl-C can then come between the lock and the block it guards.
#include "bindings/bindings.hpp"
#include "bindings/model_lock.hpp"

namespace supple {

namespace {

template <bool (ModelLock::*Try)(), void (ModelLock::*Wait)(ModelLock::Look),
          void (ModelLock::*End)()>
struct Guard {
  std::shared_ptr<ModelLock> lock;
  void enter() {
    if ((*lock.*Try)()) return;
    nb::gil_scoped_release release;
    (*lock.*Wait)(check_signals);
  }
  void exit(nb::handle, nb::handle, nb::handle) { (*lock.*End)(); }
};

using Reading = Guard<&ModelLock::try_read, &ModelLock::read, &ModelLock::end_read>;
using Preparing = Guard<&ModelLock::try_prepare, &ModelLock::prepare, &ModelLock::end_prepare>;
using Writing = Guard<&ModelLock::try_write, &ModelLock::write, &ModelLock::end_write>;

template <typename G>
void bind_guard(nb::module_& m, const char* name) {
  nb::class_<G>(m, name)
      .def("__enter__", &G::enter)
      .def("__exit__", &G::exit, nb::arg().none(), nb::arg().none(), nb::arg().none());
}

}  // namespace

void bind_lock(nb::module_& m) {
  nb::exception<LockError>(m, "LockError", PyExc_RuntimeError);
  bind_guard<Reading>(m, "Reading");
  bind_guard<Preparing>(m, "Preparing");
  bind_guard<Writing>(m, "Writing");
  // The three ways to hold one new lock.
  m.def("model_lock", [] {
    const auto lock = std::make_shared<ModelLock>();
    return std::make_tuple(Reading{lock}, Preparing{lock}, Writing{lock});
  });
}

}  // namespace supple
