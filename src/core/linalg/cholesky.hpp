// The Cholesky factorisation of a dense matrix.
#pragma once
#include <cstddef>
#include <vector>

namespace supple {

// A = U'U, row by row; U takes the place of the upper triangle, the lower one is left alone. False:
// A is not positive definite to rounding, and its upper triangle is lost.
bool cholesky(double* a, std::size_t n, std::size_t stride, std::size_t threads);

// The same for a matrix that may be singular: A[order][:, order] = U'U, the largest pivot first,
// until none exceeds `tiny`. Returns how many rows of U there are; order[i] is the row of A that
// has come to i.
std::size_t cholesky_with_pivots(double* a, std::size_t n, std::size_t stride, double tiny,
                                 std::vector<std::size_t>& order);

}  // namespace supple
