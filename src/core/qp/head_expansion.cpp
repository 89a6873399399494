// How a head keeps F = Kx up to date: exactly, or roughly for members that cannot decide anything.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "qp/head.hpp"

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

template <typename Coefficient>
Expansion Head::by_member(const Coefficient& coefficient) const {
  const auto weight_of = [&](std::size_t m) {
    return per == 1 ? coefficient(m) : coefficient(2 * m) + coefficient(2 * m + 1);
  };
  std::size_t terms = 0;
  for (std::size_t m = 0; m < members(); ++m) terms += weight_of(m) != 0.0;
  Expansion out;
  out.member.reserve(terms);
  out.slots.reserve(terms);
  out.coef.reserve(terms);
  for (std::size_t m = 0; m < members() && out.coef.size() < terms; ++m) {
    const double weight = weight_of(m);
    if (weight == 0.0) continue;
    out.member.push_back(static_cast<std::int32_t>(m));
    out.slots.push_back(slot[m]);
    out.coef.push_back(weight);
  }
  return out;
}

void Head::refresh() {
  F = expansion();
  std::fill(rough.begin(), rough.end(), 0.0);
  behind.clear();
  updates = 0;
  peak_mass = mass();
  peak_diagonal = largest_diagonal();
}

void Head::note_changes(std::uint64_t count) {
  updates += count;
  note_peaks();
}

void Head::note_peaks() {
  peak_mass = std::max(peak_mass, mass());
  peak_diagonal = std::max(peak_diagonal, largest_diagonal());
}

namespace {

constexpr double kMuch = 100.0;  // times the rounding that the present terms have

}  // namespace

bool Head::worn() const {
  return updates > 50'000 || peak_mass * peak_diagonal > kMuch * mass() * largest_diagonal();
}

void Head::renew() {
  if (!worn()) return;
  if (peak_diagonal > kMuch * largest_diagonal()) forget_factor();
  refresh();
  balance_mu();  // which may have followed from the rounding
}

double Head::roughest() const {
  return rough.empty() ? 0.0 : *std::max_element(rough.begin(), rough.end());
}

void Head::sharpen(const Known* known) {
  if (roughest() == 0.0) return;
  // The extremes of F - c decide whether x is optimal, and mu where a group has no margin; the
  // margin variables are to be solved for.
  PerGroup up{}, low{};
  for (std::size_t e = 0; e < n_groups; ++e) {
    const Range range = optimal_mu(e, 1.0);
    up[e] = -range.low;
    low[e] = -range.high;
  }
  std::vector<std::size_t> close;
  close.reserve(members());
  for (std::size_t m = 0; m < members(); ++m) {
    if (rough[m] == 0.0 || is_behind(m)) continue;
    for (std::size_t v = m * per; v < (m + 1) * per; ++v) {
      const double G = F[m] - c[v];
      if (inside(v) ||
          (!fixed(v) && ((x[v] < hi[v] && G - rough[m] <= up[group[v]]) ||
                         (x[v] > lo[v] && G + rough[m] >= low[group[v]])))) {
        close.push_back(m);
        break;
      }
    }
  }
  const auto unknown = static_cast<std::size_t>(
      std::count_if(close.begin(), close.end(),
                    [&](std::size_t m) { return !known || known->rough[m] > 0.0; }));
  if (2 * unknown > members() && factor.size() == 0) {
    refresh();
    return;
  }
  sharpen(close, known);
}

void Head::sharpen(const std::vector<std::size_t>& chosen, const Known* known) {
  for (const bool from_known : {false, true}) {
    std::vector<std::size_t> part;
    for (std::size_t m : chosen)
      if ((known && known->rough[m] == 0.0) == from_known) part.push_back(m);
    if (part.empty()) continue;
    const std::vector<double> value =
        values_at(from_known ? change_since(known->x) : support(), part);
    for (std::size_t k = 0; k < part.size(); ++k) {
      F[part[k]] = (from_known ? known->F[part[k]] : 0.0) + value[k];
      rough[part[k]] = 0.0;
    }
  }
}

