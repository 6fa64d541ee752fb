// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mapper/exact/costs.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/sweeps.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

// What each tensor would have to pay if it were alone: energy [pJ] of the least way from the start
// to where it was placed last (a stop of the skeleton) and a tile, and of the least way on from
// there, when every loop is the tensor's to choose and every tile has its room for itself. A nest
// is a way of each of its tensors, and its energy is the sum of theirs and of the operations: so
// sums over the tensors never overestimate, and to_go() falls along an edge by at most its cost.
// docs/decisions/0038-ways-of-one-tensor.md.
class Alone {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 public:
  // Finds what is to go.
  Alone(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs);
  // The least from the start.
  double root() const;
  // Finds what has been paid; until then it is infinite.
  void find_paid(Costs& costs);

  // At all tiles of the phase's lattice.
  const double* paid(TensorId t, std::size_t phase, std::size_t stop) const {
    return &paid_[t][row(t, phase, stop)];
  }
  const double* to_go(TensorId t, std::size_t phase, std::size_t stop) const {
    return &to_go_[t][row(t, phase, stop)];
  }
  // Of all tensors.
  double to_go(std::size_t phase, std::size_t pointers, std::size_t tile) const;
  // sum[i] = what is paid at tiles[i]
  void add_paid(std::size_t phase, std::size_t pointers, std::span<const std::uint32_t> tiles,
                std::vector<double>& sum) const;

  // The tiles, ascending, through which a nest may need no more than `most`, row by row.
  class Selection {
   public:
    Selection(const Alone& alone, double most);
    // Valid until the next call.
    std::span<const std::uint32_t> tiles(std::size_t phase, std::size_t pointers);

   private:
    // Tiles that are possible by what one tensor and those behind it need.
    struct Part {
      std::size_t stop = kNone;  // of the tensor
      double rest = 0;           // what those before it need at least
      std::vector<std::uint32_t> tiles;
      std::vector<double> sums;  // of the tensors of the part, and the operations
    };
    void start(std::size_t phase);
    void extend(std::size_t i);

    const Alone& alone_;
    double most_;
    std::size_t phase_ = kNone;
    std::vector<Part> parts_;  // per tensor, and one with none
  };

 private:
  struct Edge {
    std::size_t from = 0;  // stops
    std::size_t to = 0;
    std::size_t placing = 0;
  };
  // What a tensor's ways are made of.
  struct Moves {
    std::vector<std::vector<Edge>> edges;  // per phase
    std::vector<bool> ends;                // per stop: may a nest end there?
    std::vector<std::size_t> accesses;     // per stop: the placing of the units', or kNone
    std::vector<DimId> slides;             // dims along which tiles slide
  };
  // Values on the way of a jump; as long as nothing leads there, not to be read.
  struct Runs {
    std::vector<double> values;
    bool known = false;
  };

  std::size_t row(TensorId t, std::size_t phase, std::size_t stop) const {
    return first_[phase] * skeleton_.stops(t).size() + stop * size_[phase];
  }
  const Lattice& lattice(std::size_t phase) const {
    return unrolled_.lattices[skeleton_.crossed(phase)];
  }
  DimSet frozen(TensorId t, std::size_t phase, std::size_t stop) const;
  Moves moves_of(TensorId t) const;
  void make_runs(const Moves& moves, TensorId t, std::size_t phase);
  void extend(const Lattice& tiles, DimId dim, End end, const double* row, const Runs& in,
              const std::vector<double>& cost, Runs& out) const;
  void find_to_go(const Moves& moves, TensorId t, std::size_t phase, Costs& costs);
  void copy_behind(const Moves& moves, TensorId t, std::size_t phase, Costs& costs);
  void find_paid(const Moves& moves, TensorId t, std::size_t phase, Costs& costs);
  void copy_before(TensorId t, std::size_t phase);

  const Skeleton& skeleton_;
  const Unrolled& unrolled_;
  double operations_ = 0;
  std::vector<std::size_t> first_;  // per phase: tiles of the phases before it
  std::vector<std::size_t> size_;   // per phase: tiles
  PerTensor<Moves> moves_;
  PerTensor<std::vector<double>> paid_;
  PerTensor<std::vector<double>> to_go_;
  PerTensor<std::vector<std::vector<double>>> least_;  // of their sum, per phase and stop
  std::vector<double> nowhere_;                        // infinite rows and runs
  std::vector<PerDim<Runs>> runs_;                     // per stop and dim
};

}  // namespace mapsim::exact
