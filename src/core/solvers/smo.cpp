// Sequential minimal optimisation with second-order working-set selection (Fan, Chen & Lin 2005)
// and shrinking, on the signed QP: a pair (i, j) of one group moves by x_i += d, x_j -= d. Starts
// from any feasible x.
#include <algorithm>
#include <cmath>
#include <limits>

#include "qp/head.hpp"
#include "linalg/watch.hpp"

namespace supple {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

class Smo {
 public:
  Smo(Head& head, bool shrinking) : h(head), shrinking_(shrinking) {}
  SmoResult run(double eps, std::int64_t max_iterations);

 private:
  void activate_all();
  void load(const std::vector<std::int64_t>& variables);  // compact copies, group by group
  void set_bars(std::size_t k);
  const double* active_row(std::size_t k, std::vector<double>& buffer);
  void scan(double delta, const double* row_i, const double* row_j);
  double gap() const;
  std::size_t optimal(double eps) const;  // members, those set aside among them
  bool step();
  void shrink();
  void write_back();  // F of all members from the active gradients and the changes of x

  Head& h;
  bool shrinking_;
  std::vector<std::int64_t> active_;                // variables, ordered by group
  std::array<std::size_t, kMaxGroups + 1> range_{};  // group e is active_[range_[e]:range_[e+1]]
  std::vector<std::int64_t> slot_;                   // of the active variables' examples
  std::vector<double> G_, bar_up_, bar_low_, diagonal_;
  std::vector<double> x_at_sync_, F_at_sync_;  // a point at which F of every member is known
  bool shrunk_ = false;
  std::array<Scan, kMaxGroups> scan_{};
  std::vector<double> row_i_, row_j_, buffer_;
  bool whole_ = false;  // active_ is 0, 1, ..., n-1 and equals the members
};

void Smo::load(const std::vector<std::int64_t>& variables) {
  active_.clear();
  for (std::size_t e = 0; e < kMaxGroups; ++e) {
    range_[e] = active_.size();
    for (std::int64_t v : variables)
      if (h.group[static_cast<std::size_t>(v)] == e) active_.push_back(v);
  }
  range_[kMaxGroups] = active_.size();
  whole_ = h.per == 1 && h.n_groups == 1 && active_.size() == h.members();
  const std::size_t n = active_.size();
  slot_.resize(n);
  G_.resize(n);
  bar_up_.resize(n);
  bar_low_.resize(n);
  diagonal_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const auto v = static_cast<std::size_t>(active_[k]);
    G_[k] = h.F[h.member_of(v)] - h.c[v];
    slot_[k] = h.slot[h.member_of(v)];
    diagonal_[k] = h.diagonal(v);
    set_bars(k);
  }
}

void Smo::activate_all() {
  std::vector<std::int64_t> all;
  for (std::size_t v = 0; v < h.variables(); ++v)
    if (!h.fixed(v)) all.push_back(static_cast<std::int64_t>(v));
  load(all);
}

void Smo::set_bars(std::size_t k) {
  const auto v = static_cast<std::size_t>(active_[k]);
  bar_up_[k] = h.x[v] < h.hi[v] ? 0.0 : kInf;
  bar_low_[k] = h.x[v] > h.lo[v] ? 0.0 : -kInf;
}

const double* Smo::active_row(std::size_t k, std::vector<double>& buffer) {
  const auto member = h.member_of(static_cast<std::size_t>(active_[k]));
  if (whole_) return h.member_row(member, buffer);
  const double* row = h.gram.row(static_cast<std::size_t>(h.slot[member]));
  buffer.resize(active_.size());
  for (std::size_t a = 0; a < active_.size(); ++a) buffer[a] = row[slot_[a]];
  return buffer.data();
}

void Smo::scan(double delta, const double* row_i, const double* row_j) {
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const std::size_t start = range_[e], length = range_[e + 1] - start;
    scan_[e] = simd().step_and_scan_f64(delta, row_i + start, row_j + start, G_.data() + start,
                                    bar_up_.data() + start, bar_low_.data() + start, length);
  }
}

double Smo::gap() const {
  double worst = 0.0;
  for (std::size_t e = 0; e < h.n_groups; ++e)
    if (scan_[e].up.index >= 0 && scan_[e].low_max > -kInf)
      worst = std::max(worst, scan_[e].low_max - scan_[e].up.value);
  return worst;
}

std::size_t Smo::optimal(double eps) const {
  std::size_t violators = 0;
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const double level = 0.5 * (scan_[e].up.value + scan_[e].low_max);
    for (std::size_t k = range_[e]; k < range_[e + 1]; ++k)
      violators += std::max(level - (G_[k] + bar_up_[k]), (G_[k] + bar_low_[k]) - level) > eps / 2;
  }
  return h.members() - std::min(h.members(), violators);
}

