// Vectors that begin on a cache line: loads and stores of full width then never touch two.
#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace supple {

template <typename T>
struct OnCacheLine {
  using value_type = T;
  static constexpr std::align_val_t line{64};
  OnCacheLine() = default;
  template <typename U>
  OnCacheLine(const OnCacheLine<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
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

}  // namespace supple
