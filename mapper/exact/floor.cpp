// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/floor.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "costmodel/nest.hpp"
#include "mapper/exact/volume.hpp"
#include "mapper/objective.hpp"

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

// Instances of one fanout that a transfer serves at most: all along dims that the tensor does not
// have, one along those that tell its elements apart. An element of a window is used by one
// combination of blocks for each index of all of its dims but one, whichever that is.
double most_served(const Problem& problem, const PerDim<std::int64_t>& factors, TensorId t) {
  const Workload& workload = problem.workload();
  const DimSet relevant = workload.tensors[t].dims();
  double served = 1;
  for (const DimId d : factors.ids()) {
    served *= relevant.contains(d) ? 1 : static_cast<double>(factors[d]);
  }
  for (const Rank& rank : workload.tensors[t].ranks) {
    double blocks = 1;
    double indices = 1;
    double longest = 1;
    for (const Term& term : rank.terms) {
      const auto bound = static_cast<double>(workload.dims[term.dim].bound);
      blocks *= static_cast<double>(factors[term.dim]);
      indices *= bound;
      longest = std::max(longest, bound);
    }
    served *= std::min(blocks, indices / longest);
  }
  return served;
}

// The largest extent of a tile of divisors that has no more elements than this.
double largest_divisor(std::int64_t elements, double most) {
  constexpr int kTries = 64;
  auto tile = static_cast<std::int64_t>(std::min(most, static_cast<double>(elements)));
  for (int i = 0; i < kTries && elements % tile != 0; ++i) {
    --tile;
  }
  return static_cast<double>(tile);
}

}  // namespace

