// A range of work shared among a few threads, which are started for it.
#pragma once
#include <cstddef>
#include <functional>

namespace supple {

// work(from, to) on parts of [0, count) whose borders are multiples of `grain`; the first part is
// the caller's. What a part throws is thrown here when all have ended; parts of other threads end
// when they look (watch.hpp).
void share(std::size_t threads, std::size_t count, std::size_t grain,
           const std::function<void(std::size_t, std::size_t)>& work);

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
