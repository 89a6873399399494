#include "qp/head.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace supple {

Head::Head(Gram& gram_, std::size_t per_, std::size_t groups)
    : gram(gram_), per(per_), n_groups(groups) {}

const double* Head::member_row(std::size_t member, std::vector<double>& buffer) {
  const double* row = gram.row(slot[member]);
  if (in_place_) return row;
  buffer.resize(members());
  for (std::size_t m = 0; m < members(); ++m) buffer[m] = row[slot[m]];
  return buffer.data();
}

void Head::drop_edges() {
  const double eps = 4.0 * kEps, of_mass = eps * F.peak_mass();
  std::vector<std::size_t> leaving;
  for (std::size_t v : factor.variables()) {
    // With a ridge its gradient moves, too.
    const double near = ridge[v] > 0.0 ? std::min(of_mass, eps / ridge[v]) : of_mass;
    if (x[v] - lo[v] <= near)
      x[v] = lo[v];
    else if (hi[v] - x[v] <= near)
      x[v] = hi[v];
    if (!inside(v)) leaving.push_back(v);
  }
  leave_margin(leaving);
}

void Head::make_canonical() {
  cancel_pairs();
  F.arrive();  // what x has changed by snapping to bounds and by cancelling is rounding
  snap_empty_margins();
  balance_mu();
}

void Head::snap_empty_margins() {
  constexpr double kNear = 1e-9, kSum = 64.0 * kEps;
  const PerGroup missed = missing();
  for (std::size_t e = 0; e < n_groups; ++e) {
    std::vector<std::size_t> near;
    double shift = 0.0;
    bool empty = true;
    for (std::size_t v = 0; v < variables() && empty; ++v) {
      if (group[v] != e || !inside(v)) continue;
      const double down = x[v] - lo[v], up = hi[v] - x[v];
      // With a ridge the smallest x has its gradient.
      empty = ridge[v] == 0.0 && std::min(down, up) <= kNear * (hi[v] - lo[v]);
      shift += down < up ? -down : up;
      near.push_back(v);
    }
    // A margin that is truly not empty leaves a sum of bounds that misses the target.
    if (!empty || near.empty() || std::abs(missed[e] - shift) > kSum * mass()) continue;
    for (std::size_t v : near) x[v] = x[v] - lo[v] < hi[v] - x[v] ? lo[v] : hi[v];
    F.follow();
    leave_margin(margin_changes().left);
  }
}

void Head::cancel_pairs() {
  if (per == 1) return;
  bool changed = false;
  for (std::size_t v = 0; v < variables(); v += 2) {
    if (x[v] == 0.0 || x[v + 1] == 0.0) continue;
    const double sum = x[v] + x[v + 1];
    x[v] = std::max(sum, 0.0);
    x[v + 1] = std::min(sum, 0.0);
    changed = true;
  }
  if (changed) forget_factor();
}

void Head::clear() {
  std::fill(x.begin(), x.end(), 0.0);
  F.refresh();
  mu = PerGroup{};
  forget_factor();
}

double Head::mass() const {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t v = 0; v < x.size(); ++v) sum += std::abs(x[v]);
  return sum;
}

void Head::admit(const std::int64_t* slots, const double* c_values, const std::uint8_t* groups,
                 std::size_t count) {
  Slots entering;
  std::vector<double> c_new;
  std::vector<std::uint8_t> groups_new;
  for (std::size_t k = 0; k < count; ++k) {
    if (member_at(slots[k]) >= 0) continue;
    entering.push_back(slots[k]);
    c_new.insert(c_new.end(), c_values + k * per, c_values + (k + 1) * per);
    groups_new.insert(groups_new.end(), groups + k * per, groups + (k + 1) * per);
  }
  if (entering.empty()) return;
  // Everything that may throw (a kernel written in Python) comes before the first change.
  std::vector<double> kx;
  if (entering.size() == 1 && (block.columns() > 0 || gram.cached(entering[0])))
    kx = {expansion_at(gram.row(entering[0]))};  // others want the row, too
  else
    kx = expansion(entering);
  std::vector<double> rows(block.rows() > 0 ? entering.size() * block.columns() : 0);
  if (!rows.empty()) {
    hold_block(members() + entering.size(), block.columns());
    gram.values(entering, slots_of(block.variables()), rows.data());
  }
  enter(entering, c_new, groups_new, kx);
  if (block.rows() > 0) block.append_rows(entering.size(), rows.data());
}

