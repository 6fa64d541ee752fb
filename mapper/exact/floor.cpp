// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/floor.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "costmodel/nest.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

double energy_floor(const Mapspace& space) {
  const Problem& problem = space.problem();
  const Arch& arch = problem.arch();
  const auto macs = static_cast<double>(problem.workload().macs());
  const PerDim<std::int64_t> whole = bounds_of(problem.workload());
  const auto access = [&](LevelId l, bool output) {
    const StorageEnergy& energy = arch.levels[l].energy;
    return (output ? energy.update : energy.read).count();
  };
  double floor = macs * problem.mac_energy().count();
  for (const TensorId t : problem.workload().tensors.ids()) {
    const Tensor& tensor = problem.workload().tensors[t];
    const bool output = t == problem.workload().output();
    const double bits = problem.moved_bits(t, tensor.bits);
    const double once = static_cast<double>(footprint(tensor, whole)) * bits;
    double least = kInfinity;
    for (std::size_t i = arch.levels.size(); i-- > 0;) {
      const auto l = static_cast<LevelId>(i);
      double served = arch.compute.register_reuse.contains(tensor.role) ? 0 : macs * bits;
      for (const FanoutId f : arch.fanouts.ids()) {
        if (arch.is_above(l, f) && problem.is_merged(f, t)) {
          served /= static_cast<double>(arch.fanouts[f].x * arch.fanouts[f].y);
        }
      }
      if (space.keep_rule(l, t) != KeepRule::kBypass) {
        const double outermost = once * access(LevelId{0}, output);
        least = std::min(least, i == 0 ? std::max(once, served) * access(l, output)
                                       : outermost + served * access(l, output));
      }
      if (space.keep_rule(l, t) == KeepRule::kKeep) {
        break;  // nothing further out can be the last
      }
    }
    floor += least;
  }
  return floor;
}

namespace {

// Instances that one transfer between a level and the compute units serves at most. Along a window
// of k dims, a_1 to a_k instances need a_1 + .. + a_k - k + 1 coordinates at least: a sum of two
// sets of numbers has |A| + |B| - 1 elements or more. Fewer instances with work share no better:
// a / (a + c) grows with a.
double most_shared(const Problem& problem, const UnrollingGroup& group, LevelId level, TensorId t) {
  PerDim<double> along(problem.workload().dims.size(), 1.0);
  double instances = 1;
  for (const FanoutId f : group.factors.ids()) {
    if (!problem.arch().is_above(level, f) || !problem.is_merged(f, t)) {
      continue;
    }
    for (const DimId d : along.ids()) {
      along[d] *= static_cast<double>(group.factors[f][d]);
      instances *= static_cast<double>(group.factors[f][d]);
    }
  }
  DimSet seen;
  double coordinates = 1;
  for (const Rank& rank : problem.workload().tensors[t].ranks) {
    double of_rank = 1;
    bool is_new = true;
    for (const Term& term : rank.terms) {
      of_rank += along[term.dim] - 1;
      is_new = is_new && !seen.contains(term.dim);
      seen.insert(term.dim);
    }
    coordinates *= is_new ? of_rank : 1;
  }
  return instances / coordinates;
}

// Sums that the compute units send to a level: what they, the network and what comes back cost.
// With balanced factors instances without work leave sums of others unmet: from all of them
// merging to none, at the price of the cheapest network, costs are convex in how many arrive.
double sums_floor(const Problem& problem, bool balanced, const UnrollingGroup& group,
                  LevelId level) {
  const TensorId t = problem.workload().output();
  const Tensor& tensor = problem.workload().tensors[t];
  const StorageEnergy& energy = problem.arch().levels[level].energy;
  const auto macs = static_cast<double>(problem.macs());
  if (std::any_of(tensor.ranks.begin(), tensor.ranks.end(),
                  [](const Rank& rank) { return rank.terms.size() > 1; })) {
    // How many sums meet in a window is known of whole nests only.
    return macs / most_shared(problem, group, level, t) * energy.update.count() *
           std::min(problem.moved_bits(t, tensor.bits), problem.moved_bits(t, tensor.partial_bits));
  }
  const auto distinct = static_cast<double>(footprint(tensor, bounds_of(problem.workload())));
  double begun = distinct;  // sums that do not come back: the first of each instance of the level
  double sums = macs;
  double additions = 0;
  double cheapest = kInfinity;  // addition
  for (std::size_t i = group.factors.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    double irrelevant = 1;
    for (const DimId d : problem.workload().dims.ids()) {
      irrelevant *= tensor.dims().contains(d) ? 1 : static_cast<double>(group.factors[f][d]);
    }
    if (!problem.arch().is_above(level, f)) {
      begun *= irrelevant;
    } else if (problem.is_merged(f, t) && irrelevant > 1) {
      cheapest = std::min(cheapest, problem.addition_energy(f).count());
      additions += problem.addition_energy(f).count() * (sums - sums / irrelevant);
      sums /= irrelevant;
    }
  }
  const double bits = problem.moved_bits(t, sums > distinct ? tensor.partial_bits : tensor.bits);
  const auto arrival = [&](double arriving) {
    return bits * (arriving * energy.update.count() +
                   std::max(0.0, arriving - begun) * energy.read.count());
  };
  if (!balanced || !(cheapest < kInfinity)) {
    return additions + arrival(sums);
  }
  double least = arrival(macs);
  for (const double arriving : {sums, std::clamp(begun, sums, macs)}) {
    least = std::min(least, cheapest * (macs - arriving) + arrival(arriving));
  }
  return least;
}

double accesses_floor(const Problem& problem, bool balanced, const UnrollingGroup& group,
                      LevelId level, TensorId t) {
  return t == problem.workload().output()
             ? sums_floor(problem, balanced, group, level)
             : static_cast<double>(problem.macs()) / most_shared(problem, group, level, t) *
                   problem.moved_bits(t, problem.workload().tensors[t].bits) *
                   problem.arch().levels[level].energy.read.count();
}

}  // namespace

