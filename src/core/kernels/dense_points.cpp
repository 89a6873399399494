#include <algorithm>
#include <utility>

#include "kernels/points.hpp"

namespace supple {

template <typename T, typename A>
void DensePoints<T, A>::resize(std::size_t size) {
  panels_.resize(padded(size) * n_features_, T(0));
  size_ = size;  // last: without memory the points are as before
}

template <typename T, typename A>
void DensePoints<T, A>::measure(std::size_t first) {
  for (std::size_t start = first / kLanes * kLanes; start < size_; start += kLanes) {
    double norm[kLanes] = {};
    for (std::size_t f = 0; f < n_features_; ++f)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double value = panels_[at(start, f) + lane];
        norm[lane] += value * value;
      }
    for (std::size_t slot = std::max(first, start); slot < std::min(size_, start + kLanes); ++slot)
      this->note_norm(norm[slot - start]);
  }
}

template <typename T, typename A>
void DensePoints<T, A>::append(const T* rows, std::size_t count) {
  const std::size_t first = size_;
  resize(first + count);
  for (std::size_t slot = first; slot < size_; ++slot) {
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
  for (std::size_t f = 0; f < n_features_; ++f) panels_[at(slot, f)] = panels_[at(size_ - 1, f)];
  std::swap(norm_[slot], norm_[size_ - 1]);
  truncate(size_ - 1);
}

template <typename T, typename A>
void DensePoints<T, A>::truncate(std::size_t size) {
  for (std::size_t slot = size; slot < size_; ++slot)
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
std::unique_ptr<PointsOf<A>> DensePoints<T, A>::subset(const std::int64_t* slots,
                                                       std::size_t count) const {
  auto part = std::make_unique<DensePoints>(n_features_);
  part->resize(count);
  part->norm_.reserve(count);
  for (std::size_t k = 0; k < count; ++k) part->note_norm(norm_[slots[k]]);
  T* to = part->panels_.data();  // whole rows are written, from points that are read side by side
  for (std::size_t first = 0; first < count; first += kLanes) {
    const std::size_t lanes = std::min(kLanes, count - first);
    const T* from[kLanes];
    for (std::size_t lane = 0; lane < lanes; ++lane)
      from[lane] = panels_.data() + at(slots[first + lane], 0);
    for (std::size_t f = 0; f < n_features_; ++f, to += kLanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane][f * kLanes];
  }
  return part;
}

template <typename T, typename A>
std::unique_ptr<PointsOf<float>> DensePoints<T, A>::single(double scale, bool from_mean) const {
  const std::size_t d = n_features_;
  std::vector<double> centre(d, 0.0);
  for (std::size_t start = 0; from_mean && start < size_; start += kLanes)
    for (std::size_t f = 0; f < d; ++f)
      for (std::size_t lane = 0; lane < kLanes; ++lane)  // no points: zeros
        centre[f] += static_cast<double>(panels_[at(start, f) + lane]) / static_cast<double>(size_);
  auto copy = std::make_unique<DensePoints<float, float>>(d);
  copy->resize(size_);
  for (std::size_t start = 0; start < size_; start += kLanes)
    for (std::size_t f = 0; f < d; ++f)
      for (std::size_t k = at(start, f); k < at(start, f) + std::min(kLanes, size_ - start); ++k)
        copy->panels_[k] =
            static_cast<float>((static_cast<double>(panels_[k]) - centre[f]) * scale);
  copy->measure(0);
  return copy;
}

template class DensePoints<double>;
template class DensePoints<float>;
template class DensePoints<float, float>;

}  // namespace supple
