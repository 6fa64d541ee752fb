// SPDX-License-Identifier: Apache-2.0
#include "check/tensor_paths.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "check/first_keeps.hpp"
#include "check/goal.hpp"
#include "check/path_costs.hpp"
#include "check/phases.hpp"

namespace mapsim::check {

namespace {

class TensorPaths {
 public:
  TensorPaths(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
              const std::vector<TensorId>& together, const BranchEntry& entry)
      : problem_{problem},
        arch_{problem.arch()},
        rules_{rules},
        entry_{entry},
        costs_{problem, rules, ranges, entry} {
    for (const TensorId t : together) {
      radix_.push_back(states_);
      moved_.push_back(costs_.describe(t));
      states_ *= moved_.back().residences.size();
    }
  }

  double least() {
    constexpr std::size_t kMostStates = 2'000;
    constexpr std::size_t kMostTensors = 4;
    if (states_ > kMostStates || moved_.size() > kMostTensors) {
      return 0;
    }
    std::vector<double> so_far(states_, kInfinity);  // per combination of the tensors' residences
    for (std::size_t state = 0; state < states_; ++state) {
      bool outside = true;
      for (std::size_t i = 0; i < moved_.size(); ++i) {
        outside = outside && is_source(moved_[i], residence(state, i));
      }
      so_far[state] = outside ? 0 : kInfinity;
    }
    for (const LevelId l : arch_.levels.ids()) {
      so_far = index_of(l) == 0 ? so_far : pass(l, so_far);
    }
    return finish(so_far);
  }

  // What leaves the outermost level and arrives there is bounded by phases of the first keeps, the
  // rest by paths with these first keeps. Of the first keeps furthest in two may also be charged
  // with their paths, if these are the first two in the order there. So each order is in one case.
  double least_by_phases() {
    constexpr std::size_t kMostChoices = 1'000;
    std::size_t choices = 1;
    for (const MovedTensor& moved : moved_) {
      choices *= moved.residences.size() + 1;
    }
    if (entry_.is_of_branch() || choices > kMostChoices) {
      return 0;
    }
    constexpr double kTolerance = 1e-4;  // share of the cost without phases
    tolerance_ = kTolerance * this->least();
    steps_.clear();
    with_phases_ = true;
    double least = kInfinity;
    for (std::size_t choice = 0; choice < choices; ++choice) {
      if (!choose_first(choice)) {
        continue;
      }
      for (charged_ = 0; charged_ < std::size_t{1} << moved_.size(); ++charged_) {
        const bool is_case = (charged_ & ~furthest_in_) == 0 && std::popcount(charged_) <= 2;
        const double paths = is_case ? this->least() : kInfinity;
        least = paths < least
                    ? std::min(least, paths + least_at_source(problem_, costs_, moved_,
                                                              {first_, charged_}, tolerance_))
                    : least;
      }
    }
    return least;
  }

 private:
  // For tensors that share a capacity: crossings[i][outer tensors, as bits][residence before].
  using AllCrossings = std::vector<std::vector<std::vector<Crossings>>>;

  // Sets the first keeps; false: they are none.
  bool choose_first(std::size_t choice) {
    first_.clear();
    furthest_in_ = 0;
    furthest_ = LevelId{0};
    for (const MovedTensor& moved : moved_) {
      const std::size_t first = choice % (moved.residences.size() + 1);
      choice /= moved.residences.size() + 1;
      const bool is_kept = first < moved.residences.size();
      if (is_kept && moved.residences[first].level == LevelId{0}) {
        return false;
      }
      first_.push_back(is_kept ? first : kNowhere);
      furthest_ = is_kept ? std::max(furthest_, moved.residences[first].level) : furthest_;
    }
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      const bool is_furthest =
          first_[i] != kNowhere && moved_[i].residences[first_[i]].level == furthest_;
      furthest_in_ |= is_furthest ? std::size_t{1} << i : 0;
    }
    return true;
  }

  bool is_source(const MovedTensor& moved, const Residence& at) const {
    const bool is_as_wide = !moved.two_widths || entry_.final_sums.value_or(at.final) == at.final;
    return at.level == entry_.source(moved.id) && is_as_wide;
  }

