// The Cholesky factorisation of a dense matrix.
#pragma once
#include <cstddef>

namespace supple {

// A = U'U, row by row; U takes the place of the upper triangle, the lower one is left alone. False:
// A is not positive definite to rounding, and its upper triangle is lost.
bool cholesky(double* a, std::size_t n, std::size_t stride, std::size_t threads);

}  // namespace supple
