// Who may read a model and who may change it, among threads.
//
// Readers share. A thread that wants to change the model takes its turn first, which others may
// hold one at a time and in the order they came; readers go on meanwhile. To change something it
// then waits until all readers have left, and newcomers wait until it is done. Those who have
// waited for one change are let in before the next.
//
// A thread that changes may read, change and read again within. One that reads may read within,
// even where somebody waits to change. It cannot begin to change something: two of these would wait
// for each other for ever.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace supple {

class LockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ModelLock {
 public:
  // Called now and then while a thread waits, without any lock held; what it throws ends the wait.
  using Look = void (*)();

  ModelLock();
  // True: granted at once. False: ask again by the function that waits.
  bool try_read();
  void read(Look look);
  void end_read();
  bool try_prepare();
  void prepare(Look look);
  void end_prepare();
  bool try_write();
  void write(Look look);
  void end_write();

 private:
  using Thread = std::thread::id;
  using Held = std::unique_lock<std::mutex>;
  struct Reader {
    Thread thread;
    std::size_t depth;
  };
  Reader* reader(Thread thread);
  bool may_read(Thread me);
  void enter(Thread me);
  void check_may_change(Thread me);
  bool may_write(Thread me) const;
  void take_turn(Thread me);
  void leave_turn();
  // Until ready() or look() throws. Between slices of time the thread looks around.
  template <typename Ready>
  void wait(Held& held, Look look, const Ready& ready);
  void follow_fork(Thread me);
  void check(Thread me);

  std::vector<Reader> readers_;
  Thread writer_, preparer_;  // the writer is the preparer, too
  std::size_t writes_ = 0, turns_ = 0;
  bool closing_ = false;             // the preparer waits for the readers to leave
  std::deque<std::uint64_t> queue_;  // tickets of those who wait for their turn
  std::uint64_t next_ticket_ = 0, changes_ = 0;
  std::size_t waiting_ = 0, owed_ = 0;  // readers that wait, and those of them that are next
  bool torn_ = false;                   // the process was forked while another thread wrote
  std::uint64_t forks_ = 0;
  std::unique_ptr<std::condition_variable> changed_ = std::make_unique<std::condition_variable>();
};

}  // namespace supple
