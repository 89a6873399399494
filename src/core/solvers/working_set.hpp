// Who takes part in the small QP of the block solver. Members keep their place in it from round to
// round, so that only the kernel values of those that join have to be filled in.
#pragma once
#include <array>

#include "solvers/local_smo.hpp"

namespace supple {

class WorkingSet {
 public:
  LocalProblem local;  // variable j of the member at a place is at j * columns() + place

  WorkingSet(std::size_t groups, std::size_t per) : groups_(groups), per_(per) {}
  // Nobody takes part, of so many. Room is made ahead for no more than `most`.
  void restart(std::size_t active, std::size_t most);
  std::size_t size() const { return held_.size(); }
  std::size_t columns() const { return who_.size(); }
  const Positions& held() const { return held_; }  // the places taken, ascending
  std::size_t who(std::int32_t place) const {
    return static_cast<std::size_t>(who_[static_cast<std::size_t>(place)]);
  }
  bool holds(std::size_t active) const { return place_[active] >= 0; }
  std::uint32_t since(std::int32_t place) const { return since_[static_cast<std::size_t>(place)]; }
  // Members leave, given by their places, and others join: active members in ascending order.
  // Returned are the places of those that join.
  struct Change {
    std::array<Positions, 2> leaving, joining;  // per group
  };
  Positions exchange(Change change, std::uint32_t round);
  // Kernel values of these places with all others; `points` are the members in the order of held().
  void fill(const Positions& places, const SinglePoints& points, std::size_t threads);
  void renumber(const Positions& moved, std::size_t active);  // member a is now moved[a]

 private:
  struct Region {
    std::size_t start = 0, room = 0, count = 0;
  };
  void make_room(const std::array<std::size_t, 2>& needed);
  void close_gap(const std::vector<std::pair<std::size_t, std::size_t>>& moves);
  void list_places();
  float* row(std::size_t place) { return local.kernel() + place * local.stride; }

  std::size_t groups_, per_, most_ = 0;
  std::array<Region, 2> region_;
  Positions who_;                     // per place: the active member
  std::vector<std::uint32_t> since_;  // per place: the round in which it was taken
  Positions place_;                   // per active member, or -1
  Positions held_;
};

}  // namespace supple
