#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>

#include "kernels/points.hpp"

namespace supple {

template <typename A>
template <typename Column, typename T>
void SparsePoints<A>::push(const Column* column, const T* value, std::size_t count, double scale) {
  double norm = 0.0;
  const std::size_t start = value_.size();
  rows_.push_back({start, count});
  column_.resize(start + count);  // longer than the values already if these found no memory before
  value_.resize(start + count);
  norm_.push_back(A(0));
  for (std::size_t k = 0; k < count; ++k) {
    const A entry = static_cast<A>(scale * static_cast<double>(value[k]));
    column_[start + k] = static_cast<std::int32_t>(column[k]);
    value_[start + k] = entry;
    norm += static_cast<double>(entry) * static_cast<double>(entry);
  }
  norm_.back() = static_cast<A>(norm);
  entries_ += count;
}

template <typename A>
void SparsePoints<A>::append(const CsrView& rows) {
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const std::int64_t start = rows.offset[i];
    push(rows.column + start, rows.value + start, rows.offset[i + 1] - start);
  }
}

template <typename A>
void SparsePoints<A>::load(std::span<const std::int64_t> slots, Queries<A>& queries) const {
  queries.clear();
  for (std::size_t q = 0; q < slots.size(); ++q)
    queries.put_sparse(q, columns(slots[q]).data(), values(slots[q]).data(), rows_[slots[q]].count,
                       norm_[slots[q]]);
}

template <typename A>
void SparsePoints<A>::remove(std::size_t slot) {
  std::swap(rows_[slot], rows_[size() - 1]);
  std::swap(norm_[slot], norm_[size() - 1]);
  truncate(size() - 1);
}

template <typename A>
void SparsePoints<A>::truncate(std::size_t size) {
  for (std::size_t slot = size; slot < norm_.size(); ++slot) {
    const SparseRow row = rows_[slot];
    std::fill_n(column_.data() + row.start, row.count, 0);
    std::fill_n(value_.data() + row.start, row.count, A(0));
    entries_ -= row.count;
  }
  rows_.resize(size);
  this->truncate_norms(size);
  if (2 * entries_ >= column_.size()) return;
  try {
    Slots all(size);
    std::iota(all.begin(), all.end(), 0);
    const auto dense = copy<A>(all, 1.0);
    column_.swap(dense->column_);
    value_.swap(dense->value_);
    rows_.swap(dense->rows_);
  } catch (const std::bad_alloc&) {  // the gaps stay for now
  }
}

template <typename A>
A SparsePoints<A>::row_sum(bool l1, const A* query, std::size_t slot) const {
  const std::int32_t* column = columns(slot).data();
  const A* value = values(slot).data();
  A sum = 0;
  if (l1) {
    for (std::size_t k = 0; k < rows_[slot].count; ++k)
      sum += std::abs(query[column[k]] - value[k]) - std::abs(query[column[k]]);
  } else {
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < rows_[slot].count; ++k) sum += value[k] * query[column[k]];
  }
  return sum;
}

template <typename A>
void SparsePoints<A>::compare(Base base, const Queries<A>& queries, std::size_t from,
                              std::size_t to, A* out, std::size_t stride) const {
  const bool l1 = base == Base::l1_distance;
  if (queries.width() == 1)
    for (std::size_t j = from; j < to; ++j) out[j - from] = row_sum(l1, queries.data(), j);
  else
    simd_of<A>().compare_sparse(l1, queries.data(), rows_.data() + from, column_.data(),
                                value_.data(), to - from, out, stride);
  for (std::size_t q = 0; base != Base::dot && q < queries.width(); ++q)
    from_sums(base, queries, q, from, to, out + q * stride);
}

// |x|^2 + |z|^2 - 2 x'z needs only the features that both have, and |x - z| that of the norm |z|
// and of features of x. They lose as many digits as the norms exceed the distance by: where these
// are more than a few bits (examples far from the origin, copies), or the norms overflow, the
// differences themselves are added up.
template <typename A>
void SparsePoints<A>::from_sums(Base base, const Queries<A>& queries, std::size_t q,
                                std::size_t from, std::size_t to, A* out) const {
  constexpr A kFewBits = A(1) / A(16);
  const bool l1 = base == Base::l1_distance;
  A own = static_cast<A>(l1 ? 0.0 : queries.norm(q));
  for (std::size_t k = 0; l1 && k < queries.touched(q).size(); ++k)
    own += std::abs(queries.at(queries.touched(q)[k], q));
  for (std::size_t j = from; j < to; ++j, ++out) {
    const A norms = own + (l1 ? A(0) : norm_[j]);
    *out = norms + (l1 ? A(1) : A(-2)) * *out;
    if (!(*out > kFewBits * norms)) *out = sum_of_differences(base, queries, q, j);
  }
}

// Over the union of the two patterns.
template <typename A>
A SparsePoints<A>::sum_of_differences(Base base, const Queries<A>& queries, std::size_t q,
                                      std::size_t slot) const {
  const auto size = [&](A x) { return base == Base::l1_distance ? std::abs(x) : x * x; };
  const std::span<const std::int32_t> column = columns(slot);
  const std::span<const std::int32_t> touched = queries.touched(q);
  A sum = 0;
  std::size_t common = 0;
  for (std::size_t k = 0; k < column.size(); ++k) {
    const A other = queries.at(column[k], q);
    common += other != A(0);
    sum += size(values(slot)[k] - other);
  }
  for (std::size_t k = 0; common < touched.size() && k < touched.size(); ++k)
    if (!std::ranges::binary_search(column, touched[k])) sum += size(queries.at(touched[k], q));
  return sum;
}

template <typename A>
template <typename B>
std::unique_ptr<SparsePoints<B>> SparsePoints<A>::copy(const Slots& slots, double scale) const {
  auto out = std::make_unique<SparsePoints<B>>(n_features_);
  std::size_t entries = 0;
  for (std::size_t slot : slots) entries += rows_[slot].count;
  out->column_.reserve(entries);
  out->value_.reserve(entries);
  for (std::size_t slot : slots)
    out->push(columns(slot).data(), values(slot).data(), rows_[slot].count, scale);
  return out;
}

template class SparsePoints<double>;
template class SparsePoints<float>;

}  // namespace supple
