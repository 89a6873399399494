// Vector primitives, chosen once at import for the instruction set of this machine.
#pragma once
#include <cstddef>
#include <cstdint>

namespace supple {

inline constexpr double kInf = __builtin_inf(), kEps = __DBL_EPSILON__;

// Points are stored in panels of kLanes interleaved points: feature f of point i is at
// panel[i / kLanes][f][i % kLanes], so that a kernel row runs over points, not over features.
inline constexpr std::size_t kLanes = 16;
// Static: no instruction set's copy may serve the others.
static inline std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
// Queries of a pack, a cache line for each feature: packed[feature * kQueries + q].
template <typename T>
inline constexpr std::size_t kQueries = 64 / sizeof(T);
inline constexpr std::size_t kFeaturesTogether = 256;  // whose terms go to one sum

// What a kernel may be computed from.
enum class Base { dot, squared_distance, l1_distance };

struct Extreme {
  double value;
  std::ptrdiff_t index;  // -1: no candidate
};

struct Scan {
  Extreme up;      // smallest G among variables that may increase
  double low_max;  // largest G among variables that may decrease
};

struct SparseRow {  // where its entries are
  std::size_t start, count;
};

// Primitives of both precisions.
template <typename T>
struct SimdOf {
  // A query (width 1), or a pack of them (kQueries), against whole panels: out[q * stride + point].
  void (*compare)(Base base, const T* packed, std::size_t width, const T* panels,
                  std::size_t n_features, std::size_t n_panels, T* out, std::size_t stride);
  // Sparse rows against a pack of dense queries, out[q * stride + row] for whole vectors of rows:
  // the dot, or what the features of the row add to the L1 norm of a query for their L1 distance.
  void (*compare_sparse)(bool l1, const T* packed, const SparseRow* rows,
                         const std::int32_t* column, const T* value, std::size_t count, T* out,
                         std::size_t stride);
  // A square of kQueries rows: out[j * stride + i] = in[i * stride + j].
  void (*transpose)(const T* in, T* out, std::size_t stride);
  // v[i] <- exp(factor * v[i]) for factor * v[i] <= 0
  void (*exp_scaled)(T factor, T* v, std::size_t n);
  // Squared distances in place of dots: v[i] <- norm + norms[i] - 2 v[i]
  void (*to_distances)(T norm, const T* norms, T* v, std::size_t n);
  // SMO: G += delta (row_i - row_j), then the extremes of G. bar_up is 0 where the variable may
  // increase and +inf elsewhere; bar_low is 0 where it may decrease and -inf elsewhere.
  Scan (*step_and_scan)(T delta, const T* row_i, const T* row_j, T* G, const T* bar_up,
                        const T* bar_low, std::size_t n);
  // SMO: the partner j of i with the largest second-order gain (G_j - G_i)^2 / curvature
  Extreme (*best_partner)(T G_i, T K_ii, const T* row_i, const T* diagonal, const T* G,
                          const T* bar_low, std::size_t n);
};

struct Simd {
  const char* name;
  double (*dot)(const double* a, const double* b, std::size_t n);
  void (*axpy)(double alpha, const double* x, double* y, std::size_t n);
  // turned = c x + s y, y <- c y - s x
  void (*rotate)(double c, double s, const double* x, double* y, double* turned, std::size_t n);
  // z <- U^-T z and z <- U^-1 z for an upper triangle U, row-major, n rows. The former takes
  // `count` vectors z, each z_stride after the one before; they share what is read of U.
  void (*solve_transposed)(const double* upper, std::size_t stride, std::size_t n, double* z,
                           std::size_t z_stride, std::size_t count);
  void (*solve)(const double* upper, std::size_t stride, std::size_t n, double* z);
  // out[k] = dot(matrix + index[k] * stride, v): a matrix-vector product on chosen rows
  void (*product_rows)(const double* matrix, std::size_t stride, const std::int64_t* index,
                       std::size_t count, const double* v, std::size_t length, double* out);
  // Path: the first gradient to reach 0. sign is +1 at a lower bound (g >= 0 there), -1 at an
  // upper one, 0 for variables that cannot hit; rates up to `tiny` count as 0. Returns the time
  // and the index; among simultaneous hits the fastest.
  Extreme (*first_crossing)(const double* sign, const double* g, const double* rate, double tiny,
                            std::size_t n);
  // LASVM: the smallest G = F - c where x < bound, or (sign -1) the smallest -G where x > bound
  Extreme (*extreme)(double sign, const double* F, const double* c, const double* x,
                     const double* bound, std::size_t n);
  // sum += weighted rows, one for each query of a pack; `lost` keeps what the sum loses
  void (*add_block)(const double* weight, const double* rows, std::size_t stride, double* sum,
                    double* lost, std::size_t n);
  // out += sum over k of coef[k] row[k]
  void (*add_rows_single)(const float* const* row, const double* coef, std::size_t count,
                          double* out, std::size_t n);
  // The same as compare of double precision for points that are stored in single precision
  void (*compare_stored_single)(Base base, const double* packed, std::size_t width,
                                const float* panels, std::size_t n_features, std::size_t n_panels,
                                double* out, std::size_t stride);
  SimdOf<double> f64;
  SimdOf<float> f32;
};

const Simd& simd();  // the table for this machine

template <typename T>
const SimdOf<T>& simd_of() {
  if constexpr (sizeof(T) == sizeof(double))
    return simd().f64;
  else
    return simd().f32;
}

}  // namespace supple
