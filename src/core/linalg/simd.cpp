#include "linalg/simd.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace supple {

extern const Simd simd_table_base;
#ifdef SUPPLE_X86
extern const Simd simd_table_avx2;
extern const Simd simd_table_avx512;
#endif

namespace {

// What the environment allows at most: the instruction sets of older machines can be tried out.
enum class Allowed { baseline, avx2, avx512 };

Allowed allowed() {
  const char* wish = std::getenv("SUPPLE_SIMD");
  const std::string name = wish ? wish : "";
  if (name == "baseline") return Allowed::baseline;
  if (name == "avx2") return Allowed::avx2;
  if (name.empty() || name == "avx512") return Allowed::avx512;
  throw std::invalid_argument(
      "The environment variable SUPPLE_SIMD must be baseline, avx2 or avx512, or not set. Got " +
      name + " instead.");
}

const Simd& choose() {
  [[maybe_unused]] const Allowed most = allowed();
#ifdef SUPPLE_X86
  __builtin_cpu_init();
  if (most == Allowed::avx512 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return simd_table_avx512;
  if (most != Allowed::baseline && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return simd_table_avx2;
#endif
  return simd_table_base;
}

}  // namespace

const Simd& simd() {
  static const Simd& table = choose();
  return table;
}

}  // namespace supple
