// A range of work shared among a few threads. They are started anew each time: the ranges given
// here take milliseconds, a thread takes microseconds.
#pragma once
#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace supple {

// work(from, to) on parts of [0, count) whose borders are multiples of `grain`.
template <typename Work>
void share(std::size_t threads, std::size_t count, std::size_t grain, const Work& work) {
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t parts = std::max<std::size_t>(1, std::min(threads, grains));
  const auto border = [&](std::size_t part) {
    return std::min(count, grains * part / parts * grain);
  };
  std::vector<std::exception_ptr> failed(parts);
  const auto guarded = [&](std::size_t part) {
    try {
      work(border(part), border(part + 1));
    } catch (...) {
      failed[part] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t part = 1; part < parts; ++part) others.emplace_back(guarded, part);
  guarded(0);
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
}

}  // namespace supple
