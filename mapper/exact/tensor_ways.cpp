// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/tensor_ways.hpp"

#include <algorithm>

namespace mapsim::exact {

TensorWays::TensorWays(const Skeleton& skeleton, const Unrolled& unrolled, TensorId t,
                       double operations)
    : skeleton_{skeleton},
      unrolled_{unrolled},
      tensor_{t},
      moves_{skeleton.moves(t)},
      operations_{operations},
      least_(skeleton.phases(), std::vector<double>(stops().size(), kInfinity)) {
  std::size_t entries = 0;
  std::size_t longest = 0;
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    first_.push_back(entries);
    entries += lattice(phase).size() * stops().size();
    longest = std::max(longest, lattice(phase).size());
  }
  to_go_.assign(entries, kInfinity);
  nowhere_.assign(longest, kInfinity);
}

void TensorWays::find_to_go(Costs& costs) {
  for (std::size_t phase = skeleton_.phases(); phase-- > 0;) {
    find_to_go(phase, costs);
  }
}

void TensorWays::find_paid(Costs& costs) {
  paid_.assign(to_go_.size(), kInfinity);
  for (std::size_t phase = 0; phase < skeleton_.phases(); ++phase) {
    find_paid(phase, costs);
    for (std::size_t stop = 0; stop < stops().size(); ++stop) {
      least_[phase][stop] = least_sum(paid(phase, stop), to_go(phase, stop), lattice(phase).size());
    }
  }
}

// As Skeleton::frozen has it of this tensor.
DimSet TensorWays::frozen(std::size_t phase, std::size_t stop) const {
  return stops()[stop].phase > phase ? skeleton_.problem().workload().tensors[tensor_].dims()
                                     : DimSet{};
}

// In the memory that is there.
void TensorWays::make_runs(std::size_t phase) {
  const Lattice& tiles = lattice(phase);
  runs_.resize(std::max(runs_.size(), stops().size()), PerDim<Runs>(tiles.dims()));
  for (std::size_t stop = 0; stop < stops().size(); ++stop) {
    for (const DimId d : moves_.slides) {
      Runs& runs = runs_[stop][d];
      runs.values.resize(tiles.runs(d).size() * (tiles.size() / tiles.positions(d).size()));
      runs.known = false;
      nowhere_.resize(std::max(nowhere_.size(), runs.values.size()), kInfinity);
    }
  }
}

// From where a jump is, or begins or ends at the row, past one more placing.
void TensorWays::extend(const Lattice& tiles, DimId dim, End end, const double* row, const Runs& in,
                        const std::vector<double>& cost, Runs& out) const {
  extend_runs(tiles, dim, end, row, in.known ? in.values.data() : nowhere_.data(), cost.data(),
              out.values.data(), out.known);
  out.known = true;
}

void TensorWays::copy_behind(std::size_t phase, Costs& costs) {
  const bool last = phase + 1 == skeleton_.phases();
  for (std::size_t stop = 0; stop < stops().size(); ++stop) {
    double* here = &to_go_[row(phase, stop)];
    if (last && moves_.ends[stop]) {
      for (const std::size_t tile : lattice(phase).ones()) {
        const std::size_t access = moves_.accesses[stop];
        here[tile] = access == TensorMoves::kNone ? 0 : costs.mac({access}, tile)[0] - operations_;
      }
    } else if (!last) {
      const double* next = to_go(phase + 1, stop);
      const auto fanout = skeleton_.event_after(phase).fanout;
      for (std::size_t tile = 0; tile < lattice(phase).size(); ++tile) {
        here[tile] = next[fanout ? unrolled_.crossings[*fanout][tile] : tile];
      }
    }
  }
}

// From the innermost stop outwards. A jump places the tensor at one stop after the other.
void TensorWays::find_to_go(std::size_t phase, Costs& costs) {
  copy_behind(phase, costs);
  const Lattice& tiles = lattice(phase);
  make_runs(phase);
  for (std::size_t stop = stops().size(); stop-- > 0;) {
    double* here = &to_go_[row(phase, stop)];
    for (const TensorMoves::Edge& edge : moves_.edges[phase]) {
      if (edge.from != stop || costs.is_left_out(edge.placing)) {
        continue;
      }
      const double* below = to_go(phase, edge.to);
      take_least_sum(here, below, costs.plain(edge.placing).data(), tiles.size());
      for (const DimId d : moves_.slides) {
        extend(tiles, d, End::kTo, below, runs_[edge.to][d], costs.sliding(edge.placing, d),
               runs_[stop][d]);
      }
    }
    const DimSet fixed = frozen(phase, stop);
    for (const DimId d : moves_.slides) {
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

void TensorWays::copy_before(std::size_t phase) {
  for (std::size_t stop = 0; stop < stops().size(); ++stop) {
    double* here = &paid_[row(phase, stop)];
    const Stop& at = stops()[stop];
    if (phase == 0) {
      here[lattice(0).size() - 1] = !at.latch && index_of(at.level) == 0 ? 0 : kInfinity;
      continue;
    }
    const double* before = paid(phase - 1, stop);
    const auto fanout = skeleton_.event_after(phase - 1).fanout;
    for (std::size_t tile = 0; tile < lattice(phase - 1).size(); ++tile) {
      double& there = here[fanout ? unrolled_.crossings[*fanout][tile] : tile];
      there = std::min(there, before[tile]);
    }
  }
}

// From the outermost stop inwards.
void TensorWays::find_paid(std::size_t phase, Costs& costs) {
  copy_before(phase);
  const Lattice& tiles = lattice(phase);
  make_runs(phase);
  for (std::size_t stop = 0; stop < stops().size(); ++stop) {
    double* here = &paid_[row(phase, stop)];
    const DimSet fixed = frozen(phase, stop);
    for (const DimId d : moves_.slides) {
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
    for (const TensorMoves::Edge& edge : moves_.edges[phase]) {
      if (edge.from != stop || costs.is_left_out(edge.placing)) {
        continue;
      }
      take_least_sum(&paid_[row(phase, edge.to)], here, costs.plain(edge.placing).data(),
                     tiles.size());
      for (const DimId d : moves_.slides) {
        extend(tiles, d, End::kFrom, fixed.contains(d) ? nowhere_.data() : here, runs_[stop][d],
               costs.sliding(edge.placing, d), runs_[edge.to][d]);
      }
    }
  }
}

}  // namespace mapsim::exact
