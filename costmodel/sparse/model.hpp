// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/sparse/format.hpp"
#include "costmodel/sparse/occupancy.hpp"
#include "costmodel/sparse/sparse_counts.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// One condition on a tensor's transfers from a level: docs/sparsity.md#conditions.
struct BoundCondition {
  ZeroAct act{};
  TensorId leader{};
};

// A machine's formats and conditions, bound to the tensors of a workload.
class SparseModel {
 public:
  // Throws ConfigError for a model that cannot be counted.
  SparseModel(const Arch& arch, const Workload& workload);

  const TensorFormat& format(LevelId level, TensorId t) const { return formats_[level][t]; }
  const DensityModel& occupancy(TensorId t) const { return occupancies_[index_of(t)]; }
  const std::vector<BoundCondition>& conditions(LevelId level, TensorId t) const {
    return conditions_[level][t];
  }
  bool has_conditions() const { return has_conditions_; }
  const Sparsity& machine() const { return machine_; }

  MovedShare moved(LevelId level, TensorId t, const TileShape& tile) const;
  // The same for an element that the compute units take, with its coordinates in the whole tensor.
  MovedShare taken(LevelId level, TensorId t) const;
  // Is moved() the same for all tiles?
  bool is_constant(LevelId level, TensorId t) const {
    return is_proportional(format(level, t), occupancy(t));
  }
  double stored_bits(LevelId level, TensorId t, const TileShape& tile, Bits width) const;
  // The least share of an element's width that is moved anywhere, and that is kept at any level.
  double least_moved(TensorId t) const { return least_moved_[t]; }
  double least_stored(TensorId t) const { return least_stored_[t]; }
  // Share of the operations whose operands (those that compute units check) are all nonzero.
  double effectual() const { return effectual_; }
  // Share of the operations that compute units make, given their action at zeros; no conditions.
  double operated() const { return machine_.when_zero == ZeroAct::kNothing ? 1 : effectual_; }
  // Lower bounds over all mappings and effects of conditions on transfers: the share of the
  // operations that are made, and of those that take time.
  double least_operated() const { return least_operated_; }
  double least_stepped() const { return least_stepped_; }
  // Do the compute units act on zeros of this operand (when_zero)?
  bool looks_at(TensorId t) const { return looked_at_.contains(t); }
  // Do they name it, but its zeros lack the structure that they take? Then all of it is dense.
  bool lacks_structure(const Workload& workload, TensorId t) const {
    return machine_.structure.block > 0 && t != workload.output() && !looks_at(t) &&
           machine_.zeros_of.contains(workload.tensors[t].role);
  }
  double stepped() const { return machine_.when_zero == ZeroAct::kSkip ? effectual_ : 1; }

 private:
  void bind(const Arch& arch, const Workload& workload, LevelId level);
  void bind_conditions(const Workload& workload, LevelId level);
  void check_seen(const Arch& arch, const Workload& workload) const;
  // Share of the operations with all these operands nonzero. Unknown zeros are independent.
  double share_of_nonzeros(const Workload& workload, const IdSet<TensorId>& tensors) const;
  StoredTile stored(LevelId level, TensorId t, const TileShape& tile,
                    std::optional<Bits> at_most) const;

  Sparsity machine_;
  std::vector<DensityModel> occupancies_;
  PerLevel<PerTensor<TensorFormat>> formats_;
  PerLevel<PerTensor<std::vector<BoundCondition>>> conditions_;
  PerTensor<double> least_moved_, least_stored_;
  bool has_conditions_ = false;
  double effectual_ = 1;
  double least_operated_ = 1, least_stepped_ = 1;
  // Tiles of data that were read before: reading one shape takes a walk over the whole mask, and
  // every unrolling, boundary and level asks again.
  struct ReadTiles;
  std::shared_ptr<ReadTiles> read_;
  IdSet<TensorId> looked_at_;
};

}  // namespace mapsim
