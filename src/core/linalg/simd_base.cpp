#define SUPPLE_SIMD_TABLE simd_table_base
#define SUPPLE_SIMD_NAME "baseline"
#include "linalg/simd_kernels.inc"
