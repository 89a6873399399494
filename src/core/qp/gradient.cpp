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

Expansion Gradient::change(const std::vector<double>& from, const std::vector<double>& to) const {
  std::vector<double> difference(to.size());
  for (std::size_t v = 0; v < difference.size(); ++v) difference[v] = to[v] - from[v];
  return h.by_member(difference);
}

void Gradient::append(const std::vector<double>& kx) {
  before_move_.clear();
  s_.F.insert(s_.F.end(), kx.begin(), kx.end());
  s_.error_bound.resize(s_.F.size(), 0.0);
  s_.x.resize(s_.F.size() * h.per, 0.0);
  drop_anchor();
}

void Gradient::remove(std::size_t member) {
  before_move_.clear();
  for (auto* values : {&s_.F, &s_.error_bound}) replace_by_last(*values, member, 1);
  replace_by_last(s_.x, member, h.per);
  drop_anchor();
}

void Gradient::clear() {
  before_move_.clear();
  const std::size_t n = s_.F.size(), variables = s_.x.size();
  s_ = State{};
  s_.F.assign(n, 0.0);
  s_.error_bound.assign(n, 0.0);
  s_.x.assign(variables, 0.0);
}

void Gradient::refresh() {
  std::vector<double> kx = h.expansion();
  clear();
  s_.F = std::move(kx);
  s_.x = h.x;
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

void Gradient::follow() {
  const Expansion e = change(s_.x, h.x);
  if (e.coef.empty()) return arrive();
  std::vector<std::size_t> sharp;
  Positions others;
  sharp.reserve(s_.F.size());
  for (std::size_t m = 0; m < s_.F.size(); ++m) {
    if (is_stale(m)) continue;
    if (s_.error_bound[m] == 0.0)
      sharp.push_back(m);
    else
      others.push_back(m);
  }
  const std::vector<double> added = values_at(e, sharp);
  for (std::size_t k = 0; k < sharp.size(); ++k) s_.F[sharp[k]] += added[k];
  add_in_single(e, others);
  arrive(1);
}

void Gradient::follow_by_rows() {
  const Expansion e = change(s_.x, h.x);
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
  for (const bool from_anchor : {false, true}) {
    std::vector<std::size_t> part;
    for (std::size_t m : members)
      if (sharp_at_anchor(m) == from_anchor) part.push_back(m);
    if (part.empty()) continue;
    const std::vector<double> value =
        values_at(from_anchor ? change(s_.anchor->x, h.x) : h.support(), part);
    for (std::size_t k = 0; k < part.size(); ++k) {
      s_.F[part[k]] = (from_anchor ? s_.anchor->F[part[k]] : 0.0) + value[k];
      s_.error_bound[part[k]] = 0.0;
    }
  }
}

void Gradient::loosen(std::size_t member, double rounding) {
  s_.error_bound[member] = std::max(s_.error_bound[member], rounding);
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
  const double added_error = mass * h.single_error();
  for (std::int32_t m : targets) s_.error_bound[m] += added_error;
  std::vector<double> added(h.members(), 0.0);
  if (h.add_at_all(change.member, coef, added)) {
    for (std::int32_t m : targets) s_.F[m] += unit * added[m];
    return;
  }
  // The targets come first, then those whose x has changed.
  Positions part = targets, sources(change.member.size());
  part.insert(part.end(), change.member.begin(), change.member.end());
  std::iota(sources.begin(), sources.end(), static_cast<std::int32_t>(targets.size()));
  h.single().subset(part)->add(sources, coef, targets.size(), added.data(), h.gram.threads);
  for (std::size_t k = 0; k < targets.size(); ++k) s_.F[targets[k]] += unit * added[k];
}

void Gradient::set_anchor() {
  s_.anchor = std::make_shared<const Anchor>(Anchor{s_.x, s_.F, s_.error_bound});
  s_.travelled = 0.0;
}

// The error of a kernel value is the same whenever it is used, so it comes in by what x has changed
// since the anchor on the whole; each addition rounds anew.
void Gradient::adopt(const Positions& members, const std::vector<double>& values) {
  constexpr double kAddition = 5.0 * 0x1p-24;  // of eight products, in single precision
  double changed = 0.0;
  for (std::size_t v = 0; v < h.x.size(); ++v) changed += std::abs(h.x[v] - s_.anchor->x[v]);
  const double lost = (changed > 0.0 ? changed * h.single_error() : 0.0) +
                      s_.travelled * kAddition * h.gram.largest_diagonal();
  const double rounding = h.rounding();
  for (std::size_t m = 0; m < s_.F.size(); ++m) loosen(m, rounding);
  std::vector<char> others(s_.F.size(), 1);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::size_t m = members[k];
    others[m] = 0;
    s_.F[m] = values[k];
    loosen(m, s_.anchor->error_bound[m] + lost);
  }
  clear_stale();
  if (members.size() < s_.F.size()) mark_stale(std::move(others));
  arrive(1);
}

// --- stale members ---------------------------------------------------------------------------

void Gradient::mark_stale(std::vector<char> members) {
  s_.stale = std::move(members);
  s_.stale_x = s_.x;
}

void Gradient::catch_up() {
  if (!has_stale()) return;
  Positions targets;
  for (std::size_t m = 0; m < s_.F.size(); ++m)
    if (s_.stale[m]) targets.push_back(m);
  add_in_single(change(s_.stale_x, s_.x), targets);
  clear_stale();
}

}  // namespace supple
