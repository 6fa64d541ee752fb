// SPDX-License-Identifier: Apache-2.0
#include "costmodel/busiest.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "core/arithmetic.hpp"
#include "costmodel/boundary_cost.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/sparse/conditions.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

// More operations than this are not counted one by one: some seconds.
constexpr double kMostOperations = 2e8;

// How the times of a loop's indices make that of the loop.
enum class Joined : std::uint8_t { kSum, kMaximum, kMean };

struct TimedLoop {
  std::size_t loop = 0;  // of the nest
  Joined joined = Joined::kSum;
};

// A nest's loops in the order in which times are joined, the last ones first. Instances that do not
// wait at every tile go through the loops around them by themselves: their loops come before those,
// up to the next barrier.
std::vector<TimedLoop> timed_loops(const Problem& problem, const Nest& nest) {
  std::vector<TimedLoop> order;
  std::size_t after_barrier = 0;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const std::optional<FanoutId> fanout = nest.loops[i].fanout;
    const Balance balance = fanout ? problem.arch().fanouts[*fanout].balance : Balance::kBarrier;
    if (balance != Balance::kBarrier) {
      const Joined joined = balance == Balance::kEnd ? Joined::kMaximum : Joined::kMean;
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(after_barrier), {i, joined});
      ++after_barrier;
    } else {
      order.push_back({i, fanout ? Joined::kMaximum : Joined::kSum});
      after_barrier = fanout ? order.size() : after_barrier;
    }
  }
  return order;
}

// Counts the operations at which all tensors of known zeros have nonzeros, loop by loop.
class KnownTime {
 public:
  KnownTime(const Problem& problem, const Nest& nest, const KnownZeros& known)
      : workload_{problem.workload()}, nest_{nest} {
    DimSet dims;
    for (const auto& [t, hit] : known.hits()) {
      tensors_.push_back(&hit);
      dims = dims | workload_.tensors[t].dims();
    }
    for (const TimedLoop& timed : timed_loops(problem, nest)) {
      const NestLoop& loop = nest.loops[timed.loop];
      // What all indices of a loop have in common is counted once.
      if (nest.perfect && !dims.contains(loop.dim)) {
        times_ *= timed.joined == Joined::kSum ? real(loop.bound) : 1;
        continue;
      }
      loops_.push_back(timed);
      operations_ *= real(loop.bound);
      for (const auto& [t, hit] : known.hits()) {
        strides_.push_back(stride(t, loop.dim) * loop.extent);
      }
    }
    index_.assign(nest.loops.size(), 0);
  }

  double operations() const { return operations_; }
  double time() { return times_ * joined(0, {}); }

 private:
  using Elements = std::array<std::int64_t, 2>;  // of an operation, in the tensors of known zeros

  std::int64_t stride(TensorId t, DimId d) const {
    const Tensor& tensor = workload_.tensors[t];
    const TileShape box = tile_shape(tensor, bounds_of(workload_));
    std::int64_t each = 1;
    std::int64_t sum = 0;
    for (std::size_t r = box.size(); r-- > 0;) {
      for (const Term& term : tensor.ranks[r].terms) {
        sum += term.dim == d ? each * term.coefficient : 0;
      }
      each *= box[r];
    }
    return sum;
  }

  double joined(std::size_t i, Elements elements) {
    if (i == loops_.size()) {
      bool hit = nest_.perfect || is_inside();
      for (std::size_t t = 0; t < tensors_.size() && hit; ++t) {
        hit = (*tensors_[t])[static_cast<std::size_t>(elements[t])] != 0;
      }
      return hit ? 1 : 0;
    }
    const NestLoop& loop = nest_.loops[loops_[i].loop];
    double sum = 0;
    double most = 0;
    for (std::int64_t& at = index_[loops_[i].loop] = 0; at < loop.bound; ++at) {
      const double time = joined(i + 1, elements);
      sum += time;
      most = std::max(most, time);
      for (std::size_t t = 0; t < tensors_.size(); ++t) {
        elements[t] += strides_[i * tensors_.size() + t];
      }
    }
    return loops_[i].joined == Joined::kMaximum ? most
           : loops_[i].joined == Joined::kMean  ? sum / real(loop.bound)
                                                : sum;
  }

  // Does every piece begin within the tile that its loop cuts?
  bool is_inside() const {
    PerDim<std::int64_t> left = bounds_of(workload_);
    for (std::size_t i = 0; i < nest_.loops.size(); ++i) {
      const NestLoop& loop = nest_.loops[i];
      left[loop.dim] = std::min(left[loop.dim] - index_[i] * loop.extent, loop.extent);
      if (left[loop.dim] <= 0) {
        return false;
      }
    }
    return true;
  }

  const Workload& workload_;
  const Nest& nest_;
  std::vector<const std::vector<char>*> tensors_;
  std::vector<TimedLoop> loops_;
  std::vector<std::int64_t> strides_;  // per loop and tensor: from an index to the next
  std::vector<std::int64_t> index_;    // per loop of the nest
  double times_ = 1, operations_ = 1;
};

