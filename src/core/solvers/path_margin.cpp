// Path: which side each variable is on, changes of the margin set, and screening.
#include <algorithm>
#include <cmath>

#include "solvers/path.hpp"

namespace supple {

namespace {
constexpr std::uint64_t kLookEvery = 16;  // paths
}  // namespace

void Path::drive(std::size_t v, double new_rate) {
  if (new_rate == dx[v]) return;
  if (dx[v] == 0.0) {
    h.give_columns({static_cast<std::int64_t>(v)});
    driven.push_back({v, h.block.column_of(v)});
  }
  dx[v] = new_rate;
  if (new_rate == 0.0) std::erase_if(driven, [v](const Driven& d) { return d.variable == v; });
}

double Path::pull(std::size_t m) const {
  double sum = 0.0;
  for (const Driven& d : driven) sum += dx[d.variable] * h.block.row(m)[d.column];
  return sum;
}

PerGroup Path::left_over(PerGroup sums) const {
  for (const Driven& d : driven) sums[h.group[d.variable]] -= dx[d.variable];
  return sums;
}

double Path::sign_of(std::size_t v) const {
  constexpr double kSign[] = {1.0, -1.0, 0.0, 0.0};  // in the order of Side
  return kSign[static_cast<int>(side[v])];
}

double& Path::awake_gradient(std::size_t v) {
  return g[static_cast<std::size_t>(place[h.member_of(v)]) * h.per + v % h.per];
}

void Path::put_on_side(std::size_t v, Side s) {
  const std::size_t m = h.member_of(v);
  if (place[m] < 0) {  // x has moved since F was brought up to date
    spread(h.F.moved());
    h.F.shift(m, simd().dot(h.block.row(m), dx_block.data(), dx_block.size()));
    wake_members({m});
  }
  side[v] = s;
  sign[static_cast<std::size_t>(place[m]) * h.per + v % h.per] = sign_of(v);
}

void Path::set_side(std::size_t v, Side s) {
  put_on_side(v, s);
  drive(v, s == Side::upper ? dhi[v] : dlo[v]);
}

void Path::enter(std::size_t v) {
  if (!take_in({v})) exchange(v);
}

bool Path::take_in(const std::vector<std::size_t>& entering) {
  if (!h.enter_margin(entering)) return false;
  h.give_columns({entering.begin(), entering.end()});
  for (std::size_t v : entering) {
    drive(v, 0.0);
    put_on_side(v, Side::margin);
  }
  return true;
}

void Path::leave(std::size_t v, Side s) {
  h.leave_margin(v);
  h.x[v] = s == Side::lower ? h.lo[v] : h.hi[v];
  dx[v] = 0.0;  // its column stays in the block
  set_side(v, s);
}

// v depends on the margin set: a variable that meets its bound makes room for it, or v crosses its
// box.
void Path::exchange(std::size_t v) {
  const Head::Slide slid = h.slide(v, sign_of(v));
  endless = slid.end == Head::Slide::End::none;
  if (endless) return;
  h.give_columns({static_cast<std::int64_t>(v)});
  std::vector<double> way(h.variables(), 0.0);
  for (std::size_t i = 0; i < slid.dx.size(); ++i) way[h.factor.variables()[i]] = slid.dx[i];
  way[v] = slid.dx_own;
  dmu = PerGroup{};
  rates(way);
  simd().axpy(1.0, rate.data(), g.data(), g.size());
  const Side at = slid.upper ? Side::upper : Side::lower;
  if (slid.arrived == v) return set_side(v, at);
  leave(slid.arrived, at);
  enter(v);
}

// A group without margin variable cannot follow its target: move its mu alone until a variable
// that can take up the change gets gradient 0 (Tax & Laskov eqs. 15-19).
bool Path::refill_groups() {
  const PerGroup needs = left_over(target_rate);
  for (std::size_t e = 0; e < h.n_groups; ++e) {
    if (h.factor.has_group(e) || std::abs(needs[e]) <= 1e-14 * std::abs(target_rate[e])) continue;
    const double sense = needs[e] > 0.0 ? 1.0 : -1.0;
    wake_sleepers(true);
    rate.resize(g.size());
    for (std::size_t k = 0; k < g.size(); ++k)
      rate[k] = h.group[awake_variable(k)] == e ? -sense : 0.0;
    const Extreme hit = simd().first_crossing(sign.data(), g.data(), rate.data(), 0.0, g.size());
    if (hit.index < 0) return false;
    h.mu[e] -= sense * hit.value;
    simd().axpy(hit.value, rate.data(), g.data(), g.size());
    enter(awake_variable(hit.index));
  }
  return true;
}

// --- screening -------------------------------------------------------------------------------
// Most gradients are too far from zero to matter for this path. Members far from violating KKT
// sleep: all steps are applied to them in one product at the end. So do the margin members, whose
// gradients stay 0. Should a sleeper have crossed zero all the same, it is found at the end.

void Path::wake(double radius) {
  std::vector<char> wanted(h.members(), 0);
  for (std::size_t v : end.variables) wanted[h.member_of(v)] = 1;
  std::vector<std::size_t> chosen;
  for (std::size_t m = 0; m < h.members(); ++m) {
    bool near = false;  // no branches up to here: they could not be predicted
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v)
      near |= (side[v] != Side::frozen) & (std::abs(h.gradient(v)) <= radius);
    if (wanted[m] || (near && !on_margin(m))) chosen.push_back(m);
  }
  wake_members(chosen);
}