EnergyFloor::EnergyFloor(const Skeleton& skeleton)
    : skeleton_{&skeleton}, latched_(skeleton.problem().workload().tensors.size(), kInfinity) {
  for (const TensorId t : latched_.ids()) {
    const std::vector<Stop>& stops = skeleton.stops(t);
    if (stops.back().latch) {
      latched_[t] = skeleton.least_paid(t, stops.size() - 1);
    }
    for (const TensorId other : latched_.ids()) {
      if (t < other && meet_once(t, other)) {
        pairs_.emplace_back(t, other);
      }
    }
  }
  const Problem& problem = skeleton.problem();
  for (const Placing& placing : skeleton.placings()) {
    if (placing.to != Placing::kMac) {
      continue;
    }
    const LevelId level = skeleton.stops(placing.tensor)[placing.from].level;
    const double paid = skeleton.least_paid(placing.tensor, placing.from);
    const auto known = std::find_if(ways_.begin(), ways_.end(), [&](const Way& way) {
      return way.tensor == placing.tensor && way.level == level;
    });
    if (known == ways_.end()) {
      const Tensor& tensor = problem.workload().tensors[placing.tensor];
      const std::optional<Bits> room = problem.room(level, tensor.role);
      const std::int64_t held =
          room ? room->count() / std::min(tensor.bits, tensor.partial_bits).count() : 0;
      ways_.push_back({placing.tensor, level, paid,
                       room ? static_cast<double>(std::max<std::int64_t>(1, held)) : kInfinity,
                       parents(placing.tensor, level)});
    } else {
      known->paid = std::min(known->paid, paid);
    }
  }
}

// Levels from which the tensor may come to this one.
std::vector<LevelId> EnergyFloor::parents(TensorId tensor, LevelId level) const {
  std::vector<LevelId> found;
  const std::vector<Stop>& stops = skeleton_->stops(tensor);
  for (const Placing& placing : skeleton_->placings()) {
    if (placing.tensor == tensor && placing.to != Placing::kMac && !stops[placing.to].latch &&
        stops[placing.to].level == level) {
      found.push_back(stops[placing.from].level);
    }
  }
  return found;
}

// Do two elements of these tensors take part in one operation at most? And is there no loop along
// which both slide?
bool EnergyFloor::meet_once(TensorId one, TensorId other) const {
  const Workload& workload = skeleton_->problem().workload();
  const auto slides = [&](TensorId t) {
    const auto& ranks = workload.tensors[t].ranks;
    return std::any_of(ranks.begin(), ranks.end(),
                       [](const Rank& rank) { return rank.terms.size() > 1; });
  };
  if (slides(other)) {
    std::swap(one, other);
  }
  if (slides(other)) {
    return false;
  }
  const DimSet known = workload.tensors[other].dims();
  for (const Rank& rank : workload.tensors[one].ranks) {
    const auto open = std::count_if(rank.terms.begin(), rank.terms.end(), [&](const Term& term) {
      return !known.contains(term.dim) && workload.dims[term.dim].bound > 1;
    });
    if (open > 1) {
      return false;
    }
  }
  const DimSet both = known | workload.tensors[one].dims();
  bool all = true;
  for (const DimId d : workload.dims.ids()) {
    all = all && (both.contains(d) || workload.dims[d].bound == 1);
  }
  return all;
}

namespace {

// Instances of `to` that one transfer from `from` serves at most: all along dims that the tensor
// does not have, one along those that tell its elements apart. An element of a window is used by
// one combination of blocks for each index of all of its dims but one, whichever that is.
double most_served(const Problem& problem, const UnrollingGroup& group, LevelId from, LevelId to,
                   TensorId t) {
  const Workload& workload = problem.workload();
  PerDim<double> along(workload.dims.size(), 1.0);
  for (const FanoutId f : group.factors.ids()) {
    const bool between = problem.arch().is_above(from, f) && !problem.arch().is_above(to, f);
    for (const DimId d : along.ids()) {
      along[d] *=
          between && problem.is_merged(f, t) ? static_cast<double>(group.factors[f][d]) : 1.0;
    }
  }
  double served = 1;
  for (const DimId d : along.ids()) {
    served *= workload.tensors[t].dims().contains(d) ? 1 : along[d];
  }
  for (const Rank& rank : workload.tensors[t].ranks) {
    double blocks = 1;
    double indices = 1;
    double longest = 1;
    for (const Term& term : rank.terms) {
      const auto bound = static_cast<double>(workload.dims[term.dim].bound);
      blocks *= along[term.dim];
      indices *= bound;
      longest = std::max(longest, bound);
    }
    served *= std::min(blocks, indices / longest);
  }
  return served;
}

}  // namespace

