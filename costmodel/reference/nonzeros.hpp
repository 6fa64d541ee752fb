// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/problem.hpp"
#include "costmodel/reference/loop_walk.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

// One data set of a run: the nonzero points, and the machine's actions at zeros as docs/sparsity.md
// defines them. It shares formats and conditions with the closed form, but no counting.
class Nonzeros {
 public:
  // `masks`: 1 per nonzero point, over the box of each tensor.
  Nonzeros(const Problem& problem, const LoopWalk& walk, PerTensor<Projection> projections,
           std::vector<std::vector<char>> masks);

  bool is_zero(TensorId t, std::int64_t point) const {
    return masks_[index_of(t)][static_cast<std::size_t>(point)] == 0;
  }
  const SparseModel& model() const { return *problem_.sparse(); }

  struct Acts {
    ZeroAct transfer = ZeroAct::kNothing;
    ZeroAct operations = ZeroAct::kNothing;  // which differ where lanes are packed: those of a step
  };
  // What the level does with a transfer that serves instances below the first `depth` loops from
  // now on until the loop `moving`, or one outside it, advances; without one to the end; with
  // `once`, in this step only.
  Acts act(LevelId level, TensorId t, const std::vector<LoopIndices>& instances, std::size_t depth,
           std::optional<std::size_t> moving, bool once) const;

  // The bits of a tile in a level's format, per element. `to_units`: of an element whose
  // coordinates are those in the whole tensor.
  MovedShare share(LevelId level, TensorId t, const PointSet& tile, bool to_units = false) const;

 private:
  bool is_hit(TensorId leader, const std::vector<LoopIndices>& units, const LoopWalk& now) const;
  std::optional<std::vector<std::size_t>> packed_loops(
      TensorId leader, const std::vector<LoopIndices>& served) const;
  std::vector<std::int64_t> places_of(TensorId t, const TensorFormat& format, bool to_units) const;
  bool is_filled(TensorId leader, const std::vector<LoopIndices>& served,
                 const std::vector<std::size_t>& loops) const;

  const Problem& problem_;
  const LoopWalk& walk_;
  PerTensor<Projection> projections_;
  std::vector<std::vector<char>> masks_;
  std::vector<LoopIndices> units_;  // compute units
};

// The action of the two that saves more.
inline ZeroAct stronger(ZeroAct a, ZeroAct b) { return a < b ? b : a; }

}  // namespace mapsim
