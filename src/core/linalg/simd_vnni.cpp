// Primitives on panels of bytes (see ByteSimd) with AVX-512 VNNI. As in simd_kernels.inc, no std
// templates here.
#include <immintrin.h>

#include "linalg/simd.hpp"

namespace supple {
namespace {

constexpr std::size_t kWide = 8;  // doubles in a vector
constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

#include "linalg/simd_transpose.inc"

inline __m512d load(const double* v) { return _mm512_loadu_pd(v); }
inline __m512d load(const float* v) { return _mm512_cvtps_pd(_mm256_loadu_ps(v)); }

template <typename T>
inline Multiples multiples(const T* v, std::size_t n, double per_step) {
  const __m512d factor = _mm512_set1_pd(per_step), most = _mm512_set1_pd(255.0);
  const __m512d rounding = _mm512_set1_pd(kRepresented), hardly = _mm512_set1_pd(kExact);
  __m512d low = _mm512_setzero_pd(), high = low;
  __mmask8 exact = 0xff;
  std::size_t done = 0;
  for (; done < n; done += kLanes) {
    __mmask8 right = 0xff;
    for (std::size_t k = done; k < done + kLanes; k += kWide) {
      const __m512d ratio = _mm512_mul_pd(load(v + k), factor);
      const __m512d q = _mm512_roundscale_pd(ratio, kNearest), size = _mm512_abs_pd(q);
      const __m512d off = _mm512_abs_pd(_mm512_sub_pd(ratio, q));
      right &= _mm512_cmp_pd_mask(off, _mm512_mul_pd(size, rounding), _CMP_LE_OQ) &
               _mm512_cmp_pd_mask(size, most, _CMP_LE_OQ);
      exact &= _mm512_cmp_pd_mask(off, _mm512_mul_pd(size, hardly), _CMP_LE_OQ);
      low = _mm512_min_pd(low, q);
      high = _mm512_max_pd(high, q);
    }
    if (right != 0xff) break;
  }
  return {done, _mm512_reduce_min_pd(low), _mm512_reduce_max_pd(high), exact == 0xff};
}

Multiples multiples_f64(const double* v, std::size_t n, double per_step) {
  return multiples(v, n, per_step);
}
Multiples multiples_f32(const float* v, std::size_t n, double per_step) {
  return multiples(v, n, per_step);
}

template <typename T>
inline void convert(const T* v, std::size_t n_features, std::size_t n_panels, double per_step,
                    std::int32_t shift, std::uint32_t* panels) {
  const __m512d factor = _mm512_set1_pd(per_step);
  const __m256i off = _mm256_set1_epi32(shift + 128);
  const __m256i byte = _mm256_set1_epi32(255);
  for (std::size_t p = 0; p < n_panels; ++p)
    for (std::size_t f = 0; f < n_features; f += 4, panels += kLanes)
      for (std::size_t half = 0; half < kLanes; half += kWide) {
        __m256i four = _mm256_setzero_si256();
        for (std::size_t k = 0; k < 4 && f + k < n_features; ++k) {
          const T* from = v + (p * n_features + f + k) * kLanes + half;
          const __m256i q = _mm512_cvtpd_epi32(_mm512_mul_pd(load(from), factor));
          const __m256i u = _mm256_and_si256(_mm256_sub_epi32(q, off), byte);
          four = _mm256_or_si256(
              four, _mm256_sll_epi32(u, _mm_cvtsi32_si128(8 * static_cast<int>(k))));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(panels + half), four);
      }
}

void convert_f64(const double* v, std::size_t n_features, std::size_t n_panels, double per_step,
                 std::int32_t shift, std::uint32_t* panels) {
  convert(v, n_features, n_panels, per_step, shift, panels);
}
void convert_f32(const float* v, std::size_t n_features, std::size_t n_panels, double per_step,
                 std::int32_t shift, std::uint32_t* panels) {
  convert(v, n_features, n_panels, per_step, shift, panels);
}

void panels_from_rows(const std::uint8_t* rows, const std::int32_t* which, std::size_t count,
                      std::size_t n_fours, std::uint32_t* panels) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
  for (std::size_t first = 0; first < count; first += kLanes)
    for (std::size_t g = 0; g < n_fours; g += kLanes) {
      const std::size_t length = n_fours - g < kLanes ? n_fours - g : kLanes;
      const auto some = static_cast<__mmask16>((1u << length) - 1);
      Single tile[kLanes];
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t k = first + lane < count ? first + lane : first;
        const std::uint8_t* row = rows + 4 * (static_cast<std::size_t>(which[k]) * n_fours + g);
        const __m512i fours = _mm512_maskz_loadu_epi32(some, row);
        tile[lane] = reinterpret_cast<Single>(_mm512_xor_si512(fours, flip));
      }
      transpose(tile);
      for (std::size_t k = 0; k < length; ++k, panels += kLanes)
        _mm512_storeu_ps(panels, reinterpret_cast<__m512>(tile[k]));
    }
}

