#include "kernels/points.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "kernels/panels.hpp"

namespace supple {

void QueryBlock::put(std::size_t q, const Query& query) {
  const auto set = [&](std::size_t f) { value_[f * kQueries<double> + q] = query.value[f]; };
  if (query.touched.empty()) {
    for (std::size_t f = 0; f < query.value.size(); ++f) set(f);
  } else {
    for (std::int64_t f : query.touched) set(static_cast<std::size_t>(f));
  }
  touched_[q] = query.touched;
  norm_[q] = query.norm;
}

void QueryBlock::clear() {
  bool any_sparse = false;
  for (std::size_t q = 0; q < kQueries<double>; ++q) {
    any_sparse |= !touched_[q].empty();
    for (std::int64_t f : touched_[q]) value_[static_cast<std::size_t>(f) * kQueries<double> + q] = 0.0;
    touched_[q].clear();
    norm_[q] = 0.0;
  }
  if (!any_sparse) std::fill(value_.begin(), value_.end(), 0.0);
}

template <typename T>
void QueryBlock::put(std::size_t q, const T* values, std::size_t stride, double norm) {
  double* own = value_.data() + q;
  for (std::size_t f = 0; f * kQueries<double> < value_.size(); ++f)
    own[f * kQueries<double>] = static_cast<double>(values[f * stride]);
  norm_[q] = norm;
}

void Points::load_block(std::span<const std::int64_t> slots, QueryBlock& queries) const {
  Query query;
  queries.clear();
  for (std::size_t q = 0; q < slots.size(); ++q) {
    load(static_cast<std::size_t>(slots[q]), query);
    queries.put(q, query);
  }
}

void Query::clear() {
  if (touched.empty()) std::fill(value.begin(), value.end(), 0.0);
  for (std::int64_t& f : touched) value[static_cast<std::size_t>(std::exchange(f, 0))] = 0.0;
  touched.clear();
  norm = 0.0;
}

void Points::note_norm(double norm) {
  norm_.push_back(norm);
  largest_norm_ = std::max(largest_norm_, norm);
}

void Points::truncate_norms(std::size_t size) {
  bool largest = false;
  for (std::size_t slot = size; slot < norm_.size(); ++slot)
    largest |= std::exchange(norm_[slot], 0.0) == largest_norm_;
  norm_.resize(size);
  if (largest) {
    largest_norm_ = 0.0;
    for (double norm : norm_) largest_norm_ = std::max(largest_norm_, norm);
  }
}

template <typename T>
void DensePoints<T>::append(const T* rows, std::size_t count) {
  const std::size_t n_panels = (size_ + count + kLanes - 1) / kLanes;
  panels_.resize(n_panels * n_features_ * kLanes, T(0));
  // Whole panels at a time: what is written is then in order, and norms are summed side by side.
  for (std::size_t i = 0; i < count;) {
    const std::size_t lane = (size_ + i) % kLanes, together = std::min(kLanes - lane, count - i);
    double norm[kLanes] = {};
    for (std::size_t f = 0; f < n_features_; ++f) {
      T* to = panels_.data() + at(size_ + i, f);
      for (std::size_t k = 0; k < together; ++k) to[k] = rows[(i + k) * n_features_ + f];
      for (std::size_t k = 0; k < together; ++k)
        norm[k] += static_cast<double>(to[k]) * static_cast<double>(to[k]);
    }
    for (std::size_t k = 0; k < together; ++k) note_norm(norm[k]);
    i += together;
  }
  size_ += count;
}

template <typename T>
void DensePoints<T>::row(std::size_t slot, T* out) const {
  for (std::size_t f = 0; f < n_features_; ++f) out[f] = panels_[at(slot, f)];
}

template <typename T>
void DensePoints<T>::remove(std::size_t slot) {
  for (std::size_t f = 0; f < n_features_; ++f) panels_[at(slot, f)] = panels_[at(size_ - 1, f)];
  std::swap(norm_[slot], norm_[size_ - 1]);
  truncate(size_ - 1);
}

template <typename T>
void DensePoints<T>::truncate(std::size_t size) {
  for (std::size_t slot = size; slot < size_; ++slot)
    for (std::size_t f = 0; f < n_features_; ++f) panels_[at(slot, f)] = T(0);
  size_ = size;
  truncate_norms(size);
  panels_.resize((size_ + kLanes - 1) / kLanes * n_features_ * kLanes);
}

template <typename T>
void DensePoints<T>::load(std::size_t slot, Query& query) const {
  query.value.resize(n_features_);
  for (std::size_t f = 0; f < n_features_; ++f)
    query.value[f] = static_cast<double>(panels_[at(slot, f)]);
  query.touched.clear();
  query.norm = norm_[slot];
}

template <typename T>
void DensePoints<T>::load_block(std::span<const std::int64_t> slots, QueryBlock& queries) const {
  if (slots.size() < kQueries<double>) queries.clear();
  for (std::size_t q = 0; q < slots.size(); ++q) {
    const auto slot = static_cast<std::size_t>(slots[q]);
    queries.put(q, panels_.data() + at(slot, 0), kLanes, norm_[slot]);
  }
}

template <typename T>
template <typename Fn>
void DensePoints<T>::by_panel(Fn fn, std::size_t from, std::size_t to, double* out) const {
  if (from >= to) return;
  // Whole panels are computed; the part before `from` lands in scratch.
  const std::size_t first = from / kLanes, stop = (to + kLanes - 1) / kLanes;
  const T* panels = panels_.data() + first * n_features_ * kLanes;
  const std::size_t skip = from - first * kLanes;
  if (skip == 0) {
    fn(panels, stop - first, out);
    return;
  }
  double scratch[kLanes];
  fn(panels, 1, scratch);
  std::copy(scratch + skip, scratch + std::min(kLanes, skip + to - from), out);
  if (stop - first > 1)
    fn(panels + n_features_ * kLanes, stop - first - 1, out + (kLanes - skip));
}

template <typename T>
void DensePoints<T>::compare(Base base, const Query& query, std::size_t from, std::size_t to,
                             double* out) const {
  by_panel(
      [&](const T* panels, std::size_t n, double* o) {
        if constexpr (sizeof(T) == 8)
          simd().f64.compare(base, query.value.data(), 1, panels, n_features_, n, o, 0);
        else
          simd().compare_stored_single(base, query.value.data(), 1, panels, n_features_, n, o, 0);
      },
      from, to, out);
}

template <typename T>
void DensePoints<T>::compare_block(Base base, const QueryBlock& queries, std::size_t from,
                                   std::size_t to, double* out, std::size_t stride) const {
  const T* panels = panels_.data() + from * n_features_;
  const std::size_t n_panels = (to - from + kLanes - 1) / kLanes;
  if constexpr (sizeof(T) == 8)
    simd().f64.compare(base, queries.data(), kQueries<double>, panels, n_features_, n_panels, out, stride);
  else
    simd().compare_stored_single(base, queries.data(), kQueries<double>, panels, n_features_, n_panels, out, stride);
}

template <typename T>
std::unique_ptr<Points> DensePoints<T>::subset(const std::int64_t* slots,
                                               std::size_t count) const {
  auto part = std::make_unique<DensePoints<T>>(n_features_);
  part->panels_.resize((count + kLanes - 1) / kLanes * n_features_ * kLanes, T(0));
  part->size_ = count;
  take_points(panels_.data(), n_features_, slots, count, part->panels_.data());
  part->norm_.reserve(count);
  for (std::size_t k = 0; k < count; ++k)
    part->note_norm(norm_[static_cast<std::size_t>(slots[k])]);
  return part;
}

template <typename T>
std::unique_ptr<SinglePoints> DensePoints<T>::single(const Kernel& kernel) const {
  return std::make_unique<DenseSingle>(kernel, size_, n_features_, panels_.data());
}

template <typename T>
double DensePoints<T>::filled() const {
  constexpr std::size_t kEnough = 8192;  // entries to look at
  const std::size_t step = panels_.size() / kEnough | 1;  // odd: no feature or lane is preferred
  std::size_t seen = 0, found = 0;
  for (std::size_t k = 0; k < panels_.size(); k += step, ++seen) found += panels_[k] != T(0);
  return static_cast<double>(found) / static_cast<double>(std::max<std::size_t>(seen, 1));
}

// Mostly zeros (images, counts): skipping them saves more than whole vectors gain, provided that
// the values can do without the mean taken off.
template <typename T>
std::unique_ptr<Points> DensePoints<T>::without_zeros(const Kernel& kernel) const {
  constexpr double kSparse = 0.3, kHarmless = 16.0;
  double reach = kernel.gamma * largest_norm();
  if (kernel.base() == Base::l1_distance)  // no L1 norm exceeds this
    reach = kernel.gamma * std::sqrt(static_cast<double>(n_features_) * largest_norm());
  const bool rounds = kernel.base() != Base::dot && reach > kHarmless;
  if (rounds || filled() >= kSparse) return nullptr;
  auto points = std::make_unique<CsrPoints>(n_features_);
  Wiped<std::int64_t> column[kLanes];
  Wiped<double> value[kLanes];
  for (std::size_t first = 0; first < size_; first += kLanes) {
    const T* panel = panels_.data() + first * n_features_;
    for (std::size_t f = 0; f < n_features_; ++f)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        if (const T entry = panel[f * kLanes + lane]; entry != T(0)) {
          column[lane].push_back(static_cast<std::int64_t>(f));
          value[lane].push_back(static_cast<double>(entry));
        }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::int64_t offset[2] = {0, static_cast<std::int64_t>(column[lane].size())};
      if (first + lane < size_)
        points->append({offset, column[lane].data(), value[lane].data(), 1});
      column[lane].clear();
      value[lane].clear();
    }
  }
  return points;
}

