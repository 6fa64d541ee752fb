// SPDX-License-Identifier: Apache-2.0
#include "check/tensor_paths.hpp"

#include <algorithm>
#include <optional>

#include "check/geometry.hpp"
#include "check/goal.hpp"
#include "check/instance_bounds.hpp"
#include "check/residence.hpp"
#include "check/reuse.hpp"
#include "costmodel/boundary_cost.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Energy per bit of an access of a level from further in [pJ].
double access_energy(const Storage& level, bool output) {
  return parent_energy(level, output).crossing_pj;
}

// Energy per bit of an access of a level from further out [pJ].
double arrival_energy(const Storage& level, bool output) {
  return child_energy(level, output).crossing_pj;
}

// Is it more than that, apart from rounding? Both are products of whole numbers.
bool is_more(double elements, double than) { return elements > than * (1 + 1e-9); }

// A tensor's properties in the unrolling.
struct MovedTensor {
  TensorId id{};
  const Tensor* tensor = nullptr;
  bool output = false;
  bool plain = false;       // every element crosses once: sums with a window
  bool two_widths = false;  // sums are wider while they are partial, and not plain
  bool latched = false;
  double distinct = 1;  // elements
  double narrow = 0;    // bits that an element moves; `wide`: of a partial sum
  double wide = 0;
  double stored = 1;                  // at least: the share of a width that a level stores
  std::vector<Residence> residences;  // from the outside in
  double bits_at(const Residence& at) const {
    const auto bits = static_cast<double>(tensor->bits.count());
    const auto partial = static_cast<double>(tensor->partial_bits.count());
    const double width = !output      ? bits
                         : two_widths ? (at.final ? bits : partial)
                                      : std::min(bits, partial);
    return width * stored;
  }
};

// A step of a tensor inwards; without a level it leads to the register or the compute units.
struct Boundary {
  const MovedTensor* moved = nullptr;
  LevelId from{};
  bool from_final = false;
  std::optional<LevelId> to;
};

