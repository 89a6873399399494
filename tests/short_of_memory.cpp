// The memory of C++ code, of which a chosen allocation fails. Loaded before the standard library.
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> remaining{0};  // allocations until one fails; 0: none fails

void* allocate(std::size_t bytes, std::size_t boundary) {
  if (remaining > 0 && remaining.fetch_sub(1) == 1) throw std::bad_alloc();
  void* found = nullptr;
  if (posix_memalign(&found, boundary, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
  return found;
}

}  // namespace

extern "C" void fail_allocation(long number) { remaining = number; }

void* operator new(std::size_t bytes) { return allocate(bytes, sizeof(void*)); }
void* operator new(std::size_t bytes, std::align_val_t boundary) {
  return allocate(bytes, static_cast<std::size_t>(boundary));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
