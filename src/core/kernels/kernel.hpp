// The kernels that the core evaluates itself. Each is one entry of the table in kernel.cpp; all
// other code asks the table.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "linalg/simd.hpp"

namespace supple {

struct Kernel;

struct KernelForm {
  const char* name;
  Base base;  // what values are computed from
  // From the base to values, in place.
  void (*finish)(const Kernel& kernel, double* v, std::size_t n);
  void (*finish_single)(const Kernel& kernel, float* v, std::size_t n);
  // How many roundings of the base a value in single precision may be off, for examples whose norm,
  // squared unless the base is an L1 distance, is at most `reach` in units of 1 / gamma.
  double (*error)(const Kernel& kernel, double reach);
  bool linear = false;
  bool gaussian = false;  // exp(-gamma |x - z|^2), which may go on from dots
};

struct Kernel {
  const KernelForm* form;
  double gamma = 1.0;
  double coef0 = 0.0;
  int degree = 3;

  Base base() const { return form->base; }
  void finish(double* v, std::size_t n) const { form->finish(*this, v, n); }
  void finish(float* v, std::size_t n) const { form->finish_single(*this, v, n); }
};

std::span<const KernelForm> kernel_forms();
Kernel make_kernel(const std::string& name, double gamma, double coef0, int degree);

}  // namespace supple
