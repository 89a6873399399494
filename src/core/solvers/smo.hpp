// Sequential minimal optimisation: on the rows of the kernel matrix, and by blocks.
#pragma once
#include <cstdint>

#include "qp/head.hpp"

namespace supple {

struct SmoResult {
  bool converged;
  std::int64_t iterations;
};

SmoResult smo(Head& head, double eps, std::int64_t max_iterations);

// The same by blocks, for kernels whose rows the core computes itself.
SmoResult block_smo(Head& head, double eps, std::int64_t max_iterations, bool shrinking);

}  // namespace supple
