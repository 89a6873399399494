// All values among some examples in single precision, computed when they are asked for: where few
// of them become support vectors, most rows are never needed.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/single.hpp"
#include "linalg/aligned.hpp"

namespace supple {

class SingleMatrix {
 public:
  // A row by itself takes several times as long as in a block, of which half is another's mirror
  // image: whoever needs more than this share has all of them at once.
  static constexpr double kFew = 0.25;

  // `expected` is the share of the rows that are likely to be asked for.
  SingleMatrix(std::shared_ptr<const SinglePoints> points, double expected, std::size_t threads)
      : points_(std::move(points)),
        threads_(threads),
        stride_(padded(points_->size())),
        query_(points_->n_features(), 1),
        row_(points_->size(), nullptr) {
    const auto few = static_cast<std::size_t>(kFew * static_cast<double>(points_->size()));
    if (expected <= kFew && !points_->sparse()) few_ = std::max(kLanes, few);
  }
  // The values of example k with all. Valid as long as the matrix.
  const float* row(std::size_t k) {
    if (!row_[k]) row_[k] = compute(k);
    return row_[k];
  }
  double asked() const {  // share of the rows
    return static_cast<double>(n_asked_) / static_cast<double>(row_.size());
  }

 private:
  const float* compute(std::size_t k) {
    const std::size_t nth = n_asked_++;
    if (nth < few_) {
      singly_.resize(few_ * stride_);
      float* out = singly_.data() + nth * stride_;
      points_->row(static_cast<std::int64_t>(k), query_, out);
      return out;
    }
    if (all_.empty()) {
      all_.resize(row_.size() * stride_);
      points_->among(all_.data(), stride_, threads_);
    }
    return all_.data() + k * stride_;
  }

  std::shared_ptr<const SinglePoints> points_;
  std::size_t threads_, stride_;
  std::size_t few_ = 0;  // rows that are computed one by one
  std::size_t n_asked_ = 0;
  AlignedSingles singly_, all_;
  Queries<float> query_;
  std::vector<const float*> row_;  // those that were asked for
};

}  // namespace supple
