#define SUPPLE_SIMD_TABLE simd_table_avx2
#define SUPPLE_SIMD_NAME "AVX2"
#include "linalg/simd_kernels.inc"
