#include "linalg/threads.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "linalg/watch.hpp"
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace supple {

namespace {

using Work = std::function<void(std::size_t)>;

long process() {
#if defined(__unix__) || defined(__APPLE__)
  return static_cast<long>(getpid());
#else
  return 1;
#endif
}

// Helpers of one caller at a time.
class Crew {
 public:
  void run(std::size_t parts, const Work& work) {
    std::size_t helpers = 0;
    {
      const std::lock_guard lock(mutex_);
      hire(parts);
      helpers = helpers_;
      work_ = &work;
      parts_ = parts;
      left_ = helpers_;
      ++call_;
    }
    wake_.notify_all();
    work(0);
    for (std::size_t part = helpers + 1; part < parts; ++part) work(part);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  void hire(std::size_t parts) {
    try {
      while (helpers_ + 1 < parts) {
        std::thread([this, number = helpers_ + 1] { serve(number); }).detach();
        ++helpers_;
      }
    } catch (const std::system_error&) {  // no more to be had: the caller does the rest
    }
  }
  void serve(std::size_t number) {
    help_others();
    std::size_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return call_ != seen; });
      seen = call_;
      if (number < parts_) {
        const Work& work = *work_;
        lock.unlock();
        work(number);
        lock.lock();
      }
      if (--left_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Work* work_ = nullptr;
  std::size_t parts_ = 0, helpers_ = 0, left_ = 0, call_ = 0;
};

std::atomic<long> employer = 0;  // the process whose crew works, or is about to; 0: none
Crew* crew = nullptr;
long crew_process = 0;

// The helpers of a parent process have not followed into its child. A crew is never destroyed: its
// helpers wait for work until the process ends.
Crew& crew_here() {
  if (crew == nullptr || crew_process != process()) {
    crew = new Crew;
    crew_process = process();
  }
  return *crew;
}

bool engage() {
  long found = 0;
  if (employer.compare_exchange_strong(found, process())) return true;
  // Or a parent process forked while its crew worked.
  return found != process() && employer.compare_exchange_strong(found, process());
}

}  // namespace

void run_parts(std::size_t parts, const Work& work) {
  std::vector<std::exception_ptr> failed(parts);
  std::atomic<bool> halted = false;
  const Work guarded = [&](std::size_t part) {
    const Part scope(halted);
    try {
      work(part);
    } catch (const Part::Halted&) {  // the one that failed says why
    } catch (...) {
      failed[part] = std::current_exception();
      halted = true;
    }
  };
  if (engage()) {
    const struct Release {
      ~Release() { employer = 0; }
    } release;
    crew_here().run(parts, guarded);
  } else {  // for another caller, who has the processors
    for (std::size_t part = 0; part < parts; ++part) guarded(part);
  }
  for (const std::exception_ptr& error : failed)
    if (error) std::rethrow_exception(error);
}

}  // namespace supple
