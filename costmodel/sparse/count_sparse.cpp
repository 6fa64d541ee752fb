// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/count_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/diagnostic.hpp"
#include "costmodel/sparse/conditions.hpp"

namespace mapsim {

namespace {

[[noreturn]] void refuse_partial(const Workload& workload, const std::string& what) {
  throw ConfigError({{workload.name, 0, 0, "",
                      "partial tiles: a nest whose extents do not divide each other is not counted "
                      "with " +
                          what + "; give factors that divide",
                      ""}});
}

void set_access(const AccessCounts& dense, Access access, const MovedShare& share,
                const Passed& elements, const Passed& bits, SparseTensor::Accesses& out) {
  const auto n = static_cast<double>(dense.*rule_of(access).elements);
  SparseAccess& at = out[static_cast<std::size_t>(access)];
  at.actual = n * share.elements * elements.made;
  at.gated = n * share.elements * (elements.unskipped - elements.made);
  at.skipped = n * share.elements * (1 - elements.unskipped);
  at.format_bits = n * share.format_bits * bits.made;
}

class SparseCounter {
 public:
  SparseCounter(const Problem& problem, const Nest& nest, const Counts& counts,
                SparseCounts& sparse)
      : problem_{problem},
        model_{*problem.sparse()},
        workload_{problem.workload()},
        nest_{nest},
        counts_{counts},
        sparse_{sparse} {}

  void count() {
    if (!nest_.perfect && model_.has_conditions()) {
      refuse_partial(workload_, "conditions");
    }
    for (const TensorId t : workload_.tensors.ids()) {
      count_tensor(t);
    }
    count_operations();
  }

 private:
  MovedShare taken(LevelId level, TensorId t) const {
    refuse_parts(level, t);
    return model_.taken(level, t);
  }

  MovedShare share(LevelId level, TensorId t, std::size_t position,
                   const ConditionChain& chain) const {
    refuse_parts(level, t);
    const TileShape tile = tile_shape(workload_.tensors[t], nest_.extents_at(workload_, position));
    if (!model_.is_constant(level, t)) {
      chain.check_tile(t, tile);
    }
    return model_.moved(level, t, tile);
  }

  void refuse_parts(LevelId level, TensorId t) const {
    if (!nest_.perfect && !model_.is_constant(level, t)) {
      refuse_partial(workload_, "the format " + to_string(model_.format(level, t)) + " of " +
                                    workload_.tensors[t].name + " at " +
                                    problem_.arch().levels[level].name);
    }
  }

  // From the outermost level inwards; each boundary is charged at both ends.
  void count_tensor(TensorId t) {
    const auto& placements = nest_.placements[t];
    ConditionChain chain{model_, workload_};
    for (std::size_t i = 0; i < placements.size(); ++i) {
      const Placement& parent = placements[static_cast<LevelId>(i)];
      const bool last = i + 1 == placements.size();
      const std::size_t position =
          last ? nest_.loops.size() : placements[static_cast<LevelId>(i + 1)].position;
      const auto& conditions = model_.conditions(parent.level, t);
      if (!conditions.empty()) {
        check_stated(parent.level, t, last);
        chain.enter(conditions, served_space(problem_, nest_, t, parent, position, last));
      }
      const Passed passed = chain.passed();
      const Passed nonzeros = chain.passed_nonzeros(t);
      const auto again = [&](bool at_parent) {
        return t == workload_.output() ? chain.passed_again(first_visits(problem_, nest_, t, parent,
                                                                         position, last, at_parent))
                                       : passed;
      };
      charge(parent.level, t, true,
             last ? taken(parent.level, t) : share(parent.level, t, position, chain),
             {passed, nonzeros, again(true)});
      if (!last) {
        const LevelId child = placements[static_cast<LevelId>(i + 1)].level;
        sparse_.levels[child][t].up = share(child, t, position, chain);
        charge(child, t, false, sparse_.levels[child][t].up, {passed, nonzeros, again(false)});
      }
    }
  }

