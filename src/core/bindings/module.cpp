// Python bindings. Sizes and dtypes are checked here; the core trusts its arguments.
#include "bindings/bindings.hpp"

using namespace supple;

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // models alive at exit are no leak
  m.def("instruction_set", [] { return std::string(simd().name); });
  bind_gram(m);
  bind_head(m);
  bind_lasvm(m);
  bind_solve(m);
  bind_lock(m);
}
