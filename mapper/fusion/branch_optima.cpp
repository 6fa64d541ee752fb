// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/branch_optima.hpp"

#include <algorithm>
#include <bit>

#include "mapper/label_search/label_search.hpp"
#include "mapper/label_search/rebuild.hpp"

namespace mapsim::fusion {

using exact::kInfinity;

double Branch::operations() const {
  double operations = 1;
  for (const DimId d : bounds.ids()) {
    operations *= entry.mean_size(d, bounds[d]);
  }
  return operations;
}

BranchOptima::BranchOptima(const Arch& arch, const EinsumChain& chain, const Deadline& deadline)
    : arch_{arch}, chain_{chain}, deadline_{deadline}, capacities_{capacities_of(arch)} {}

// What branches of all sizes share.
BranchOptima::Signature BranchOptima::family(const Branch& branch) {
  Signature key{static_cast<std::int64_t>(branch.einsum),
                branch.entry.final_sums ? (*branch.entry.final_sums ? 1 : 0) : -1};
  for (const LevelId level : branch.entry.sources) {
    key.push_back(static_cast<std::int64_t>(index_of(level)));
  }
  return key;
}

BranchOptima::Signature BranchOptima::signature(const Branch& branch) {
  Signature key = family(branch);
  key.push_back(std::bit_cast<std::int64_t>(branch.entry.sums_begun));
  for (const DimId d : branch.bounds.ids()) {
    key.push_back(branch.bounds[d]);
    for (std::size_t i = 0; branch.entry.varies(d) && i < branch.entry.lengths[d].size(); ++i) {
      key.push_back(-branch.entry.lengths[d][i].size);
      key.push_back(-branch.entry.lengths[d][i].times);
    }
  }
  return key;
}

namespace {

bool is_no_less(const Taken& a, const Taken& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x >= y; });
}

bool divides(const PerDim<std::int64_t>& small, const PerDim<std::int64_t>& large) {
  for (const DimId d : small.ids()) {
    if (large[d] % small[d] != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

const BranchOptima::Found* BranchOptima::find(const Branch& branch, const Taken& taken) const {
  const auto known = found_.find(signature(branch));
  if (known == found_.end()) {
    return nullptr;
  }
  for (const Found& found : known->second) {
    const bool is_infeasible = !(found.optimum.energy < kInfinity);
    if (is_no_less(taken, found.taken) &&
        (is_infeasible || fits(capacities_, taken + found.optimum.used))) {
      return &found;
    }
  }
  return nullptr;
}

bool BranchOptima::is_known(const Branch& branch, const Taken& base) const {
  return find(branch, base) != nullptr;
}

double BranchOptima::bound(const Branch& branch, const Taken& taken) {
  double most = 0;
  const auto known = found_.find(signature(branch));
  for (std::size_t i = 0; known != found_.end() && i < known->second.size(); ++i) {
    if (is_no_less(taken, known->second[i].taken)) {
      most = std::max(most, known->second[i].optimum.energy);
    }
  }
  if (most > 0) {
    return most;
  }
  const auto& others = families_[family(branch)];
  const auto closest = std::find_if(others.begin(), others.end(), [&](const PerOperation& other) {
    return divides(branch.bounds, other.bounds) && is_no_less(taken, other.taken);
  });
  return closest == others.end() ? 0 : closest->energy * branch.operations();
}

const BranchOptimum& BranchOptima::optimum(const Branch& branch, const Taken& taken) {
  if (const Found* found = find(branch, taken)) {
    return found->optimum;
  }
  deadline_.check();
  ++searches_;
  const double expected = bound(branch, taken);
  std::deque<Found>& known = found_[signature(branch)];
  known.push_back({taken, search(branch, taken)});
  const BranchOptimum& optimum = known.back().optimum;
  if (optimum.energy < kInfinity && optimum.energy > expected * (1 + 1e-9)) {
    const double each = optimum.energy * (1 - 1e-12) / branch.operations();
    std::vector<PerOperation>& others = families_[family(branch)];
    others.insert(std::find_if(others.begin(), others.end(),
                               [&](const PerOperation& other) { return other.energy < each; }),
                  {branch.bounds, taken, each});
  }
  return optimum;
}

namespace {

// Of all tiles that the steps place.
Taken used_by(exact::Instance& instance, const std::vector<exact::Step>& steps) {
  Taken used(instance.graph.rooms().size(), 0.0);
  const auto place = [&](std::size_t edge, std::size_t tile) {
    if (const auto room = instance.graph.room_of(instance.graph.edges()[edge])) {
      used[*room] += instance.costs.bits(edge)[tile];
    }
  };
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const exact::Node& before = steps[i - 1].node;
    if (steps[i].kind == exact::Step::Kind::kPlace) {
      place(instance.graph.places(before.stage, before.residency)[steps[i].move].edge, before.tile);
    } else if (steps[i].kind == exact::Step::Kind::kSlidingEdge) {
      for (const std::size_t edge :
           instance.graph.sliding_edges(before.stage, before.residency)[steps[i].move].edges) {
        place(edge, steps[i].node.tile);
      }
    }
  }
  return used;
}

bool is_unrolled_where_sizes_differ(const UnrollingClass& of, const BranchEntry& entry) {
  for (const Unroll& unroll : of.first) {
    if (entry.varies(unroll.dim)) {
      return true;
    }
  }
  return false;
}

}  // namespace

BranchOptimum BranchOptima::search(const Branch& branch, const Taken& taken) {
  Workload box = chain_.einsums[branch.einsum];
  for (const DimId d : box.dims.ids()) {
    box.dims[d].bound = branch.bounds[d];
  }
  const Problem problem{with_less(arch_, capacities_, taken), std::move(box)};
  const Mapspace space{problem, Constraints{}, branch.entry};
  BranchOptimum best;
  exact::LabelQuery query;
  for (const UnrollingClass& unrolling : space.group_by_factors()) {
    if (is_unrolled_where_sizes_differ(unrolling, branch.entry)) {
      continue;
    }
    exact::Unrolled unrolled(problem, unrolling, branch.entry);
    const exact::StateGraph graph(space, unrolled.used);
    exact::Instance instance(graph, std::move(unrolled), Objective::kEnergy, query.known, false, {},
                             0, &deadline_);
    if (query.known.covers(instance.root())) {
      continue;
    }
    const exact::LabelResult result = exact::search_labels(instance, query, deadline_);
    labels_ += result.expanded;
    if (result.stopped) {
      throw OutOfBudget{};
    }
    for (const exact::Ending& ending : result.endings) {
      if (ending.key.first < best.energy) {
        best.energy = ending.key.first;
        best.nest = rebuild(graph, instance.unrolled, unrolling.first, ending.steps).nodes;
        best.used = used_by(instance, ending.steps);
        query.known.insert(ending.key);
      }
    }
  }
  return best;
}

}  // namespace mapsim::fusion