  // Elements show their zeros themselves, tiles do not.
  void check_stated(LevelId level, TensorId t, bool elements) const {
    for (const BoundCondition& condition : model_.conditions(level, t)) {
      if (!elements && !is_stated(model_, level, condition.leader)) {
        throw ConfigError({{problem_.arch().name, 0, 0, "",
                            fmt::format("{}: when_empty waits for tiles of {}, but neither there "
                                        "nor further in a format says where its zeros are",
                                        problem_.arch().levels[level].name,
                                        workload_.tensors[condition.leader].name),
                            ""}});
      }
    }
  }

  // Of transfers, of nonzeros among what they move, and of the sums that are read back.
  struct Shares {
    Passed all, nonzeros, again;
  };

  void charge(LevelId level, TensorId t, bool at_parent, const MovedShare& share,
              const Shares& passed) {
    const TensorCounts& dense = counts_.levels[level][t];
    SparseTensor& at = sparse_.levels[level][t];
    const TensorFormat& format = model_.format(level, t);
    const bool by_nonzero = is_compressed(format);
    const bool by_place = !format.ranks.empty() && format.ranks[0].format == RankFormat::kBitmask;
    for (const Access access : kAccesses) {
      const bool returns =
          access == Access::kReadback || (access == Access::kFill && t == workload_.output());
      const Passed& all = returns ? passed.again : passed.all;
      const Passed& nonzeros = returns ? passed.again : passed.nonzeros;
      if (rule_of(access).at_parent == at_parent) {
        const Passed& elements = by_nonzero ? nonzeros : all;
        const Passed& bits = by_place ? all : elements;
        set_access(dense.total, access, share, elements, bits, at.total);
        set_access(dense.busiest, access, share, elements, bits, at.busiest);
      }
    }
  }

  void count_operations() {
    const AwaitedSets awaited = awaited_sets(problem_, nest_);
    const Passed passed{all_hit(model_, workload_, awaited.skip),
                        all_hit(model_, workload_, awaited.any)};
    const auto operations = static_cast<double>(counts_.macs);
    sparse_.operations = operations * passed.made;
    sparse_.gated = operations * (passed.unskipped - passed.made);
    sparse_.skipped = operations * (1 - passed.unskipped);
    sparse_.steps = static_cast<double>(counts_.steps) * passed.unskipped;
  }

  const Problem& problem_;
  const SparseModel& model_;
  const Workload& workload_;
  const Nest& nest_;
  const Counts& counts_;
  SparseCounts& sparse_;
};

}  // namespace

bool is_stated(const SparseModel& model, LevelId from, TensorId leader) {
  for (auto l = index_of(from); l < model.machine().levels.size(); ++l) {
    if (is_compressed(model.format(static_cast<LevelId>(l), leader))) {
      return true;
    }
  }
  return model.occupancy(leader).is_dense();
}

void hold_tiles(const Problem& problem, const Nest& nest, const Counts& counts,
                SparseCounts& sparse) {
  const Workload& workload = problem.workload();
  sparse.levels.resize(counts.levels.size());
  for (const LevelId l : counts.levels.ids()) {
    sparse.levels[l].resize(workload.tensors.size());
    for (const TensorId t : workload.tensors.ids()) {
      sparse.levels[l][t] = {};
    }
  }
  for (const TensorId t : workload.tensors.ids()) {
    for (const Placement& placement : nest.placements[t]) {
      const TileShape tile =
          tile_shape(workload.tensors[t], nest.extents_at(workload, placement.position));
      sparse.levels[placement.level][t].stored_bits = problem.sparse()->stored_bits(
          placement.level, t, tile, counts.levels[placement.level][t].bits);
    }
  }
}

void count_sparse(const Problem& problem, const Nest& nest, const Counts& counts,
                  SparseCounts& sparse) {
  SparseCounter{problem, nest, counts, sparse}.count();
}

}  // namespace mapsim
