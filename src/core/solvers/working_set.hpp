// The small QP of the block solver. Kernel values and gradient are in single precision, x is in
// double precision: what F becomes by the changes of x is not computed here. Members keep their
// place from round to round, so that only the kernel values of those that join are filled in.
#pragma once
#include "kernels/single_matrix.hpp"
#include "solvers/pair_step.hpp"

namespace supple {

class WorkingSet {
 public:
  PairSteps<float> pairs;          // its columns are the places
  SingleMatrix* matrix = nullptr;  // has the kernel values, in the order of the places; or `fill`

  // Nobody takes part, of so many. Room is made ahead for no more than `most`.
  void restart(std::size_t active, std::size_t most);
  std::size_t size() const { return who_.size(); }
  std::size_t who(std::size_t place) const { return static_cast<std::size_t>(who_[place]); }
  const Positions& who() const { return who_; }
  bool holds(std::size_t active) const { return place_[active] >= 0; }
  std::uint32_t since(std::size_t place) const { return since_[place]; }
  // Members leave, given by their places, and active members join. Returned are the places of those
  // that join.
  Positions exchange(Positions leaving, const Positions& joining, std::uint32_t round);
  // Kernel values of these places with all others; `points` are the members by places.
  void fill(const Positions& places, const SinglePoints& points, std::size_t threads);
  void renumber(const Positions& moved, std::size_t active);  // member a is now moved[a]
  const float* row(std::size_t place) const {
    return matrix ? matrix->row(place) : kernel_.data() + place * stride_;
  }
  // Until the gap is at most max(eps, share * gap at the start); returns the iterations.
  std::int64_t solve(double eps, double share, std::int64_t max_iterations);

 private:
  void make_room(std::size_t needed);
  void take(std::int32_t active, std::size_t place, std::uint32_t round);
  float* own_row(std::size_t place) { return kernel_.data() + place * stride_; }

  std::size_t most_ = 0, room_ = 0, stride_ = 0;
  AlignedSingles kernel_;
  Positions who_;                     // per place: the active member
  std::vector<std::uint32_t> since_;  // per place: the round in which it was taken
  Positions place_;                   // per active member, or -1
};

}  // namespace supple