  std::size_t residence_index(std::size_t state, std::size_t i) const {
    return state / radix_[i] % moved_[i].residences.size();
  }
  const Residence& residence(std::size_t state, std::size_t i) const {
    return moved_[i].residences[residence_index(state, i)];
  }
  PathStep step_to(std::size_t i, std::size_t from, std::optional<LevelId> to) const {
    const Residence& at = moved_[i].residences[from];
    return {&moved_[i], at.level, at.final, to};
  }

  // For every tensor that moves to a level of these capacities (kNowhere: it does not).
  AllCrossings crossings_of(const SharedCapacities& capacities,
                            const std::vector<std::size_t>& moves,
                            std::optional<LevelId> to) const {
    std::size_t sharers = 0;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      sharers |= moves[i] == kNowhere ? 0 : std::size_t{1} << i;
    }
    AllCrossings all(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
      all[i].resize(moves[i] == kNowhere ? 0 : std::size_t{1} << moves.size());
      for (std::size_t outer = 0; outer < all[i].size(); ++outer) {
        if ((outer & ~sharers) == 0 && ((outer >> i) & 1U) == 0) {
          all[i][outer] = crossings_from(i, capacities, tensors(outer), to);
        }
      }
    }
    return all;
  }

  // From each residence of a tensor.
  std::vector<Crossings> crossings_from(std::size_t i, const SharedCapacities& capacities,
                                        TensorSet outer, std::optional<LevelId> to) const {
    const PerDim<std::int64_t> alone(problem_.workload().dims.size(), 1);
    const double stay = moved_[i].plain ? 0
                                        : most_operations(problem_.workload(), capacities,
                                                          moved_[i].id, outer, alone);
    std::vector<Crossings> crossings;
    for (std::size_t from = 0; from < moved_[i].residences.size(); ++from) {
      const bool leads_in = !to || moved_[i].residences[from].level < *to;
      crossings.push_back(leads_in ? costs_.crossings(step_to(i, from, to), capacities, outer, stay)
                                   : Crossings{kInfinity, kInfinity});
    }
    return crossings;
  }

