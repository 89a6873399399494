// The kernels that the core evaluates itself.
#pragma once

namespace supple {

enum class KernelKind { linear, rbf, poly, sigmoid };

struct Kernel {
  KernelKind kind = KernelKind::linear;
  double gamma = 1.0;
  double coef0 = 0.0;
  int degree = 3;
};

template <typename T>
T integer_power(T base, int exponent) {
  T result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

}  // namespace supple
