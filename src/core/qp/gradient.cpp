#include "qp/gradient.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/watch.hpp"
#include "qp/head.hpp"

namespace supple {

namespace {

constexpr double kMuch = 100.0;  // times the rounding that the present terms have

}  // namespace

double Gradient::largest_error() const {
  const auto& bound = s_.error_bound;
  return bound.empty() ? 0.0 : *std::max_element(bound.begin(), bound.end());
}

bool Gradient::worn() const {
  return s_.updates > 50'000 ||
         s_.peak_mass * s_.peak_diagonal > kMuch * h.mass() * h.largest_diagonal();
}

std::vector<double> Gradient::moved_from(const std::vector<double>& from) const {
  std::vector<double> way = h.x;
  for (std::size_t v = 0; v < way.size(); ++v) way[v] -= from[v];
  return way;
}

void Gradient::append(const std::vector<double>& kx) {
  s_.F.insert(s_.F.end(), kx.begin(), kx.end());
  s_.error_bound.resize(s_.F.size(), 0.0);
  s_.x.resize(s_.F.size() * h.per, 0.0);
}

void Gradient::remove(std::size_t member) {
  for (auto* values : {&s_.F, &s_.error_bound}) replace_by_last(*values, member, 1);
  replace_by_last(s_.x, member, h.per);
}

void Gradient::refresh() {
  std::vector<double> kx = h.expansion(h.slot);
  s_ = State{std::move(kx), std::vector<double>(h.members()), h.x};
  note_peaks();
}

void Gradient::note_peaks() {
  s_.peak_mass = std::max(s_.peak_mass, h.mass());
  s_.peak_diagonal = std::max(s_.peak_diagonal, h.largest_diagonal());
}

void Gradient::arrive(std::uint64_t changes) {
  s_.x = h.x;
  if (changes == 0) return;
  s_.updates += changes;
  note_peaks();
}

void Gradient::add_row(double coef, const double* row) {
  simd().axpy(coef, row, s_.F.data(), s_.F.size());
}

// --- F follows x -----------------------------------------------------------------------------

void Gradient::follow_sharp() {
  const Expansion e = h.by_member(moved());
  if (e.coef.empty()) return arrive();
  std::vector<std::size_t> sharp;
  for (std::size_t m = 0; m < s_.F.size(); ++m)
    if (s_.error_bound[m] == 0.0) sharp.push_back(m);
  if (!behind() && sharp.size() < s_.F.size()) s_.rough_x = s_.x;
  const std::vector<double> added = values_at(e, sharp);
  for (std::size_t k = 0; k < sharp.size(); ++k) s_.F[sharp[k]] += added[k];
  arrive(1);
}

void Gradient::follow() {
  follow_sharp();
  if (!behind()) return;
  Positions rough;
  for (std::size_t m = 0; m < s_.F.size(); ++m)
    if (s_.error_bound[m] > 0.0) rough.push_back(m);
  add_in_single(h.by_member(moved_from(s_.rough_x)), rough);
  s_.rough_x.clear();
}

void Gradient::follow_by_rows() {
  const Expansion e = h.by_member(moved());
  for (std::size_t k = 0; k < e.coef.size(); ++k)
    add_row(e.coef[k], h.member_row(e.member[k], buffer_));
  arrive(e.coef.empty() ? 0 : 1);
}

std::vector<double> Gradient::values_at(const Expansion& e,
                                        const std::vector<std::size_t>& wanted) {
  Slots targets;
  for (std::size_t m : wanted) targets.push_back(h.slot[m]);
  return h.gram.expand(e.slots, e.coef, targets);
}

// --- precision -------------------------------------------------------------------------------

void Gradient::sharpen(const std::vector<std::size_t>& members) {
  if (members.empty()) return;
  const std::vector<double> value = values_at(h.support(), members);
  for (std::size_t k = 0; k < members.size(); ++k) {
    s_.F[members[k]] = value[k];
    s_.error_bound[members[k]] = 0.0;
  }
}

void Gradient::add_in_single(const Expansion& change, const Positions& targets) {
  if (change.coef.empty() || targets.empty()) return;
  double mass = 0.0, unit = 0.0;
  for (double coef : change.coef) {
    mass += std::abs(coef);
    unit = std::max(unit, std::abs(coef));
  }
  std::vector<double> coef = change.coef;  // in the range of single precision
  for (double& value : coef) value /= unit;
  const double added_error = mass * h.single().error();
  for (std::int32_t m : targets) s_.error_bound[m] += added_error;
  if (SingleMatrix* const matrix = h.built_matrix()) {
    std::vector<const float*> row;
    for (std::int32_t m : change.member) row.push_back(matrix->row(m));
    std::vector<double> added(h.members(), 0.0);
    simd().add_rows_single(row.data(), coef.data(), row.size(), added.data(), added.size());
    for (std::int32_t m : targets) s_.F[m] += unit * added[m];
    return;
  }
  // The targets come first, then those whose x has changed.
  Positions part = targets, sources(change.member.size());
  part.insert(part.end(), change.member.begin(), change.member.end());
  std::iota(sources.begin(), sources.end(), static_cast<std::int32_t>(targets.size()));
  const auto points = h.single().subset(part);
  std::vector<double> added(part.size(), 0.0);
  if (h.gram.linear())
    points->add_linear(sources, coef, added.data());
  else
    points->add(sources, coef, targets.size(), added.data(), h.gram.threads);
  for (std::size_t k = 0; k < targets.size(); ++k) s_.F[targets[k]] += unit * added[k];
}

// The error of a kernel value is the same whenever it is used, so it comes in by what x has changed
// on the whole; each addition rounds anew.
void Gradient::adopt(const Positions& members, const std::vector<double>& values,
                     double travelled) {
  constexpr double kAddition = 5.0 * 0x1p-24;  // of eight products, in single precision
  const Expansion e = h.by_member(moved());
  if (e.coef.empty()) return arrive();
  double changed = 0.0;
  for (double coef : e.coef) changed += std::abs(coef);
  const double lost =
      changed * h.single().error() + travelled * kAddition * h.gram.largest_diagonal();
  std::vector<char> follows(s_.F.size(), 1);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::size_t m = members[k];
    follows[m] = 0;
    s_.F[m] = values[k];
    s_.error_bound[m] += lost;
  }
  Positions others;
  for (std::size_t m = 0; m < s_.F.size(); ++m)
    if (follows[m]) others.push_back(m);
  add_in_single(e, others);
  const double rounding = h.rounding();
  for (double& bound : s_.error_bound) bound = std::max(bound, rounding);
  arrive(1);
}

}  // namespace supple
