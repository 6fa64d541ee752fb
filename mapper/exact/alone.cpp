// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/alone.hpp"

#include <algorithm>
#include <numeric>

#include "mapper/exact/sweeps.hpp"

namespace mapsim::exact {

Alone::Alone(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs)
    : skeleton_{skeleton}, unrolled_{unrolled} {
  std::size_t tiles = 0;
  std::size_t longest = 0;
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    first_.push_back(tiles);
    size_.push_back(lattice(phase).size());
    tiles += size_.back();
    longest = std::max(longest, size_.back());
  }
  nowhere_.assign(longest, kInfinity);
  operations_ = costs.mac({}, 0)[0];
  const std::size_t tensors = skeleton.problem().workload().tensors.size();
  paid_.resize(tensors);
  to_go_.resize(tensors);
  least_.resize(tensors);
  moves_.resize(tensors);
  for (const TensorId t : moves_.ids()) {
    const std::size_t stops = skeleton.stops(t).size();
    moves_[t] = moves_of(t);
    to_go_[t].assign(tiles * stops, kInfinity);
    least_[t].assign(skeleton.phases(), std::vector<double>(stops, kInfinity));
    for (std::size_t phase = skeleton.phases(); phase-- > 0;) {
      find_to_go(moves_[t], t, phase, costs);
    }
  }
}

double Alone::root() const {
  double least = kInfinity;
  for (const std::size_t pointers : skeleton_.starts()) {
    least = std::min(least, to_go(0, pointers, size_[0] - 1));
  }
  return least;
}

void Alone::find_paid(Costs& costs) {
  for (const TensorId t : moves_.ids()) {
    paid_[t].assign(to_go_[t].size(), kInfinity);
    for (std::size_t phase = 0; phase < skeleton_.phases(); ++phase) {
      find_paid(moves_[t], t, phase, costs);
      for (std::size_t stop = 0; stop < skeleton_.stops(t).size(); ++stop) {
        least_[t][phase][stop] =
            least_sum(paid(t, phase, stop), to_go(t, phase, stop), size_[phase]);
      }
    }
  }
}

// Those of any pointers: borders, rules and the other tensors may forbid some of them.
Alone::Moves Alone::moves_of(TensorId t) const {
  const std::size_t stops = skeleton_.stops(t).size();
  Moves moves{std::vector<std::vector<Edge>>(skeleton_.phases()),
              std::vector<bool>(stops, false),
              std::vector<std::size_t>(stops, kNone),
              {}};
  for (std::size_t phase = 0; phase < skeleton_.phases(); ++phase) {
    std::vector<bool> known(skeleton_.placings().size(), false);
    for (std::size_t pointers = 0; pointers < skeleton_.pointers(); ++pointers) {
      for (const Skeleton::Place& place : skeleton_.places(phase, pointers)) {
        const Placing& placing = skeleton_.placings()[place.placing];
        if (placing.tensor == t && !known[place.placing]) {
          known[place.placing] = true;
          moves.edges[phase].push_back({placing.from, placing.to, place.placing});
        }
      }
    }
  }
  for (std::size_t pointers = 0; pointers < skeleton_.pointers(); ++pointers) {
    const std::size_t stop = skeleton_.stop_index(pointers, t);
    if (skeleton_.end(pointers) && !moves.ends[stop]) {
      moves.ends[stop] = true;
      for (const std::size_t placing : *skeleton_.end(pointers)) {
        if (skeleton_.placings()[placing].tensor == t) {
          moves.accesses[stop] = placing;
        }
      }
    }
  }
  const Workload& workload = skeleton_.problem().workload();
  for (const DimId d : workload.dims.ids()) {
    if (slides_along(workload, workload.tensors[t], d)) {
      moves.slides.push_back(d);
    }
  }
  return moves;
}

// As Skeleton::frozen has it of this tensor.
DimSet Alone::frozen(TensorId t, std::size_t phase, std::size_t stop) const {
  return skeleton_.stops(t)[stop].phase > phase ? skeleton_.problem().workload().tensors[t].dims()
                                                : DimSet{};
}

