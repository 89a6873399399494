// All values among the stored examples in single precision, for heads that have many in common.
#pragma once
#include <cstdint>

#include "aligned.hpp"
#include "single.hpp"

namespace supple {

// Room for a sheet. The largest one is kept when it is given back: first touches of new memory
// would take longer than the values, and whoever fits once often fits again.
class SheetRoom {
 public:
  explicit SheetRoom(std::size_t count);
  ~SheetRoom();
  SheetRoom(const SheetRoom&) = delete;
  SheetRoom& operator=(const SheetRoom&) = delete;
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }

 private:
  AlignedSingles values_;
};

class Sheet {
 public:
  // Place k belongs to example order[k]; an empty order is that of the slots.
  Sheet(const SinglePoints& points, const Positions& order, std::size_t threads);
  const float* row(std::int32_t place) const {
    return room_.data() + static_cast<std::size_t>(place) * stride_;
  }
  std::int32_t place(std::int64_t slot) const {
    return place_.empty() ? static_cast<std::int32_t>(slot)
                          : place_[static_cast<std::size_t>(slot)];
  }
  double error() const { return error_; }  // of a value, about

 private:
  std::size_t stride_;
  double error_;
  Positions place_;
  SheetRoom room_;
};

}  // namespace supple
