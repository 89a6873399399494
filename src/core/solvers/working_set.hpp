// The small QP of the block solver. Kernel values and gradient are in single precision, x is in
// double precision. Members are at places in the order in which they joined, so that only the
// kernel values of those that join are computed: with each other and, as rows, with all active
// members.
#pragma once
#include "kernels/single_matrix.hpp"
#include "solvers/pair_step.hpp"

namespace supple {

class WorkingSet {
 public:
  PairSteps<float> pairs;  // its columns are the places

  // Nobody takes part, of so many active members, and the rows fit into so many bytes; or, where
  // there is a matrix, everybody does. A linear kernel needs no rows.
  void restart(std::size_t active, std::size_t bytes, bool with_rows, SingleMatrix* matrix);
  std::size_t size() const { return who_.size(); }
  std::size_t most() const { return most_; }
  std::size_t who(std::size_t place) const { return static_cast<std::size_t>(who_[place]); }
  const Positions& who() const { return who_; }  // by places: active members
  void leave(const std::vector<char>& leaving);  // by places
  // `points` are the active members.
  void join(const Positions& joining, const SinglePoints& points, std::size_t threads);
  const float* row(std::size_t place) const {  // values with the members at all places
    return matrix_ ? matrix_->row(place) : kernel_.data() + place * stride_;
  }
  const float* long_row(std::size_t place) const {  // with all active members
    return matrix_ ? matrix_->row(place) : rows_.data() + line_[place] * length_;
  }
  // Until the gap is at most max(eps, share * gap at the start); returns the iterations.
  std::int64_t solve(double eps, double share, std::int64_t max_iterations);

 private:
  void make_room(std::size_t needed);
  float* own_row(std::size_t place) { return kernel_.data() + place * stride_; }

  SingleMatrix* matrix_ = nullptr;
  std::size_t most_ = 0, stride_ = 0, length_ = 0;
  AlignedSingles kernel_, rows_;
  Positions who_;
  std::vector<std::size_t> line_;  // by places: of rows_
  std::vector<std::size_t> free_;  // lines
};

}  // namespace supple
