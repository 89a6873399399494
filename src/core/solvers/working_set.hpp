// The kernel values of the small QP of the block solver, in single precision. Members are at places
// in the order in which they joined, so that only the values of those that join are computed: with
// each other and, as rows, with all active members.
#pragma once
#include "kernels/single_matrix.hpp"

namespace supple {

class WorkingSet {
 public:
  // Nobody takes part, of so many active members, and the rows fit into so many bytes; or, where
  // there is a matrix, everybody does. A linear kernel needs no rows.
  void restart(std::size_t active, std::size_t bytes, bool with_rows, SingleMatrix* matrix);
  std::size_t size() const { return who_.size(); }
  std::size_t most() const { return most_; }
  std::size_t who(std::size_t place) const { return static_cast<std::size_t>(who_[place]); }
  const Positions& who() const { return who_; }  // by places: active members
  void keep(const Positions& staying);           // by places, ascending: the others leave
  // `points` are the active members.
  void join(const Positions& joining, const SinglePoints& points, std::size_t threads);
  const float* row(std::size_t place) const {  // values with the members at all places
    return matrix_ ? matrix_->row(place) : kernel_.data() + place * stride_;
  }
  const float* long_row(std::size_t place) const {  // with all active members
    return matrix_ ? matrix_->row(place) : rows_.data() + line_[place] * length_;
  }

 private:
  void make_room(std::size_t needed);
  float* own_row(std::size_t place) { return kernel_.data() + place * stride_; }

  SingleMatrix* matrix_ = nullptr;
  std::size_t most_ = 0, stride_ = 0, length_ = 0;
  AlignedSingles kernel_, rows_;
  Positions who_;
  std::vector<std::size_t> line_;  // by places: of rows_; then those that are free
};

}  // namespace supple