bool Smo::step() {
  // The group whose best pair promises the larger decrease gives the pair.
  std::size_t i = 0, j = 0;
  double best = 0.0;
  const double* row_i = nullptr;
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const Scan& s = scan_[e];
    if (s.up.index < 0 || !(s.low_max > s.up.value)) continue;
    const std::size_t start = range_[e], candidate = start + static_cast<std::size_t>(s.up.index);
    const double* row = active_row(candidate, e == 0 ? row_i_ : buffer_);
    const Extreme partner = simd().best_partner_f64(
        s.up.value, diagonal_[candidate], row + start, diagonal_.data() + start, G_.data() + start,
        bar_low_.data() + start, range_[e + 1] - start);
    if (partner.index >= 0 && partner.value > best) {
      best = partner.value;
      i = candidate;
      j = start + static_cast<std::size_t>(partner.index);
      row_i = row;
    }
  }
  if (row_i == nullptr) return false;
  const double* row_j = active_row(j, row_j_);
  const auto vi = static_cast<std::size_t>(active_[i]), vj = static_cast<std::size_t>(active_[j]);
  const double curvature = std::max(diagonal_[i] + diagonal_[j] - 2.0 * row_i[j], 1e-12);
  const double room_i = h.hi[vi] - h.x[vi], room_j = h.x[vj] - h.lo[vj];
  const double free_step = (G_[j] - G_[i]) / curvature;
  const double delta = std::min({free_step, room_i, room_j});
  h.x[vi] = delta == room_i ? h.hi[vi] : h.x[vi] + delta;
  h.x[vj] = delta == room_j ? h.lo[vj] : h.x[vj] - delta;
  set_bars(i);
  set_bars(j);
  scan(delta, row_i, row_j);
  return true;
}

void Smo::shrink() {
  std::vector<std::int64_t> kept;
  for (std::size_t e = 0; e < h.n_groups; ++e)
    for (std::size_t k = range_[e]; k < range_[e + 1]; ++k) {
      const bool stuck_low = bar_low_[k] != 0.0 && G_[k] > scan_[e].low_max;
      const bool stuck_high = bar_up_[k] != 0.0 && G_[k] < scan_[e].up.value;
      if (!stuck_low && !stuck_high) kept.push_back(active_[k]);
    }
  if (kept.size() * 10 > active_.size() * 9) return;
  for (std::size_t k = 0; k < active_.size(); ++k) {  // keep the gradients reached so far
    const auto v = static_cast<std::size_t>(active_[k]);
    h.F[h.member_of(v)] = G_[k] + h.c[v];
  }
  load(kept);
  shrunk_ = true;
}

void Smo::write_back() {
  std::vector<char> current(h.members(), 0);
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const auto v = static_cast<std::size_t>(active_[k]);
    h.F[h.member_of(v)] = G_[k] + h.c[v];
    current[h.member_of(v)] = 1;
  }
  std::vector<std::size_t> stale;
  for (std::size_t m = 0; m < h.members(); ++m)
    if (!current[m]) stale.push_back(m);
  // F of the stale members is known only at the last synchronisation: bring it up to date through
  // the rows of the variables that have changed since.
  if (!stale.empty()) {
    for (std::size_t m : stale) h.F[m] = F_at_sync_[m];
    for (std::size_t m = 0; m < h.members(); ++m) {
      double change = 0.0;
      for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) change += h.x[v] - x_at_sync_[v];
      if (change == 0.0) continue;
      look();
      const double* row = h.member_row(m, buffer_);
      for (std::size_t s : stale) h.F[s] += change * row[s];
    }
  }
  x_at_sync_ = h.x;
  F_at_sync_ = h.F;
}

SmoResult Smo::run(double eps, std::int64_t max_iterations) {
  activate_all();
  x_at_sync_ = h.x;
  F_at_sync_ = h.F;
  std::int64_t iterations = 0;
  const auto shrink_every = static_cast<std::int64_t>(
      std::clamp<std::size_t>(active_.size(), 1, 1000));
  std::int64_t until_shrink = shrink_every;
  scan(0.0, G_.data(), G_.data());
  bool converged = false;
  while (true) {
    if (gap() <= eps) {
      if (!shrunk_) {
        converged = true;
        break;
      }
      write_back();
      activate_all();
      shrunk_ = false;
      scan(0.0, G_.data(), G_.data());
      if (gap() <= eps) {
        converged = true;
        break;
      }
      until_shrink = shrink_every;
    }
    if (max_iterations >= 0 && iterations >= max_iterations) break;
    if (!step()) break;
    ++iterations;
    if (iterations % 64 == 0)
      tell([&] { return News{Phase::solving, optimal(eps), h.members(), gap()}; });
    if (shrinking_ && --until_shrink == 0) {
      until_shrink = shrink_every;
      shrink();
      scan(0.0, G_.data(), G_.data());
    }
  }
  write_back();
  h.balance_mu();
  h.note_changes(static_cast<std::uint64_t>(iterations));
  return {converged, iterations};
}

}  // namespace

SmoResult smo(Head& head, double eps, std::int64_t max_iterations, bool shrinking) {
  return Smo(head, shrinking).run(eps, max_iterations);
}

}  // namespace supple