// In the memory that is there.
void Alone::make_runs(const Moves& moves, TensorId t, std::size_t phase) {
  const Lattice& tiles = lattice(phase);
  runs_.resize(std::max(runs_.size(), skeleton_.stops(t).size()), PerDim<Runs>(tiles.dims()));
  for (std::size_t stop = 0; stop < skeleton_.stops(t).size(); ++stop) {
    for (const DimId d : moves.slides) {
      Runs& runs = runs_[stop][d];
      runs.values.resize(tiles.runs(d).size() * (tiles.size() / tiles.positions(d).size()));
      runs.known = false;
      nowhere_.resize(std::max(nowhere_.size(), runs.values.size()), kInfinity);
    }
  }
}

// From where a jump is, or begins or ends at the row, past one more placing.
void Alone::extend(const Lattice& tiles, DimId dim, End end, const double* row, const Runs& in,
                   const std::vector<double>& cost, Runs& out) const {
  extend_runs(tiles, dim, end, row, in.known ? in.values.data() : nowhere_.data(), cost.data(),
              out.values.data(), out.known);
  out.known = true;
}

void Alone::copy_behind(const Moves& moves, TensorId t, std::size_t phase, Costs& costs) {
  const bool last = phase + 1 == skeleton_.phases();
  for (std::size_t stop = 0; stop < skeleton_.stops(t).size(); ++stop) {
    double* here = &to_go_[t][row(t, phase, stop)];
    if (last && moves.ends[stop]) {
      for (const std::size_t tile : lattice(phase).ones()) {
        const std::size_t access = moves.accesses[stop];
        here[tile] = access == kNone ? 0 : costs.mac({access}, tile)[0] - operations_;
      }
    } else if (!last) {
      const double* next = to_go(t, phase + 1, stop);
      const auto fanout = skeleton_.event_after(phase).fanout;
      for (std::size_t tile = 0; tile < size_[phase]; ++tile) {
        here[tile] = next[fanout ? unrolled_.crossings[*fanout][tile] : tile];
      }
    }
  }
}

// From the innermost stop outwards. A jump places the tensor at one stop after the other.
void Alone::find_to_go(const Moves& moves, TensorId t, std::size_t phase, Costs& costs) {
  copy_behind(moves, t, phase, costs);
  const Lattice& tiles = lattice(phase);
  make_runs(moves, t, phase);
  for (std::size_t stop = skeleton_.stops(t).size(); stop-- > 0;) {
    double* here = &to_go_[t][row(t, phase, stop)];
    for (const Edge& edge : moves.edges[phase]) {
      if (edge.from != stop || costs.is_left_out(edge.placing)) {
        continue;
      }
      const double* below = to_go(t, phase, edge.to);
      take_least_sum(here, below, costs.plain(edge.placing).data(), tiles.size());
      for (const DimId d : moves.slides) {
        extend(tiles, d, End::kTo, below, runs_[edge.to][d], costs.sliding(edge.placing, d),
               runs_[stop][d]);
      }
    }
    const DimSet fixed = frozen(t, phase, stop);
    for (const DimId d : moves.slides) {
      if (runs_[stop][d].known && !fixed.contains(d)) {
        end_runs(tiles, d, End::kFrom, runs_[stop][d].values.data(), here);
      }
    }
    for (std::size_t i = 0; i < tiles.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (!fixed.contains(d)) {
        relax_neutral(tiles, d, here);
      }
    }
  }
}

void Alone::copy_before(TensorId t, std::size_t phase) {
  for (std::size_t stop = 0; stop < skeleton_.stops(t).size(); ++stop) {
    double* here = &paid_[t][row(t, phase, stop)];
    const Stop& at = skeleton_.stops(t)[stop];
    if (phase == 0) {
      here[size_[0] - 1] = !at.latch && index_of(at.level) == 0 ? 0 : kInfinity;
      continue;
    }
    const double* before = paid(t, phase - 1, stop);
    const auto fanout = skeleton_.event_after(phase - 1).fanout;
    for (std::size_t tile = 0; tile < size_[phase - 1]; ++tile) {
      double& there = here[fanout ? unrolled_.crossings[*fanout][tile] : tile];
      there = std::min(there, before[tile]);
    }
  }
}

