// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/branch_optima.hpp"

#include <algorithm>
#include <bit>

#include "mapper/bounds/class_bounds.hpp"
#include "mapper/branch/best_first.hpp"
#include "mapper/label_search/label_search.hpp"
#include "mapper/label_search/rebuild.hpp"
#include "mapper/mapspace/symmetry.hpp"

namespace mapsim::fusion {

using exact::kInfinity;

namespace {

constexpr double kCutoffSlack = 1e-9;  // what is no better than a cutoff may be overlooked

}  // namespace

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
    if (found.is_bound) {
      continue;
    }
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

const BranchOptimum* BranchOptima::optimum(const Branch& branch, const Taken& taken,
                                           double cutoff) {
  if (const Found* found = find(branch, taken)) {
    return &found->optimum;
  }
  const double expected = bound(branch, taken);
  if (expected >= cutoff) {
    return nullptr;
  }
  deadline_.check();
  ++searches_;
  std::deque<Found>& known = found_[signature(branch)];
  known.push_back({taken, search(branch, taken, cutoff), false});
  BranchOptimum& optimum = known.back().optimum;
  if (!(optimum.energy < kInfinity) && cutoff < kInfinity) {
    optimum.energy = cutoff;
    known.back().is_bound = true;
  }
  // Where sizes differ, fewer nests are allowed than for the largest box alone.
  if (!branch.entry.varies() && optimum.energy < kInfinity &&
      optimum.energy > expected * (1 + 1e-9)) {
    const double each = optimum.energy * (1 - 1e-12) / branch.operations();
    std::vector<PerOperation>& others = families_[family(branch)];
    others.insert(std::find_if(others.begin(), others.end(),
                               [&](const PerOperation& other) { return other.energy < each; }),
                  {branch.bounds, taken, each});
  }
  return known.back().is_bound ? nullptr : &optimum;
}

namespace {

// Of all tiles that the steps place.
Taken used_by(exact::Instance& instance, const std::vector<exact::Step>& steps) {
  Taken used(instance.graph.capacities().size(), 0.0);
  const auto place = [&](std::size_t edge, std::size_t tile) {
    if (const auto capacity = instance.graph.capacity_of(instance.graph.edges()[edge])) {
      used[*capacity] += instance.costs.bits(edge)[tile];
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

// The classes of unrollings of a branch, best bound first.
class ClassesOfBranch {
 public:
  ClassesOfBranch(const Mapspace& space, const Deadline& deadline)
      : space_{space},
        deadline_{deadline},
        bounds_{space, kEnergy_},
        symmetry_{space},
        generator_{space, symmetry_, bounds_} {
    if (space.entry().varies()) {
      list();
    }
  }

  // nullopt: those that are left are ruled out by what is known.
  std::optional<UnrollingClass> next(const exact::Incumbent& known) {
    if (space_.entry().varies()) {
      const bool is_over = taken_ == listed_.size() || known.covers(listed_[taken_].key);
      return is_over ? std::nullopt : std::optional(*listed_[taken_++].unrolling_class);
    }
    const auto tuple = generator_.next(known, [this] { return deadline_.over(); });
    if (generator_.is_stopped()) {
      throw OutOfBudget{};
    }
    return tuple ? std::optional(space_.classes().unrolling_class(*tuple)) : std::nullopt;
  }

 private:
  struct Listed {
    exact::Key key;
    const UnrollingClass* unrolling_class = nullptr;
  };

  // Where sizes differ between entries, a class is bounded by the mean of what it is bounded by for
  // each size. Dims whose sizes differ are not unrolled.
  void list() {
    for (const UnrollingClass& one : space_.unrolling_classes()) {
      if (!is_unrolled_where_sizes_differ(one, space_.entry())) {
        listed_.push_back({exact::Key{0, 0}, &one});
      }
    }
    if (listed_.size() > 1) {
      PerDim<std::int64_t> sizes = bounds_of(space_.problem().workload());
      add_mean(DimId{0}, 1, sizes);
      std::sort(listed_.begin(), listed_.end(),
                [](const Listed& a, const Listed& b) { return a.key.first < b.key.first; });
    }
  }
  // Adds so much of the bounds with these sizes; dims from this one on may differ.
  void add_mean(DimId dim, double share, PerDim<std::int64_t>& sizes) {
    const BranchEntry& entry = space_.entry();
    if (index_of(dim) == sizes.size()) {
      deadline_.check();
      const Problem problem{space_.problem().arch(),
                            with_bounds(space_.problem().workload(), sizes)};
      BranchEntry same = entry;
      same.lengths = {};
      const Mapspace of_size{problem, Constraints{}, same};
      exact::ClassBounds bounds{of_size, kEnergy_};
      for (Listed& one : listed_) {
        one.key.first += share * bounds.of(*one.unrolling_class).key.first;
      }
      return;
    }
    const DimId next{static_cast<std::uint8_t>(index_of(dim) + 1)};
    if (!entry.varies(dim)) {
      add_mean(next, share, sizes);
      return;
    }
    double times = 0;
    for (const BranchEntry::Length& length : entry.lengths[dim]) {
      times += static_cast<double>(length.times);
    }
    for (const BranchEntry::Length& length : entry.lengths[dim]) {
      sizes[dim] = length.size;
      add_mean(next, share * static_cast<double>(length.times) / times, sizes);
    }
  }

  const Objective kEnergy_ = Objective::kEnergy;
  const Mapspace& space_;
  const Deadline& deadline_;
  exact::ClassBounds bounds_;
  branch::Symmetry symmetry_;
  branch::BestFirst generator_;
  std::vector<Listed> listed_;  // where sizes differ
  std::size_t taken_ = 0;
};

}  // namespace

BranchOptimum BranchOptima::search(const Branch& branch, const Taken& taken, double cutoff) {
  const Problem problem{with_less(arch_, capacities_, taken),
                        with_bounds(chain_.einsums[branch.einsum], branch.bounds)};
  const Mapspace space{problem, Constraints{}, branch.entry};
  BranchOptimum best;
  exact::LabelQuery query;
  if (cutoff < kInfinity) {
    query.known.insert({cutoff * (1 + kCutoffSlack), 0});
  }
  ClassesOfBranch classes{space, deadline_};
  while (const auto unrolling = classes.next(query.known)) {
    exact::Unrolled unrolled(problem, *unrolling, branch.entry);
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
    for (const exact::GoalLabel& goal : result.goals) {
      if (goal.key.first < best.energy) {
        best.energy = goal.key.first;
        best.nest = rebuild(graph, instance.unrolled, unrolling->first, goal.steps).nodes;
        best.used = used_by(instance, goal.steps);
        query.known.insert(goal.key);
      }
    }
  }
  return best;
}

}  // namespace mapsim::fusion
