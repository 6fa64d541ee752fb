// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/branch.hpp"

#include <cmath>

#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/reference/simulate.hpp"

namespace mapsim {

namespace {

PerTensor<Projection> per_tensor(const std::vector<Projection>& projections) {
  PerTensor<Projection> all;
  for (const Projection& projection : projections) {
    all.push_back(projection);
  }
  return all;
}

}  // namespace

WalkedBranch::WalkedBranch(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                           const TreeShape& shape, std::size_t einsum,
                           const std::vector<Projection>& projections)
    : around_{levels_around(chain, tree, shape, einsum)},
      problem_{arch, chain.einsums[einsum]},
      nominal_{with_bounds(chain.einsums[einsum], shape.nodes[shape.leaf_of[einsum]].nominal)},
      projections_{per_tensor(projections)},
      machine_{problem_, nominal_, branch_mapping(tree.nodes[shape.leaf_of[einsum]], around_),
               projections_} {}

void WalkedBranch::run(const IterationTile& box, std::int64_t max_steps, const Around& around) {
  machine_.begin(box);
  const TensorId output = nominal_.output();
  for (const TensorId t : projections_.ids()) {
    HeldPoints& held = machine_.around(t);
    held.points = projections_[t].points(box);
    PointSet known;
    for (const std::int64_t point : held.points) {
      const double value = *around(t, point);
      if (!std::isnan(value)) {
        known.push_back(point);
      } else if (t != output) {
        throw SimulationFault("a value is read that was not made");
      }
      held.values.push_back(std::isnan(value) ? 0 : value);
    }
    if (t == output) {
      machine_.set_known(t, known);
    }
  }
  machine_.run(max_steps, nullptr);
  const HeldPoints& sums = machine_.around(output);
  for (std::size_t i = 0; i < sums.points.size(); ++i) {
    *around(output, sums.points[i]) = sums.values[i];
  }
}

void WalkedBranch::add_to(Counts& counts) const {
  const Counts branch = machine_.counts();
  for (auto& level : counts.levels) {
    for (TensorCounts& at : level) {
      at.busiest = at.total;  // one instance did what groups moved
    }
  }
  add_branch(branch, around_, counts);
}

}  // namespace mapsim
