#include "bindings/model_lock.hpp"

#include <algorithm>
#include <chrono>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace supple {

namespace {

// One for the books of all locks: it is held for a moment only, never by one who waits for Python,
// and a fork can wait for it.
std::mutex books;
std::uint64_t forks = 0;  // of the ancestors of this process, since the first lock

void watch_forks() {
#if defined(__unix__) || defined(__APPLE__)
  static const int watching = pthread_atfork([] { books.lock(); }, [] { books.unlock(); },
                                             [] {
                                               ++forks;
                                               books.unlock();
                                             });
  (void)watching;
#endif
}

const std::thread::id kNobody{};

}  // namespace

ModelLock::ModelLock() {
  watch_forks();
  const Held held(books);
  forks_ = forks;
}

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

// What has to be right before anything is granted.
void ModelLock::check(Thread me) {
  follow_fork(me);
  if (torn_)
    throw LockError(
        "This process was forked while another thread was updating the model, whose copy here is "
        "incomplete. Copy or pickle the model before the fork, or fork when no update runs.");
}

ModelLock::Reader* ModelLock::reader(Thread thread) {
  for (Reader& r : readers_)
    if (r.thread == thread) return &r;
  return nullptr;
}

bool ModelLock::may_read(Thread me) {
  if (preparer_ == me || reader(me) != nullptr) return true;
  return writer_ == kNobody && !closing_;
}

void ModelLock::enter(Thread me) {
  if (Reader* r = reader(me))
    ++r->depth;
  else
    readers_.push_back({me, 1});
}

template <typename Ready>
void ModelLock::wait(Held& held, Look look, const Ready& ready) {
  constexpr std::chrono::milliseconds kSlice(20);
  while (!changed_->wait_for(held, kSlice, ready)) {
    held.unlock();
    look();
    held.lock();
  }
}

bool ModelLock::try_read() {
  const Thread me = std::this_thread::get_id();
  const Held held(books);
  check(me);
  if (!may_read(me)) return false;
  enter(me);
  return true;
}

void ModelLock::read(Look look) {
  const Thread me = std::this_thread::get_id();
  Held held(books);
  const std::uint64_t came = changes_;
  const auto leave_queue = [&] {
    --waiting_;
    if (came != changes_) --owed_;  // the next change waits for those owed, so there was but one
  };
  ++waiting_;
  try {
    wait(held, look, [&] { return came != changes_ ? writer_ == kNobody : may_read(me); });
  } catch (...) {
    if (!held.owns_lock()) held.lock();
    leave_queue();
    changed_->notify_all();
    throw;
  }
  leave_queue();
  enter(me);
}

void ModelLock::end_read() {
  const Thread me = std::this_thread::get_id();
  const Held held(books);
  follow_fork(me);
  Reader* r = reader(me);
  if (r == nullptr || --r->depth > 0) return;
  *r = readers_.back();
  readers_.pop_back();
  if (closing_) changed_->notify_all();
}

void ModelLock::check_may_change(Thread me) {
  if (writer_ != me && reader(me) != nullptr)
    throw LockError(
        "A model cannot be changed from within a call that reads it, such as a kernel function "
        "that "
        "predict has called. Change it when that call has returned.");
}

void ModelLock::take_turn(Thread me) {
  preparer_ = me;
  ++turns_;
}

bool ModelLock::try_prepare() {
  const Thread me = std::this_thread::get_id();
  const Held held(books);
  check(me);
  check_may_change(me);
  if (preparer_ != me && (preparer_ != kNobody || !queue_.empty())) return false;
  take_turn(me);
  return true;
}

void ModelLock::prepare(Look look) {
  const Thread me = std::this_thread::get_id();
  Held held(books);
  const std::uint64_t ticket = next_ticket_++;
  queue_.push_back(ticket);
  try {
    wait(held, look, [&] { return preparer_ == kNobody && queue_.front() == ticket; });
  } catch (...) {
    if (!held.owns_lock()) held.lock();
    std::erase(queue_, ticket);
    changed_->notify_all();
    throw;
  }
  queue_.pop_front();
  take_turn(me);
}

void ModelLock::leave_turn() {
  if (turns_ == 0 || --turns_ > 0) return;
  preparer_ = kNobody;
  if (!queue_.empty()) changed_->notify_all();
}

void ModelLock::end_prepare() {
  const Held held(books);
  follow_fork(std::this_thread::get_id());
  leave_turn();
}

bool ModelLock::may_write(Thread me) const {
  return writer_ == me || (readers_.empty() && owed_ == 0);
}

bool ModelLock::try_write() {
  const Thread me = std::this_thread::get_id();
  if (!try_prepare()) return false;
  const Held held(books);
  if (!may_write(me)) {
    leave_turn();
    return false;
  }
  writer_ = me;
  ++writes_;
  return true;
}

void ModelLock::write(Look look) {
  const Thread me = std::this_thread::get_id();
  if (!try_prepare()) prepare(look);
  Held held(books);
  closing_ = true;
  try {
    wait(held, look, [&] { return may_write(me); });
  } catch (...) {
    if (!held.owns_lock()) held.lock();
    closing_ = false;
    leave_turn();
    changed_->notify_all();
    throw;
  }
  closing_ = false;
  writer_ = me;
  ++writes_;
}

void ModelLock::end_write() {
  const Held held(books);
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

}  // namespace supple
