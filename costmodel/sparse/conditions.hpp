// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/sparse/known_zeros.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

// Indices of the operation space that a transfer serves, along one dim: how many, and whether they
// lie side by side.
struct ServedDim {
  std::int64_t count = 1;
  bool is_whole = true;  // an aligned block
};
using ServedSpace = PerDim<ServedDim>;

// Dims that index the tensor by themselves: instances that differ in one get other elements, so
// that no transfer serves several. Over a window's dims tiles overlap.
DimSet dims_apart(const Tensor& tensor);

// What one transfer from `parent` into the tile below the first `child_position` loops serves:
// that tile, over the steps for which it stays, of all instances that get the same elements by one
// transfer. Perfect nests.
ServedSpace served_space(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute);

using ServedByLeader = std::map<TensorId, std::vector<ServedSpace>>;

// Operations at which a sum comes to an instance for the first time, so that nothing is read back:
// the indices of each dim, and the share of all operations.
struct FirstVisits {
  std::map<DimId, std::vector<char>> marked;
  double share = 1;
};
// Of the tile below the first `child_position` loops: to the child, or (`at_parent`) to the parent,
// whose children may each bring it.
FirstVisits first_visits(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute,
                         bool at_parent);

// Chances that a transfer of a tensor is made: that no condition to skip it holds, and none at all.
struct Passed {
  double unskipped = 1;
  double made = 1;
};

// The conditions on transfers of one tensor, from the outermost boundary inwards: a tile that did
// not come cannot be read. Of several sets of one leader the innermost lies within the others.
class ConditionChain {
 public:
  explicit ConditionChain(const SparseModel& model, const Workload& workload)
      : model_{&model}, workload_{&workload} {}
  void enter(const std::vector<BoundCondition>& conditions, const ServedSpace& space);
  Passed passed() const;
  // Of the transfers that are no first visits. Zeros at unknown places are no rarer there.
  Passed passed_again(const FirstVisits& first) const;
  // Served spaces of the innermost conditions, one per leader: to skip, and of any kind.
  const ServedByLeader& skip() const { return skip_; }
  const ServedByLeader& any() const { return any_; }

 private:
  const SparseModel* model_;
  const Workload* workload_;
  ServedByLeader skip_, any_;
};

// Chance that every one of the sets has a nonzero of its leader; all of them contain one operation.
// `among`: of these operations only.
double all_hit(const SparseModel& model, const Workload& workload, const ServedByLeader& sets,
               const std::map<DimId, std::vector<char>>& among = {});

// The sets whose leaders' zeros are data.
KnownZeros known_sets(const SparseModel& model, const Workload& workload,
                      const ServedByLeader& sets);

// What every operation waits for: zeros of its operands, and the tiles that these come in.
struct AwaitedSets {
  ServedByLeader skip, any;
};
AwaitedSets awaited_sets(const Problem& problem, const Nest& nest);

}  // namespace mapsim
