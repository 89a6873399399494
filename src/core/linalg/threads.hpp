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

}  // namespace supple
