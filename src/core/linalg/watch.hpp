// Long computations let the user stop them, and tell how far they have come. Both concern the
// thread that was asked to compute; the helpers of threads.hpp stop with it. Whoever knows the user
// sets the check, and without it nothing happens here.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>

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

using Listener = std::function<void(const News&)>;  // may throw

// Throws when the user wants to stop.
void set_check(void (*check)());
// Who hears of the computations of this thread, if anybody, and at which intervals in seconds.
void listen(Listener listener, double pause);

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

// This thread helps another from now on: look asks nobody, and throws once `halted` is set.
struct Halted {};
void look_at(const std::atomic<bool>& halted);

}  // namespace supple