class TensorPaths {
 public:
  TensorPaths(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
              const std::vector<TensorId>& together, const BranchEntry& entry)
      : problem_{problem},
        arch_{problem.arch()},
        rules_{rules},
        ranges_{ranges},
        instances_{problem, rules, ranges},
        entry_{entry},
        operations_{static_cast<double>(problem.macs())} {
    for (const TensorId t : together) {
      radix_.push_back(states_);
      moved_.push_back(make_moved(t));
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

 private:
  // For tensors that share a capacity: cost[i][outer tensors, as bits][residence before].
  using Costs = std::vector<std::vector<std::vector<double>>>;
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

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

  MovedTensor make_moved(TensorId t) const {
    const Tensor& tensor = problem_.workload().tensors[t];
    MovedTensor moved;
    moved.id = t;
    moved.tensor = &tensor;
    moved.output = t == problem_.workload().output();
    moved.plain = moved.output && has_window(tensor);
    moved.two_widths = moved.output && !moved.plain && tensor.bits != tensor.partial_bits;
    moved.latched = arch_.compute.register_reuse.contains(tensor.role);
    moved.narrow = problem_.moved_bits(t, tensor.bits);
    moved.stored = problem_.least_stored_bits(t, Bits{1});
    moved.wide = problem_.moved_bits(t, moved.output ? tensor.partial_bits : tensor.bits);
    for (const Rank& rank : tensor.ranks) {
      moved.distinct *=
          static_cast<double>(count_coordinates(rank, bounds_of(problem_.workload())));
    }
    for (const LevelId l : arch_.levels.ids()) {
      if (may_keep(problem_, rules_, l, t) || entry_.source(t) == l) {
        moved.residences.push_back({l});
        if (moved.two_widths) {
          moved.residences.push_back({.level = l, .final = true});
        }
      }
    }
    return moved;
  }

  // The least number of elements per compute unit that uses them at the same time, which is what
  // units share at best. Units side by side along k dims of a window use at least the sum of their
  // numbers less k - 1 coordinates.
  double least_share(const Boundary& boundary) const {
    const InstanceBounds::Merged units =
        instances_.merged(boundary.moved->id, boundary.from, boundary.to);
    double used = 1;
    DimSet counted;
    for (const Rank& rank : boundary.moved->tensor->ranks) {
      std::int64_t coordinates = 1;
      DimSet dims;
      for (const Term& term : rank.terms) {
        coordinates += units.along[term.dim] - 1;
        dims.insert(term.dim);
      }
      if ((dims & counted).empty()) {
        used *= static_cast<double>(coordinates);
      }
      counted = counted | dims;
    }
    for (const DimId d : units.along.ids()) {
      used /= boundary.moved->tensor->dims().contains(d) ? static_cast<double>(units.along[d]) : 1;
    }
    return std::max(used / units.lacking, 1 / units.sharing);
  }

  // Energy of `child` sums that leave the inner end, in the networks and at the level that takes
  // them [pJ]. Networks count if every instance has a sum to add, as with perfect factors. For
  // partial tiles they add less, and more sums arrive.
  double taking(const Boundary& boundary, double child) const {
    const MovedTensor& moved = *boundary.moved;
    double arriving = child;
    double network = 0;
    for (std::size_t i = ranges_.size(); i-- > 0;) {
      const auto f = static_cast<FanoutId>(i);
      if (instances_.is_between(f, boundary.from, boundary.to) && problem_.is_merged(f, moved.id)) {
        network += rules_.imperfect ? 0.0
                                    : (arriving - arriving / ranges_[f].fewest_lacking[moved.id]) *
                                          problem_.addition_energy(f).count();
        arriving /= ranges_[f].most_lacking[moved.id];
      }
    }
    if (moved.two_widths && boundary.from_final && is_more(arriving, moved.distinct)) {
      return kInfinity;
    }
    const bool wide = moved.two_widths ? !boundary.from_final : is_more(arriving, moved.distinct);
    const double again =
        std::max(0.0, arriving - moved.distinct * instances_.most_copies(moved.id, boundary.from));
    return network + (wide ? moved.wide : moved.narrow) *
                         parent_energy(arch_.levels[boundary.from], true).of({arriving, again});
  }

  // The compute units' accesses to a level.
  double service(const Boundary& boundary) const {
    const MovedTensor& moved = *boundary.moved;
    if (!moved.output || has_window(*moved.tensor)) {
      return operations_ * least_share(boundary) * std::min(moved.narrow, moved.wide) *
             access_energy(arch_.levels[boundary.from], moved.output);
    }
    return taking(boundary, operations_);
  }

  // `stay`: the most operations of a stay at the inner end, if the tensors in `outer` move further
  // out.
  double carry(const Boundary& boundary, const SharedCapacities& capacities, TensorSet outer,
               double stay) const {
    const MovedTensor& moved = *boundary.moved;
    const Storage& from = arch_.levels[boundary.from];
    const double arrival =
        boundary.to ? arrival_energy(arch_.levels[*boundary.to], moved.output) : 0;
    if (moved.plain) {
      return moved.distinct * std::min(moved.narrow, moved.wide) *
             (access_energy(from, moved.output) + arrival);
    }
    if (stay == 0) {
      return kInfinity;
    }
    const double met = moved.distinct * instances_.fewest_copies(moved.id, boundary.to);
    const double child = std::max(met, operations_ / stay);
    if (moved.output) {
      const EndEnergy energy =
          boundary.to ? child_energy(arch_.levels[*boundary.to], true) : EndEnergy{};
      const double width =
          is_more(child, moved.distinct) ? moved.wide : std::min(moved.narrow, moved.wide);
      const double again =
          std::max(0.0, child - moved.distinct * instances_.most_copies(moved.id, boundary.to));
      return taking(boundary, child) + width * energy.of({child, again});
    }
    const InstanceBounds::Merged served = instances_.merged(moved.id, boundary.from, boundary.to);
    const double stays = std::min(
        stay * served.sharing,
        served.along_lacking_only
            ? stay * served.lacking
            : most_operations(problem_.workload(), capacities, moved.id, outer, served.along));
    const double parent =
        std::max({met / served.lacking, operations_ / stays,
                  moved.distinct * instances_.fewest_copies(moved.id, boundary.from)});
    return moved.narrow * (parent * access_energy(from, false) + child * arrival);
  }

  // For every tensor that moves to a level of these capacities (kNowhere: it does not).
  Costs costs_of(const SharedCapacities& capacities, const std::vector<std::size_t>& moves,
                 std::optional<LevelId> to) const {
    std::size_t sharers = 0;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      sharers |= moves[i] == kNowhere ? 0 : std::size_t{1} << i;
    }
    Costs costs(moves.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
      costs[i].resize(moves[i] == kNowhere ? 0 : std::size_t{1} << moves.size());
      for (std::size_t outer = 0; outer < costs[i].size(); ++outer) {
        if ((outer & ~sharers) == 0 && ((outer >> i) & 1U) == 0) {
          costs[i][outer] = costs_from(moved_[i], capacities, tensors(outer), to);
        }
      }
    }
    return costs;
  }

  // From each residence of a tensor.
  std::vector<double> costs_from(const MovedTensor& moved, const SharedCapacities& capacities,
                                 TensorSet outer, std::optional<LevelId> to) const {
    const PerDim<std::int64_t> alone(problem_.workload().dims.size(), 1);
    const double stay =
        moved.plain ? 0 : most_operations(problem_.workload(), capacities, moved.id, outer, alone);
    std::vector<double> costs;
    for (const Residence& from : moved.residences) {
      const bool leads_in = !to || from.level < *to;
      const Boundary boundary{&moved, from.level, from.final, to};
      costs.push_back(leads_in ? carry(boundary, capacities, outer, stay) : kInfinity);
    }
    return costs;
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

  // The cheapest order of the tensors' loops, outermost first.
  double least_order_cost(const Costs& costs, std::size_t state) const {
    std::vector<double> least(std::size_t{1} << costs.size(), kInfinity);
    least[0] = 0;
    std::size_t all = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      all |= costs[i].empty() ? 0 : std::size_t{1} << i;
    }
    for (std::size_t set = 1; set <= all; ++set) {
      for (std::size_t i = 0; (set & ~all) == 0 && i < costs.size(); ++i) {
        if (((set >> i) & 1U) != 0) {
          const std::size_t outer = set & ~(std::size_t{1} << i);
          least[set] =
              std::min(least[set], least[outer] + costs[i][outer][residence_index(state, i)]);
        }
      }
    }
    return least[all];
  }

  // Adds a tensor to the capacity of its role, or to the shared one.
  void add_tile(LevelId l, const MovedTensor& moved, double bits, std::vector<Role>& roles,
                SharedCapacities& capacities) const {
    const Role role = moved.tensor->role;
    const auto capacity = problem_.capacity(l, role);
    if (!capacity) {
      return;
    }
    const bool shared = arch_.levels[l].capacity.per_role.empty();
    auto found = shared ? roles.begin() : std::find(roles.begin(), roles.end(), role);
    if (found == roles.end()) {
      roles.push_back(role);
      capacities.all.push_back({static_cast<double>(capacity->count()), {}});
      found = roles.end() - 1;
    }
    capacities.all[static_cast<std::size_t>(found - roles.begin())].tiles.push_back(
        {moved.id, bits});
  }

  // The cost so far behind the level.
  std::vector<double> pass(LevelId l, const std::vector<double>& so_far) const {
    std::vector<double> next(states_, kInfinity);
    std::vector<std::size_t> moves(moved_.size(), kNowhere);
    SharedCapacities capacities = instances_.capacities_at(l);
    choose(l, 0, capacities, moves, so_far, next);
    return next;
  }

  // Tries all choices of tensors that the level keeps. `capacities`: of the level; move() says what
  // shares them.
  void choose(LevelId l, std::size_t i, SharedCapacities& capacities,
              std::vector<std::size_t>& moves, const std::vector<double>& so_far,
              std::vector<double>& next) const {
    if (i == moved_.size()) {
      move(l, capacities, moves, so_far, next);
      return;
    }
    moves[i] = kNowhere;
    const bool is_inside = entry_.source(moved_[i].id) < l;
    if (!is_inside || !must_keep(problem_, rules_, l, moved_[i].id)) {
      choose(l, i + 1, capacities, moves, so_far, next);
    }
    for (std::size_t p = 0; is_inside && p < moved_[i].residences.size(); ++p) {
      if (moved_[i].residences[p].level == l) {
        moves[i] = p;
        choose(l, i + 1, capacities, moves, so_far, next);
      }
    }
    moves[i] = kNowhere;
  }

  void move(LevelId l, SharedCapacities& capacities, const std::vector<std::size_t>& moves,
            const std::vector<double>& so_far, std::vector<double>& next) const {
    capacities.all.clear();
    std::vector<Role> roles;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (moves[i] != kNowhere) {
        add_tile(l, moved_[i], moved_[i].bits_at(moved_[i].residences[moves[i]]), roles,
                 capacities);
      }
    }
    const Costs costs = costs_of(capacities, moves, l);
    for (std::size_t state = 0; state < states_; ++state) {
      if (!(so_far[state] < kInfinity)) {
        continue;
      }
      std::size_t to = state;
      for (std::size_t i = 0; i < moves.size(); ++i) {
        to += moves[i] == kNowhere ? 0 : (moves[i] - residence_index(state, i)) * radix_[i];
      }
      next[to] = std::min(next[to], so_far[state] + least_order_cost(costs, state));
    }
  }

