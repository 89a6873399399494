#include "sheet.hpp"

#include <mutex>
#include <utility>

namespace supple {

namespace {

std::mutex guard;  // of the one below
AlignedSingles spare;

}  // namespace

SheetRoom::SheetRoom(std::size_t count) {
  {
    // In a process forked while the lock was held it stays so.
    const std::unique_lock lock(guard, std::try_to_lock);
    if (lock.owns_lock() && spare.size() >= count) std::swap(values_, spare);
  }
  if (values_.size() < count) values_.resize(count);
}

SheetRoom::~SheetRoom() {
  const std::unique_lock lock(guard, std::try_to_lock);
  if (lock.owns_lock() && values_.size() > spare.size()) std::swap(values_, spare);
}

Sheet::Sheet(const SinglePoints& points, const Positions& order, std::size_t threads)
    : stride_(padded(points.size())),
      error_(points.error()),
      place_(order.size()),
      room_(points.size() * stride_) {
  for (std::size_t k = 0; k < order.size(); ++k)
    place_[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  if (order.empty())
    points.among(room_.data(), stride_, threads);
  else
    points.subset(order)->among(room_.data(), stride_, threads);
}

}  // namespace supple