template <int kCount, int kPanels>  // queries, panels
__attribute__((always_inline)) inline void byte_dots(const std::uint32_t* query,
                                                     const std::uint32_t* used,
                                                     std::size_t n_used,
                                                     const std::int32_t* start,
                                                     const std::uint32_t* panels,
                                                     std::size_t panel_stride, std::int32_t* out,
                                                     std::size_t stride) {
  __m512i sum[kCount][kPanels];
#pragma GCC unroll 4
  for (int q = 0; q < kCount; ++q)
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kPanels; ++p) sum[q][p] = _mm512_set1_epi32(start[q]);
  for (std::size_t k = 0; k < n_used; ++k, query += kCount) {
    const std::uint32_t* point = panels + used[k] * kLanes;
    __m512i v[kPanels];
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kPanels; ++p)
      v[p] = _mm512_loadu_si512(point + p * panel_stride);
#pragma GCC unroll 4
    for (int q = 0; q < kCount; ++q) {
      const __m512i four = _mm512_set1_epi32(static_cast<int>(query[q]));
#pragma GCC unroll 4
      for (std::size_t p = 0; p < kPanels; ++p)
        sum[q][p] = _mm512_dpbusd_epi32(sum[q][p], four, v[p]);
    }
  }
#pragma GCC unroll 4
  for (int q = 0; q < kCount; ++q)
#pragma GCC unroll 4
    for (std::size_t p = 0; p < kPanels; ++p)
      _mm512_storeu_si512(out + q * stride + p * kLanes, sum[q][p]);
}

template <int kCount>
__attribute__((always_inline)) inline void dots_with_panels(
    const std::uint32_t* query, const std::uint32_t* used, std::size_t n_used,
    const std::int32_t* start, const std::uint32_t* panels, std::size_t n_fours,
    std::size_t n_panels, std::int32_t* out, std::size_t stride) {
  const std::size_t panel_stride = n_fours * kLanes;
  std::size_t p = 0;
  for (; p + 4 <= n_panels; p += 4)
    byte_dots<kCount, 4>(query, used, n_used, start, panels + p * panel_stride, panel_stride,
                         out + p * kLanes, stride);
  for (; p < n_panels; ++p)
    byte_dots<kCount, 1>(query, used, n_used, start, panels + p * panel_stride, panel_stride,
                         out + p * kLanes, stride);
}

void block_dot(const std::uint32_t* query, const std::uint32_t* used, std::size_t n_used,
               const std::int32_t* start, const std::uint32_t* panels, std::size_t n_fours,
               std::size_t n_panels, std::int32_t* out, std::size_t stride) {
  dots_with_panels<kByteQueries>(query, used, n_used, start, panels, n_fours, n_panels, out,
                                 stride);
}

void panel_dot(const std::uint32_t* query, const std::uint32_t* used, std::size_t n_used,
               std::int32_t start, const std::uint32_t* panels, std::size_t n_fours,
               std::size_t n_panels, std::int32_t* out) {
  dots_with_panels<1>(query, used, n_used, &start, panels, n_fours, n_panels, out, 0);
}

