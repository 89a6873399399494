#include "kernels/single_matrix.hpp"

namespace supple {

const float* SingleMatrix::compute(std::size_t k) {
  const std::size_t nth = n_asked_++;
  if (nth < few_ && all_.empty()) {
    singly_.resize(few_ * stride_);
    float* out = singly_.data() + nth * stride_;
    if (points_->row(static_cast<std::int32_t>(k), out)) return out;
  }
  if (all_.empty()) {
    all_.resize(row_.size() * stride_);
    points_->among(all_.data(), stride_, threads_);
  }
  return all_.data() + k * stride_;
}

}  // namespace supple