// From the outermost stop inwards.
void Alone::find_paid(const Moves& moves, TensorId t, std::size_t phase, Costs& costs) {
  copy_before(t, phase);
  const Lattice& tiles = lattice(phase);
  make_runs(moves, t, phase);
  for (std::size_t stop = 0; stop < skeleton_.stops(t).size(); ++stop) {
    double* here = &paid_[t][row(t, phase, stop)];
    const DimSet fixed = frozen(t, phase, stop);
    for (const DimId d : moves.slides) {
      if (runs_[stop][d].known) {
        end_runs(tiles, d, End::kTo, runs_[stop][d].values.data(), here);
      }
    }
    for (std::size_t i = 0; i < tiles.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (!fixed.contains(d)) {
        spread_neutral(tiles, d, here);
      }
    }
    for (const Edge& edge : moves.edges[phase]) {
      if (edge.from != stop || costs.is_left_out(edge.placing)) {
        continue;
      }
      take_least_sum(&paid_[t][row(t, phase, edge.to)], here, costs.plain(edge.placing).data(),
                     tiles.size());
      for (const DimId d : moves.slides) {
        extend(tiles, d, End::kFrom, fixed.contains(d) ? nowhere_.data() : here, runs_[stop][d],
               costs.sliding(edge.placing, d), runs_[edge.to][d]);
      }
    }
  }
}

void Alone::add_paid(std::size_t phase, std::size_t pointers, std::span<const std::uint32_t> tiles,
                     std::vector<double>& sum) const {
  sum.assign(tiles.size(), 0.0);
  for (const TensorId t : paid_.ids()) {
    const double* of_tensor = paid(t, phase, skeleton_.stop_index(pointers, t));
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      sum[i] += of_tensor[tiles[i]];
    }
  }
}

double Alone::to_go(std::size_t phase, std::size_t pointers, std::size_t tile) const {
  double sum = operations_;
  for (const TensorId t : to_go_.ids()) {
    sum += to_go(t, phase, skeleton_.stop_index(pointers, t))[tile];
  }
  return sum;
}

Alone::Selection::Selection(const Alone& alone, double most)
    : alone_{alone}, most_{most}, parts_(alone.to_go_.size() + 1) {}

// Rows that come one after the other differ in the first tensors' stops, as a rule: sums over the
// last tensors are kept.
std::span<const std::uint32_t> Alone::Selection::tiles(std::size_t phase, std::size_t pointers) {
  const std::size_t tensors = alone_.to_go_.size();
  if (phase != phase_) {
    start(phase);
  }
  bool known = true;
  for (std::size_t i = tensors; i-- > 0;) {
    const std::size_t stop = alone_.skeleton_.stop_index(pointers, static_cast<TensorId>(i));
    known = known && parts_[i].stop == stop;
    if (!known) {
      parts_[i].stop = stop;
      extend(i);
    }
  }
  return parts_.front().tiles;
}

void Alone::Selection::start(std::size_t phase) {
  phase_ = phase;
  Part& all = parts_.back();
  all.tiles.resize(alone_.size_[phase]);
  std::iota(all.tiles.begin(), all.tiles.end(), std::uint32_t{0});
  all.sums.assign(all.tiles.size(), alone_.operations_);
  double rest = 0;
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    const std::vector<double>& least = alone_.least_[static_cast<TensorId>(i)][phase];
    parts_[i].stop = kNone;
    parts_[i].rest = rest;
    rest += *std::min_element(least.begin(), least.end());
  }
}

// Adds tensor i, at the stop of its part, to the part of those behind it.
void Alone::Selection::extend(std::size_t i) {
  const auto t = static_cast<TensorId>(i);
  const Part& from = parts_[i + 1];
  Part& to = parts_[i];
  to.tiles.clear();
  to.sums.clear();
  if (!(alone_.least_[t][phase_][to.stop] + alone_.operations_ + to.rest <= most_)) {
    return;
  }
  const double* paid = alone_.paid(t, phase_, to.stop);
  const double* to_go = alone_.to_go(t, phase_, to.stop);
  const double most = most_ - to.rest;
  to.tiles.resize(from.tiles.size());
  to.sums.resize(from.tiles.size());
  std::size_t count = 0;
  for (std::size_t k = 0; k < from.tiles.size(); ++k) {
    const std::uint32_t tile = from.tiles[k];
    const double sum = from.sums[k] + (paid[tile] + to_go[tile]);
    to.tiles[count] = tile;
    to.sums[count] = sum;
    count += sum <= most ? 1 : 0;
  }
  to.tiles.resize(count);
  to.sums.resize(count);
}

}  // namespace mapsim::exact
