// The lock of a model: who may read it and who may change it, among threads.
//
// Readers share. A thread that wants to change the model takes its turn first, which one thread
// holds at a time, in the order of arrival; readers go on meanwhile. To change something it then
// waits until all readers have left, and new readers wait until it is done. Readers that have
// waited for one change are let in before the next.
//
// A thread that changes may read, change and read again within. A thread that reads may read
// within, even where another waits to change. It cannot begin to change something: two of these
// would wait for each other for ever.
//
// Python sees three context managers, one for each way to hold the lock. They are written in C++
// because no Ctrl-C can then come between the lock and the block it guards.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

#include "bindings/bindings.hpp"

namespace supple {

namespace {

class LockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Thread = std::thread::id;
using Held = std::unique_lock<std::mutex>;
const Thread kNobody{};

// Guards the fields of all locks. It is held for a moment only, never by a thread that waits for
// Python's own lock, and a fork can wait for it.
std::mutex fields;
std::uint64_t forks = 0;  // of the ancestors of this process, since the first lock

void watch_forks() {
#if defined(__unix__) || defined(__APPLE__)
  static const int watching = pthread_atfork([] { fields.lock(); }, [] { fields.unlock(); },
                                             [] {
                                               ++forks;
                                               fields.unlock();
                                             });
  (void)watching;
#endif
}

class ModelLock {
 public:
  enum class Use { read, turn, write };
  ModelLock() {
    watch_forks();
    const Held held(fields);
    forks_ = forks;
  }
  void begin(Use use);
  void end(Use use);

 private:
  struct Reader {
    Thread thread;
    std::size_t depth;
  };
  struct Wait {
    Thread thread;
    Use use;
  };
  void acquire(Use use);
  bool free(Use use, Thread thread);
  void grant(Use use, Thread thread);
  void release(Use use, Thread thread);
  void serve_queue();
  Reader* reader(Thread thread);
  std::vector<Wait>::iterator waiting(Thread thread);
  void follow_fork(Thread me);

