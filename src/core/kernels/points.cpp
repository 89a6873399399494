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
void PointsOf<A>::note_norm(double norm) {
  norm_.push_back(static_cast<A>(norm));
  largest_norm_ = std::max(largest_norm_, norm_.back());
}

template <typename A>
void PointsOf<A>::truncate_norms(std::size_t size) {
  bool largest = false;
  for (std::size_t slot = size; slot < norm_.size(); ++slot)
    largest |= std::exchange(norm_[slot], A(0)) == largest_norm_;
  norm_.resize(size);
  if (!largest) return;
  largest_norm_ = A(0);
  for (A norm : norm_) largest_norm_ = std::max(largest_norm_, norm);
}

template class Queries<double>;
template class Queries<float>;
template class PointsOf<double>;
template class PointsOf<float>;

}  // namespace supple
