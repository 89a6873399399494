#include "simd.hpp"

namespace supple {

extern const Simd simd_table_base;
#ifdef SUPPLE_X86
extern const Simd simd_table_avx2;
extern const Simd simd_table_avx512;
extern const ByteSimd byte_simd_vnni;
#endif

namespace {

const Simd& choose() {
#ifdef SUPPLE_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return simd_table_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return simd_table_avx2;
#endif
  return simd_table_base;
}

}  // namespace

const Simd& simd() {
  static const Simd& table = choose();
  return table;
}

const ByteSimd* byte_simd() {
#ifdef SUPPLE_X86
  static const bool there =
      &simd() == &simd_table_avx512 && __builtin_cpu_supports("avx512vnni");
  if (there) return &byte_simd_vnni;
#endif
  return nullptr;
}

}  // namespace supple
