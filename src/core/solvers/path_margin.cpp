// Path: which side each variable is on, changes of the margin set, and screening.
#include <algorithm>
#include <cmath>

#include "solvers/path.hpp"

namespace supple {

namespace {
constexpr std::uint64_t kLookEvery = 16;  // paths
}  // namespace

void Path::drive(std::size_t v, double new_speed) {
  const double change = new_speed - speed[v];
  if (change == 0.0) return;
  const double* row = h.member_row(h.member_of(v), buffer);
  simd().axpy(change, row, q.data(), q.size());
  bound_rate[h.group[v]] += change;
  moving += (new_speed != 0.0) - (speed[v] != 0.0);
  speed[v] = new_speed;
  q_changed = true;
  if (moving > 0) return;
  std::fill(q.begin(), q.end(), 0.0);  // leave no rounding
  bound_rate.fill(0.0);
}

double Path::sign_of(std::size_t v) const {
  constexpr double kSign[] = {1.0, -1.0, 0.0, 0.0};  // in the order of Side
  return kSign[static_cast<int>(side[v])];
}

double Path::awake_gradient(std::size_t v) const {
  return g[static_cast<std::size_t>(place[h.member_of(v)]) * h.per + v % h.per];
}

double Path::rate_of(std::size_t v) const {
  return side[v] == Side::margin ? by_variable[v] : speed[v];
}

void Path::put_on_side(std::size_t v, Side s) {
  side[v] = s;
  const std::int64_t k = place[h.member_of(v)];
  if (k >= 0) sign[static_cast<std::size_t>(k) * h.per + v % h.per] = sign_of(v);
}

void Path::set_side(std::size_t v, Side s) {
  put_on_side(v, s);
  drive(v, s == Side::margin ? 0.0 : (s == Side::upper ? dhi[v] : dlo[v]));
}

void Path::enter(std::size_t v) {
  if (!h.enter_margin(v, -q[h.member_of(v)])) {
    exchange(v);
    return;
  }
  give_columns({v});
  set_side(v, Side::margin);
}

void Path::leave(std::size_t v, Side s) {
  if (place[h.member_of(v)] < 0) wake_member(h.member_of(v));
  h.leave_margin(v);
  h.x[v] = s == Side::lower ? h.lo[v] : h.hi[v];
  by_variable[v] = 0.0;  // its column stays in the block
  set_side(v, s);
}

// v depends on the margin set: a variable that meets its bound makes room for it, or v crosses its
// box.
void Path::exchange(std::size_t v) {
  const Head::Slide slid = h.slide(v, sign_of(v));
  endless = slid.end == Head::Slide::End::none;
  if (endless) return;
  give_columns({v});
  for (std::size_t i = 0; i < slid.dx.size(); ++i)
    by_variable[h.factor.variables()[i]] = slid.dx[i];
  by_variable[v] = slid.dx_own;
  multiply();
  for (std::size_t k = 0; k < g.size(); ++k) g[k] += dF[k / h.per];
  for (std::size_t k = 0; k < g.size() && !h.ridge.empty(); ++k) {
    const std::size_t u = static_cast<std::size_t>(awake[k / h.per]) * h.per + k % h.per;
    if (side[u] == Side::margin || u == v) g[k] += h.ridge[u] * by_variable[u];
  }
  by_variable[v] = 0.0;
  simd().axpy(1.0, dx_block.data(), pending.data(), pending.size());
  dirty = !all_awake();
  const Side at = slid.upper ? Side::upper : Side::lower;
  if (slid.arrived == v) return set_side(v, at);
  leave(slid.arrived, at);
  enter(v);
}

// A group without margin variable cannot follow its target: move its mu alone until a variable
// that can take up the change gets gradient 0 (Tax & Laskov eqs. 15-19).
bool Path::refill_groups() {
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    const double need = target_rate[e] - bound_rate[e];
    if (h.factor.has_group(e) || std::abs(need) <= 1e-14 * std::abs(target_rate[e])) continue;
    if (!all_awake()) wake(std::numeric_limits<double>::infinity());
    const Side able = need > 0.0 ? Side::lower : Side::upper;
    const double sense = need > 0.0 ? 1.0 : -1.0;
    double smallest = 0.0;
    std::size_t chosen = 0;
    while (true) {
      smallest = std::numeric_limits<double>::infinity();
      for (std::size_t v = 0; v < h.variables(); ++v)  // all are awake: g is in their order
        if (side[v] == able && h.group[v] == e && sense * g[v] < smallest) {
          smallest = sense * g[v];
          chosen = v;
        }
      if (smallest == std::numeric_limits<double>::infinity()) return false;
      if (h.F.error_bound(h.member_of(chosen)) == 0.0) break;
      sharpen({chosen});
    }
    h.mu[e] -= sense * smallest;
    for (std::size_t v = 0; v < h.variables(); ++v)
      if (h.group[v] == e) g[v] -= sense * smallest;
    enter(chosen);
  }
  return true;
}

