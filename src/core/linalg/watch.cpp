#include "linalg/watch.hpp"

#include <chrono>

namespace supple {

namespace {

using Clock = std::chrono::steady_clock;
// Other threads of Python may hold its lock for some milliseconds when it is asked for.
constexpr Clock::duration kPause = std::chrono::milliseconds(50);

Hooks hooks;

struct Watch {
  Clock::time_point next_check{}, next_news{};
  Clock::duration news_pause{};
  void* listener = nullptr;
  const std::atomic<bool>* halted = nullptr;
  bool helps = false;
};
constinit thread_local Watch watch;

}  // namespace

void set_hooks(const Hooks& own) { hooks = own; }

void listen(void* listener, double pause) {
  watch.listener = listener;
  using Seconds = std::chrono::duration<double>;
  watch.news_pause = std::chrono::duration_cast<Clock::duration>(Seconds(pause));
  watch.next_news = Clock::now() + watch.news_pause;
}

void look() {
  if (watch.halted && watch.halted->load(std::memory_order_relaxed)) throw Part::Halted{};
  if (watch.helps) return;
  const Clock::time_point now = Clock::now();
  if (now < watch.next_check) return;
  watch.next_check = now + kPause;
  if (hooks.check) hooks.check();
}

bool news_due() {
  if (!watch.listener) return false;
  const Clock::time_point now = Clock::now();
  if (now < watch.next_news) return false;
  watch.next_news = now + watch.news_pause;
  return true;
}

void send(const News& news) {
  if (watch.listener) hooks.hear(watch.listener, news);
}

Part::Part(const std::atomic<bool>& halted) : outer_(watch.halted) { watch.halted = &halted; }

Part::~Part() { watch.halted = outer_; }

void help_others() { watch.helps = true; }

}  // namespace supple
