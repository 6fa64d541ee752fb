// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/data_set.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/rng.hpp"
#include "costmodel/busiest.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/sparse/occupancy.hpp"

namespace mapsim {

namespace {

// Marks `wanted` of the points, every choice equally likely (Knuth, The Art of Computer
// Programming, volume 2, algorithm 3.4.2S).
void mark(const PointSet& points, std::int64_t wanted, Rng& rng, std::vector<char>& marked) {
  std::int64_t left = count_of(points);
  for (const std::int64_t point : points) {
    if (static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(left--))) < wanted) {
      marked[static_cast<std::size_t>(point)] = 1;
      --wanted;
    }
  }
}

// Points of a structured tensor by their block: those that differ only in their place in it.
std::map<std::int64_t, PointSet> blocks_of(const Workload& workload, TensorId t,
                                           const PointSet& points) {
  const Tensor& tensor = workload.tensors[t];
  const std::vector<std::int64_t> box = box_shape(workload, tensor);
  std::int64_t stride = 1;  // of the rank that has the structure
  std::int64_t extent = 1;
  for (std::size_t r = box.size(); r-- > 0;) {
    if (tensor.ranks[r].terms.size() == 1 &&
        tensor.ranks[r].terms.front().dim == tensor.pattern->dim) {
      extent = box[r];
      break;
    }
    stride *= box[r];
  }
  std::map<std::int64_t, PointSet> blocks;
  for (const std::int64_t point : points) {
    const std::int64_t place = point / stride % extent % tensor.pattern->block;
    blocks[point - place * stride].push_back(point);
  }
  return blocks;
}

std::vector<char> draw_nonzeros(const Workload& workload, TensorId t, Rng& rng) {
  const Tensor& tensor = workload.tensors[t];
  if (tensor.pattern && tensor.pattern->kind == PatternKind::kData) {
    return tensor.pattern->nonzero;
  }
  const Projection projection{workload, t};
  const PointSet points = projection.points(whole_tile(workload));
  std::vector<char> nonzero(static_cast<std::size_t>(projection.box_size()), 0);
  if (!tensor.pattern) {
    mark(points, DensityModel{workload, t}.nonzeros(), rng, nonzero);
    return nonzero;
  }
  for (const auto& block : blocks_of(workload, t, points)) {
    mark(block.second, tensor.pattern->kept, rng, nonzero);
  }
  return nonzero;
}

}  // namespace

PerTensor<DenseTensor> operands_with_zeros(const Workload& workload, std::uint64_t seed) {
  PerTensor<DenseTensor> operands = random_operands(workload, seed);
  Rng rng{seed};
  for (const TensorId t : workload.tensors.ids()) {
    const std::vector<char> nonzero = draw_nonzeros(workload, t, rng);
    for (std::size_t i = 0; i < nonzero.size(); ++i) {
      double& value = operands[t].values[i];
      value = nonzero[i] == 0 ? 0 : value == 0 ? 1 : value;
    }
  }
  return operands;
}

bool has_known_zeros(const Workload& workload) {
  return std::all_of(workload.tensors.begin(), workload.tensors.end(), [](const Tensor& tensor) {
    return tensor.density == 1 || (tensor.pattern && tensor.pattern->kind == PatternKind::kData);
  });
}

// The closed form adds shares up: the last digits are rounding.
bool ZeroCount::agrees() const {
  return std::abs(expected - simulated) <= 1e-9 * std::max(1.0, std::abs(simulated));
}

std::vector<ZeroCount> zero_counts(const Problem& problem, const Mapping& mapping, const Cost& cost,
                                   const Simulation& simulation) {
  const Arch& arch = problem.arch();
  const Workload& workload = problem.workload();
  const SparseCounts& expected = *cost.sparse;
  const SparseCounts& simulated = *simulation.sparse;
  std::vector<ZeroCount> counts{
      {arch.compute.name + " made", expected.operations, simulated.operations},
      {arch.compute.name + " gated", expected.gated, simulated.gated},
      {arch.compute.name + " skipped", expected.skipped, simulated.skipped}};
  for (const LevelId l : expected.levels.ids()) {
    for (const TensorId t : expected.levels[l].ids()) {
      for (const Access access : kAccesses) {
        const auto i = static_cast<std::size_t>(access);
        const SparseAccess& ours = expected.levels[l][t].total[i];
        const SparseAccess& theirs = simulated.levels[l][t].total[i];
        const std::string name =
            arch.levels[l].name + " " + workload.tensors[t].name + " " + rule_of(access).name;
        counts.push_back({name + ", made", ours.actual, theirs.actual});
        counts.push_back({name + ", gated", ours.gated, theirs.gated});
        counts.push_back({name + ", skipped", ours.skipped, theirs.skipped});
        counts.push_back({name + ", format bits", ours.format_bits, theirs.format_bits});
      }
    }
  }
  if (const auto busiest = busiest_instance(problem, mapping, cost)) {
    counts.push_back({"busiest instance, steps", busiest->steps, simulation.busiest_steps});
  }
  counts.erase(std::remove_if(counts.begin(), counts.end(),
                              [](const ZeroCount& count) {
                                return count.expected == 0 && count.simulated == 0;
                              }),
               counts.end());
  return counts;
}

}  // namespace mapsim
