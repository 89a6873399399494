#include "kernels/margin_block.hpp"

#include <algorithm>

namespace supple {

bool MarginBlock::column(std::int64_t variable, std::vector<double>& out) const {
  const auto at = std::find(variables_.begin(), variables_.end(), variable);
  if (at == variables_.end()) return false;
  const double* value = value_.data() + (at - variables_.begin());
  for (std::size_t i = 0; i < owner_.size(); ++i) out[owner_[i]] = value[i * stride_];
  return true;
}

void MarginBlock::clear() {
  variables_.clear();
  owner_.clear();
  place_.clear();
  value_.clear();
  value_.shrink_to_fit();
  stride_ = 0;
}

void MarginBlock::reserve(std::size_t rows, std::size_t columns) {
  if (enough(rows, columns)) return;
  const std::size_t stride = stride_with(columns);
  AlignedVector grown;
  grown.reserve(with_room(rows) * stride);
  grown.resize(owner_.size() * stride);
  for (std::size_t i = 0; i < owner_.size(); ++i)
    std::copy_n(at(i), variables_.size(), grown.data() + i * stride);
  value_.swap(grown);
  stride_ = stride;
}

void MarginBlock::append_rows(const std::int64_t* members, std::size_t count,
                              const double* values) {
  const std::size_t before = owner_.size();
  reserve(before + count, columns());
  value_.resize((before + count) * stride_);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t member = members[k];
    std::copy_n(values + k * columns(), columns(), at(before + k));
    if (place_.size() <= member) place_.resize(member + 1, -1);
    place_[member] = before + k;
    owner_.push_back(members[k]);
  }
}

void MarginBlock::remove_member(std::size_t member, std::size_t last) {
  if (has_row(member)) {
    const std::size_t hole = place_[member];
    const std::size_t end = owner_.size() - 1;
    if (hole != end) {
      std::copy_n(at(end), columns(), at(hole));
      owner_[hole] = owner_[end];
      place_[owner_[hole]] = hole;
    }
    owner_.pop_back();
    value_.resize(end * stride_);
    place_[member] = -1;
  }
  if (member == last || !has_row(last)) return;
  place_[member] = place_[last];
  place_[last] = -1;
  owner_[place_[member]] = member;
}

void MarginBlock::append_columns(const std::int64_t* variables, std::size_t count,
                                 const double* values) {
  const std::size_t column = columns(), rows = owner_.size();
  reserve(rows, column + count);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < count; ++k) at(i)[column + k] = values[k * rows + i];
  variables_.insert(variables_.end(), variables, variables + count);
}

void MarginBlock::remove_columns(const std::vector<std::size_t>& gone) {
  struct Shift {
    std::size_t to, from;
  };
  std::vector<Shift> shifts;
  for (std::size_t column : gone) {
    const std::size_t last = columns() - 1;
    if (column != last) {
      shifts.push_back({column, last});
      variables_[column] = variables_[last];
    }
    variables_.pop_back();
  }
  for (std::size_t i = 0; i < owner_.size(); ++i)  // each row is touched once for all columns
    for (const Shift& shift : shifts) at(i)[shift.to] = at(i)[shift.from];
}

void MarginBlock::rename(std::int64_t from, std::int64_t to) {
  std::replace(variables_.begin(), variables_.end(), from, to);
}

}  // namespace supple