// Those who may have crossed zero wake, or all.
void Path::wake_sleepers(bool all) {
  if (all_awake()) return;
  settle_members();
  const double tolerance = h.rounding();
  std::vector<std::size_t> chosen;
  for (std::size_t v = 0; v < h.variables(); ++v) {
    const std::size_t m = h.member_of(v);
    const double s = sign_of(v);
    if (place[m] < 0 && (all || (s != 0.0 && s * h.gradient(v) < h.F.error_bound(m) - tolerance)))
      chosen.push_back(m);
  }
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  wake_members(chosen);
  if (!all) return;
  // Who has crossed zero asleep takes no part any more.
  for (std::size_t v : crossed()) put_on_side(v, Side::frozen);
}

void Path::wake_members(const std::vector<std::size_t>& chosen) {
  std::vector<std::size_t> rough;
  for (std::size_t m : chosen)
    if (h.F.error_bound(m) > 0.0) rough.push_back(m);
  h.F.sharpen(rough);
  for (std::size_t m : chosen) {
    place[m] = awake.size();
    awake.push_back(m);
    for (std::size_t v = m * h.per; v < (m + 1) * h.per; ++v) {
      g.push_back(h.gradient(v));
      sign.push_back(sign_of(v));
    }
  }
}

bool Path::on_margin(std::size_t m) const {
  return side[m * h.per] == Side::margin || side[m * h.per + h.per - 1] == Side::margin;
}

void Path::settle_members() {
  const auto set = [&](std::size_t v, double gradient) {
    h.F.set(h.member_of(v), gradient + h.c[v] - h.mu[h.group[v]] - h.ridge_term(v));
  };
  for (std::size_t k = 0; k < g.size(); k += h.per) set(awake_variable(k), g[k]);
  // Gradients of margin members are 0 but for rounding: they are looked at now and then, and after
  // a long way.
  const bool all = travelled > h.F.peak_mass() || h.F.updates() % kLookEvery == 0;
  const bool moved = h.x != h.F.x();
  std::vector<std::int64_t> told;
  for (std::size_t m = 0; m < h.members(); ++m) {
    if (place[m] >= 0 || !moved) continue;
    if (all || !on_margin(m))
      told.push_back(m);
    else
      set(m * h.per + (side[m * h.per] != Side::margin), 0.0);
  }
  spread(h.F.moved());
  std::vector<double> change(told.size());
  simd().product_rows(h.block.data(), h.block.stride(), told.data(), told.size(), dx_block.data(),
                      dx_block.size(), change.data());
  for (std::size_t k = 0; k < told.size(); ++k) h.F.shift(told[k], change[k]);
  h.F.arrive();
}

}  // namespace supple