Expansion Head::by_member(const std::vector<double>& values) const {
  Expansion out;
  for (std::size_t m = 0; m < members(); ++m) {
    const double weight = per == 1 ? values[m] : values[2 * m] + values[2 * m + 1];
    if (weight == 0.0) continue;
    out.member.push_back(m);
    out.slots.push_back(slot[m]);
    out.coef.push_back(weight);
  }
  return out;
}

std::vector<double> Head::expansion(const Slots& targets) {
  const Expansion e = support();
  if (e.slots.empty()) return std::vector<double>(targets.size());
  return gram.expand(e.slots, e.coef, targets);
}

double Head::expansion_at(const double* row) const {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t m = 0; m < members(); ++m)
    sum += row[slot[m]] * (per == 1 ? x[m] : x[2 * m] + x[2 * m + 1]);
  return sum;
}

void Head::enter(const Slots& entering, const std::vector<double>& c_new,
                 const std::vector<std::uint8_t>& groups_new, const std::vector<double>& kx) {
  release();
  const std::size_t old = members(), now = old + entering.size();
  slot.insert(slot.end(), entering.begin(), entering.end());
  F.append(kx);
  c.insert(c.end(), c_new.begin(), c_new.end());
  group.insert(group.end(), groups_new.begin(), groups_new.end());
  for (auto* values : {&x, &lo, &hi, &ridge}) values->resize(now * per, 0.0);
  locate(old);
}

void Head::locate(std::size_t first) {
  for (std::size_t m = first; m < members(); ++m) {
    const std::size_t s = slot[m];
    if (member_at_.size() <= s) member_at_.resize(s + 1, -1);
    member_at_[s] = m;
    in_place_ = in_place_ && s == m;
  }
}

void Head::dismiss(const Slots& slots) {
  Slots leaving;
  for (std::int64_t s : slots)
    if (const std::int64_t m = member_at(s); m >= 0) {
      leaving.push_back(s);
      if (x[m * per] != 0.0 || x[m * per + per - 1] != 0.0)
        throw std::logic_error("a member can leave only with its variables at 0");
    }
  for (std::int64_t s : leaving) remove(member_at(s));
}

void Head::take_out(const Slots& slots, std::int64_t n_examples) {
  dismiss(slots);
  for (std::int64_t s : slots) {
    const std::int64_t last = --n_examples, moved = member_at(last);
    if (last == s || moved < 0) continue;
    member_at_[last] = -1;
    member_at_[s] = moved;
    slot[moved] = s;
    in_place_ = false;
  }
}

void Head::remove(std::size_t member) {
  const std::size_t last = members() - 1;
  release();
  for (std::size_t v = member * per; v < (member + 1) * per; ++v) {
    if (factor.has(v)) leave_margin(v);
    block.rename(v, MarginBlock::kGone);
  }
  block.remove_row(member);
  member_at_[slot[last]] = member;
  member_at_[slot[member]] = -1;
  replace_by_last(slot, member, 1);
  in_place_ = in_place_ && member == last;
  replace_by_last(group, member, per);
  for (auto* values : {&x, &c, &lo, &hi, &ridge}) replace_by_last(*values, member, per);
  for (std::size_t j = 0; j < per && member != last; ++j) {
    factor.rename(last * per + j, member * per + j);
    block.rename(last * per + j, member * per + j);
  }
  F.remove(member);
}

Snapshot Head::save(bool for_trials) const {
  Snapshot copy{*this, F.state()};
  if (for_trials) copy.trial = {factor, gram.evaluations(), block.columns() > 0};
  return copy;
}

void Head::put(const Snapshot& copy) {
  static_cast<Problem&>(*this) = copy.problem;
  F.restore(copy.F);
}

