#include "sheet.hpp"

#include <mutex>
#include <utility>

namespace supple {

namespace {

std::mutex guard;  // of the two below
std::unique_ptr<float[]> spare;
std::size_t spare_count = 0;

}  // namespace

SheetRoom::SheetRoom(std::size_t count) : count_(count) {
  {
    // In a process forked while the lock was held it stays so.
    const std::unique_lock lock(guard, std::try_to_lock);
    if (lock.owns_lock() && spare_count >= count) {
      values_ = std::move(spare);
      count_ = std::exchange(spare_count, 0);
    }
  }
  if (!values_) values_ = std::make_unique_for_overwrite<float[]>(count);
}

SheetRoom::~SheetRoom() {
  const std::unique_lock lock(guard, std::try_to_lock);
  if (!lock.owns_lock() || count_ <= spare_count) return;
  spare = std::move(values_);
  spare_count = count_;
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
