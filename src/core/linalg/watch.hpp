// Long computations let the user stop them, and tell how far they have come. Both concern the
// thread that was asked to compute; the helpers of threads.hpp stop with it. Whoever knows the user
// sets the hooks, and without them nothing happens here.
#pragma once
#include <atomic>
#include <cstddef>

namespace supple {

enum class Phase {
  machine,    // `done` is the number of the one that begins
  solving,    // rows that are optimal; value: the gap
  factoring,  // rows of the margin system
  finishing,  // margin vectors; value: the largest violation
  admitting,  // the same, one by one and from a state that may be far from optimal
  path,       // breakpoints passed, no total; value: the share of the way
  kernel,     // rows of kernel values, as a part of one of the others
};

struct News {
  Phase phase;
  std::size_t done, total;
  double value = 0.0;
};

struct Hooks {
  void (*check)() = nullptr;                                 // throws when the user wants to stop
  void (*hear)(void* listener, const News& news) = nullptr;  // may throw as well
};
void set_hooks(const Hooks& hooks);

// Who hears of the computations of this thread, or null, and at which intervals in seconds.
void listen(void* listener, double pause);

// For loops whose rounds take microseconds or more: costs no more than to read the clock, and asks
// every 50 ms whether to go on. Throws if not.
void look();

bool news_due();              // somebody listens, and has heard nothing for the interval
void send(const News& news);  // to who listens, if anybody

// The same as look, and make() goes to who listens.
template <typename Make>
void tell(const Make& make) {
  look();
  if (news_due()) send(make());
}

// Around a part of work that several threads share: look throws there when `halted` is set.
class Part {
 public:
  explicit Part(const std::atomic<bool>& halted);
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  struct Halted {};  // what it throws

 private:
  const std::atomic<bool>* outer_;
};
void help_others();  // this thread works on parts of others only: it asks nobody

}  // namespace supple
