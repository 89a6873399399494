#include "qp/member_rows.hpp"

#include <utility>

namespace supple {

namespace {

std::size_t bytes(const Wiped<double>& row) { return row.capacity() * sizeof(double); }

}  // namespace

const double* MemberRows::row(const Head& head, std::size_t member) {
  rows_.resize(head.members());
  if (rows_[member].empty()) {
    // Of the same bits as one that came with its member: a copy of the model goes on alike.
    const double* all = head.gram.row(head.slot[member]);
    Row row;
    for (std::int64_t s : head.slot) row.push_back(all[s]);
    head.gram.lent += bytes(row);
    rows_[member] = std::move(row);
  }
  return rows_[member].data();
}

void MemberRows::admitted(const Head& head, const double* row) {
  const std::size_t n = head.members();
  rows_.resize(n);
  for (std::size_t m = 0; m + 1 < n; ++m) {
    if (rows_[m].empty()) continue;
    const std::size_t before = bytes(rows_[m]);
    rows_[m].push_back(row[head.slot[m]]);
    head.gram.lent += bytes(rows_[m]) - before;
  }
  Row& own = rows_.back();
  own.reserve(n + n / 4 + kLanes);
  for (std::int64_t s : head.slot) own.push_back(row[s]);
  head.gram.lent += bytes(own);
}

void MemberRows::remove(Gram& gram, std::size_t member) {
  if (rows_.empty()) return;
  for (Row& row : rows_) {
    if (row.empty()) continue;
    row[member] = row.back();
    row.back() = 0.0;
    row.pop_back();
  }
  gram.lent -= bytes(rows_[member]);
  std::swap(rows_[member], rows_.back());
  rows_.pop_back();
}

void MemberRows::clear(Gram& gram) {
  for (const Row& row : rows_) gram.lent -= bytes(row);
  rows_.clear();
}

}  // namespace supple
