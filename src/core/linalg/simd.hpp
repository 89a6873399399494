// Vector primitives, chosen once at import for the instruction set of this machine.
#pragma once
#include <cstddef>
#include <cstdint>

namespace supple {

// Points are stored in panels of kLanes interleaved points: feature f of point i is at
// panel[i / kLanes][f][i % kLanes], so that a kernel row runs over points, not over features.
inline constexpr std::size_t kLanes = 16;
// Static: no instruction set's copy may serve the others.
static inline std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
// Queries of a block, packed feature by feature: query[feature * kQueries + q].
inline constexpr std::size_t kQueries = 8;         // double precision
inline constexpr std::size_t kSingleQueries = 16;  // single precision
inline constexpr std::size_t kSingleFeatures = 256;  // of which those in the first-level cache
inline constexpr std::size_t kSquare = 8;          // rows that are transposed at a time
inline constexpr std::size_t kLeaving = 32;        // rows that others take up at a time

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

struct Sides {
  Extreme up;    // smallest G among variables that may increase
  Extreme down;  // smallest -G among variables that may decrease
};

struct Simd {
  const char* name;
  double (*dot)(const double* a, const double* b, std::size_t n);
  void (*axpy)(double alpha, const double* x, double* y, std::size_t n);
  // The rows of an upper triangle take up what up to kLeaving others, `gone` in ascending order,
  // hold, so that U'U keeps its value without them; their columns are 0. Row i is turned against
  // row gone[l] < i by c = cosine[l * n + i] and s = sine[l * n + i], l after l:
  // (x, y) <- (c x + s y, c y - s x), y being of row gone[l].
  void (*absorb)(double* upper, std::size_t stride, const std::size_t* gone, std::size_t count,
                 std::size_t n, double* cosine, double* sine);
  // z <- U^-T z and z <- U^-1 z for an upper triangle U, row-major, n rows. The former takes
  // `count` vectors z, each z_stride after the one before, at little more than the cost of one.
  void (*solve_transposed)(const double* upper, std::size_t stride, std::size_t n, double* z,
                           std::size_t z_stride, std::size_t count);
  void (*solve)(const double* upper, std::size_t stride, std::size_t n, double* z);
  // out[k] = dot(matrix + index[k] * stride, v): a matrix-vector product on chosen rows
  void (*product_rows)(const double* matrix, std::size_t stride, const std::int64_t* index,
                       std::size_t count, const double* v, std::size_t length, double* out);
  // A query against whole panels
  void (*panel_f64)(Base base, const double* query, const double* panels, std::size_t n_features,
                    std::size_t n_panels, double* out);
  void (*panel_f32)(Base base, const double* query, const float* panels, std::size_t n_features,
                    std::size_t n_panels, double* out);
  // v[i] <- exp(factor * v[i]) for factor * v[i] <= 0
  void (*exp_scaled)(double factor, double* v, std::size_t n);
  void (*exp_scaled_single)(float factor, float* v, std::size_t n);
  // Path: the first gradient to reach 0. sign is +1 at a lower bound (g >= 0 there), -1 at an
  // upper one, 0 for variables that cannot hit; rates up to `tiny` count as 0. Returns the time
  // and the index; among simultaneous hits of a chunk the fastest.
  Extreme (*first_crossing)(const double* sign, const double* g, const double* rate, double tiny,
                            std::size_t n);
  // LASVM: the extremes of G = F - c
  Sides (*extremes)(const double* F, const double* c, const double* x, const double* lo,
                    const double* hi, std::size_t n);
  // SMO: G += delta (row_i - row_j), then the extremes of G. bar_up is 0 where the variable may
  // increase and +inf elsewhere; bar_low is 0 where it may decrease and -inf elsewhere.
  Scan (*step_and_scan_f64)(double delta, const double* row_i, const double* row_j, double* G,
                            const double* bar_up, const double* bar_low, std::size_t n);
  Scan (*step_and_scan_f32)(float delta, const float* row_i, const float* row_j, float* G,
                            const float* bar_up, const float* bar_low, std::size_t n);
  // SMO: the partner j of i with the largest second-order gain (G_j - G_i)^2 / curvature
  Extreme (*best_partner_f64)(double G_i, double K_ii, const double* row_i,
                              const double* diagonal, const double* G, const double* bar_low,
                              std::size_t n);
  Extreme (*best_partner_f32)(float G_i, float K_ii, const float* row_i, const float* diagonal,
                              const float* G, const float* bar_low, std::size_t n);
  // Blocks: kQueries packed queries against whole panels, out[q * stride + point]
  void (*block_f64)(Base base, const double* queries, const double* panels, std::size_t n_features,
                    std::size_t n_panels, double* out, std::size_t stride);
  void (*block_f32)(Base base, const double* queries, const float* panels, std::size_t n_features,
                    std::size_t n_panels, double* out, std::size_t stride);
  // From here on, squared distances are made of dots: `l1` says whether L1 distances are wanted,
  // and not these.
  // the same for kSingleQueries queries in single precision throughout
  void (*block_single)(bool l1, const float* queries, const float* panels, std::size_t n_features,
                       std::size_t n_panels, float* out, std::size_t stride);
  // one query
  void (*panel_single)(bool l1, const float* query, const float* panels, std::size_t n_features,
                       std::size_t n_panels, float* out);
  // one sparse row against kQueries dense queries; what the features of the row add to the L1 norm
  // of a query makes its L1 distance
  void (*sparse_f64)(bool l1, const double* queries, const std::int32_t* column,
                     const double* value, std::size_t count, double* out);
  // sparse rows against kSingleQueries dense queries, out[q * stride + row]
  void (*sparse_block_single)(bool l1, const float* queries, const std::int64_t* offset,
                              const std::int32_t* column, const float* value, std::size_t rows,
                              float* out, std::size_t stride);
  // squares of kSquare, or kLanes, rows: out[j * stride + i] = in[i * stride + j]
  void (*transpose_f64)(const double* in, double* out, std::size_t stride);
  void (*transpose_single)(const float* in, float* out, std::size_t stride);
  // v[i] <- exp(-gamma (norm + norms[i] - 2 v[i]))
  void (*rbf_f64)(double gamma, double norm, const double* norms, double* v, std::size_t n);
  void (*rbf_single)(float gamma, float norm, const float* norms, const float* dots, float* out,
                     std::size_t n);  // the same from dots to out
  // out[i] += sum over q of coef[q] exp(-gamma (norm[q] + norms[i] - 2 dot of query q and point i))
  // for kSingleQueries queries of at most kSingleFeatures features and n points in panels; rounding
  // may make values a little larger than 1
  void (*add_rbf_single)(const float* queries, const float* norm, const float* coef, float gamma,
                         const float* panels, const float* norms, std::size_t n_features,
                         double* out, std::size_t n);
  // out += sum over k of coef[k] row[k]
  void (*add_rows_single)(const float* const* row, const double* coef, std::size_t count,
                          double* out, std::size_t n);
  // sum += weighted rows (kQueries of them) of a block; `lost` keeps what the sum loses
  void (*add_block)(const double* weight, const double* rows, std::size_t stride, double* sum,
                    double* lost, std::size_t n);
  // out[q * count + k] = dot(rows + q * stride, matrix + k * matrix_stride) for kQueries rows and
  // `count` others; n is a multiple of kLanes
  void (*products)(const double* rows, std::size_t stride, const double* matrix,
                   std::size_t matrix_stride, std::size_t count, std::size_t n, double* out);
};

const Simd& simd();  // the table for this machine

}  // namespace supple
