// A range of work shared among a few threads, which are started for it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <thread>

namespace supple {

// work(part) for all parts; the first is the caller's. What a part throws is thrown here when all
// have ended; the others end when they look (watch.hpp).
void run_parts(std::size_t parts, const std::function<void(std::size_t)>& work);

// work(from, to) on parts of [0, count) whose borders are multiples of `grain`.
template <typename Work>
void share(std::size_t threads, std::size_t count, std::size_t grain, const Work& work) {
  const std::size_t grains = (count + grain - 1) / grain;
  std::size_t parts = std::min(threads, grains);
  if (parts > 1) {
    static const std::size_t processors = std::thread::hardware_concurrency();  // 0: not known
    if (processors > 0) parts = std::min(parts, processors);
  }
  if (parts <= 1) {
    work(0, count);
    return;
  }
  const auto border = [&](std::size_t part) {
    return std::min(count, grains * part / parts * grain);
  };
  run_parts(parts, [&](std::size_t part) { work(border(part), border(part + 1)); });
}

// piece(k) for k < count, pieces from both ends together: where they grow or shrink steadily, as
// the rows of a triangle do, all threads have alike work.
template <typename Piece>
void share_both_ends(std::size_t threads, std::size_t count, const Piece& piece) {
  share(threads, (count + 1) / 2, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to; ++k) {
      piece(k);
      if (count - 1 - k != k) piece(count - 1 - k);
    }
  });
}

}  // namespace supple