EnergyFloor::EnergyFloor(const Skeleton& skeleton)
    : skeleton_{&skeleton}, routes_(skeleton.problem().workload().tensors.size()) {
  const Problem& problem = skeleton.problem();
  const std::size_t latch = problem.arch().levels.size();
  for (const TensorId t : routes_.ids()) {
    const Tensor& tensor = problem.workload().tensors[t];
    Route& route = routes_[t];
    route.once = static_cast<double>(footprint(tensor, bounds_of(problem.workload())));
    route.output = t == problem.workload().output();
    route.slides = std::any_of(tensor.ranks.begin(), tensor.ranks.end(),
                               [](const Rank& rank) { return rank.terms.size() > 1; });
    route.serves.resize(latch + 1, false);
    const std::vector<Stop>& stops = skeleton.stops(t);
    route.serves[latch] = stops.back().latch;
    const auto node = [&](std::size_t stop) {
      return stops[stop].latch ? latch : index_of(stops[stop].level);
    };
    for (const Placing& placing : skeleton.placings()) {
      if (placing.tensor == t && placing.to == Placing::kMac) {
        route.serves[node(placing.from)] = true;
      } else if (placing.tensor == t) {
        route.legs.push_back({node(placing.from), node(placing.to)});
      }
    }
    std::sort(route.legs.begin(), route.legs.end());
    route.legs.erase(std::unique(route.legs.begin(), route.legs.end()), route.legs.end());
    for (const TensorId other : routes_.ids()) {
      if (t < other && meet_once(t, other)) {
        pairs_.emplace_back(t, other);
      }
    }
  }
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

// What one group makes of the routes.
class EnergyFloor::OfGroup {
 public:
  OfGroup(const EnergyFloor& floor, const UnrollingGroup& group)
      : floor_{floor},
        problem_{floor.skeleton_->problem()},
        group_{group},
        balanced_{floor.skeleton_->space().constraints().factors.balanced},
        latch_{problem_.arch().levels.size()},
        sides_(floor.routes_.size()),
        choices_(floor.routes_.size()),
        chosen_(floor.routes_.size()) {
    for (const TensorId t : sides_.ids()) {
      find_sides(t);
      find_choices(t);
    }
  }

  double least() {
    return static_cast<double>(problem_.macs()) * problem_.mac_energy().count() +
           combine(0, kInfinity);
  }

 private:
  struct Choice {
    std::size_t node = 0;  // that serves the compute units
    double cost = 0;       // of the way there, and of the accesses [pJ]
  };
  // How a fanout and the instances behind it take part in what moves of one tensor.
  struct Sides {
    PerFanout<double> irrelevant;  // instances that need the same elements
    PerFanout<double> served;      // instances that one transfer serves at most
    PerNode copies{};              // instances that each need all elements of theirs
    PerNode paid{};                // the way there [pJ]; infinite if there is none
  };

  void find_sides(TensorId t);
  void find_choices(TensorId t);
  double fills_at_least(TensorId t, std::size_t node) const {
    return floor_.routes_[t].once * (balanced_ ? 1.0 : sides_[t].copies[node]);
  }
  double leg(TensorId t, const Leg& leg, double fills) const;
  double leg_of_sums(TensorId t, const Leg& leg, double fills) const;
  double way(TensorId t, std::size_t node, double fills) const;
  double width(TensorId t, std::size_t node) const;
  double held(TensorId t, std::size_t node) const;
  double largest_tile(TensorId t, std::size_t node, double most) const;
  bool is_pair(const std::pair<TensorId, TensorId>& pair) const;
  double refills() const;
  double refills(const std::vector<TensorId>& order, const PerTensor<double>& room) const;
  double combine(std::size_t tensor, double best);

  const EnergyFloor& floor_;
  const Problem& problem_;
  const UnrollingGroup& group_;
  bool balanced_;
  std::size_t latch_;
  PerTensor<Sides> sides_;
  PerTensor<std::vector<Choice>> choices_;
  PerTensor<Choice> chosen_;
};

void EnergyFloor::OfGroup::find_sides(TensorId t) {
  const Arch& arch = problem_.arch();
  const DimSet relevant = problem_.workload().tensors[t].dims();
  Sides& sides = sides_[t];
  for (const FanoutId f : group_.factors.ids()) {
    double irrelevant = 1;
    for (const DimId d : group_.factors[f].ids()) {
      irrelevant *= relevant.contains(d) ? 1 : static_cast<double>(group_.factors[f][d]);
    }
    sides.irrelevant.push_back(irrelevant);
    sides.served.push_back(problem_.is_merged(f, t) ? most_served(problem_, group_.factors[f], t)
                                                    : 1.0);
  }
  sides.copies.fill(1);
  for (std::size_t node = 0; node <= latch_; ++node) {
    for (const FanoutId f : group_.factors.ids()) {
      if (arch.levels_above[f] <= node) {
        sides.copies[node] *= sides.irrelevant[f];
      }
    }
  }
  sides.paid.fill(kInfinity);
  sides.paid[0] = 0;
  for (const Leg& each : floor_.routes_[t].legs) {  // by where they begin
    double& paid = sides.paid[each.to];
    paid = std::min(paid, sides.paid[each.from] + leg(t, each, fills_at_least(t, each.to)));
  }
}

void EnergyFloor::OfGroup::find_choices(TensorId t) {
  for (std::size_t node = 0; node <= latch_; ++node) {
    const double paid = sides_[t].paid[node];
    if (floor_.routes_[t].serves[node] && paid < kInfinity) {
      const double accesses = node == latch_ ? 0
                                             : accesses_floor(problem_, balanced_, group_,
                                                              static_cast<LevelId>(node), t);
      choices_[t].push_back({node, paid + accesses});
    }
  }
  std::sort(choices_[t].begin(), choices_[t].end(),
            [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
}

// What it costs at least that so many elements, all instances together, come to where the leg ends
// (sums: leave it).
double EnergyFloor::OfGroup::leg(TensorId t, const Leg& leg, double fills) const {
  const Route& route = floor_.routes_[t];
  if (route.output) {
    return leg_of_sums(t, leg, fills);
  }
  const Arch& arch = problem_.arch();
  double reads = fills;
  for (const FanoutId f : group_.factors.ids()) {
    const bool between = arch.levels_above[f] > leg.from && arch.levels_above[f] <= leg.to;
    reads /= between ? sides_[t].served[f] : 1.0;
  }
  reads = std::max(reads, fills_at_least(t, leg.from));
  const double write =
      leg.to == latch_ ? 0 : arch.levels[static_cast<LevelId>(leg.to)].energy.write.count();
  return problem_.moved_bits(t, problem_.workload().tensors[t].bits) *
         (reads * arch.levels[static_cast<LevelId>(leg.from)].energy.read.count() + fills * write);
}

// Sums of a place come back but for the first one, are added up where networks merge, and are final
// only when each moves once.
double EnergyFloor::OfGroup::leg_of_sums(TensorId t, const Leg& leg, double fills) const {
  const Route& route = floor_.routes_[t];
  const Arch& arch = problem_.arch();
  const Tensor& tensor = problem_.workload().tensors[t];
  const double partial = problem_.moved_bits(t, tensor.partial_bits);
  const double least = std::min(partial, problem_.moved_bits(t, tensor.bits));
  const auto width = [&](double sums) {
    return sums > route.once * (1 + kRounding) ? partial : least;
  };
  const auto again = [&](double sums, std::size_t node) {
    return route.slides ? 0.0 : std::max(0.0, sums - route.once * sides_[t].copies[node]);
  };
  double energy = 0;
  if (leg.to != latch_) {
    const StorageEnergy& below = arch.levels[static_cast<LevelId>(leg.to)].energy;
    energy +=
        width(fills) * (fills * below.read.count() + again(fills, leg.to) * below.write.count());
  }
  double sums = fills;
  for (std::size_t i = group_.factors.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    if (arch.levels_above[f] <= leg.from || arch.levels_above[f] > leg.to) {
      continue;
    }
    const double leaving = sums / sides_[t].served[f];
    if (!balanced_ && !route.slides) {
      energy += problem_.addition_energy(f).count() * (sums - leaving);
    }
    sums = leaving;
  }
  const StorageEnergy& above = arch.levels[static_cast<LevelId>(leg.from)].energy;
  return energy +
         width(sums) * (sums * above.update.count() + again(sums, leg.from) * above.read.count());
}

// The cheapest way to a node that so many elements come to.
double EnergyFloor::OfGroup::way(TensorId t, std::size_t node, double fills) const {
  double least = kInfinity;
  for (const Leg& each : floor_.routes_[t].legs) {
    if (each.to == node) {
      least = std::min(least, sides_[t].paid[each.from] + leg(t, each, fills));
    }
  }
  return least;
}

// Bits of an element at the level that serves the compute units: sums are as wide as they arrive.
double EnergyFloor::OfGroup::width(TensorId t, std::size_t node) const {
  const Tensor& tensor = problem_.workload().tensors[t];
  const Route& route = floor_.routes_[t];
  if (!route.output) {
    return static_cast<double>(tensor.bits.count());
  }
  const double arriving = static_cast<double>(problem_.macs()) /
                          most_shared(problem_, group_, static_cast<LevelId>(node), t);
  return static_cast<double>(arriving > route.once * (1 + kRounding)
                                 ? tensor.partial_bits.count()
                                 : std::min(tensor.bits, tensor.partial_bits).count());
}

// Elements of a tensor that have room at once where it serves the compute units, beside one each of
// the others that do so there.
double EnergyFloor::OfGroup::held(TensorId t, std::size_t node) const {
  const auto level = static_cast<LevelId>(node);
  const Tensor& tensor = problem_.workload().tensors[t];
  const std::optional<Bits> room = problem_.room(level, tensor.role);
  if (!room) {
    return kInfinity;
  }
  auto bits = static_cast<double>(room->count());
  const bool parted = !problem_.arch().levels[level].capacity.per_role.empty();
  for (const TensorId other : chosen_.ids()) {
    const bool beside = other != t && chosen_[other].node == node &&
                        (!parted || problem_.workload().tensors[other].role == tensor.role);
    bits -= beside ? width(other, node) : 0;
  }
  const double most = std::max(1.0, std::floor(bits / width(t, node)));
  return balanced_ || floor_.routes_[t].slides ? most : largest_tile(t, node, most);
}

double EnergyFloor::OfGroup::largest_tile(TensorId t, std::size_t node, double most) const {
  std::int64_t elements = 1;
  for (const DimId d : problem_.workload().dims.ids()) {
    if (problem_.workload().tensors[t].dims().contains(d)) {
      elements *= problem_.workload().dims[d].bound;
    }
  }
  for (const FanoutId f : group_.factors.ids()) {
    for (const DimId d : group_.factors[f].ids()) {
      const bool above = problem_.arch().levels_above[f] <= node;
      elements /=
          above && problem_.workload().tensors[t].dims().contains(d) ? group_.factors[f][d] : 1;
    }
  }
  return largest_divisor(elements, most);
}

// Of each pair that one level serves, the tensor that moves further in stays with one tile of the
// other: it comes at least once for as many operations as there are elements in that. Which of them
// moves how far in is the mapping's choice.
double EnergyFloor::OfGroup::refills() const {
  PerTensor<double> room(chosen_.size(), kInfinity);
  std::vector<TensorId> order;
  for (const TensorId t : chosen_.ids()) {
    const bool is_paired = std::any_of(
        floor_.pairs_.begin(), floor_.pairs_.end(),
        [&](const auto& pair) { return (pair.first == t || pair.second == t) && is_pair(pair); });
    if (is_paired) {
      order.push_back(t);
      room[t] = held(t, chosen_[t].node);
    }
  }
  double least = kInfinity;
  do {
    least = std::min(least, refills(order, room));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

bool EnergyFloor::OfGroup::is_pair(const std::pair<TensorId, TensorId>& pair) const {
  const std::size_t node = chosen_[pair.first].node;
  return node == chosen_[pair.second].node && node != 0 && node != latch_;
}

// `order`: who moves furthest in comes first.
double EnergyFloor::OfGroup::refills(const std::vector<TensorId>& order,
                                     const PerTensor<double>& room) const {
  const auto macs = static_cast<double>(problem_.workload().macs());
  double sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const TensorId moves = order[i];
    double fills = 0;
    for (std::size_t k = i + 1; k < order.size(); ++k) {
      const auto pair = std::minmax(moves, order[k]);
      const bool meets = std::find(floor_.pairs_.begin(), floor_.pairs_.end(),
                                   std::pair<TensorId, TensorId>(pair)) != floor_.pairs_.end();
      fills = meets && is_pair(pair) ? std::max(fills, macs / room[order[k]]) : fills;
    }
    const std::size_t node = chosen_[moves].node;
    if (fills > fills_at_least(moves, node)) {
      sum += way(moves, node, fills) - sides_[moves].paid[node];
    }
  }
  return sum;
}

// The least of all choices for the tensors from this one on, if it is below the best.
double EnergyFloor::OfGroup::combine(std::size_t tensor, double best) {
  double sum = 0;
  for (const TensorId t : choices_.ids()) {
    if (choices_[t].empty()) {
      return kInfinity;
    }
    sum += index_of(t) < tensor ? chosen_[t].cost : choices_[t].front().cost;
  }
  if (sum >= best) {
    return best;
  }
  if (tensor == choices_.size()) {
    return std::min(best, sum + refills());
  }
  const auto t = static_cast<TensorId>(tensor);
  for (const Choice& choice : choices_[t]) {
    chosen_[t] = choice;
    best = combine(tensor + 1, best);
  }
  return best;
}

double EnergyFloor::of(const UnrollingGroup& group) const { return OfGroup(*this, group).least(); }

}  // namespace mapsim::exact
