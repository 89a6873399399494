#include "kernels/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace supple {

namespace {

template <typename T>
T integer_power(T base, int exponent) {
  T result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

template <typename T>
void identity(const Kernel&, T*, std::size_t) {}

template <typename T>
void power(const Kernel& kernel, T* v, std::size_t n) {
  const T gamma = static_cast<T>(kernel.gamma), coef0 = static_cast<T>(kernel.coef0);
  for (std::size_t k = 0; k < n; ++k) v[k] = integer_power(gamma * v[k] + coef0, kernel.degree);
}

template <typename T>
void tangent(const Kernel& kernel, T* v, std::size_t n) {
  const T gamma = static_cast<T>(kernel.gamma), coef0 = static_cast<T>(kernel.coef0);
  for (std::size_t k = 0; k < n; ++k) v[k] = std::tanh(gamma * v[k] + coef0);
}

template <typename T>
void decay(const Kernel& kernel, T* v, std::size_t n) {
  simd_of<T>().exp_scaled(static_cast<T>(-kernel.gamma), v, n);
}

// Matern's kernel of smoothness nu = twice / 2, 3/2 or 5/2, from squared distances r^2: with
// a = sqrt(2 nu) r / l and 1 / l^2 = 2 gamma, it is (1 + a) exp(-a) or (1 + a + a^2 / 3) exp(-a).
template <int twice, typename T>
void matern(const Kernel& kernel, T* v, std::size_t n) {
  static_assert(twice == 3 || twice == 5);
  constexpr std::size_t kPiece = 256;
  constexpr T kFar = 1000, kQuadratic = twice == 5 ? T(1) / T(3) : T(0);  // exp(-kFar) is 0
  const T factor = static_cast<T>(2 * twice * kernel.gamma);
  T polynomial[kPiece];
  for (; n > 0; v += std::min(n, kPiece), n -= std::min(n, kPiece)) {
    const std::size_t length = std::min(n, kPiece);
    for (std::size_t k = 0; k < length; ++k) {
      const T a = std::sqrt(factor * v[k]);
      v[k] = a > kFar ? kFar : a;
      polynomial[k] = 1 + v[k] * (1 + kQuadratic * v[k]);
    }
    simd_of<T>().exp_scaled(T(-1), v, length);
    for (std::size_t k = 0; k < length; ++k) v[k] *= polynomial[k];
  }
}

double of_power(const Kernel& kernel, double reach) {
  return kernel.degree * integer_power(reach + std::abs(kernel.coef0), kernel.degree);
}

// |x - z|^2 is |x|^2 + |z|^2 - 2 x'z, four times the largest norm at most, an L1 distance twice.
// `slope` is how much a value changes at most with gamma times its base.
template <int thirds>
double of_distance(const Kernel&, double reach) {
  constexpr double slope = thirds / 3.0;
  return 1.0 + 2.0 * slope * reach;
}

constexpr KernelForm kForms[] = {
    {"linear", Base::dot, identity<double>, identity<float>,
     [](const Kernel&, double reach) { return reach; }, true},
    {"poly", Base::dot, power<double>, power<float>, of_power},
    {"sigmoid", Base::dot, tangent<double>, tangent<float>,
     [](const Kernel& kernel, double reach) { return 1.0 + reach + std::abs(kernel.coef0); }},
    {"rbf", Base::squared_distance, decay<double>, decay<float>, of_distance<3>, false, true},
    {"laplacian", Base::l1_distance, decay<double>, decay<float>, of_distance<3>},
    {"matern32", Base::squared_distance, matern<3, double>, matern<3, float>, of_distance<9>},
    {"matern52", Base::squared_distance, matern<5, double>, matern<5, float>, of_distance<5>},
};

}  // namespace

std::span<const KernelForm> kernel_forms() { return kForms; }

Kernel make_kernel(const std::string& name, double gamma, double coef0, int degree) {
  for (const KernelForm& form : kForms)
    if (name == form.name) return {&form, gamma, coef0, degree};
  throw std::invalid_argument("the core has no kernel '" + name + "'; see kernel_names");
}

}  // namespace supple
