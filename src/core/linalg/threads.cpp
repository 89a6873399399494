#include "linalg/threads.hpp"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "linalg/watch.hpp"

namespace supple {

void run_parts(std::size_t parts, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> failed(parts);
  std::atomic<bool> halted = false;
  const auto guarded = [&](std::size_t part) {
    const Part scope(halted);
    try {
      work(part);
    } catch (const Part::Halted&) {  // the one that failed says why
    } catch (...) {
      failed[part] = std::current_exception();
      halted = true;
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(parts);
  try {
    for (std::size_t part = 1; part < parts; ++part)
      helpers.emplace_back([&guarded, part] {
        help_others();
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