Expansion Head::support() const {
  return by_member([&](std::size_t v) { return x[v]; });
}

std::vector<double> Head::expansion() {
  const Expansion e = support();
  return gram.expand(e.slots, e.coef, slot);
}

void Head::follow(const std::vector<double>& x_before) {
  const Expansion change = change_since(x_before);
  if (change.coef.empty()) return;
  follow_sharply(change);
  follow_roughly(change);
}

Expansion Head::change_since(const std::vector<double>& x_before) const {
  return by_member([&](std::size_t v) { return x[v] - x_before[v]; });
}

void Head::follow_sharply(const Expansion& change) {
  std::vector<std::size_t> sharp;
  sharp.reserve(members());
  for (std::size_t m = 0; m < members(); ++m)
    if (rough[m] == 0.0 && !is_behind(m)) sharp.push_back(m);
  const std::vector<double> added = values_at(change, sharp);
  for (std::size_t k = 0; k < sharp.size(); ++k) F[sharp[k]] += added[k];
  note_changes(1);
}

std::vector<double> Head::values_at(const Expansion& e, const std::vector<std::size_t>& wanted) {
  Slots targets(wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) targets[k] = slot[wanted[k]];
  // Kernel values among margin members are in the factor.
  constexpr std::size_t kFew = 16;  // part of the margin set: cheaper to compute than to read
  Positions place;
  std::vector<double> by_factor;
  const auto at_margin = static_cast<std::size_t>(std::count_if(
      wanted.begin(), wanted.end(), [&](std::size_t m) { return inside_any(m); }));
  if (at_margin > factor.size() / kFew)
    place = product_by_factor(e, by_factor);
  if (place.empty()) return gram.expand(e.slots, e.coef, targets);
  Expansion rest;
  for (std::size_t k = 0; k < e.coef.size(); ++k)
    if (place[static_cast<std::size_t>(e.member[k])] < 0) {
      rest.slots.push_back(e.slots[k]);
      rest.coef.push_back(e.coef[k]);
    }
  std::vector<double> out(wanted.size(), 0.0);
  for (const bool placed : {true, false}) {
    const Expansion& terms = placed ? rest : e;
    std::vector<std::size_t> which;
    Slots part;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const std::int32_t i = place[wanted[k]];
      if ((i >= 0) != placed) continue;
      if (placed) out[k] = by_factor[static_cast<std::size_t>(i)];
      which.push_back(k);
      part.push_back(targets[k]);
    }
    if (part.empty() || terms.coef.empty()) continue;
    const std::vector<double> added = gram.expand(terms.slots, terms.coef, part);
    for (std::size_t k = 0; k < which.size(); ++k) out[which[k]] += added[k];
  }
  return out;
}

void Head::follow_by_rows(const std::vector<double>& x_before) {
  const Expansion e = change_since(x_before);
  for (std::size_t k = 0; k < e.coef.size(); ++k) {
    const double* row = member_row(static_cast<std::size_t>(e.member[k]), buffer_);
    simd().axpy(e.coef[k], row, F.data(), members());
  }
  if (!e.coef.empty()) note_changes(1);
}

Positions Head::product_by_factor(const Expansion& e, std::vector<double>& out) const {
  // A product with all of K_SS pays where most margin variables take part.
  if (gram.linear() || 2 * e.coef.size() < factor.size()) return {};
  Positions place(members(), -1);
  for (std::size_t i = 0; i < factor.size(); ++i)
    place[member_of(static_cast<std::size_t>(factor.variables()[i]))] =
        static_cast<std::int32_t>(i);
  std::vector<double> dx(factor.size(), 0.0);
  for (std::size_t k = 0; k < e.coef.size(); ++k)
    if (const std::int32_t i = place[static_cast<std::size_t>(e.member[k])]; i >= 0)
      dx[static_cast<std::size_t>(i)] = e.coef[k];
  out = factor.product(dx);
  return place;
}