  TensorSet tensors(std::size_t bits) const {
    TensorSet set;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (((bits >> i) & 1U) != 0 && !moved_[i].plain) {
        set.insert(moved_[i].id);
      }
    }
    return set;
  }

  // Steps to a level, or to the registers, whose capacities the tensors share.
  struct Steps {
    SharedCapacities capacities;
    std::optional<LevelId> to;
    AllCrossings crossings{};
    std::map<std::vector<std::size_t>, double> of_pairs{};  // pair_cost()
  };

  // With phases, what leaves the outermost level for a first keep counts there, unless it is
  // charged here.
  double cost_of(const Steps& steps, std::size_t i, std::size_t from, const Crossings& crossings,
                 bool is_charged = false) const {
    const PathStep step = step_to(i, from, steps.to);
    const bool is_first =
        with_phases_ && steps.to && moved_[i].residences[from].level == LevelId{0};
    return is_first && !is_charged && crossings.child < kInfinity
               ? costs_.at_child(step, crossings.child)
               : costs_.of(step, crossings);
  }

  // The cheapest order of the tensors' loops, outermost first.
  double least_order_cost(Steps& steps, std::size_t state) const {
    const AllCrossings& crossings = steps.crossings;
    std::vector<double> least(std::size_t{1} << crossings.size(), kInfinity);
    least[0] = 0;
    std::size_t all = 0;
    for (std::size_t i = 0; i < crossings.size(); ++i) {
      all |= crossings[i].empty() ? 0 : std::size_t{1} << i;
    }
    for (std::size_t set = 1; set <= all; ++set) {
      for (std::size_t i = 0; (set & ~all) == 0 && i < crossings.size(); ++i) {
        if (((set >> i) & 1U) != 0) {
          const std::size_t outer = set & ~(std::size_t{1} << i);
          const std::size_t from = residence_index(state, i);
          least[set] = std::min(least[set],
                                least[outer] + cost_of(steps, i, from, crossings[i][outer][from]));
        }
      }
    }
    if (!with_phases_ || !steps.to) {
      return least[all];
    }
    const std::size_t may_be_charged = *steps.to == furthest_ ? furthest_in_ : 0;
    const std::size_t charged = *steps.to == furthest_ ? charged_ : 0;
    if (std::popcount(all) < 2 || !have_phases(moved_, all)) {
      return charged == 0 ? least[all] : kInfinity;
    }
    double closer = kInfinity;
    for (std::size_t i = 0; i < crossings.size(); ++i) {
      for (std::size_t k = 0; k < crossings.size(); ++k) {
        const std::size_t pair = std::size_t{1} << i | std::size_t{1} << k;
        if (i != k && (pair & ~all) == 0 && (pair & may_be_charged) == charged) {
          const std::size_t outer = all & ~pair;
          closer = std::min(closer, least[outer] + pair_cost(steps, state, i, k, outer));
        }
      }
    }
    return closer;
  }

  // What the innermost tensor in the order and the second one cost together.
  double pair_cost(Steps& steps, std::size_t state, std::size_t innermost, std::size_t second,
                   std::size_t outer) const {
    const std::size_t from = residence_index(state, innermost);
    const std::size_t from_second = residence_index(state, second);
    const std::size_t charged = *steps.to == furthest_ ? charged_ : 0;
    const auto [at, is_new] =
        steps.of_pairs.try_emplace({innermost, second, from, from_second, charged});
    if (!is_new) {
      return at->second;
    }
    const Crossings& one = steps.crossings[innermost][outer | std::size_t{1} << second][from];
    const Crossings& other = steps.crossings[second][outer][from_second];
    const CostOfBox cost = [&](double first_rate, double second_rate) {
      const double operations = costs_.operations();
      return cost_of(
                 steps, innermost, from,
                 costs_.raised(step_to(innermost, from, steps.to), one, operations * first_rate),
                 (charged >> innermost & 1U) != 0) +
             cost_of(steps, second, from_second,
                     costs_.raised(step_to(second, from_second, steps.to), other,
                                   operations * second_rate),
                     (charged >> second & 1U) != 0);
    };
    const TensorSet staying =
        tensors(moved_[second].slides ? outer : outer | std::size_t{1} << second);
    PerDim<std::vector<std::int64_t>> extents = steps.capacities.extents;
    std::vector<SharedBox> capacities;
    DimSet told;
    for (const SharedCapacities::Capacity& capacity : steps.capacities.all) {
      SharedBox& box = capacities.emplace_back();
      box.shares = PerDim<std::int64_t>(extents.size(), 1);
      box.capacity.bits = capacity.bits;
      for (const SharedCapacities::Tile& tile : capacity.tiles) {
        const Tensor& tensor = problem_.workload().tensors[tile.tensor];
        if (staying.contains(tile.tensor)) {
          told = told | tensor.dims();
          box.capacity.tiles.push_back(tile);
        } else {
          box.capacity.bits -= tile.bits * least_points(tensor, steps.capacities.below);
        }
      }
    }
    for (const DimId d : extents.ids()) {
      if (!told.contains(d)) {
        extents[d] = {steps.capacities.met[d]};
      }
    }
    at->second = least_phase_cost(problem_.workload(), extents, capacities,
                                  {moved_[innermost].id, moved_[second].id}, cost, tolerance_);
    return at->second;
  }

  // The cost so far behind the level.
  std::vector<double> pass(LevelId l, const std::vector<double>& so_far) {
    std::vector<double> next(states_, kInfinity);
    std::vector<std::size_t> moves(moved_.size(), kNowhere);
    choose(l, 0, moves, so_far, next);
    return next;
  }

  // Tries all choices of tensors that the level keeps.
  void choose(LevelId l, std::size_t i, std::vector<std::size_t>& moves,
              const std::vector<double>& so_far, std::vector<double>& next) {
    if (i == moved_.size()) {
      move(l, moves, so_far, next);
      return;
    }
    moves[i] = kNowhere;
    const bool is_inside = entry_.source(moved_[i].id) < l;
    if (!is_inside || !must_keep(problem_, rules_, l, moved_[i].id)) {
      choose(l, i + 1, moves, so_far, next);
    }
    for (std::size_t p = 0; is_inside && p < moved_[i].residences.size(); ++p) {
      if (moved_[i].residences[p].level == l) {
        moves[i] = p;
        choose(l, i + 1, moves, so_far, next);
      }
    }
    moves[i] = kNowhere;
  }

  void move(LevelId l, const std::vector<std::size_t>& moves, const std::vector<double>& so_far,
            std::vector<double>& next) {
    for (std::size_t state = 0; state < states_; ++state) {
      if (!(so_far[state] < kInfinity) || !is_of_choice(moves, state)) {
        continue;
      }
      std::size_t to = state;
      for (std::size_t i = 0; i < moves.size(); ++i) {
        to += moves[i] == kNowhere ? 0 : (moves[i] - residence_index(state, i)) * radix_[i];
      }
      next[to] = std::min(next[to], so_far[state] + least_order_cost(steps_to(l, moves), state));
    }
  }

  // The steps of these tensors, which are the same for all first keeps.
  Steps& steps_to(std::optional<LevelId> to, const std::vector<std::size_t>& moves) {
    const auto [at, is_new] = steps_.try_emplace({to, moves});
    Steps& steps = at->second;
    if (!is_new) {
      return steps;
    }
    steps = {costs_.instances().capacities_at(to), to};
    std::vector<Role> roles;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (moves[i] != kNowhere && to) {
        costs_.add_tile(moved_[i], moves[i], roles, steps.capacities);
      } else if (moves[i] != kNowhere) {
        steps.capacities.all.push_back({1, {{moved_[i].id, 1}}});
      }
    }
    steps.crossings = crossings_of(steps.capacities, moves, to);
    return steps;
  }

  bool is_of_choice_at_end(std::size_t state) const {
    for (std::size_t i = 0; with_phases_ && i < moved_.size(); ++i) {
      if ((residence(state, i).level == LevelId{0}) != (first_[i] == kNowhere)) {
        return false;
      }
    }
    return true;
  }
  // With phases: do the tensors that leave the outermost level go to their first keeps?
  bool is_of_choice(const std::vector<std::size_t>& moves, std::size_t state) const {
    for (std::size_t i = 0; with_phases_ && i < moves.size(); ++i) {
      if (moves[i] != kNowhere &&
          (residence(state, i).level == LevelId{0}) != (moves[i] == first_[i])) {
        return false;
      }
    }
    return true;
  }

  // The last steps: into the registers, then to the compute units.
  double finish(const std::vector<double>& so_far) {
    std::vector<std::size_t> moves;
    for (const MovedTensor& moved : moved_) {
      moves.push_back(moved.latched ? 0 : kNowhere);
    }
    Steps& steps = steps_to(std::nullopt, moves);
    double least = kInfinity;
    for (std::size_t state = 0; state < states_; ++state) {
      const bool is_chosen = so_far[state] < kInfinity && is_of_choice_at_end(state);
      double sum = is_chosen ? so_far[state] + least_order_cost(steps, state) : kInfinity;
      for (std::size_t i = 0; i < moved_.size() && sum < least; ++i) {
        const Residence& last = residence(state, i);
        sum += moved_[i].latched ? 0 : costs_.service({&moved_[i], last.level, last.final, {}});
      }
      least = std::min(least, sum);
    }
    return least;
  }

  const Problem& problem_;
  const Arch& arch_;
  const Rules& rules_;
  const BranchEntry& entry_;
  PathCosts costs_;
  std::vector<MovedTensor> moved_;
  std::vector<std::size_t> radix_;
  std::size_t states_ = 1;
  std::map<std::pair<std::optional<LevelId>, std::vector<std::size_t>>, Steps> steps_;
  bool with_phases_ = false;
  double tolerance_ = 0;  // of what phases cost [pJ]
  // With phases
  std::vector<std::size_t> first_;  // each tensor's first keep, or kNowhere
  LevelId furthest_{};              // the level of the first keeps that are furthest in
  std::size_t furthest_in_ = 0;     // the tensors with these first keeps, as bits
  std::size_t charged_ = 0;         // those of them that are charged with their paths
};

}  // namespace

double least_paths(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
                   const std::vector<TensorId>& together, const BranchEntry& entry) {
  return TensorPaths{problem, rules, ranges, together, entry}.least();
}

double least_paths_by_phases(const Problem& problem, const Rules& rules,
                             const ChoiceRanges& ranges) {
  std::vector<TensorId> all;
  for (const TensorId t : problem.workload().tensors.ids()) {
    all.push_back(t);
  }
  const BranchEntry entry;
  return TensorPaths{problem, rules, ranges, all, entry}.least_by_phases();
}

}  // namespace mapsim::check