// What a tensor that comes to its level in so many elements, all instances together, costs beyond
// coming once.
double EnergyFloor::refill(const UnrollingGroup& group, const Way& way, double fills) const {
  const Problem& problem = skeleton_->problem();
  const Arch& arch = problem.arch();
  const Tensor& tensor = problem.workload().tensors[way.tensor];
  const bool output = way.tensor == problem.workload().output();
  const auto once = static_cast<double>(footprint(tensor, bounds_of(problem.workload())));
  if (fills <= once) {
    return 0;
  }
  double leaving = way.from.empty() ? 0 : kInfinity;
  for (const LevelId from : way.from) {
    const double together = most_served(problem, group, from, way.level, way.tensor);
    const StorageEnergy& energy = arch.levels[from].energy;
    leaving = std::min(leaving, std::max(0.0, fills / together - once) *
                                    (output ? energy.update : energy.read).count());
  }
  const StorageEnergy& energy = arch.levels[way.level].energy;
  return std::min(problem.moved_bits(way.tensor, tensor.bits),
                  problem.moved_bits(way.tensor, tensor.partial_bits)) *
         (leaving + (fills - once) * (output ? energy.read : energy.write).count());
}

// Of each pair that one level serves, the tensor that moves further in stays with one tile of the
// other: it comes at least once for as many operations as there are elements in that. Which of the
// two moves further in is the mapping's choice.
double EnergyFloor::refills(const UnrollingGroup& group, const PerTensor<Choice>& chosen) const {
  const auto macs = static_cast<double>(skeleton_->problem().workload().macs());
  std::vector<std::pair<TensorId, TensorId>> pairs;
  for (const auto& [one, other] : pairs_) {
    const Way* a = chosen[one].way;
    const Way* b = chosen[other].way;
    if (a != nullptr && b != nullptr && a->level == b->level && a->level != LevelId{0}) {
      pairs.emplace_back(one, other);
    }
  }
  double least = kInfinity;
  for (std::size_t inner = 0; inner < std::size_t{1} << pairs.size(); ++inner) {
    PerTensor<double> fills(chosen.size(), 0.0);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const bool swapped = (inner >> p & 1) != 0;
      const TensorId moves = swapped ? pairs[p].second : pairs[p].first;
      const TensorId stays = swapped ? pairs[p].first : pairs[p].second;
      fills[moves] = std::max(fills[moves], macs / chosen[stays].way->held);
    }
    double sum = 0;
    for (const TensorId t : chosen.ids()) {
      sum += chosen[t].way == nullptr ? 0 : refill(group, *chosen[t].way, fills[t]);
    }
    least = std::min(least, sum);
  }
  return least;
}

// The least of all choices for the tensors from this one on, if it is below the best.
double EnergyFloor::combine(const UnrollingGroup& group, const Choices& choices,
                            PerTensor<Choice>& chosen, std::size_t tensor, double best) const {
  double sum = 0;
  for (const TensorId t : choices.ids()) {
    sum += index_of(t) < tensor ? chosen[t].cost : choices[t].front().cost;
  }
  if (sum >= best) {
    return best;
  }
  if (tensor == choices.size()) {
    return std::min(best, sum + refills(group, chosen));
  }
  const auto t = static_cast<TensorId>(tensor);
  for (const Choice& choice : choices[t]) {
    chosen[t] = choice;
    best = combine(group, choices, chosen, tensor + 1, best);
  }
  return best;
}

double EnergyFloor::of(const UnrollingGroup& group) const {
  const Problem& problem = skeleton_->problem();
  const bool balanced = skeleton_->space().constraints().factors.balanced;
  Choices choices(latched_.size());
  for (const TensorId t : choices.ids()) {
    choices[t].push_back({nullptr, latched_[t]});
  }
  for (const Way& way : ways_) {
    if (way.paid < kInfinity) {
      choices[way.tensor].push_back(
          {&way, way.paid + accesses_floor(problem, balanced, group, way.level, way.tensor)});
    }
  }
  for (std::vector<Choice>& each : choices) {
    std::sort(each.begin(), each.end(),
              [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
  }
  PerTensor<Choice> chosen(choices.size());
  return static_cast<double>(problem.macs()) * problem.mac_energy().count() +
         combine(group, choices, chosen, 0, kInfinity);
}

}  // namespace mapsim::exact
