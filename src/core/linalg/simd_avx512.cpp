#define SUPPLE_SIMD_TABLE simd_table_avx512
#define SUPPLE_SIMD_NAME "AVX-512"
#include "linalg/simd_kernels.inc"
