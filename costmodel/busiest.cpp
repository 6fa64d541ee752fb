// SPDX-License-Identifier: Apache-2.0
#include "costmodel/busiest.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "core/arithmetic.hpp"
#include "costmodel/boundary_cost.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/sparse/conditions.hpp"
#include "costmodel/sparse/packing.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

// More operations than this are not counted one by one: some seconds.
constexpr double kMostOperations = 2e8;

// How the times of a loop's indices make that of the loop.
enum class Joined : std::uint8_t { kSum, kMaximum, kMean, kPacked };

struct TimedLoop {
  // Of the nest. Several: those over one dim whose indices are packed into lanes, the lanes last.
  std::vector<std::size_t> loops;
  Joined joined = Joined::kSum;
};

// A nest's loops in the order in which times are joined, the last ones first. Instances that do not
// wait at every tile go through the loops around them by themselves: their loops come before those,
// up to the next barrier.
std::vector<TimedLoop> timed_loops(const Problem& problem, const Nest& nest) {
  const auto balance_of = [&](std::size_t i) {
    const std::optional<FanoutId> fanout = nest.loops[i].fanout;
    return fanout ? problem.arch().fanouts[*fanout].balance : Balance::kBarrier;
  };
  std::vector<TimedLoop> order;
  std::vector<bool> is_packed(nest.loops.size(), false);  // with lanes further in
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    if (balance_of(i) == Balance::kPacked) {
      for (const std::size_t loop : packed_loops(problem, nest, i)) {
        is_packed[loop] = loop != i;
      }
    }
  }
  std::size_t after_barrier = 0;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const Balance balance = balance_of(i);
    if (balance == Balance::kPacked) {
      order.push_back({packed_loops(problem, nest, i), Joined::kPacked});
      after_barrier = order.size();
    } else if (balance != Balance::kBarrier) {
      const Joined joined = balance == Balance::kEnd ? Joined::kMaximum : Joined::kMean;
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(after_barrier), {{i}, joined});
      ++after_barrier;
    } else if (!is_packed[i]) {
      order.push_back({{i}, nest.loops[i].fanout ? Joined::kMaximum : Joined::kSum});
      after_barrier = nest.loops[i].fanout ? order.size() : after_barrier;
    }
  }
  return order;
}

std::int64_t indices_of(const Nest& nest, const TimedLoop& timed) {
  std::int64_t indices = 1;
  for (const std::size_t loop : timed.loops) {
    indices *= nest.loops[loop].bound;
  }
  return indices;
}

// Steps that a loop multiplies those inside of it by, if all its indices take equally many.
double repeated(const Nest& nest, const TimedLoop& timed) {
  const bool is_packed = timed.joined == Joined::kPacked;
  return timed.joined == Joined::kSum ? real(indices_of(nest, timed))
         : is_packed ? real(indices_of(nest, timed)) / real(nest.loops[timed.loops.back()].bound)
                     : 1;
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
      // What all indices of a loop have in common is counted once.
      if (nest.perfect && !dims.contains(nest.loops[timed.loops.back()].dim)) {
        times_ *= repeated(nest, timed);
        continue;
      }
      loops_.push_back(timed);
      operations_ *= real(indices_of(nest, timed));
    }
    for (const NestLoop& loop : nest.loops) {
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
    const TimedLoop& timed = loops_[i];
    double sum = 0;
    double most = 0;
    double batches = 0;
    const std::int64_t lanes = nest_.loops[timed.loops.back()].bound;
    std::int64_t in_batch = 0;
    for_each_index(timed.loops, 0, elements, [&](const Elements& at) {
      const double time = joined(i + 1, at);
      sum += time;
      most = std::max(most, time);
      if (timed.joined == Joined::kPacked && time > 0 && ++in_batch == lanes) {
        batches += std::exchange(most, 0);
        in_batch = 0;
      }
    });
    return timed.joined == Joined::kPacked    ? batches + most
           : timed.joined == Joined::kMaximum ? most
           : timed.joined == Joined::kMean    ? sum / real(lanes)
                                              : sum;
  }

  // Of the loops from `first` on.
  template <class Visit>
  void for_each_index(const std::vector<std::size_t>& loops, std::size_t first, Elements elements,
                      const Visit& visit) {
    if (first == loops.size()) {
      visit(elements);
      return;
    }
    const std::size_t loop = loops[first];
    for (std::int64_t& at = index_[loop] = 0; at < nest_.loops[loop].bound; ++at) {
      for_each_index(loops, first + 1, elements, visit);
      for (std::size_t t = 0; t < tensors_.size(); ++t) {
        elements[t] += strides_[loop * tensors_.size() + t];
      }
    }
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
  std::vector<std::int64_t> strides_;  // per loop of the nest and tensor: to the next index
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
    outside *= timed.joined == Joined::kMaximum || timed.joined == Joined::kMean
                   ? 1
                   : repeated(nest, timed);
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const bool indexes = dims.contains(nest.loops[order[i].loops.back()].dim);
    const std::int64_t indices = indices_of(nest, order[i]);
    const double times = repeated(nest, order[i]);
    if (order[i].joined == Joined::kSum || order[i].joined == Joined::kPacked) {
      outside /= times;
      steps *= indexes ? 1 : times;
      share *= indexes ? indices : 1;  // of packed indices the mean counts
      shared *= indexes && order[i].joined == Joined::kPacked
                    ? nest.loops[order[i].loops.back()].bound
                    : 1;
    } else if (indexes && order[i].joined == Joined::kMean) {
      share *= indices;
      shared *= indices;
    } else if (indexes) {
      instances *= indices;
      const double nonzeros = expected_maximum(
          hypergeometric(occupancy.size(), occupancy.nonzeros(), share), instances);
      most = std::max(most, outside * steps * nonzeros / real(shared));
    }
  }
  return most;
}