// A lower bound of the steps that instances take which skip zeros of this tensor, uniform ones: the
// expected maximum at any one place of the nest where instances wait. Shares of one tensor are
// negatively associated, so it is not below that of independent ones; and a sum of maxima is not
// below the maximum of sums. Elsewhere, instances count by their mean.
double expected_most(const Problem& problem, const Nest& nest, TensorId t) {
  const DimSet dims = problem.workload().tensors[t].dims();
  const DensityModel& occupancy = problem.sparse()->occupancy(t);
  double most = 0;
  double steps = 1;  // of the loops from here on that do not index the tensor
  std::int64_t share = 1;
  std::int64_t shared = 1;  // by so many instances equally
  std::int64_t instances = 1;
  const std::vector<TimedLoop> order = timed_loops(problem, nest);
  double outside = 1;
  for (const TimedLoop& timed : order) {
    outside *= timed.joined == Joined::kSum ? real(nest.loops[timed.loop].bound) : 1;
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const NestLoop& loop = nest.loops[order[i].loop];
    const bool indexes = dims.contains(loop.dim);
    if (order[i].joined == Joined::kSum) {
      outside /= real(loop.bound);
      steps *= indexes ? 1 : real(loop.bound);
      share *= indexes ? loop.bound : 1;
    } else if (indexes && order[i].joined == Joined::kMean) {
      share *= loop.bound;
      shared *= loop.bound;
    } else if (indexes) {
      instances *= loop.bound;
      const double nonzeros = expected_maximum(
          hypergeometric(occupancy.size(), occupancy.nonzeros(), share), instances);
      most = std::max(most, outside * steps * nonzeros / real(shared));
    }
  }
  return most;
}

bool is_one_operation(const std::vector<ServedSpace>& sets) {
  return std::all_of(sets.begin(), sets.end(), [](const ServedSpace& space) {
    return std::all_of(space.begin(), space.end(), [](const ServedDim& d) { return d.count == 1; });
  });
}

// Steps of the busiest instance. `known`: of the tensors whose zeros are data, `sets`: of all.
BusiestInstance busiest_steps(const Problem& problem, const Nest& nest, const ServedByLeader& sets,
                              const KnownZeros& known) {
  const SparseModel& model = *problem.sparse();
  const Workload& workload = problem.workload();
  ServedByLeader drawn;  // sets of tensors whose zeros may be anywhere
  for (const auto& [leader, spaces] : sets) {
    if (!model.occupancy(leader).is_data() && !model.occupancy(leader).is_dense()) {
      drawn[leader] = spaces;
    }
  }
  BusiestInstance busiest;
  const double chance = all_hit(model, workload, drawn);
  // At any data a maximum of means is no more than the mean of maxima.
  if (KnownTime time{problem, nest, known};
      !known.hits().empty() && time.operations() <= kMostOperations) {
    busiest.steps = time.time() * chance;
    busiest.exact = drawn.empty();
  }
  for (const auto& [leader, spaces] : drawn) {
    const bool is_element = model.occupancy(leader).is_uniform() && is_one_operation(spaces) &&
                            !has_window(workload.tensors[leader]);
    if (nest.perfect && known.hits().empty() && is_element) {
      const double others = chance / model.occupancy(leader).density();
      busiest.steps = std::max(busiest.steps, expected_most(problem, nest, leader) * others);
    }
  }
  return busiest;
}

}  // namespace

std::optional<BusiestInstance> busiest_instance(const Problem& problem, const Mapping& mapping,
                                                const Cost& cost) {
  if (!cost.sparse) {
    return std::nullopt;
  }
  const Nest nest = make_nest(problem.workload(), mapping);
  const ServedByLeader sets = awaited_sets(problem, nest).skip;
  const bool waits = std::any_of(nest.loops.begin(), nest.loops.end(), [&](const NestLoop& loop) {
    return loop.fanout && problem.arch().fanouts[*loop.fanout].balance != Balance::kIdeal;
  });
  const bool has_zeros = std::any_of(sets.begin(), sets.end(), [&](const auto& set) {
    return !problem.sparse()->occupancy(set.first).is_dense();
  });
  if (!waits || !has_zeros) {
    return std::nullopt;
  }
  BusiestInstance busiest =
      busiest_steps(problem, nest, sets, known_sets(*problem.sparse(), problem.workload(), sets));
  if (!busiest.exact) {  // the mean over the instances that the nest uses
    double instances = 1;
    for (const NestLoop& loop : nest.loops) {
      instances *= loop.fanout ? real(loop.bound) : 1;
    }
    const double mean = (cost.sparse->operations + cost.sparse->gated) / instances;
    busiest.steps = std::max(busiest.steps, mean);
  }
  busiest.compute = Cycles{static_cast<std::int64_t>(
      whole_cycles(busiest.steps * real(problem.arch().compute.issue_interval)))};
  busiest.steady = busiest.compute;
  for (const Resource& resource : cost.latency.resources) {
    busiest.steady = resource.kind == PortKind::kCompute ? busiest.steady
                                                         : std::max(busiest.steady, resource.time);
  }
  return busiest;
}

}  // namespace mapsim
