// What the bindings share: arrays in and out, and checks.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "qp/head.hpp"

namespace supple {

namespace nb = nanobind;

void bind_gram(nb::module_& m);
void bind_head(nb::module_& m);
void bind_lasvm(nb::module_& m);
void bind_solve(nb::module_& m);
void bind_lock(nb::module_& m);

void check_signals();

template <typename T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Out = nb::ndarray<nb::numpy, T>;

template <typename T>
using View = std::span<const T>;
template <typename T>
View<T> view(const In1<T>& array) {
  return {array.data(), array.shape(0)};
}

// A move of variables that exist, with boxes that are not inside out.
Move checked_move(const Head& head, const In1<std::int64_t>& moved, const In1<double>& lo,
                  const In1<double>& hi, const In1<double>& ridge, const nb::sequence& target);

template <typename T, typename Allocator>
Out<T> to_numpy(std::vector<T, Allocator>&& values, std::initializer_list<std::size_t> shape) {
  using Values = std::vector<T, Allocator>;
  auto* owned = new Values(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Values*>(p); });
  return Out<T>(owned->data(), shape, owner);
}

template <typename T, typename Allocator>
Out<T> to_numpy(const std::vector<T, Allocator>& values) {
  std::vector<T, Allocator> copy = values;
  const std::size_t n = copy.size();
  return to_numpy(std::move(copy), {n});
}

template <typename T>
std::vector<T> to_vector(const In1<T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

// Lists are converted in the body of a function: nanobind's own conversion of arguments may not
// throw, so that a lack of memory there would end the process.
template <typename T>
std::vector<T> elements(const nb::sequence& items) {
  std::vector<T> out;
  for (nb::handle item : items) out.push_back(nb::cast<T>(item));
  return out;
}

// Without Python's lock.
template <typename Compute>
auto unlocked(const Compute& compute) {
  nb::gil_scoped_release release;
  return compute();
}

// Its values have these names, in this order.
template <typename E, typename... Extra>
void bind_enum(nb::module_& m, const char* name, std::initializer_list<const char*> values,
               const Extra&... extra) {
  nb::enum_<E> bound(m, name, extra...);
  for (const char* const& value : values)
    bound.value(value, static_cast<E>(&value - values.begin()));
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline Slots checked_slots(const Gram& gram, const In1<std::int64_t>& slots) {
  for (std::size_t slot : view(slots)) require(slot < gram.size(), "slot out of range");
  return to_vector(slots);
}

// Of examples that are removed one after the other.
inline Slots checked_removals(const In1<std::int64_t>& slots, std::size_t n_examples) {
  for (std::size_t k = 0; k < slots.shape(0); ++k)
    require(k < n_examples && static_cast<std::size_t>(slots.data()[k]) < n_examples - k,
            "slot out of range");
  return to_vector(slots);
}

}  // namespace supple
