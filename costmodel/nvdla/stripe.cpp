// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/stripe.hpp"

#include <algorithm>

#include "costmodel/nvdla/sheet_layer.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// Walks the loops of a nest as the first instance goes through them, outside in.
class StripeWalk {
 public:
  StripeWalk(const Problem& problem, std::int64_t least, const Nest& nest)
      : nest_{nest}, least_{least}, sizes_{bounds_of(problem.workload())} {}

  // Of the loops from i on; those from `end` on are one stripe.
  Stripes walk(std::size_t i, std::size_t end) {
    if (i == end) {
      const std::int64_t operations =
          end == nest_.loops.size() ? 1 : walk(i, nest_.loops.size()).count;
      return {1, operations, std::max(least_, operations)};
    }
    const NestLoop& loop = nest_.loops[i];
    const std::int64_t size = sizes_[loop.dim];
    const std::int64_t whole = loop.fanout ? 1 : size / loop.extent;
    const std::int64_t rest = loop.fanout ? 0 : size % loop.extent;
    Stripes found;
    const auto add = [&](std::int64_t times, std::int64_t extent) {
      if (times > 0 && extent > 0) {
        sizes_[loop.dim] = extent;
        const Stripes part = walk(i + 1, end);
        found.count += times * part.count;
        found.operations += times * part.operations;
        found.cycles += times * part.cycles;
      }
    };
    add(whole, std::min(size, loop.extent));
    add(1, rest);
    sizes_[loop.dim] = size;
    return found;
  }

 private:
  const Nest& nest_;
  std::int64_t least_;
  PerDim<std::int64_t> sizes_;
};

std::optional<TensorId> weights_of(const Workload& workload) {
  for (const TensorId t : workload.tensors.ids()) {
    if (workload.tensors[t].role == Role::kWeight) {
      return t;
    }
  }
  return std::nullopt;
}

// Of the loops before `position`, those up to the innermost temporal one over a dim of the tensor.
std::size_t moving_loops(const Problem& problem, const Nest& nest, TensorId tensor,
                         std::size_t position) {
  std::size_t moving = 0;
  for (std::size_t i = 0; i < position; ++i) {
    const NestLoop& loop = nest.loops[i];
    if (!loop.fanout && problem.shape(tensor).dims.contains(loop.dim)) {
      moving = i + 1;
    }
  }
  return moving;
}

// Loops up to the innermost one that exchanges the weights in the array. Without a place there,
// every operation does.
std::size_t exchanging_loops(const Problem& problem, const NvdlaTiming& timing, const Nest& nest,
                             TensorId weights) {
  std::size_t position = nest.loops.size();
  bool stays = problem.arch().compute.register_reuse.contains(Role::kWeight);
  for (const Placement& place : nest.placements[weights]) {
    if (!problem.arch().is_above(place.level, timing.array)) {
      position = place.position;
      stays = true;
    }
  }
  return stays ? moving_loops(problem, nest, weights, position) : nest.loops.size();
}

// Loops up to the innermost one that exchanges the sums in the accumulators, storages of the output
// between buffer and array; 0 without any.
std::size_t draining_loops(const Problem& problem, const NvdlaTiming& timing, const Nest& nest) {
  const TensorId output = problem.workload().output();
  std::size_t drained = 0;
  for (const Placement& place : nest.placements[output]) {
    if (place.level > timing.buffer && problem.arch().is_above(place.level, timing.array)) {
      drained = moving_loops(problem, nest, output, place.position);
    }
  }
  return drained;
}

}  // namespace

Stripes stripes_of(const Problem& problem, const NvdlaTiming& timing, const Nest& nest) {
  const std::optional<TensorId> weights = weights_of(problem.workload());
  const std::size_t folded = weights ? std::max(exchanging_loops(problem, timing, nest, *weights),
                                                draining_loops(problem, timing, nest))
                                     : nest.loops.size();
  return StripeWalk{problem, timing.least_stripe, nest}.walk(0, folded);
}

std::int64_t post_cycles(const Problem& problem, const NvdlaTiming& timing) {
  if (timing.post_throughput == 0) {
    return 0;
  }
  const Workload& workload = problem.workload();
  std::int64_t kernels = 1;
  std::int64_t positions = outputs_per_element(workload);
  for (const DimId d : workload.dims.ids()) {
    if (workload.tensors[workload.output()].dims().contains(d)) {
      (workload.gemm_axis(d) == GemmAxis::kN ? kernels : positions) *= workload.dims[d].bound;
    }
  }
  return positions * ((kernels + timing.post_throughput - 1) / timing.post_throughput);
}

ComputeTime nvdla_time(const Problem& problem, const NvdlaTiming& timing, const Nest& nest) {
  ComputeTime time;
  if (const std::optional<SheetTimes> sheet = sheet_times(problem)) {
    time.busy = sheet->mac;
    return time;
  }
  const Stripes stripes = stripes_of(problem, timing, nest);
  time.folds = stripes.count;
  time.stationary = weights_of(problem.workload());
  time.busy = Cycles{stripes.operations};
  time.load = Cycles{stripes.cycles - stripes.operations};
  time.skew = Cycles{std::max<std::int64_t>(post_cycles(problem, timing) - stripes.cycles, 0)};
  return time;
}

namespace {

std::int64_t bank_bits(const Arch& arch, const NvdlaTiming& timing) {
  return std::max<std::int64_t>(arch.levels[timing.buffer].capacity.total().count() / timing.banks,
                                1);
}

}  // namespace

std::int64_t banks_for(const Arch& arch, const NvdlaTiming& timing, Bits tile) {
  const std::int64_t bank = bank_bits(arch, timing);
  return (tile.count() + bank - 1) / bank;
}

Bits banked(const Arch& arch, const NvdlaTiming& timing, Bits tile) {
  return Bits{banks_for(arch, timing, tile) * bank_bits(arch, timing)};
}

}  // namespace mapsim
