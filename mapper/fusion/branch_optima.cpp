// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/branch_optima.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "mapper/bounds/class_bounds.hpp"
#include "mapper/branch/best_first.hpp"
#include "mapper/fusion/front_of.hpp"
#include "mapper/label_search/rebuild.hpp"
#include "mapper/mapspace/symmetry.hpp"

namespace mapsim::fusion {

using exact::kInfinity;

namespace {

constexpr std::size_t kAllTiles = std::numeric_limits<std::size_t>::max();
constexpr double kCutoffSlack = 1e-9;  // what is no better than a cutoff may be overlooked

std::size_t bytes_of(const std::vector<MappingNode>& nest) {
  return nest.size() * sizeof(MappingNode);
}

}  // namespace

BranchOptima::BranchOptima(const Arch& arch, const EinsumChain& chain, const Objective& objective,
                           const Deadline& deadline)
    : arch_{arch},
      chain_{chain},
      objective_{Problem{arch, chain.einsums.front()}, objective},
      deadline_{deadline},
      capacities_{capacities_of(arch)} {}

const BranchOptima::Found* BranchOptima::find(const Branch& branch, const TakenBits& taken) const {
  const auto known = found_.find(key_of(branch));
  if (known == found_.end()) {
    return nullptr;
  }
  for (const Found& found : known->second) {
    if (found.is_bound) {
      continue;
    }
    const bool is_infeasible = !(found.optimum.value < kInfinity);
    if (takes_no_less(taken, found.taken) &&
        (is_infeasible || fits(capacities_, sum_of(taken, found.optimum.used)))) {
      return &found;
    }
  }
  return nullptr;
}

bool BranchOptima::is_known(const Branch& branch, const TakenBits& base) const {
  return find(branch, base) != nullptr;
}

double BranchOptima::bound(const Branch& branch, const TakenBits& taken) {
  double most = 0;
  const auto known = found_.find(key_of(branch));
  for (std::size_t i = 0; known != found_.end() && i < known->second.size(); ++i) {
    if (takes_no_less(taken, known->second[i].taken)) {
      most = std::max(most, known->second[i].optimum.value);
    }
  }
  if (most > 0) {
    return most;
  }
  if (const BranchEntry::Run& run = branch.entry.run; run.entries > 0) {
    Branch entry = branch;
    entry.entry.run = {};
    return bound_of_run(branch, run.entries, bound(entry, taken), run.charged);
  }
  const auto& others = families_[family_of(branch)];
  const auto closest = std::find_if(others.begin(), others.end(), [&](const PerOperation& other) {
    return divides(branch.bounds, other.bounds) && takes_no_less(taken, other.taken);
  });
  return closest == others.end() ? 0 : closest->value * branch.operations();
}

double BranchOptima::bound_of_run(const Branch& branch, double entries, double of_entry,
                                  const std::vector<double>& charged) const {
  const double shared = charged.empty() ? 0 : charged[0];
  const double apart = objective_.value(shared, 0) + entries * of_entry;
  if (!objective_.is_timed() || !(apart < kInfinity)) {
    return apart;
  }
  const Problem problem{arch_, chain_.einsums[branch.einsum]};
  const double operations = entries * branch.operations();
  std::vector<double> least = charged;
  least.resize(1 + objective_.ports().size());
  least[0] += problem.mac_energy().count() * operations;
  return std::max(apart, objective_.value(least, objective_.least_cycles(problem, operations)));
}

const BranchOptimum* BranchOptima::optimum(const Branch& branch, const TakenBits& taken,
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
  std::deque<Found>& known = found_[key_of(branch)];
  known.push_back({taken, search(branch, taken, cutoff), false});
  BranchOptimum& optimum = known.back().optimum;
  held_.take(sizeof(Found) + 2 * taken.size() * sizeof(double) + bytes_of(optimum.nest));
  if (!(optimum.value < kInfinity) && cutoff < kInfinity) {
    optimum.value = std::max(cutoff, optimum.least);
    known.back().is_bound = optimum.value < kInfinity;
  }
  // Where sizes differ, fewer nests are allowed than for the largest box alone.
  if (!branch.entry.varies() && !(branch.entry.run.entries > 0) && optimum.value < kInfinity &&
      optimum.value > expected * (1 + 1e-9)) {
    const double each = optimum.value * (1 - 1e-12) / branch.operations();
    std::vector<PerOperation>& others = families_[family_of(branch)];
    others.insert(std::find_if(others.begin(), others.end(),
                               [&](const PerOperation& other) { return other.value < each; }),
                  {branch.bounds, taken, each});
  }
  return known.back().is_bound ? nullptr : &optimum;
}

namespace {

// Of all tiles that the steps keep.
TakenBits used_by(exact::SearchTables& tables, const std::vector<exact::Step>& steps) {
  TakenBits used(tables.graph.capacities().size(), 0.0);
  const auto keep = [&](std::size_t edge, std::size_t tile) {
    if (const auto capacity = tables.graph.capacity_of(tables.graph.edges()[edge])) {
      used[*capacity] += tables.costs.bits(edge)[tile];
    }
  };
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const exact::Node& before = steps[i - 1].node;
    if (steps[i].kind == exact::Step::Kind::kKeep) {
      keep(tables.graph.keep_moves(before.stage, before.residency)[steps[i].move].edge,
           before.tile);
    } else if (steps[i].kind == exact::Step::Kind::kSlidingEdge) {
      for (const std::size_t edge :
           tables.graph.sliding_edges(before.stage, before.residency)[steps[i].move].edges) {
        keep(edge, steps[i].node.tile);
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
  // `sum`: says what figures of the space count where sizes differ.
  ClassesOfBranch(const Mapspace& space, const Objective& objective, const AdditiveObjective& sum,
                  const Deadline& deadline)
      : space_{space},
        objective_{objective},
        sum_{sum},
        deadline_{deadline},
        bounds_{space, objective_},
        symmetry_{space},
        generator_{space, symmetry_, bounds_} {
    if (space.entry().varies()) {
      list();
    }
  }

  // nullopt: those that are left are ruled out by what is known.
  std::optional<UnrollingClass> next(const exact::Incumbent& known) {
    if (space_.entry().varies()) {
      while (taken_ < listed_.size() && known.dominates(listed_[taken_].key)) {
        left_out_ = std::min(left_out_, listed_[taken_].key.first);
        taken_ = known.is_front() ? taken_ + 1 : listed_.size();
      }
      return taken_ < listed_.size() ? std::optional(*listed_[taken_++].unrolling_class)
                                     : std::nullopt;
    }
    const auto tuple = generator_.next(known, [this] { return deadline_.over(); });
    if (generator_.is_stopped()) {
      throw OutOfBudget{};
    }
    return tuple ? std::optional(space_.classes().unrolling_class(*tuple)) : std::nullopt;
  }
  // A lower bound of the classes that next() never gave, once there are no more.
  double left_out() const { return space_.entry().varies() ? left_out_ : generator_.bound().first; }

 private:
  struct Listed {
    exact::ObjectiveKey key;
    const UnrollingClass* unrolling_class = nullptr;
  };

  // Where sizes differ between entries, the energy of a class is bounded by the mean of what it is
  // bounded by for each size. Dims whose sizes differ are not unrolled.
  void list() {
    for (const UnrollingClass& one : space_.unrolling_classes()) {
      if (!is_unrolled_where_sizes_differ(one, space_.entry())) {
        listed_.push_back({exact::ObjectiveKey{0, 0}, &one});
      }
    }
    if (listed_.size() > 1) {
      for (const BranchEntry::EqualEntries& entries :
           space_.entry().by_sizes(bounds_of(space_.problem().workload()))) {
        add_energies(entries);
      }
      add_time();
      std::sort(listed_.begin(), listed_.end(),
                [](const Listed& a, const Listed& b) { return a.key.first < b.key.first; });
    }
  }
  void add_time() {
    const BranchEntry::Run& run = space_.entry().run;
    const double entries = run.entries > 0 ? run.entries : 1;
    for (Listed& one : listed_) {
      deadline_.check();
      const double cycles = bounds_.of(*one.unrolling_class, false).cycles * entries;
      const double energy = one.key.first * entries + (run.charged.empty() ? 0 : run.charged[0]);
      const bool is_of_front = objective_.exact_ties;
      one.key = is_of_front
                    ? exact::ObjectiveKey{energy, cycles}
                    : exact::ObjectiveKey{sum_.value(energy, sum_.is_timed() ? cycles : 0), 0};
    }
  }
  void add_energies(const BranchEntry::EqualEntries& entries) {
    const Problem problem{space_.problem().arch(),
                          with_bounds(space_.problem().workload(), entries.sizes)};
    BranchEntry same = space_.entry();
    same.lengths = {};
    same.run = {};
    const Mapspace of_size{problem, Constraints{}, same};
    exact::ClassBounds bounds{of_size, kEnergy_};
    for (Listed& one : listed_) {
      deadline_.check();
      one.key.first += entries.share * bounds.of(*one.unrolling_class).key.first;
    }
  }

  const Objective kEnergy_ = Objective::kEnergy;
  const Mapspace& space_;
  const Objective& objective_;
  const AdditiveObjective& sum_;
  const Deadline& deadline_;
  exact::ClassBounds bounds_;
  branch::Symmetry symmetry_;
  branch::BestFirst generator_;
  std::vector<Listed> listed_;  // where sizes differ
  std::size_t taken_ = 0;
  double left_out_ = kInfinity;
};

}  // namespace

// Visits what the classes of unrollings have to offer. Returns a lower bound of what bounds of
// classes ruled out; what a search of labels ruled out is no better than what is known.
template <class Visit>
double BranchOptima::search(const Branch& branch, const TakenBits& taken,
                            const Objective& objective, exact::LabelQuery& query,
                            const Visit& visit) {
  const Problem problem{with_less(arch_, taken),
                        with_bounds(chain_.einsums[branch.einsum], branch.bounds)};
  const Mapspace space{problem, Constraints{}, branch.entry};
  ClassesOfBranch classes{space, objective, objective_, deadline_};
  double ruled_out = kInfinity;
  while (const auto unrolling = classes.next(query.known)) {
    exact::Unrolled unrolled(problem, *unrolling, branch.entry, kAllTiles, &deadline_);
    const exact::StateGraph graph(space, unrolled.used);
    exact::SearchTables tables(graph, std::move(unrolled), objective, query.known, false, {}, 0,
                               &deadline_);
    // Tables leave out what is beyond the limit, so that their root says no more than that.
    ruled_out = std::min(ruled_out, query.known.limit().first);
    if (!query.known.is_front() && query.known.dominates(tables.root())) {
      continue;
    }
    const exact::LabelResult result = exact::search_labels(tables, query, deadline_);
    labels_ += result.expanded;
    if (result.stopped) {
      throw OutOfBudget{};
    }
    for (const exact::GoalLabel& goal : result.goals) {
      visit(goal, unrolling->first, graph, tables);
    }
  }
  return std::min(ruled_out, classes.left_out());
}

BranchOptimum BranchOptima::search(const Branch& branch, const TakenBits& taken, double cutoff) {
  BranchOptimum best;
  exact::ObjectiveKey best_key;
  exact::LabelQuery query;
  if (cutoff < kInfinity) {
    query.known.insert({cutoff * (1 + kCutoffSlack), 0});
  }
  best.least = search(branch, taken, objective_.objective(), query,
                      [&](const exact::GoalLabel& goal, const Unrolling& unrolling,
                          const exact::StateGraph& graph, exact::SearchTables& tables) {
                        if (goal.key < best_key) {
                          best_key = goal.key;
                          best.value = goal.key.first;
                          best.nest = rebuild(graph, tables.unrolled, unrolling, goal.steps).nodes;
                          best.used = used_by(tables, goal.steps);
                          query.known.insert(goal.key);
                        }
                      });
  return best;
}

// Nothing whose energy alone, or whose time alone, comes to the cutoff is of use.
std::vector<BranchPoint> BranchOptima::search_front(const Branch& branch, const TakenBits& taken,
                                                    double cutoff) {
  Objective both = Objective::kEnergy;
  both.exact_ties = true;  // so that both figures count
  exact::LabelQuery query;
  query.known = exact::Incumbent::front(false);
  const double most = cutoff * (1 + kCutoffSlack);
  if (most < kInfinity) {
    query.known.insert({most, 0});
    const double of_cycle = objective_.value(0, 1);
    query.known.insert({0, std::floor(most / of_cycle) + 1});
  }
  std::vector<BranchPoint> points;
  search(branch, taken, both, query,
         [&](const exact::GoalLabel& goal, const Unrolling& unrolling,
             const exact::StateGraph& graph, exact::SearchTables& tables) {
           const auto& [energy, cycles] = goal.key;
           if (!query.known.dominates(goal.key)) {
             query.known.insert(goal.key);
             drop_covered(points, energy, cycles);
             points.push_back(
                 {energy, cycles, rebuild(graph, tables.unrolled, unrolling, goal.steps).nodes});
           }
         });
  return points;
}

const std::vector<BranchPoint>& BranchOptima::front(const Branch& branch, const TakenBits& taken,
                                                    double cutoff) {
  deadline_.check();
  FoundFront& found = fronts_[{key_of(branch), taken}];
  if (found.cutoff < cutoff) {
    ++searches_;
    found.points = search_front(branch, taken, cutoff);
    for (const BranchPoint& point : found.points) {
      held_.take(sizeof(BranchPoint) + bytes_of(point.nest));
    }
    found.cutoff = cutoff;
  }
  return found.points;
}

}  // namespace mapsim::fusion