template class DensePoints<double>;
template class DensePoints<float>;

template <typename Column>
void CsrPoints::push(const Column* column, const double* value, std::size_t count) {
  rows_.push_back({column_.size(), count});
  column_.insert(column_.end(), column, column + count);
  value_.insert(value_.end(), value, value + count);
  entries_ += count;
}

void CsrPoints::append(const CsrView& rows) {
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const auto start = static_cast<std::size_t>(rows.offset[i]);
    const auto count = static_cast<std::size_t>(rows.offset[i + 1]) - start;
    push(rows.column + start, rows.value + start, count);
    double norm = 0.0;
    for (double v : values(rows_.size() - 1)) norm += v * v;
    note_norm(norm);
  }
  size_ += rows.rows;
}

template <typename Column>
void CsrPoints::spread(const Column* column, const double* value, std::size_t count,
                       Query& query) const {
  if (query.touched.empty()) query.value.assign(n_features_, 0.0);  // may have been a dense one
  for (std::int64_t c : query.touched) query.value[static_cast<std::size_t>(c)] = 0.0;
  query.touched.assign(column, column + count);
  query.norm = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    query.value[static_cast<std::size_t>(column[k])] = value[k];
    query.norm += value[k] * value[k];
  }
}

void CsrPoints::load(const CsrView& rows, std::size_t row, Query& query) const {
  const auto start = rows.offset[row];
  spread(rows.column + start, rows.value + start,
         static_cast<std::size_t>(rows.offset[row + 1] - start), query);
}