void Path::give_columns(const std::vector<std::size_t>& entering) {
  std::vector<std::int64_t> missing;
  for (std::size_t v : entering)  // it may have left not long ago
    if (h.block.column_of(v) == h.block.columns()) missing.push_back(v);
  h.append_columns(missing);
  pending.resize(h.block.columns(), 0.0);
}

// --- screening -------------------------------------------------------------------------------
// Most gradients are too far from zero to matter for this path. A member none of whose gradients
// is within `radius` of zero sleeps: all steps are applied to it in one product at the end. So do
// the margin members, whose gradients stay 0. The radius follows how far gradients moved in recent
// paths. Should a sleeper have crossed zero all the same, follow_path opens its box once more, or
// the polish mends it, which only needs a good start.

void Path::wake(double radius) {
  settle_members();
  awake.clear();
  place.assign(h.members(), -1);
  g.clear();
  sign.clear();
  g.reserve(h.variables());
  sign.reserve(h.variables());
  const bool everyone = radius == std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < h.members(); ++m) {
    bool near = false, on_margin = false;  // no branches up to here: they could not be predicted
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) {
      on_margin |= side[v] == Side::margin;
      near |= speed[v] != 0.0;
      near |= (side[v] != Side::frozen) & (std::abs(h.gradient(v)) <= radius);
    }
    if (everyone || (near & !on_margin)) add_awake(m);
  }
  dF.resize(awake.size());
  rate.resize(g.size());
  pending.assign(h.block.columns(), 0.0);
  pending_q.assign(all_awake() ? 0 : h.members(), 0.0);
}

bool Path::on_margin(std::size_t m) const {
  return side[m * h.per] == Side::margin || side[m * h.per + h.per - 1] == Side::margin;
}

void Path::add_awake(std::size_t m) {
  place[m] = awake.size();
  awake.push_back(m);
  for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) {
    g.push_back(h.gradient(v));
    sign.push_back(sign_of(v));
  }
}

void Path::wake_member(std::size_t m) {
  if (dirty)
    h.F.shift(m, simd().dot(h.block.row(m), pending.data(), h.block.columns()) + pending_q[m]);
  add_awake(m);
  dF.resize(awake.size());
  rate.resize(g.size());
}

void Path::settle_members() {
  for (std::size_t k = 0; k < awake.size(); ++k) {
    const std::size_t v = static_cast<std::size_t>(awake[k]) * h.per;
    h.F.set(h.member_of(v), g[k * h.per] + h.c[v] - h.mu[h.group[v]] - h.ridge_term(v));
  }
  if (dirty) tell_asleep();
}

void Path::tell_asleep() {
  // Gradients of margin members stay 0 but for rounding: it is enough to look now and then, and
  // where many steps have added up on an ill-conditioned factor.
  const bool look = t > 0.0 || h.F.updates() % kLookEvery == 0;
  std::vector<std::int64_t> told;
  std::vector<double> moved(h.ridge.size(), 0.0);  // x of margin variables
  for (std::size_t j = 0; j < pending.size() && !moved.empty(); ++j)
    if (const std::int64_t v = h.block.variables()[j]; v != MarginBlock::kGone)
      moved[v] = pending[j];
  for (std::size_t m = 0; m < h.members(); ++m) {
    if (place[m] >= 0) continue;
    if (on_margin(m) && !look) {
      const std::size_t v = side[m * h.per] == Side::margin ? m * h.per : m * h.per + 1;
      h.F.shift(m, mu_settled[h.group[v]] - h.mu[h.group[v]]);
      if (!moved.empty()) h.F.shift(m, -h.ridge[v] * moved[v]);
    } else {
      told.push_back(m);
    }
  }
  buffer.resize(told.size());
  simd().product_rows(h.block.data(), h.block.stride(), told.data(), told.size(), pending.data(),
                      h.block.columns(), buffer.data());
  for (std::size_t k = 0; k < told.size(); ++k) {
    const std::size_t m = told[k];
    h.F.shift(m, buffer[k] + pending_q[m]);
  }
  std::fill(pending.begin(), pending.end(), 0.0);
  std::fill(pending_q.begin(), pending_q.end(), 0.0);
  mu_settled = h.mu;
  dirty = false;
}

}  // namespace supple
