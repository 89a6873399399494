#include <algorithm>
#include <utility>

#include "kernels/points.hpp"

namespace supple {

template <typename T, typename A>
void DensePoints<T, A>::resize(std::size_t size) {
  panels_.resize(padded(size) * n_features_, T(0));
  norm_.resize(size);
}

template <typename T, typename A>
void DensePoints<T, A>::measure(std::size_t first) {
  for (std::size_t start = first / kLanes * kLanes; start < size(); start += kLanes) {
    double norm[kLanes] = {};
    for (std::size_t f = 0; f < n_features_; ++f)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double value = panels_[at(start, f) + lane];
        norm[lane] += value * value;
      }
    for (std::size_t slot = std::max(first, start); slot < std::min(size(), start + kLanes); ++slot)
      norm_[slot] = static_cast<A>(norm[slot - start]);
  }
}

template <typename T, typename A>
void DensePoints<T, A>::append(const T* rows, std::size_t count) {
  const std::size_t first = size();
  resize(first + count);
  for (std::size_t slot = first; slot < size(); ++slot) {
    T* to = panels_.data() + at(slot, 0);
    for (std::size_t f = 0; f < n_features_; ++f) to[f * kLanes] = *rows++;
  }
  measure(first);
}

template <typename T, typename A>
void DensePoints<T, A>::row(std::size_t slot, T* out) const {
  for (std::size_t f = 0; f < n_features_; ++f) out[f] = panels_[at(slot, f)];
}

template <typename T, typename A>
void DensePoints<T, A>::remove(std::size_t slot) {
  for (std::size_t f = 0; f < n_features_; ++f) panels_[at(slot, f)] = panels_[at(size() - 1, f)];
  std::swap(norm_[slot], norm_[size() - 1]);
  truncate(size() - 1);
}

template <typename T, typename A>
void DensePoints<T, A>::truncate(std::size_t size) {
  for (std::size_t slot = size; slot < norm_.size(); ++slot)
    for (std::size_t f = 0; f < n_features_; ++f) panels_[at(slot, f)] = T(0);
  this->truncate_norms(size);
  resize(size);
}

template <typename T, typename A>
void DensePoints<T, A>::load(std::span<const std::int64_t> slots, Queries<A>& queries) const {
  if (slots.size() < queries.width()) queries.clear();
  for (std::size_t q = 0; q < slots.size(); ++q)
    queries.put(q, panels_.data() + at(slots[q], 0), kLanes, norm_[slots[q]]);
}

template <typename T, typename A>
void DensePoints<T, A>::compare(Base base, const Queries<A>& queries, std::size_t from,
                                std::size_t to, A* out, std::size_t stride) const {
  const auto run = [&](auto* primitive) {
    primitive(base, queries.data(), queries.width(), panels_.data() + from * n_features_,
              n_features_, padded(to - from) / kLanes, out, stride);
  };
  if constexpr (sizeof(T) == sizeof(A))
    run(simd_of<A>().compare);
  else
    run(simd().compare_stored_single);
}

template <typename T, typename A>
template <typename U, typename B>
std::unique_ptr<PointsOf<B>> DensePoints<T, A>::copy(const Slots& slots, double scale,
                                                     bool from_mean) const {
  std::vector<double> centre(n_features_, 0.0);
  for (std::size_t k = 0; from_mean && k < slots.size(); ++k) {
    const T* value = panels_.data() + at(slots[k], 0);
    for (double& sum : centre) sum += std::exchange(value, value + kLanes)[0];
  }
  for (double& sum : centre) sum /= static_cast<double>(std::max(slots.size(), std::size_t{1}));
  auto out = std::make_unique<DensePoints<U, B>>(n_features_);
  out->resize(slots.size());
  U* to = out->panels_.data();  // whole rows are written, from points that are read side by side
  for (std::size_t first = 0; first < slots.size(); first += kLanes) {
    const std::size_t lanes = std::min(kLanes, slots.size() - first);
    const T* from[kLanes];
    for (std::size_t lane = 0; lane < lanes; ++lane)
      from[lane] = panels_.data() + at(slots[first + lane], 0);
    for (std::size_t f = 0; f < n_features_; ++f, to += kLanes)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        to[lane] =
            static_cast<U>((static_cast<double>(from[lane][f * kLanes]) - centre[f]) * scale);
  }
  out->measure(0);
  return out;
}

template class DensePoints<double>;
template class DensePoints<float>;
template class DensePoints<float, float>;

}  // namespace supple
