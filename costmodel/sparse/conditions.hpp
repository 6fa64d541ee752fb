// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

// Indices of the operation space that a transfer serves, along one dim: how many, and whether they
// lie side by side.
struct ServedDim {
  std::int64_t count = 1;
  bool is_whole = true;  // an aligned block
};
using ServedSpace = PerDim<ServedDim>;

// What one transfer from `parent` into the tile below the first `child_position` loops serves:
// that tile, over the steps for which it stays, of all instances that share the transfer. Perfect
// nests.
ServedSpace served_space(const Problem& problem, const Nest& nest, TensorId tensor,
                         const Placement& parent, std::size_t child_position, bool at_compute);

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
  // Served spaces of the innermost conditions of a leader: to skip, and of any kind.
  struct Sets {
    std::vector<ServedSpace> skip, any;  // none or one
  };
  const std::map<TensorId, Sets>& leaders() const { return leaders_; }

 private:
  const SparseModel* model_;
  const Workload* workload_;
  std::map<TensorId, Sets> leaders_;
};

// Chance that every one of the sets has a nonzero of the leader; all of them contain one operation.
double all_hit(const SparseModel& model, const Workload& workload, TensorId leader,
               const std::vector<ServedSpace>& sets);

}  // namespace mapsim
