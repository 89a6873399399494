// Points interleaved in panels of kLanes.
#pragma once
#include <algorithm>
#include <cstddef>

#include "linalg/simd.hpp"

namespace supple {

// The points at these positions, in this order, to panels of their own. Whole rows are written,
// from kLanes points that are read side by side.
template <typename T, typename Position>
void take_points(const T* panels, std::size_t rows, const Position* kept, std::size_t count,
                 T* to) {
  for (std::size_t first = 0; first < count; first += kLanes) {
    const std::size_t lanes = std::min(kLanes, count - first);
    const T* from[kLanes];
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto old = static_cast<std::size_t>(kept[first + lane]);
      from[lane] = panels + old / kLanes * rows * kLanes + old % kLanes;
    }
    for (std::size_t row = 0; row < rows; ++row, to += kLanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] = from[lane][row * kLanes];
  }
}

}  // namespace supple
