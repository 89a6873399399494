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

const Simd& choose() {
  // What the environment allows at most: the instruction sets of older machines can be tried out.
  const char* wish = std::getenv("SUPPLE_SIMD");
  const std::string most = wish && *wish ? wish : "avx512";
  if (most != "baseline" && most != "avx2" && most != "avx512")
    throw std::invalid_argument(
        "The environment variable SUPPLE_SIMD must be baseline, avx2 or avx512, or not set. Got " +
        most + " instead.");
#ifdef SUPPLE_X86
  __builtin_cpu_init();
  if (most == "avx512" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return simd_table_avx512;
  if (most != "baseline" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
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
