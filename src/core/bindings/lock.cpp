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

using Thread = std::thread::id;
using Held = std::unique_lock<std::mutex>;

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
  ModelLock() { watch_forks(); }
  void begin(Use use);
  void end(Use use) {
    const Held held(fields);
    follow_fork();
    leave(use);
  }

 private:
  // What a thread holds or waits for, and how many times over.
  struct User {
    Thread thread;
    std::size_t reads = 0, turns = 0, writes = 0;  // who writes has the turn, too
    bool shut_out = false;  // as a reader, until the change that it has met is done
  };
  User& me();
  // Who has the turn is the first to have asked for one. Readers are shut out while it writes or
  // waits to.
  const User* holder() const;
  bool others_read(Thread thread) const;
  bool may(Use use);
  void leave(Use use);
  void follow_fork();

  std::vector<User> users_;  // in the order of arrival
  bool torn_ = false;        // the process was forked while another thread wrote
  std::uint64_t forks_ = forks;
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
};

ModelLock::User& ModelLock::me() {
  const Thread thread = std::this_thread::get_id();
  for (User& user : users_)
    if (user.thread == thread) return user;
  return users_.emplace_back(User{thread});
}

const ModelLock::User* ModelLock::holder() const {
  const auto at = std::ranges::find_if(users_, [](const User& user) { return user.turns > 0; });
  return at == users_.end() ? nullptr : &*at;
}

bool ModelLock::others_read(Thread thread) const {
  return std::ranges::any_of(users_, [&](const User& user) {
    return user.reads > 0 && !user.shut_out && user.thread != thread;
  });
}

// Whether the calling thread, which has asked for it, may go on.
bool ModelLock::may(Use use) {
  const User& own = me();
  if (use == Use::read) return !own.shut_out;
  return holder() == &own && (use == Use::turn || !others_read(own.thread));
}

// Of all threads of the parent the child has the one that forked.
void ModelLock::follow_fork() {
  if (forks_ == forks) return;
  forks_ = forks;
  (void)changed_.release();  // threads that are no more may be noted in it: it must not be touched
  changed_ = std::make_unique<std::condition_variable>();
  const Thread thread = std::this_thread::get_id();
  const User* first = holder();
  torn_ |= first && first->thread != thread && first->writes > 0 && !others_read(first->thread);
  std::erase_if(users_, [&](const User& user) { return user.thread != thread; });
}

void ModelLock::begin(Use use) {
  constexpr std::chrono::milliseconds kSlice(20);  // between two looks for Ctrl-C
  {
    const Held held(fields);
    follow_fork();
    if (torn_)
      throw std::runtime_error(
          "This process was forked while another thread was updating the model, whose copy here is "
          "incomplete. Copy or pickle the model before the fork, or fork when no update runs.");
    User& own = me();
    if (use != Use::read && own.reads > 0 && own.writes == 0)
      throw std::runtime_error(
          "A model cannot be changed from within a call that reads it, such as a kernel function "
          "that predict has called. Change it when that call has returned.");
    if (use == Use::read) {
      const User* first = holder();
      if (own.reads++ == 0) own.shut_out = first && first != &own && first->writes > 0;
    } else {
      ++own.turns;
      own.writes += use == Use::write;
    }
    if (may(use)) return;
  }
  nb::gil_scoped_release release_gil;
  Held held(fields);
  while (!changed_->wait_for(held, kSlice, [&] { return may(use); })) {
    held.unlock();
    try {
      check_signals();
    } catch (...) {
      held.lock();
      leave(use);
      throw;
    }
    held.lock();
  }
}

void ModelLock::leave(Use use) {
  User& own = me();
  if (use == Use::read) {
    --own.reads;
  } else {
    if (use == Use::write && --own.writes == 0 && holder() == &own)
      for (User& user : users_) user.shut_out = false;
    --own.turns;
  }
  if (own.reads + own.turns == 0) users_.erase(users_.begin() + (&own - users_.data()));
  changed_->notify_all();
}

struct Guard {
  std::shared_ptr<ModelLock> lock;
  ModelLock::Use use;
};

}  // namespace

void bind_lock(nb::module_& m) {
  nb::class_<Guard>(m, "Guard")
      .def("__enter__", [](Guard& guard) { guard.lock->begin(guard.use); })
      .def("__exit__", [](Guard& guard, const nb::args&) { guard.lock->end(guard.use); });
  // The three ways to hold one new lock.
  m.def("model_lock", [] {
    using Use = ModelLock::Use;
    const auto lock = std::make_shared<ModelLock>();
    return std::make_tuple(Guard{lock, Use::read}, Guard{lock, Use::turn}, Guard{lock, Use::write});
  });
}

}  // namespace supple