void Head::follow_roughly(const Expansion& change) {
  Positions targets;
  targets.reserve(members());
  for (std::size_t m = 0; m < members(); ++m)
    if (rough[m] > 0.0 && !is_behind(m)) targets.push_back(static_cast<std::int32_t>(m));
  add_roughly(change, targets);
}

void Head::leave_behind(const std::vector<char>& chosen, const std::vector<double>& x_of_F) {
  if (behind.empty()) {
    behind.assign(members(), 0);
    x_behind.clear();
  }
  x_behind.push_back(x_of_F);
  for (std::size_t m = 0; m < members(); ++m)
    if (chosen[m] && behind[m] == 0) behind[m] = static_cast<std::uint8_t>(x_behind.size());
}

void Head::catch_up(std::size_t kept) {
  if (behind.empty()) return;
  for (; x_behind.size() > kept; x_behind.pop_back()) {
    Positions targets;
    for (std::size_t m = 0; m < members(); ++m)
      if (behind[m] == x_behind.size()) {
        targets.push_back(static_cast<std::int32_t>(m));
        behind[m] = 0;
      }
    add_roughly(change_since(x_behind.back()), targets);
  }
  if (kept == 0) leave_nobody_behind();
}

void Head::add_roughly(const Expansion& change, const Positions& targets) {
  if (change.coef.empty() || targets.empty()) return;
  double mass = 0.0, unit = 0.0;
  for (double coef : change.coef) {
    mass += std::abs(coef);
    unit = std::max(unit, std::abs(coef));
  }
  std::vector<double> coef = change.coef;  // in the range of single precision
  for (double& value : coef) value /= unit;
  const double added_doubt = mass * single_error();
  for (std::int32_t m : targets) rough[static_cast<std::size_t>(m)] += added_doubt;
  std::vector<double> added(members(), 0.0);
  if (gram.linear() || matrix_) {
    if (gram.linear()) {
      single().add_linear(change.member, coef, added.data(), members());
    } else {
      std::vector<const float*> row(change.member.size());
      for (std::size_t k = 0; k < row.size(); ++k)
        row[k] = matrix_->row(static_cast<std::size_t>(change.member[k]));
      simd().add_rows_single(row.data(), coef.data(), row.size(), added.data(), members());
    }
    for (std::int32_t m : targets)
      F[static_cast<std::size_t>(m)] += unit * added[static_cast<std::size_t>(m)];
    return;
  }
  // The targets come first, then those whose x has changed.
  Positions part = targets, sources(change.member.size());
  part.insert(part.end(), change.member.begin(), change.member.end());
  std::iota(sources.begin(), sources.end(), static_cast<std::int32_t>(targets.size()));
  single().subset(part)->add(sources, coef, targets.size(), added.data(), gram.threads);
  for (std::size_t k = 0; k < targets.size(); ++k)
    F[static_cast<std::size_t>(targets[k])] += unit * added[k];
}

void Head::add_quickly(const Expansion& change, const Positions& targets) {
  if (!gram.linear()) return add_roughly(change, targets);
  Slots part;
  for (std::int32_t m : targets) part.push_back(slot[static_cast<std::size_t>(m)]);
  const std::vector<double> added = gram.expand(change.slots, change.coef, part);
  for (std::size_t k = 0; k < targets.size(); ++k)
    F[static_cast<std::size_t>(targets[k])] += added[k];
}

double Head::single_error() { return single().error(); }

const SinglePoints& Head::single() {
  if (!single_) single_ = gram.single(slot);
  return *single_;
}

void Head::release() {
  if (matrix_) gram.rows_asked = matrix_->asked();
  matrix_.reset();
  single_.reset();
}

SingleMatrix* Head::matrix() {
  if (members() > kWhole || members() * padded(members()) * sizeof(float) > gram.cache_bytes())
    return nullptr;
  if (!matrix_) {
    single();
    matrix_ = std::make_unique<SingleMatrix>(single_, gram.rows_asked, gram.threads);
  }
  return matrix_.get();
}

}  // namespace supple