void Head::restore(const Snapshot& copy) {
  put(copy);
  member_at_.clear();
  in_place_ = true;
  locate(0);
  if (!copy.trial) return forget_factor();
  factor = copy.trial->factor;
  gram.set_evaluations(copy.trial->evaluations);
  if (!copy.trial->with_block) gram.let_go(block);
}

void Head::set_boxes(const Move& move) {
  for (std::size_t k = 0; k < move.variables.size(); ++k) {
    lo[move.variables[k]] = move.lo[k];
    hi[move.variables[k]] = move.hi[k];
  }
  target = move.target;
}

bool Head::jump(const Move& move) {
  F.note_peaks();  // of boxes that are about to close
  for (std::size_t k = 0; k < move.ridge.size(); ++k) set_ridge(move.variables[k], move.ridge[k]);
  set_boxes(move);
  for (std::size_t v : move.variables) x[v] = std::clamp(x[v], lo[v], hi[v]);
  PerGroup missing = this->missing();
  const double rounding = 1e-15 * mass();
  for (std::size_t e = 0; e < n_groups; ++e) {
    if (missing[e] == 0.0) continue;
    const double sign = missing[e] > 0.0 ? 1.0 : -1.0;
    const auto room = [&](std::size_t v) { return sign > 0.0 ? hi[v] - x[v] : x[v] - lo[v]; };
    // What sums have lost by rounding goes to anyone who is not on a bound.
    const bool lost = std::abs(missing[e]) <= rounding;
    std::vector<std::pair<double, std::size_t>> able;
    for (std::size_t v = 0; v < variables(); ++v)
      if (group[v] == e && room(v) > 0.0)
        able.emplace_back(lost && inside(v) ? -kInf : sign * slope(v), v);
    std::sort(able.begin(), able.end());
    for (std::size_t k = 0; k < able.size() && missing[e] != 0.0; ++k) {
      const std::size_t v = able[k].second;
      const double step = std::min(room(v), std::abs(missing[e]));
      x[v] = step == room(v) ? (sign > 0.0 ? hi[v] : lo[v]) : x[v] + sign * step;
      missing[e] -= sign * step;
    }
    // What rounding leaves over is no reason to give up: of so many bounds as there are.
    const double rounds = std::max(1e-12, static_cast<double>(variables()) * kEps);
    if (std::abs(missing[e]) > rounds * std::max(1.0, std::abs(target[e]))) return false;
  }
  F.follow();
  return true;
}

void Head::set_ridge(std::size_t v, double value) {
  if (ridge[v] == value) return;
  if (factor.has(v)) forget_factor();
  ridge[v] = value;
}

Head::Range Head::optimal_mu(std::size_t e, double doubt) const {
  double up = kInf, low = -kInf, sum = 0.0, count = 0.0;
  const double *value = F.values().data(), *error = F.error_bounds().data();
  // Without branches, as in violation().
#pragma omp simd reduction(min : up) reduction(max : low) reduction(+ : sum, count)
  for (std::size_t v = 0; v < variables(); ++v) {
    const std::size_t m = per == 1 ? v : v / 2;
    const bool counts = lo[v] < hi[v] && group[v] == e;
    const double G = value[m] - c[v] + ridge_term(v), in_doubt = doubt * error[m];
    const bool may_rise = counts && x[v] < hi[v], may_fall = counts && x[v] > lo[v];
    up = std::min(up, may_rise ? G + in_doubt : kInf);
    low = std::max(low, may_fall ? G - in_doubt : -kInf);
    sum += may_rise && may_fall ? G : 0.0;
    count += may_rise && may_fall ? 1.0 : 0.0;
  }
  return {-up, -low, -sum / count};
}

void Head::balance_mu() {
  for (std::size_t e = 0; e < n_groups; ++e) {
    const Range range = optimal_mu(e);
    const double wanted = std::isnan(range.inside) ? range.middle() : range.inside;
    if (std::isfinite(wanted)) mu[e] = wanted;
  }
}

const SinglePoints& Head::single() {
  if (!single_) single_ = gram.single(slot);
  return *single_;
}

void Head::release() {
  if (matrix_) gram.rows_asked = matrix_->asked();
  matrix_.reset();
  single_.reset();
  if (block.bytes() > gram.cache_bytes()) gram.let_go(block);  // it has grown on a path
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
