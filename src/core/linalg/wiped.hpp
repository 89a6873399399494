// Vectors that overwrite what they give back: for what examples consist of, of which nothing is to
// stay in memory when an example is forgotten. What they still hold is for their owner to clear.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace supple {

// Zeros that the compiler must not leave out, although the memory is about to be freed.
inline void wipe(void* p, std::size_t bytes) {
#if defined(__GNUC__)
  std::memset(p, 0, bytes);
  asm volatile("" : : "r"(p) : "memory");
#else
  volatile unsigned char* byte = static_cast<unsigned char*>(p);
  while (bytes-- > 0) *byte++ = 0;
#endif
}

template <typename T>
struct Wiping {
  using value_type = T;
  Wiping() = default;
  template <typename U>
  Wiping(const Wiping<U>&) {}
  T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T* p, std::size_t n) {
    wipe(p, n * sizeof(T));
    std::allocator<T>().deallocate(p, n);
  }
  bool operator==(const Wiping&) const = default;
};

template <typename T>
using Wiped = std::vector<T, Wiping<T>>;

}  // namespace supple