void CsrPoints::load(std::size_t slot, Query& query) const {
  spread(columns(slot).data(), values(slot).data(), rows_[slot].count, query);
}

void CsrPoints::remove(std::size_t slot) {
  std::swap(rows_[slot], rows_[size_ - 1]);
  std::swap(norm_[slot], norm_[size_ - 1]);
  truncate(size_ - 1);
}

void CsrPoints::truncate(std::size_t size) {
  for (std::size_t slot = size; slot < size_; ++slot) {
    const SparseRow row = rows_[slot];
    std::fill_n(column_.data() + row.start, row.count, 0);
    std::fill_n(value_.data() + row.start, row.count, 0.0);
    entries_ -= row.count;
  }
  rows_.resize(size);
  truncate_norms(size);
  size_ = size;
  if (2 * entries_ < column_.size()) compact();
}

void CsrPoints::compact() {
  Wiped<std::int32_t> column;
  Wiped<double> value;
  try {
    column.reserve(entries_);
    value.reserve(entries_);
  } catch (const std::bad_alloc&) {  // the gaps stay for now
    return;
  }
  for (std::size_t slot = 0; slot < size_; ++slot) {
    column.insert(column.end(), columns(slot).begin(), columns(slot).end());
    value.insert(value.end(), values(slot).begin(), values(slot).end());
    rows_[slot].start = column.size() - rows_[slot].count;
  }
  column_.swap(column);
  value_.swap(value);
}

