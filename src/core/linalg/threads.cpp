#include "linalg/threads.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "linalg/watch.hpp"

namespace supple {

void share(std::size_t threads, std::size_t count, std::size_t grain,
           const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t grains = (count + grain - 1) / grain;
  std::size_t parts = std::min(threads, grains);
  static const std::size_t processors = std::thread::hardware_concurrency();  // 0: not known
  if (processors > 0) parts = std::min(parts, processors);
  if (parts <= 1) return work(0, count);
  const auto border = [&](std::size_t part) {
    return std::min(count, grains * part / parts * grain);
  };
  std::vector<std::exception_ptr> failed(parts);
  std::atomic<bool> halted = false;
  const auto guarded = [&](std::size_t part) {
    try {
      if (!halted) work(border(part), border(part + 1));
    } catch (const Halted&) {  // the one that failed says why
    } catch (...) {
      failed[part] = std::current_exception();
      halted = true;
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(parts);
  try {
    for (std::size_t part = 1; part < parts; ++part)
      helpers.emplace_back([&, part] {
        look_at(halted);
        guarded(part);
      });
  } catch (const std::exception&) {  // no more to be had: the caller does the rest
  }
  guarded(0);
  for (std::size_t part = helpers.size() + 1; part < parts; ++part) guarded(part);
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
}

}  // namespace supple
