// The margin set of a head: its factor and the block of kernel values derived from it.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "linalg/watch.hpp"
#include "qp/head.hpp"

namespace supple {

void Head::build_factor() {
  constexpr std::size_t kTogether = 32, kFew = 8, kShare = 64;
  // To let one variable enter or leave costs two passes over the factor.
  const std::size_t few = kFew + factor.size() / kShare;
  if (factor.size() > 0 && margin_changes().count() <= few) return;
  std::vector<std::size_t> margin;
  for (std::size_t v = 0; v < variables(); ++v)
    if (inside(v)) margin.push_back(v);
  // Any order will do, but the end of the factor is where a removal is cheap, and those next to a
  // bound are mostly the first to go.
  const auto to_bound = [&](std::size_t v) { return std::min(x[v] - lo[v], hi[v] - x[v]); };
  std::stable_sort(margin.begin(), margin.end(),
                   [&](std::size_t a, std::size_t b) { return to_bound(a) > to_bound(b); });
  factor.clear();
  factor.reserve(margin.size());
  for (std::size_t first = 0; first < margin.size(); first += kTogether) {
    tell([&] { return News{Phase::factoring, first, margin.size()}; });
    const std::size_t count = std::min(kTogether, margin.size() - first);
    if (!enter_margin({&margin[first], &margin[first] + count})) return;
  }
}

Head::MarginChanges Head::margin_changes() const {
  MarginChanges changes;
  std::vector<char> in_factor(variables(), 0);
  for (std::size_t v : factor.variables()) {
    in_factor[v] = 1;
    if (!inside(v)) changes.left.push_back(v);
  }
  for (std::size_t v = 0; v < variables(); ++v)
    if (inside(v) && !in_factor[v]) changes.joined.push_back(v);
  return changes;
}

void Head::forget_factor() {
  factor.clear();
  gram.let_go(block);
  release();
}

bool Head::enter_margin(const std::vector<std::size_t>& entering) {
  if (entering.empty()) return true;
  Slots slots = slots_of(factor.variables());
  std::vector<Factor::Entry> entries;
  for (std::size_t v : entering) {
    slots.push_back(slot[member_of(v)]);
    entries.push_back({static_cast<std::int64_t>(v), group[v]});
  }
  Slots own(slots.end() - entering.size(), slots.end());
  if (own.size() < kQueries<double> && block.columns() > 0 && 2 * members() > gram.size())
    for (std::int64_t s : own) gram.row(s);  // the block will need them
  std::vector<double> columns(own.size() * slots.size());
  gram.values(own, slots, columns.data());
  for (std::size_t k = 0; k < entering.size(); ++k)
    columns[k * slots.size() + factor.size() + k] += ridge[entering[k]];
  if (factor.size() == 0) {
    double sum = 0.0;
    for (std::size_t v : entering) sum += diagonal(v);
    factor.set_sigma(sum > 0.0 ? sum / static_cast<double>(entering.size()) : 1.0);
  }
  return factor.append(entries, columns.data(), gram.threads);
}

Head::Slide Head::slide(std::size_t v, double sense) {
  constexpr double kStill = 1e-9;  // rate beside that of v
  const auto& margin = factor.variables();
  std::vector<double> weights;
  factor.dependence(weights);
  double slope = gradient(v), curvature = 0.0;
  if (sense == 0.0) {
    curvature = ridge[v];
    for (std::size_t i = 0; i < margin.size(); ++i) {
      const std::size_t u = margin[i];
      slope -= weights[i] * gradient(u);
      curvature += weights[i] * weights[i] * ridge[u];
    }
    sense = slope > 0.0 ? -1.0 : 1.0;
    if (x[v] <= lo[v]) sense = 1.0;
    if (x[v] >= hi[v]) sense = -1.0;
  }
  const auto room = [&](std::size_t u, bool upward) {
    return upward ? hi[u] - x[u] : x[u] - lo[u];
  };
  double step = room(v, sense > 0.0);
  Slide result{Slide::End::bound, std::move(weights), 0.0, v, sense > 0.0};
  for (std::size_t i = 0; i < margin.size(); ++i) {
    const std::size_t u = margin[i];
    const double rate = result.dx[i] *= -sense, speed = std::abs(rate);
    if (speed < kStill) continue;
    const double limit = std::max(0.0, room(u, rate > 0.0)) / speed;
    if (!(limit < step)) continue;
    step = limit;
    result.arrived = u;
    result.upper = rate > 0.0;
  }
  if (std::abs(slope) < step * curvature) {
    result.end = Slide::End::ridge;
    step = std::abs(slope) / curvature;
  } else if (step == kInf) {
    result.end = Slide::End::none;
    return result;
  }
  for (std::size_t i = 0; i < margin.size(); ++i) x[margin[i]] += result.dx[i] *= step;
  result.dx_own = sense * step;
  x[v] = std::clamp(x[v] + result.dx_own, lo[v], hi[v]);
  if (result.end == Slide::End::bound)
    x[result.arrived] = result.upper ? hi[result.arrived] : lo[result.arrived];
  return result;
}

void Head::sync_block() {
  std::vector<char> wanted(variables(), 0);
  for (std::int64_t v : factor.variables()) wanted[v] = 1;
  std::vector<std::size_t> kept;
  for (std::size_t j = 0; j < block.columns(); ++j)
    if (const std::int64_t v = block.variables()[j]; v != MarginBlock::kGone && wanted[v])
      kept.push_back(j);
  const std::size_t idle = block.columns() - kept.size();
  if (idle > factor.size() / 4 + 8) block.keep_columns(kept);
  if (block.rows() == 0) block.append_rows(members(), nullptr);
  give_columns(factor.variables());
}

void Head::give_columns(const std::vector<std::int64_t>& some) {
  constexpr std::size_t kTogether = 64;
  std::vector<char> has(variables(), 0);
  for (std::int64_t v : block.variables())
    if (v != MarginBlock::kGone) has[v] = 1;
  std::vector<std::int64_t> missing = some;
  std::erase_if(missing, [&](std::int64_t v) { return has[v] != 0; });
  hold_block(members(), block.columns() + missing.size());
  for (std::size_t first = 0; first < missing.size(); first += kTogether) {
    const std::size_t count = std::min(kTogether, missing.size() - first);
    const std::vector<std::int64_t> part(&missing[first], &missing[first] + count);
    std::vector<double> values(count * members());
    gram.values(slots_of(part), slot, values.data());
    block.append_columns(part, values.data());
  }
}

void Head::hold_block(std::size_t rows, std::size_t columns) {
  block.reserve(rows, columns);
  gram.hold(block);
}

Slots Head::slots_of(const std::vector<std::int64_t>& some) const {
  Slots out;
  for (std::int64_t v : some)  // any example will do where the variable is gone
    out.push_back(slot[v == MarginBlock::kGone ? 0 : member_of(v)]);
  return out;
}

}  // namespace supple
