#include "kernels/points.hpp"

#include <algorithm>
#include <utility>

namespace supple {

template <typename A>
void Queries<A>::clear() {
  bool any_sparse = false;
  for (std::size_t q = 0; q < touched_.size(); ++q) {
    any_sparse |= !touched_[q].empty();
    for (std::int32_t& f : touched_[q])
      value_[static_cast<std::size_t>(std::exchange(f, 0)) * width_ + q] = A(0);
    touched_[q].clear();
  }
  if (!any_sparse) std::fill(value_.begin(), value_.end(), A(0));
  norm_.fill(0.0);
}

template <typename A>
double PointsOf<A>::largest_norm() const {
  return norm_.empty() ? A(0) : *std::ranges::max_element(norm_);
}

template <typename A>
void PointsOf<A>::truncate_norms(std::size_t size) {
  std::fill(norm_.begin() + size, norm_.end(), A(0));
  norm_.resize(size);
}

template class Queries<double>;
template class Queries<float>;
template class PointsOf<double>;
template class PointsOf<float>;

}  // namespace supple