  // The last steps: into the registers, then to the compute units.
  double finish(const std::vector<double>& so_far) const {
    SharedCapacities latches = instances_.capacities_at(std::nullopt);
    std::vector<std::size_t> moves(moved_.size(), kNowhere);
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      if (moved_[i].latched) {
        moves[i] = 0;
        latches.all.push_back({1, {{moved_[i].id, 1}}});
      }
    }
    const Costs costs = costs_of(latches, moves, std::nullopt);
    double least = kInfinity;
    for (std::size_t state = 0; state < states_; ++state) {
      double sum =
          so_far[state] < kInfinity ? so_far[state] + least_order_cost(costs, state) : kInfinity;
      for (std::size_t i = 0; i < moved_.size() && sum < least; ++i) {
        const Residence& last = residence(state, i);
        sum += moved_[i].latched ? 0 : service({&moved_[i], last.level, last.final, {}});
      }
      least = std::min(least, sum);
    }
    return least;
  }

  const Problem& problem_;
  const Arch& arch_;
  const Rules& rules_;
  const ChoiceRanges& ranges_;
  InstanceBounds instances_;
  const BranchEntry& entry_;
  double operations_;
  std::vector<MovedTensor> moved_;
  std::vector<std::size_t> radix_;
  std::size_t states_ = 1;
};

}  // namespace

double least_paths(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
                   const std::vector<TensorId>& together, const BranchEntry& entry) {
  return TensorPaths{problem, rules, ranges, together, entry}.least();
}

}  // namespace mapsim::check
