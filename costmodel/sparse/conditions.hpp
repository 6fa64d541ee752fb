// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/sparse/known_zeros.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

// The indices along one dim of the operations that a transfer serves: their number, whether they
// are contiguous, and of packed lanes the batches that a tile without zeros takes (0: not counted).
struct ServedDim {
  std::int64_t count = 1;
  bool is_whole = true;  // an aligned block
  std::int64_t batches = 1;
};
using ServedSpace = PerDim<ServedDim>;

// Dims that index the tensor by themselves: instances that differ in one need different elements,
// so they share no transfer. Over a window's dims tiles overlap.
DimSet dims_apart(const Tensor& tensor);

// The operations that one transfer from `parent` into the tile below the first `child_position`
// loops serves: those of the tile while it stays, in all instances that get its elements by one
// transfer. Perfect nests.
ServedSpace served_space(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute);

// Do tiles of this length along blocks of n:m have parts of blocks, and others at some places than
// at others?
bool cuts_blocks(const DensityModel& occupancy, std::int64_t length);

using ServedByLeader = std::map<TensorId, std::vector<ServedSpace>>;

// Operations at which an instance meets a sum for the first time, so that nothing is read back: the
// indices of each dim, and the share of all operations.
struct FirstVisits {
  std::map<DimId, std::vector<char>> marked;
  double share = 1;
};
// First visits of the tile below the first `child_position` loops: to the child, or (`at_parent`)
// to the parent, to which each of its children may bring it.
FirstVisits first_visits(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute,
                         bool at_parent);

// Probabilities that no condition to skip a transfer of a tensor holds, and that none at all holds.
struct Passed {
  double unskipped = 1;
  double made = 1;
};

// The conditions on transfers of one tensor, from the outermost boundary inwards: a tile that did
// not arrive cannot be read. The innermost of a leader's sets lies within the others.
class ConditionChain {
 public:
  explicit ConditionChain(const SparseModel& model, const Workload& workload)
      : model_{&model}, workload_{&workload} {}
  // Throws ConfigError of lanes that are packed but do not skip.
  void enter(const std::vector<BoundCondition>& conditions, const ServedSpace& space);
  Passed passed() const;
  // Throws ConfigError if such tiles of `t` cut its blocks of n:m, so that what they hold goes by
  // their places, as do the zeros that transfers of `t` wait for.
  void check_tile(TensorId t, const TileShape& tile) const;
  // The same for elements of `t` that are not zero. Differs where both its zeros and a leader's are
  // data.
  Passed passed_nonzeros(TensorId t) const;
  // The same for transfers that are no first visits. Zeros at unknown places are as frequent there,
  // but for tiles that cut blocks of n:m.
  Passed passed_again(const FirstVisits& first) const;
  // Served spaces of the innermost conditions, one per leader: to skip, and of any kind.
  const ServedByLeader& skip() const { return skip_; }
  const ServedByLeader& any() const { return any_; }

 private:
  const SparseModel* model_;
  const Workload* workload_;
  ServedByLeader skip_, any_;
};

// Probability that each of the sets has a nonzero of its leader; all sets contain one operation.
// `among`: of these operations only.
double all_hit(const SparseModel& model, const Workload& workload, const ServedByLeader& sets,
               const std::map<DimId, std::vector<char>>& among = {});

// The sets whose leaders' zeros are data.
KnownZeros known_sets(const SparseModel& model, const Workload& workload,
                      const ServedByLeader& sets);

// Conditions of every operation: zeros of its operands, and of the tiles that bring these.
struct AwaitedSets {
  ServedByLeader skip, any;
};
AwaitedSets awaited_sets(const Problem& problem, const Nest& nest);

}  // namespace mapsim
