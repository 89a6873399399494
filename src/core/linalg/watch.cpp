#include "linalg/watch.hpp"

#include <chrono>
#include <utility>

namespace supple {

namespace {

// Other threads of Python may hold its lock for some milliseconds when it is asked for.
constexpr double kPause = 0.05;  // seconds

void (*check)() = nullptr;

thread_local struct {
  double next_check = 0.0, next_news = 0.0, news_pause = 0.0;
  Listener listener;
  const std::atomic<bool>* halted = nullptr;
} watch;

// Whether it is time for what is due every `pause` seconds.
bool due(double& next, double pause) {
  using Seconds = std::chrono::duration<double>;
  const double now = Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (now < next) return false;
  next = now + pause;
  return true;
}

}  // namespace

void set_check(void (*own)()) { check = own; }

void listen(Listener listener, double pause) {
  watch.listener = std::move(listener);
  watch.news_pause = pause;
  watch.next_news = 0.0;
  due(watch.next_news, pause);  // the first after an interval
}

void look() {
  if (watch.halted) {
    if (watch.halted->load(std::memory_order_relaxed)) throw Halted{};
  } else if (check && due(watch.next_check, kPause)) {
    check();
  }
}

bool news_due() { return watch.listener && due(watch.next_news, watch.news_pause); }

void send(const News& news) {
  if (watch.listener) watch.listener(news);
}

void look_at(const std::atomic<bool>& halted) { watch.halted = &halted; }

}  // namespace supple