// 2^t as in rbf_single, of distances that are exact until they are scaled.
void rbf(double gamma, std::int32_t norm, const std::int32_t* norms, const std::int32_t* dots,
         float* out, std::size_t n) {
  constexpr double kSteepest = 1e38;  // 0 times a larger one would be no number
  const double wanted = 1.4426950408889634 * gamma;
  const __m512 rate = _mm512_set1_ps(static_cast<float>(wanted < kSteepest ? -wanted : -kSteepest));
  const __m512 least = _mm512_set1_ps(-126.0f);
  const __m512i own = _mm512_set1_epi32(norm);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const auto some = static_cast<__mmask16>(n - i < kLanes ? (1u << (n - i)) - 1 : 0xffffu);
    const __m512i norms_here = _mm512_add_epi32(own, _mm512_maskz_loadu_epi32(some, norms + i));
    const __m512i dots_here = _mm512_maskz_loadu_epi32(some, dots + i);
    const __m512i squared = _mm512_sub_epi32(norms_here, _mm512_slli_epi32(dots_here, 1));
    const __m512 t = _mm512_max_ps(_mm512_mul_ps(rate, _mm512_cvtepi32_ps(squared)), least);
    const __m512 whole = _mm512_roundscale_ps(t, kNearest), r = _mm512_sub_ps(t, whole);
    __m512 p = _mm512_set1_ps(1.535336192e-04f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.339887441e-03f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(9.618437358e-03f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.550332471e-02f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.402264791e-01f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.931472029e-01f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    _mm512_mask_storeu_ps(out + i, some, _mm512_scalef_ps(p, whole));
  }
}

void distances(double unit, std::int32_t norm, const std::int32_t* norms,
               const std::int32_t* dots, double* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = unit * static_cast<double>(norm + norms[i] - 2 * dots[i]);
}

void add_dot(const double* w, double start, const std::uint32_t* panels, std::size_t n_fours,
             std::size_t n_points, double* out) {
  const __m256i flip = _mm256_set1_epi32(128), byte = _mm256_set1_epi32(255);
  for (std::size_t first = 0; first < n_points; first += kLanes, panels += n_fours * kLanes)
    for (std::size_t half = 0; half < kLanes && first + half < n_points; half += kWide) {
      __m512d sum[4] = {_mm512_set1_pd(start), _mm512_setzero_pd(), _mm512_setzero_pd(),
                        _mm512_setzero_pd()};
      for (std::size_t g = 0; g < n_fours; ++g) {
        const auto* at = reinterpret_cast<const __m256i*>(panels + g * kLanes + half);
        const __m256i four = _mm256_loadu_si256(at);
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
          const __m256i u = _mm256_xor_si256(
              _mm256_and_si256(_mm256_srli_epi32(four, 8 * k), byte), flip);
          sum[k] = _mm512_fmadd_pd(_mm512_cvtepi32_pd(u),
                                   _mm512_set1_pd(w[4 * g + static_cast<std::size_t>(k)]), sum[k]);
        }
      }
      const __m512d all =
          _mm512_add_pd(_mm512_add_pd(sum[0], sum[1]), _mm512_add_pd(sum[2], sum[3]));
      const std::size_t left = n_points - first - half;
      const auto some = static_cast<__mmask8>(left < kWide ? (1u << left) - 1 : 0xffu);
      double* to = out + first + half;
      _mm512_mask_storeu_pd(to, some, _mm512_add_pd(_mm512_maskz_loadu_pd(some, to), all));
    }
}

}  // namespace

extern const ByteSimd byte_simd_vnni;
const ByteSimd byte_simd_vnni = {multiples_f64,    multiples_f32, convert_f64, convert_f32,
                                 panels_from_rows, block_dot,     panel_dot,   rbf,
                                 distances,        add_dot};

}  // namespace supple