  std::vector<Reader> readers_;
  Thread writer_, preparer_;  // the writer is the preparer, too
  std::size_t writes_ = 0, turns_ = 0;
  std::vector<Wait> queue_;  // in the order of arrival
  bool torn_ = false;        // the process was forked while another thread wrote
  std::uint64_t forks_ = 0;
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
};

// Of all threads of the parent the child has the one that forked.
void ModelLock::follow_fork(Thread me) {
  if (forks_ == forks) return;
  forks_ = forks;
  (void)changed_.release();  // threads that are no more may be noted in it: it must not be touched
  changed_ = std::make_unique<std::condition_variable>();
  std::erase_if(readers_, [&](const Reader& r) { return r.thread != me; });
  queue_.clear();
  if (preparer_ == me) return;
  torn_ = torn_ || writer_ != kNobody;
  writer_ = preparer_ = kNobody;
  writes_ = turns_ = 0;
}

ModelLock::Reader* ModelLock::reader(Thread thread) {
  for (Reader& r : readers_)
    if (r.thread == thread) return &r;
  return nullptr;
}

std::vector<ModelLock::Wait>::iterator ModelLock::waiting(Thread thread) {
  return std::find_if(queue_.begin(), queue_.end(),
                      [&](const Wait& wait) { return wait.thread == thread; });
}

// Who waits to write holds the turn, and keeps out readers that come later.
bool ModelLock::free(Use use, Thread thread) {
  if (use == Use::turn) return preparer_ == thread || preparer_ == kNobody;
  if (use == Use::write) return writer_ == thread || readers_.empty();
  return preparer_ == thread || reader(thread) != nullptr ||
         (writer_ == kNobody && waiting(preparer_) == queue_.end());
}

void ModelLock::grant(Use use, Thread thread) {
  if (use == Use::turn) {
    preparer_ = thread;
    ++turns_;
  } else if (use == Use::write) {
    writer_ = thread;
    ++writes_;
  } else if (Reader* r = reader(thread)) {
    ++r->depth;
  } else {
    readers_.push_back({thread, 1});
  }
}

void ModelLock::release(Use use, Thread thread) {
  if (use == Use::turn) {
    if (turns_ > 0 && --turns_ == 0) preparer_ = kNobody;
  } else if (use == Use::write) {
    if (writes_ > 0 && --writes_ == 0) writer_ = kNobody;
  } else if (Reader* r = reader(thread); r != nullptr && --r->depth == 0) {
    *r = readers_.back();
    readers_.pop_back();
  }
}

// Whoever waits for what has become free gets it, so that nobody who comes later is served before.
void ModelLock::serve_queue() {
  for (auto wait = queue_.begin(); wait != queue_.end();) {
    if (!free(wait->use, wait->thread)) {
      ++wait;
      continue;
    }
    grant(wait->use, wait->thread);
    wait = queue_.erase(wait);
    changed_->notify_all();
  }
}

void ModelLock::acquire(Use use) {
  constexpr std::chrono::milliseconds kSlice(20);  // between two looks for Ctrl-C
  const Thread me = std::this_thread::get_id();
  {
    const Held held(fields);
    follow_fork(me);
    if (torn_)
      throw LockError(
          "This process was forked while another thread was updating the model, whose copy here is "
          "incomplete. Copy or pickle the model before the fork, or fork when no update runs.");
    if (use == Use::turn && writer_ != me && reader(me) != nullptr)
      throw LockError(
          "A model cannot be changed from within a call that reads it, such as a kernel function "
          "that predict has called. Change it when that call has returned.");
    // For all who wait, too: to serve them needs no memory.
    readers_.reserve(readers_.size() + queue_.size() + 1);
    if (free(use, me)) return grant(use, me);
    queue_.push_back({me, use});
  }
  nb::gil_scoped_release release_gil;
  Held held(fields);
  const auto served = [&] { return waiting(me) == queue_.end(); };
  while (!changed_->wait_for(held, kSlice, served)) {
    held.unlock();
    try {
      check_signals();
    } catch (...) {
      held.lock();
      if (served())
        release(use, me);
      else
        queue_.erase(waiting(me));
      serve_queue();
      throw;
    }
    held.lock();
  }
}

void ModelLock::begin(Use use) {
  if (use != Use::write) return acquire(use);
  acquire(Use::turn);
  try {
    acquire(Use::write);
  } catch (...) {
    end(Use::turn);
    throw;
  }
}

void ModelLock::end(Use use) {
  const Thread me = std::this_thread::get_id();
  const Held held(fields);
  follow_fork(me);
  release(use, me);
  if (use == Use::write) release(Use::turn, me);
  serve_queue();
}

template <ModelLock::Use use>
struct Guard {
  std::shared_ptr<ModelLock> lock;
  void enter() { lock->begin(use); }
  void exit(nb::handle, nb::handle, nb::handle) { lock->end(use); }
};

using Reading = Guard<ModelLock::Use::read>;
using Preparing = Guard<ModelLock::Use::turn>;
using Writing = Guard<ModelLock::Use::write>;

template <typename G>
void bind_guard(nb::module_& m, const char* name) {
  nb::class_<G>(m, name)
      .def("__enter__", &G::enter)
      .def("__exit__", &G::exit, nb::arg().none(), nb::arg().none(), nb::arg().none());
}

}  // namespace

void bind_lock(nb::module_& m) {
  nb::exception<LockError>(m, "LockError", PyExc_RuntimeError);
  bind_guard<Reading>(m, "Reading");
  bind_guard<Preparing>(m, "Preparing");
  bind_guard<Writing>(m, "Writing");
  // The three ways to hold one new lock.
  m.def("model_lock", [] {
    const auto lock = std::make_shared<ModelLock>();
    return std::make_tuple(Reading{lock}, Preparing{lock}, Writing{lock});
  });
}

}  // namespace supple
