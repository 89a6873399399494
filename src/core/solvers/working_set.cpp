#include "solvers/working_set.hpp"

#include <algorithm>
#include <functional>

namespace supple {

void WorkingSet::restart(std::size_t active, std::size_t most) {
  most_ = most;
  region_ = {};
  who_.clear();
  since_.clear();
  held_.clear();
  place_.assign(active, -1);
}

Positions WorkingSet::exchange(Change change, std::uint32_t round) {
  std::array<std::size_t, 2> needed{};
  for (std::size_t g = 0; g < groups_; ++g) {
    const std::size_t leaving = change.leaving[g].size(), joining = change.joining[g].size();
    needed[g] = region_[g].count + (joining > leaving ? joining - leaving : 0);
  }
  const std::array<Region, 2> before = region_;
  make_room(needed);
  Positions joined;
  joined.reserve(change.joining[0].size() + change.joining[1].size());
  std::vector<std::pair<std::size_t, std::size_t>> moves;
  for (std::size_t g = 0; g < groups_; ++g) {
    Region& region = region_[g];
    Positions& holes = change.leaving[g];
    std::sort(holes.begin(), holes.end(), std::greater<>());
    for (std::int32_t& hole : holes) {  // places from before room was made
      hole += static_cast<std::int32_t>(region.start) - static_cast<std::int32_t>(before[g].start);
      place_[who(hole)] = -1;
    }
    for (std::int32_t a : change.joining[g]) {
      std::size_t place = region.start + region.count;
      if (holes.empty()) {
        ++region.count;
      } else {
        place = static_cast<std::size_t>(holes.back());
        holes.pop_back();
      }
      who_[place] = a;
      since_[place] = round;
      place_[static_cast<std::size_t>(a)] = static_cast<std::int32_t>(place);
      joined.push_back(static_cast<std::int32_t>(place));
    }
    for (std::int32_t hole : holes) {  // the last one first
      const std::size_t last = region.start + --region.count, to = static_cast<std::size_t>(hole);
      if (last != to) moves.emplace_back(last, to);
    }
  }
  list_places();
  close_gap(moves);
  return joined;
}

void WorkingSet::close_gap(const std::vector<std::pair<std::size_t, std::size_t>>& moves) {
  for (const auto& [from, to] : moves) {
    who_[to] = who_[from];
    since_[to] = since_[from];
    place_[static_cast<std::size_t>(who_[to])] = static_cast<std::int32_t>(to);
    std::copy_n(row(from), columns(), row(to));
  }
  for (std::int32_t t : held_) {
    float* own = row(static_cast<std::size_t>(t));
    for (const auto& [from, to] : moves) own[to] = own[from];
  }
}

void WorkingSet::fill(const Positions& places, const SinglePoints& points,
                      std::size_t threads) {
  Positions rank(columns(), -1);  // of a place among those held
  for (std::size_t k = 0; k < size(); ++k)
    rank[static_cast<std::size_t>(held_[k])] = static_cast<std::int32_t>(k);
  Positions queries(places.size());
  std::vector<float*> out(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    queries[k] = rank[static_cast<std::size_t>(places[k])];
    out[k] = row(static_cast<std::size_t>(places[k]));
  }
  points.rows(queries, out, threads);
  // With two groups there may be free places between those held.
  const std::size_t together = groups_ > 1 ? region_[0].count : size();
  for (float* values : out)
    std::copy_backward(values + together, values + size(),
                       values + region_[1].start + region_[1].count);
  std::vector<char> is_new(columns(), 0);
  for (std::int32_t s : places) is_new[static_cast<std::size_t>(s)] = 1;
  for (std::int32_t t : held_) {
    if (is_new[static_cast<std::size_t>(t)]) continue;
    float* own = row(static_cast<std::size_t>(t));
    for (std::size_t k = 0; k < places.size(); ++k) own[places[k]] = out[k][t];
  }
}

void WorkingSet::make_room(const std::array<std::size_t, 2>& needed) {
  bool enough = true;
  for (std::size_t g = 0; g < groups_; ++g) enough &= needed[g] <= region_[g].room;
  if (enough) return;
  const std::array<Region, 2> before = region_;
  std::size_t columns = 0;
  for (std::size_t g = 0; g < groups_; ++g) {
    Region& region = region_[g];
    region.start = columns;
    if (needed[g] > region.room)
      region.room = region.room == 0 ? needed[g]
                                     : std::max(needed[g], std::min(2 * needed[g], most_));
    columns += region.room;
  }
  const std::size_t stride_before = local.stride;
  AlignedSingles K_before;
  local.swap_kernel(K_before);
  local.resize(per_ * columns, columns);
  const Positions who_before = std::move(who_);
  const std::vector<std::uint32_t> since_before = std::move(since_);
  who_.assign(columns, -1);
  since_.assign(columns, 0);
  for (std::size_t g = 0; g < groups_; ++g)
    for (std::size_t k = 0; k < before[g].count; ++k) {
      const std::size_t old = before[g].start + k, place = region_[g].start + k;
      who_[place] = who_before[old];
      since_[place] = since_before[old];
      place_[static_cast<std::size_t>(who_[place])] = static_cast<std::int32_t>(place);
      for (std::size_t other = 0; other < groups_; ++other)
        std::copy_n(K_before.data() + old * stride_before + before[other].start,
                    before[other].count, row(place) + region_[other].start);
    }
}

void WorkingSet::list_places() {
  held_.clear();
  held_.reserve(columns());
  local.segments.clear();
  for (std::size_t j = 0; j < per_; ++j)
    for (std::size_t g = 0; g < groups_; ++g) {
      const Region& region = region_[g];
      if (region.count > 0)
        local.segments.push_back({g, j * columns() + region.start, region.count, region.start});
      for (std::size_t k = 0; k < region.count && j == 0; ++k)
        held_.push_back(static_cast<std::int32_t>(region.start + k));
    }
}

void WorkingSet::renumber(const Positions& moved, std::size_t active) {
  place_.assign(active, -1);
  for (std::int32_t t : held_) {
    std::int32_t& a = who_[static_cast<std::size_t>(t)];
    a = moved[static_cast<std::size_t>(a)];
    place_[static_cast<std::size_t>(a)] = t;
  }
}

}  // namespace supple
