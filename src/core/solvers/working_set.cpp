#include "solvers/working_set.hpp"

#include <functional>
#include <utility>

#include "linalg/watch.hpp"

namespace supple {

void WorkingSet::restart(std::size_t active, std::size_t most) {
  most_ = most;
  who_.clear();
  since_.clear();
  place_.assign(active, -1);
}

void WorkingSet::take(std::int32_t active, std::size_t place, std::uint32_t round) {
  who_[place] = active;
  since_[place] = round;
  place_[active] = place;
}

Positions WorkingSet::exchange(Positions holes, const Positions& joining, std::uint32_t round) {
  std::sort(holes.begin(), holes.end(), std::greater<>());
  for (std::int32_t hole : holes) place_[who(hole)] = -1;
  const std::size_t before = size();
  make_room(before + joining.size() - std::min(joining.size(), holes.size()));
  Positions joined;
  joined.reserve(joining.size());
  for (std::int32_t a : joining) {
    std::size_t place = size();
    if (holes.empty()) {
      who_.emplace_back();
      since_.emplace_back();
    } else {
      place = holes.back();
      holes.pop_back();
    }
    take(a, place, round);
    joined.push_back(place);
  }
  std::vector<std::pair<std::size_t, std::size_t>> moves;
  for (std::int32_t hole : holes) {  // the last one first: those at the end close the gaps
    const std::size_t last = size() - 1, to = hole;
    if (last != to) {
      take(who_[last], to, since_[last]);
      std::copy_n(own_row(last), before, own_row(to));
      moves.emplace_back(last, to);
    }
    who_.pop_back();
    since_.pop_back();
  }
  for (std::size_t k = 0; k < size(); ++k)
    for (const auto& [from, to] : moves) own_row(k)[to] = own_row(k)[from];
  return joined;
}

void WorkingSet::make_room(std::size_t needed) {
  if (matrix || needed <= room_) return;
  room_ = size() == 0 ? needed : std::max(needed, std::min(2 * needed, most_));
  const std::size_t stride = padded(room_);
  AlignedSingles grown(room_ * stride);
  for (std::size_t k = 0; k < size(); ++k)
    std::copy_n(own_row(k), size(), grown.data() + k * stride);
  kernel_.swap(grown);
  stride_ = stride;
}

void WorkingSet::fill(const Positions& places, const SinglePoints& points, std::size_t threads) {
  if (places.size() == size()) return points.among(kernel_.data(), stride_, threads);
  std::vector<float*> out;
  std::vector<char> is_new(size(), 0);
  for (std::int32_t k : places) {
    out.push_back(own_row(k));
    is_new[k] = 1;
  }
  points.rows(places, out, threads);
  for (std::size_t t = 0; t < size(); ++t)
    for (std::size_t k = 0; k < places.size() && !is_new[t]; ++k) own_row(t)[places[k]] = out[k][t];
}

void WorkingSet::renumber(const Positions& moved, std::size_t active) {
  place_.assign(active, -1);
  for (std::size_t k = 0; k < size(); ++k) take(moved[who(k)], k, since_[k]);
}

std::int64_t WorkingSet::solve(double eps, double share, std::int64_t max_iterations) {
  pairs.start();
  const double goal = std::max(eps / pairs.unit, share * pairs.gap());
  const auto row_of = [this](std::size_t place, std::size_t) { return row(place); };
  std::int64_t iterations = 0;
  while (pairs.gap() > goal && iterations < max_iterations && pairs.step(row_of))
    if (++iterations % 1024 == 0) look();
  return iterations;
}

}  // namespace supple