template <bool l1>
double CsrPoints::row_sum(const double* query, std::size_t slot) const {
  const std::int32_t* column = columns(slot).data();
  const double* value = values(slot).data();
  const std::size_t count = rows_[slot].count;
  // Four sums side by side: additions to one would wait for each other.
  double sum[4] = {};
  const auto add = [&](std::size_t k, double& to) {
    const double q = query[column[k]];
    to += l1 ? std::abs(q - value[k]) - std::abs(q) : value[k] * q;
  };
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (std::size_t part = 0; part < 4; ++part) add(k + part, sum[part]);
  for (; k < count; ++k) add(k, sum[0]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void CsrPoints::compare(Base base, const Query& query, std::size_t from, std::size_t to,
                        double* out) const {
  const double* q = query.value.data();
  for (std::size_t j = from; j < to; ++j)
    out[j - from] = base == Base::l1_distance ? row_sum<true>(q, j) : row_sum<false>(q, j);
  from_sums(base, {query.touched, q, 1, query.norm}, from, to, out);
}

// |x|^2 + |z|^2 - 2 x'z needs only the features that both have, and |x - z| that of the norm |z|
// and of features of x. They lose as many digits as the norms exceed the distance by: where these
// are more than a few bits (examples far from the origin, copies), or the norms overflow, the
// differences themselves are added up.
void CsrPoints::from_sums(Base base, const Sparse& query, std::size_t from, std::size_t to,
                          double* out) const {
  if (base == Base::dot) return;
  constexpr double kFewBits = 1.0 / 16.0;
  constexpr std::size_t kPiece = 64;  // looked through again only where some are lost
  const bool l1 = base == Base::l1_distance;
  double own = l1 ? 0.0 : query.norm;
  for (std::size_t k = 0; l1 && k < query.touched.size(); ++k)
    own += std::abs(query.at(query.touched[k]));
  const double* norm = norm_.data() + from;
  const double share = l1 ? 0.0 : 1.0, factor = l1 ? 1.0 : -2.0;  // of the norm, of the sum
  for (std::size_t start = 0; start < to - from; start += kPiece) {
    const std::size_t stop = std::min(to - from, start + kPiece);
    int any_lost = 0;
    const auto lost = [&](std::size_t k) {
      return !(out[k] > kFewBits * (own + share * norm[k]));
    };
#pragma omp simd reduction(| : any_lost)
    for (std::size_t k = start; k < stop; ++k) {
      out[k] = own + share * norm[k] + factor * out[k];
      any_lost |= lost(k) ? 1 : 0;
    }
    for (std::size_t k = start; any_lost != 0 && k < stop; ++k)
      if (lost(k)) out[k] = sum_of_differences(base, query, from + k);
  }
}

// Over the union of the two patterns.
double CsrPoints::sum_of_differences(Base base, const Sparse& query, std::size_t slot) const {
  const auto size = [&](double x) { return base == Base::l1_distance ? std::abs(x) : x * x; };
  const std::span<const std::int32_t> column = columns(slot);
  const double* value = values(slot).data();
  auto f = query.touched.begin();
  double sum = 0.0;
  for (std::size_t k = 0; k < column.size(); ++k) {
    for (; f != query.touched.end() && *f < column[k]; ++f) sum += size(query.at(*f));
    const bool both = f != query.touched.end() && *f == column[k];
    sum += size(both ? value[k] - query.at(*f) : value[k]);
    f += both;
  }
  for (; f != query.touched.end(); ++f) sum += size(query.at(*f));
  return sum;
}

void CsrPoints::compare_block(Base base, const QueryBlock& queries, std::size_t from,
                              std::size_t to, double* out, std::size_t stride) const {
  simd().f64.compare_sparse(base == Base::l1_distance, queries.data(), rows_.data() + from,
                            column_.data(), value_.data(), to - from, out, stride);
  for (std::size_t q = 0; q < kQueries<double>; ++q)
    from_sums(base, {queries.touched(q), queries.data() + q, kQueries<double>, queries.norm(q)}, from, to,
              out + q * stride);
}

std::unique_ptr<SinglePoints> CsrPoints::single(const Kernel& kernel) const {
  auto points = std::make_unique<CsrSingle>(kernel, n_features_);
  for (std::size_t slot = 0; slot < size_; ++slot)
    points->append(columns(slot).data(), values(slot).data(), rows_[slot].count);
  return points;
}

std::unique_ptr<Points> CsrPoints::subset(const std::int64_t* slots, std::size_t count) const {
  auto part = std::make_unique<CsrPoints>(n_features_);
  std::size_t entries = 0;
  for (std::size_t k = 0; k < count; ++k)
    entries += rows_[static_cast<std::size_t>(slots[k])].count;
  part->column_.reserve(entries);
  part->value_.reserve(entries);
  part->rows_.reserve(count);
  part->norm_.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    const auto slot = static_cast<std::size_t>(slots[k]);
    part->push(columns(slot).data(), values(slot).data(), rows_[slot].count);
    part->note_norm(norm_[slot]);
  }
  part->size_ = count;
  return part;
}

}  // namespace supple