// The steps of an instance if nothing is skipped.
double dense_steps(const Problem& problem, const Nest& nest) {
  double steps = 1;
  for (const TimedLoop& timed : timed_loops(problem, nest)) {
    steps *= repeated(nest, timed);
  }
  return steps;
}

bool is_one_operation(const std::vector<ServedSpace>& sets) {
  return std::all_of(sets.begin(), sets.end(), [](const ServedSpace& space) {
    return std::all_of(space.begin(), space.end(), [](const ServedDim& d) { return d.count == 1; });
  });
}

bool has_zeros_along(const Problem& problem, TensorId t, DimId d) {
  return problem.workload().tensors[t].dims().contains(d) &&
         !problem.sparse()->occupancy(t).is_dense();
}

// The dims of the loops that are joined inside of this one, but for its own.
DimSet dims_inside(const Nest& nest, const std::vector<TimedLoop>& order, std::size_t of) {
  DimSet dims;
  for (std::size_t i = of + 1; i < order.size(); ++i) {
    for (const std::size_t loop : order[i].loops) {
      if (nest.loops[loop].dim != nest.loops[order[of].loops.back()].dim) {
        dims.insert(nest.loops[loop].dim);
      }
    }
  }
  return dims;
}

// The share of the steps that lanes take which are packed with nonzeros of this tensor, its density
// where none are: the last ones of a tile may leave lanes empty. At least that, if lanes take
// several elements each. nullopt: not known, but no less than the density; so it is where zeros of
// other tensors decide about the same lanes, or where lanes go through several lines of this one.
std::optional<double> packed_share(const Problem& problem, const Nest& nest, TensorId t,
                                   const ServedByLeader& sets) {
  const Tensor& tensor = problem.workload().tensors[t];
  const DensityModel& occupancy = problem.sparse()->occupancy(t);
  const std::vector<TimedLoop> order = timed_loops(problem, nest);
  std::optional<double> share;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const NestLoop& lanes = nest.loops[order[i].loops.back()];
    if (order[i].joined != Joined::kPacked || !tensor.dims().contains(lanes.dim)) {
      continue;
    }
    const std::int64_t elements = indices_of(nest, order[i]) * lanes.extent;  // of the tile
    const bool is_along =
        occupancy.is_uniform() ||
        (occupancy.pattern().kind == PatternKind::kStructured &&
         occupancy.pattern().dim == lanes.dim && elements % occupancy.pattern().block == 0);
    const bool is_alone = std::none_of(sets.begin(), sets.end(), [&](const auto& set) {
      return set.first != t && has_zeros_along(problem, set.first, lanes.dim);
    });
    if (share || !is_along || !is_alone || !(tensor.dims() & dims_inside(nest, order, i)).empty()) {
      return std::nullopt;
    }
    const std::int64_t steps = elements / lanes.bound;
    if (occupancy.is_uniform()) {
      share = expected_groups(hypergeometric(occupancy.size(), occupancy.nonzeros(), elements),
                              lanes.bound) /
              real(steps);
    } else {
      const std::int64_t kept = elements / occupancy.pattern().block * occupancy.pattern().kept;
      share = real(ceil_div(kept, lanes.bound)) / real(steps);
    }
  }
  return share;
}

// The same of all tensors whose zeros are not data. Tensors are independent.
double packed_share(const Problem& problem, const Nest& nest, const ServedByLeader& drawn,
                    const ServedByLeader& sets) {
  double share = 1;
  for (const auto& [leader, spaces] : drawn) {
    const std::optional<double> packed = nest.perfect && is_one_operation(spaces)
                                             ? packed_share(problem, nest, leader, sets)
                                             : std::nullopt;
    share *= packed ? *packed : all_hit(*problem.sparse(), problem.workload(), {{leader, spaces}});
  }
  return share;
}

// Are lanes that known zeros fill filled less by the share of the others on average? They may need
// fewer batches of several lanes than that, unless the others leave out all lanes alike.
bool is_thinned(const Problem& problem, const Nest& nest, const ServedByLeader& sets,
                const ServedByLeader& drawn) {
  const std::vector<TimedLoop> order = timed_loops(problem, nest);
  bool thinned = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const DimId dim = nest.loops[order[i].loops.back()].dim;
    const DimSet inside = dims_inside(nest, order, i);
    bool fills = !nest.perfect;  // do known zeros, or ends of tiles, tell the lanes apart?
    bool varies = !nest.perfect;
    for (const auto& [t, spaces] : sets) {
      if (drawn.count(t) == 0 && has_zeros_along(problem, t, dim)) {
        fills = true;
        varies = varies || !(problem.workload().tensors[t].dims() & inside).empty();
      }
    }
    for (const auto& [t, spaces] : drawn) {
      const bool decides = has_zeros_along(problem, t, dim) ||
                           (varies && !(problem.workload().tensors[t].dims() & inside).empty());
      thinned = thinned && !(order[i].joined == Joined::kPacked && fills && decides);
    }
  }
  return thinned;
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
  const double packed = packed_share(problem, nest, drawn, sets);
  // At any data a maximum of means is no more than the mean of maxima.
  if (KnownTime time{problem, nest, known};
      !known.hits().empty() && time.operations() <= kMostOperations) {
    busiest.steps = is_thinned(problem, nest, sets, drawn) ? time.time() * packed : 0;
    busiest.exact = drawn.empty();
  } else if (known.hits().empty() && nest.perfect) {
    busiest.steps = packed * dense_steps(problem, nest);
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
