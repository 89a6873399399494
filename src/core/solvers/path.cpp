#include "solvers/path.hpp"

#include <algorithm>
#include <cmath>

namespace supple {

Side side_of(const Head& h, std::size_t v, double dlo, double dhi) {
  if (h.fixed(v))
    return dlo == dhi ? Side::frozen : (h.gradient(v) < 0.0 ? Side::upper : Side::lower);
  return h.x[v] <= h.lo[v] ? Side::lower : (h.x[v] >= h.hi[v] ? Side::upper : Side::margin);
}

Path::Path(Head& head, const Move& move) : h(head), goal(move) {
  side.resize(h.variables());
  rates.assign(h.variables(), 0.0);
  for (std::size_t v = 0; v < h.variables(); ++v) side[v] = side_of(h, v, 0.0, 0.0);
  for (std::size_t k = 0; k < goal.variables.size(); ++k) {
    const std::size_t v = goal.variables[k];
    side[v] = side_of(h, v, goal.lo[k] - h.lo[v], goal.hi[k] - h.hi[v]);
  }
  h.F.note_peaks();
}

double Path::sign_of(Side side) {
  constexpr double kSign[] = {1.0, -1.0, 0.0, 0.0};  // in the order of Side
  return kSign[static_cast<int>(side)];
}

void Path::give_columns(const std::vector<std::size_t>& entering) {
  std::vector<std::int64_t> missing;
  for (std::size_t v : entering)  // it may have left not long ago
    if (h.block.column_of(v) == h.block.columns()) missing.push_back(v);
  h.append_columns(missing);
}

void Path::multiply(const std::vector<std::int64_t>& members) {
  dx_block.resize(h.block.columns());
  for (std::size_t j = 0; j < h.block.columns(); ++j) {
    const std::int64_t v = h.block.variables()[j];
    dx_block[j] = v == MarginBlock::kGone ? 0.0 : rates[v];
  }
  dF.resize(members.size());
  simd().product_rows(h.block.data(), h.block.stride(), members.data(), members.size(),
                      dx_block.data(), dx_block.size(), dF.data());
}

// Who enters the margin set is solved for in double precision.
void Path::sharpen(const std::vector<std::size_t>& variables) {
  std::vector<std::size_t> members;
  for (std::size_t v : variables)
    if (const std::size_t m = h.member_of(v);
        h.F.error_bound(m) > 0.0 && (members.empty() || members.back() != m))
      members.push_back(m);
  h.F.sharpen(members);
}

void Path::finish() {
  h.F.arrive(1);
  h.F.note_mass(way);  // a long way there and back rounds as a large x does
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * h.F.peak_mass();
  std::vector<std::size_t> leaving;
  for (std::size_t v : h.factor.variables()) {
    h.snap(v, rounding);
    if (!h.inside(v)) leaving.push_back(v);
  }
  h.leave_margin(leaving, std::vector<double>(leaving.size(), 0.0));
  h.sharpen();  // the error of F may have hidden a violator, which the polish then finds
  h.make_canonical();
}

}  // namespace supple
