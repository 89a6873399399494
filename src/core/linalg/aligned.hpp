// Vectors that begin on a cache line: loads and stores of full width then never touch two. Large
// ones ask for large pages: first touches of small ones cost as much as kernel values (NumPy asks
// in the same way).
#pragma once
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace supple {

constexpr std::size_t kLargePage = 1u << 21, kLarge = 2 * kLargePage;  // bytes

template <typename T, bool wiped = false>
struct OnCacheLine {
  using value_type = T;
  template <typename U>
  struct rebind {
    using other = OnCacheLine<U, wiped>;
  };
  OnCacheLine() = default;
  template <typename U>
  OnCacheLine(const OnCacheLine<U, wiped>&) {}
  static std::align_val_t boundary(std::size_t n) {
    return std::align_val_t{n * sizeof(T) < kLarge ? 64 : kLargePage};
  }
  T* allocate(std::size_t n) {
    void* p = ::operator new(n * sizeof(T), boundary(n));
#if defined(__linux__)
    if (n * sizeof(T) >= kLarge) madvise(p, n * sizeof(T), MADV_HUGEPAGE);
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) {
    if constexpr (wiped) {
      std::memset(p, 0, n * sizeof(T));
      asm volatile("" : : "r"(p) : "memory");  // the compiler must not leave the zeros out
    }
    ::operator delete(p, boundary(n));
  }
  // Elements without a given value are left as they are: most are about to be written, and zeros
  // would first bring all of a large matrix into memory.
  template <typename U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <typename U, typename... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(static_cast<Args&&>(args)...);
  }
  bool operator==(const OnCacheLine&) const = default;
};

using AlignedVector = std::vector<double, OnCacheLine<double>>;
using AlignedSingles = std::vector<float, OnCacheLine<float>>;
// These overwrite what they give back: for what examples consist of, of which nothing is to stay in
// memory when an example is forgotten. What they still hold is for their owner to clear.
template <typename T>
using Wiped = std::vector<T, OnCacheLine<T, true>>;

}  // namespace supple
