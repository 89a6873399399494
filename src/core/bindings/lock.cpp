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
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
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
  ModelLock() {
    watch_forks();
    const Held held(fields);
    forks_ = forks;
  }
  void read();
  void end_read();
  void prepare();  // take the turn
  void end_prepare();
  void write();
  void end_write();

 private:
  struct Reader {
    Thread thread;
    std::size_t depth;
  };
  // grant() as soon as ready(). Between join() and leave() the thread waits, without Python's lock.
  template <typename Ready, typename Grant, typename Join, typename Leave>
  void acquire(const Ready& ready, const Grant& grant, const Join& join, const Leave& leave);
  Reader* reader(Thread thread);
  void leave_turn();
  void follow_fork(Thread me);

  std::vector<Reader> readers_;
  Thread writer_, preparer_;  // the writer is the preparer, too
  std::size_t writes_ = 0, turns_ = 0;
  bool closing_ = false;             // the preparer waits for the readers to leave
  std::deque<std::uint64_t> queue_;  // tickets of threads that wait for their turn
  std::uint64_t next_ticket_ = 0, changes_ = 0;
  std::size_t waiting_ = 0, owed_ = 0;  // readers that wait, and those of them that are next
  bool torn_ = false;                   // the process was forked while another thread wrote
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
  waiting_ = owed_ = 0;
  closing_ = false;
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

template <typename Ready, typename Grant, typename Join, typename Leave>
void ModelLock::acquire(const Ready& ready, const Grant& grant, const Join& join,
                        const Leave& leave) {
  constexpr std::chrono::milliseconds kSlice(20);  // between two looks for Ctrl-C
  {
    const Held held(fields);
    follow_fork(std::this_thread::get_id());
    if (torn_)
      throw LockError(
          "This process was forked while another thread was updating the model, whose copy here is "
          "incomplete. Copy or pickle the model before the fork, or fork when no update runs.");
    if (ready()) return grant();
  }
  nb::gil_scoped_release release;
  Held held(fields);
  join();
  while (!changed_->wait_for(held, kSlice, ready)) {
    held.unlock();
    try {
      check_signals();
    } catch (...) {
      held.lock();
      leave();
      changed_->notify_all();
      throw;
    }
    held.lock();
  }
  leave();
  grant();
}

void ModelLock::read() {
  const Thread me = std::this_thread::get_id();
  std::optional<std::uint64_t> came;  // number of changes when it began to wait
  acquire(
      [&] {
        if (preparer_ == me || reader(me) != nullptr) return true;
        return writer_ == kNobody && (!closing_ || (came && *came != changes_));
      },
      [&] {
        if (Reader* r = reader(me))
          ++r->depth;
        else
          readers_.push_back({me, 1});
      },
      [&] {
        came = changes_;
        ++waiting_;
      },
      [&] {
        --waiting_;
        if (*came != changes_) --owed_;  // the next change waits for those owed: there was but one
      });
}

void ModelLock::end_read() {
  const Thread me = std::this_thread::get_id();
  const Held held(fields);
  follow_fork(me);
  Reader* r = reader(me);
  if (r == nullptr || --r->depth > 0) return;
  *r = readers_.back();
  readers_.pop_back();
  if (closing_) changed_->notify_all();
}

void ModelLock::prepare() {
  const Thread me = std::this_thread::get_id();
  std::optional<std::uint64_t> ticket;
  acquire(
      [&] {
        if (writer_ != me && reader(me) != nullptr)
          throw LockError(
              "A model cannot be changed from within a call that reads it, such as a kernel "
              "function "
              "that predict has called. Change it when that call has returned.");
        if (preparer_ == me) return true;
        return preparer_ == kNobody && (queue_.empty() || queue_.front() == ticket);
      },
      [&] {
        preparer_ = me;
        ++turns_;
      },
      [&] {
        ticket = next_ticket_++;
        queue_.push_back(*ticket);
      },
      [&] { std::erase(queue_, *ticket); });
}

void ModelLock::leave_turn() {
  if (turns_ == 0 || --turns_ > 0) return;
  preparer_ = kNobody;
  if (!queue_.empty()) changed_->notify_all();
}

void ModelLock::end_prepare() {
  const Held held(fields);
  follow_fork(std::this_thread::get_id());
  leave_turn();
}

void ModelLock::write() {
  const Thread me = std::this_thread::get_id();
  prepare();
  try {
    acquire([&] { return writer_ == me || (readers_.empty() && owed_ == 0); },
            [&] {
              writer_ = me;
              ++writes_;
            },
            [&] { closing_ = true; }, [&] { closing_ = false; });
  } catch (...) {
    end_prepare();
    throw;
  }
}

void ModelLock::end_write() {
  const Held held(fields);
  follow_fork(std::this_thread::get_id());
  if (writes_ == 0) return;
  if (--writes_ == 0) {
    writer_ = kNobody;
    ++changes_;
    owed_ = waiting_;
    if (waiting_ > 0) changed_->notify_all();
  }
  leave_turn();
}

template <void (ModelLock::*Begin)(), void (ModelLock::*End)()>
struct Guard {
  std::shared_ptr<ModelLock> lock;
  void enter() { (*lock.*Begin)(); }
  void exit(nb::handle, nb::handle, nb::handle) { (*lock.*End)(); }
};

using Reading = Guard<&ModelLock::read, &ModelLock::end_read>;
using Preparing = Guard<&ModelLock::prepare, &ModelLock::end_prepare>;
using Writing = Guard<&ModelLock::write, &ModelLock::end_write>;

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
