// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/unrolling_bound.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/arithmetic.hpp"
#include "mapper/bounds/phases.hpp"
#include "mapper/graph/parts.hpp"
#include "mapper/objective.hpp"

// The terms of the bound, besides the operations:
//
// - compulsory traffic: every instance of a node gets its copy of each element at least once, and a
//   transfer serves at most the instances that the unrolling has;
// - sums: they are added where networks merge, come back to be added to, and are narrow only if
//   each element leaves once;
// - refetches for lack of capacity: of two tensors at the node that serves the compute units, one
//   moves while a tile of the other stays. An element that moves meets only the operations of the
//   tile that stays, so it comes back for the others.
//
// Proofs: docs/decisions/0036-*.md, and with perfect factors 0039-*.md.

namespace mapsim::exact {

BoundWeights energy_weights(const Problem& problem) {
  BoundWeights weights;
  for (const LevelId l : problem.arch().levels.ids()) {
    const StorageEnergy& energy = problem.arch().levels[l].energy;
    weights.levels[index_of(l)] = {energy.read.count(), energy.write.count(),
                                   energy.update.count()};
  }
  return weights;
}

UnrollingBound::UnrollingBound(const Mapspace& space, const PerTensor<TensorPaths>& paths,
                               const std::vector<TensorPair>& pairs, std::size_t fanouts)
    : problem_{space.problem()},
      entry_{space.entry()},
      domains_{space.domains()},
      paths_{paths},
      pairs_{pairs},
      factors_(fanouts),
      weights_{energy_weights(problem_)},
      imperfect_{space.constraints().factors.imperfect},
      output_{problem_.workload().output()},
      latch_{problem_.arch().levels.size()},
      macs_{real(problem_.macs())},
      traffic_(paths.size()),
      choices_(paths.size()),
      chosen_(paths.size()) {}

UnrollingBound::UnrollingBound(const Mapspace& space, const PerTensor<TensorPaths>& paths,
                               const std::vector<TensorPair>& pairs,
                               const UnrollingClass& unrolling_class)
    : UnrollingBound{space, paths, pairs, unrolling_class.factors.size()} {
  for (const FanoutId f : factors_.ids()) {
    for (const std::int64_t factor : unrolling_class.factors[f]) {
      factors_[f].push_back(real(factor));
    }
  }
  for (const TensorId t : paths_.ids()) {
    find_traffic(t, unrolling_class);
    find_routes(t);
    find_choices(t);
  }
}

double UnrollingBound::least() {
  return weights_.operations * macs_ * problem_.mac_energy().count() + combine(0, kInfinity);
}

void UnrollingBound::find_traffic(TensorId t, const UnrollingClass& unrolling_class) {
  const TensorUse& use = paths_[t].use;
  Traffic& traffic = traffic_[t];
  traffic.copies.fill(1);
  traffic.served.resize(factors_.size());
  // Below a node: instances that share transfers
  Extents below(problem_.workload().dims.size(), 1.0);
  Extents all = below;
  for (const Extents& factors : factors_) {
    for (const DimId d : all.ids()) {
      all[d] *= factors[d];
    }
  }
  traffic.shared[latch_] = 1;
  std::size_t node = latch_;
  for (std::size_t i = factors_.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    const std::size_t first_below = problem_.arch().levels_above[f];
    const double shared = most_shared(use, below);
    for (; node > first_below; --node) {
      traffic.shared[node - 1] = shared;
    }
    const Extents& instances = factors_[f];
    double irrelevant = 1;
    for (const DimId d : instances.ids()) {
      irrelevant *= use.dims.contains(d) ? 1 : instances[d];
      below[d] *= problem_.is_merged(f, t) ? instances[d] : 1;
    }
    for (std::size_t n = latch_ + 1; n-- > first_below;) {
      if (!problem_.is_merged(f, t)) {
        traffic.served[f][n] = 1;
      } else if (n == latch_ || use.strides) {
        traffic.served[f][n] = most_served(use, instances, all, capacity(t, n), imperfect_);
      } else {
        traffic.served[f][n] = traffic.served[f][latch_];
      }
    }
    for (std::size_t n = first_below; n <= latch_; ++n) {
      traffic.copies[n] *= irrelevant;
    }
  }
  std::fill_n(traffic.shared.begin(), node, most_shared(use, below));
  for (std::size_t n = 0; n <= latch_; ++n) {
    traffic.busy[n] = imperfect_ ? busy_copies(use, unrolling_class, n) : traffic.copies[n];
  }
}

void UnrollingBound::find_routes(TensorId t) {
  Traffic& traffic = traffic_[t];
  traffic.so_far.fill(kInfinity);
  traffic.so_far[source(t)] = 0;
  for (const PathBoundary& each : paths_[t].boundaries) {  // sorted by their outer node
    traffic.so_far[each.to] =
        std::min(traffic.so_far[each.to],
                 traffic.so_far[each.from] + boundary_cost(t, each, fills_at_least(t, each.to)));
  }
}

void UnrollingBound::find_choices(TensorId t) {
  for (std::size_t node = 0; node <= latch_; ++node) {
    const double so_far = traffic_[t].so_far[node];
    if (paths_[t].serves[node] && so_far < kInfinity) {
      choices_[t].push_back({node, so_far + (node == latch_ ? 0 : accesses(t, node))});
    }
  }
  std::sort(choices_[t].begin(), choices_[t].end(),
            [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
}

bool UnrollingBound::is_between(const PathBoundary& boundary, FanoutId fanout) const {
  const std::size_t levels_above = problem_.arch().levels_above[fanout];
  return boundary.from < levels_above && levels_above <= boundary.to;
}

double UnrollingBound::accesses(TensorId t, std::size_t node) const {
  return t == output_ ? accesses_of_sums(node)
                      : macs_ / traffic_[t].shared[node] *
                            problem_.moved_bits(t, problem_.workload().tensors[t].bits) *
                            weights_.levels[node].read;
}

// Cost of the sums that the compute units send to a level: updates, additions in networks, and
// read-backs. With imperfect factors some instances are without work, so sums of others find
// nothing to merge with. The cost is convex in the number of sums that arrive, from all merging to
// none merging, each addition at the price of the cheapest network; so the ends and the kink are
// tried.
double UnrollingBound::accesses_of_sums(std::size_t node) const {
  const Tensor& tensor = problem_.workload().tensors[output_];
  const TensorUse& use = paths_[output_].use;
  const BoundWeights::Level& weight = weights_.levels[node];
  if (use.slides) {
    // How many sums a window merges is only known for whole nests.
    return macs_ / traffic_[output_].shared[node] * weight.update *
           std::min(problem_.moved_bits(output_, tensor.bits),
                    problem_.moved_bits(output_, tensor.partial_bits));
  }
  // Sums that are not read back: the first of each element in each instance of the level.
  const double begun = use.elements * traffic_[output_].copies[node];
  double sums = macs_;
  double additions = 0;
  double cheapest = kInfinity;  // addition
  for (std::size_t i = factors_.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    const double served = traffic_[output_].served[f][latch_];
    if (is_between({node, latch_}, f) && served > 1) {
      const double addition = weights_.operations * problem_.addition_energy(f).count();
      cheapest = std::min(cheapest, addition);
      additions += counts_additions_ ? addition * (sums - sums / served) : 0;
      sums /= served;
    }
  }
  const double bits = problem_.moved_bits(
      output_,
      sums > use.elements ? tensor.partial_bits : std::min(tensor.bits, tensor.partial_bits));
  const auto arrival = [&](double arriving) {
    return bits * (arriving * weight.update + std::max(0.0, arriving - begun) * weight.read);
  };
  if (!imperfect_ || !(cheapest < kInfinity)) {
    return additions + arrival(sums);
  }
  double least = arrival(macs_);
  for (const double arriving : {sums, std::clamp(begun, sums, macs_)}) {
    least = std::min(least, cheapest * (macs_ - arriving) + arrival(arriving));
  }
  return least;
}

// A lower bound of the elements that arrive at a node, over all instances.
double UnrollingBound::fills_at_least(TensorId t, std::size_t node) const {
  return paths_[t].use.elements * traffic_[t].busy[node];
}

// Imperfect factors: a lower bound of the instances of a node that work on the same element. The
// first tile of every loop is full, whatever the element. So of nested parallel loops over one dim
// that the tensor does not have, every instance of the outer loop but the last has all instances of
// the inner loops at work, and the last one has at least one: b = (s - 1) * (b of the inner loops)
// + 1.
double UnrollingBound::busy_copies(const TensorUse& use, const UnrollingClass& unrolling_class,
                                   std::size_t node) const {
  double copies = 1;
  for (const DimId d : problem_.workload().dims.ids()) {
    if (use.dims.contains(d)) {
      continue;
    }
    double busy = 1;
    for (std::size_t u = unrolling_class.first.size(); u-- > 0;) {
      const Unroll& unroll = unrolling_class.first[u];
      if (unroll.dim == d && problem_.arch().levels_above[unroll.fanout] <= node) {
        busy = real(unroll.factor - 1) * busy + 1;
      }
    }
    copies *= busy;
  }
  return copies;
}

// A lower bound of the cost of a boundary across which `fills` elements, over all instances, arrive
// at its inner node (sums: leave it).
double UnrollingBound::boundary_cost(TensorId t, const PathBoundary& boundary, double fills) const {
  if (t == output_) {
    return cost_of_sums(t, boundary, fills);
  }
  double reads = fills;
  for (const FanoutId f : factors_.ids()) {
    reads /= is_between(boundary, f) ? traffic_[t].served[f][boundary.to] : 1.0;
  }
  reads = std::max(reads, fills_at_least(t, boundary.from));
  const double write = boundary.to == latch_ ? 0 : weights_.levels[boundary.to].write;
  return problem_.moved_bits(t, problem_.workload().tensors[t].bits) *
         (reads * weights_.levels[boundary.from].read + fills * write);
}

// A lower bound of the energy of one addition in a network of the boundary [pJ]. With imperfect
// factors instances without work add nothing, so fewer sums are added than Traffic::served says.
// Each sum that is not added is one update more at the outer node. The lesser of the two prices
// bounds both.
double UnrollingBound::addition(const PathBoundary& boundary, FanoutId fanout) const {
  double price = weights_.operations * problem_.addition_energy(fanout).count();
  if (!imperfect_) {
    return price;
  }
  for (const FanoutId f : factors_.ids()) {
    if (is_between(boundary, f) && problem_.is_merged(f, output_)) {
      price = std::min(price, weights_.operations * problem_.addition_energy(f).count());
    }
  }
  const Tensor& tensor = problem_.workload().tensors[output_];
  return std::min(price,
                  weights_.levels[boundary.from].update *
                      problem_.moved_bits(output_, std::min(tensor.bits, tensor.partial_bits)));
}

// Sums are read back except the first of each element in each instance, are added where networks
// merge, and are narrow only if each element crosses once.
double UnrollingBound::cost_of_sums(TensorId t, const PathBoundary& boundary, double fills) const {
  const TensorUse& use = paths_[t].use;
  const Tensor& tensor = problem_.workload().tensors[t];
  const double partial = problem_.moved_bits(t, tensor.partial_bits);
  const double least = std::min(partial, problem_.moved_bits(t, tensor.bits));
  const auto width = [&](double sums) {
    return sums > use.elements * (1 + kRounding) ? partial : least;
  };
  const auto again = [&](double sums, std::size_t node) {
    return use.slides ? 0.0 : std::max(0.0, sums - use.elements * traffic_[t].copies[node]);
  };
  double energy = 0;
  if (boundary.to != latch_) {
    const BoundWeights::Level& below = weights_.levels[boundary.to];
    energy += width(fills) * (fills * below.read + again(fills, boundary.to) * below.write);
  }
  double sums = fills;
  for (std::size_t i = factors_.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    if (is_between(boundary, f)) {
      const double leaving = sums / traffic_[t].served[f][boundary.to];
      energy += use.slides || !counts_additions_ ? 0 : addition(boundary, f) * (sums - leaving);
      sums = leaving;
    }
  }
  const BoundWeights::Level& above = weights_.levels[boundary.from];
  return energy + width(sums) * (sums * above.update + again(sums, boundary.from) * above.read);
}

// The cost of the cheapest path to a node at which `fills` elements arrive.
double UnrollingBound::route_cost(TensorId t, std::size_t node, double fills) const {
  double least = kInfinity;
  for (const PathBoundary& each : paths_[t].boundaries) {
    if (each.to == node) {
      least = std::min(least, traffic_[t].so_far[each.from] + boundary_cost(t, each, fills));
    }
  }
  return least;
}

// Bits of an element at the serving level. Sums are stored as wide as they arrive.
double UnrollingBound::width(TensorId t, std::size_t node) const {
  const Tensor& tensor = problem_.workload().tensors[t];
  if (t != output_) {
    return problem_.least_stored_bits(t, tensor.bits);
  }
  const bool final_sums =
      macs_ / traffic_[t].shared[node] <= paths_[t].use.elements * (1 + kRounding);
  return problem_.least_stored_bits(
      t, final_sums ? std::min(tensor.bits, tensor.partial_bits) : tensor.partial_bits);
}

// Elements of a tensor that fit a node alone.
double UnrollingBound::capacity(TensorId t, std::size_t node) const {
  if (node == latch_) {
    return 1;
  }
  const Tensor& tensor = problem_.workload().tensors[t];
  const std::optional<Bits> capacity = problem_.capacity(static_cast<LevelId>(node), tensor.role);
  return capacity ? real(capacity->count()) /
                        problem_.least_stored_bits(t, std::min(tensor.bits, tensor.partial_bits))
                  : kInfinity;
}

// Elements of a tensor that fit its serving node beside one element of each other tensor that is
// served there.
double UnrollingBound::held(TensorId t, std::size_t node) const {
  const auto level = static_cast<LevelId>(node);
  const Tensor& tensor = problem_.workload().tensors[t];
  const std::optional<Bits> capacity = problem_.capacity(level, tensor.role);
  if (!capacity) {
    return kInfinity;
  }
  double bits = real(capacity->count());
  const bool parted = !problem_.arch().levels[level].capacity.per_role.empty();
  for (const TensorId other : chosen_.ids()) {
    const bool beside = other != t && chosen_[other].node == node && node != source(other) &&
                        (!parted || problem_.workload().tensors[other].role == tensor.role);
    bits -= beside ? width(other, node) : 0;
  }
  return std::max(1.0, std::floor(bits / width(t, node)));
}

// Refetches. Of a pair of tensors at one serving level, the one that moves further in meets one
// tile of the other at a time. So each of its elements arrives once per so many operations as it
// takes part in meanwhile. A mapping may choose which tensor moves how far in: calls visit(fills)
// for each order.
void UnrollingBound::for_each_order(const VisitOrder& visit) const {
  constexpr std::size_t kMostTensors = 4;  // more have too many orders
  std::vector<TensorId> order;
  PerTensor<PerTensor<double>> if_moves(chosen_.size(), PerTensor<double>(chosen_.size(), 0.0));
  for (const auto& [one, other] : pairs_) {
    const std::size_t node = chosen_[one].node;
    if (node != chosen_[other].node || node == source(one) || node == source(other) ||
        node == latch_ || paths_.size() > kMostTensors) {
      continue;
    }
    if_moves[one][other] = macs_ / operations(one, node, other, node);
    if_moves[other][one] = macs_ / operations(other, node, one, node);
    for (const TensorId t : {one, other}) {
      if (std::find(order.begin(), order.end(), t) == order.end()) {
        order.push_back(t);
      }
    }
  }
  std::sort(order.begin(), order.end());
  do {
    visit(fills_in(order, if_moves), order);
  } while (std::next_permutation(order.begin(), order.end()));
}

// `order`: the tensor that moves furthest in comes first. if_moves[a][b]: elements that arrive if a
// moves while a tile of b stays.
UnrollingBound::Fills UnrollingBound::fills_in(const std::vector<TensorId>& order,
                                               const PerTensor<PerTensor<double>>& if_moves) const {
  Fills fills(chosen_.size());
  for (const TensorId t : fills.ids()) {
    fills[t] = fills_at_least(t, chosen_[t].node);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t k = i + 1; k < order.size(); ++k) {
      fills[order[i]] = std::max(fills[order[i]], if_moves[order[i]][order[k]]);
    }
  }
  return fills;
}

// The cost of all chosen paths and accesses.
double UnrollingBound::sum_of(const Fills& fills) const {
  double sum = 0;
  for (const TensorId t : fills.ids()) {
    const std::size_t node = chosen_[t].node;
    const bool again = fills[t] > fills_at_least(t, node);
    sum += chosen_[t].cost + (again ? route_cost(t, node, fills[t]) - traffic_[t].so_far[node] : 0);
  }
  return sum;
}

// The cost of the choices so far, and the least of the tensors from this one on.
double UnrollingBound::least_to_come(std::size_t tensor) const {
  double sum = 0;
  for (const TensorId t : choices_.ids()) {
    if (choices_[t].empty()) {
      return kInfinity;
    }
    sum += index_of(t) < tensor ? chosen_[t].cost : choices_[t].front().cost;
  }
  return sum;
}

// The least cost over all choices of the tensors from this one on; `best` if that is less.
double UnrollingBound::combine(std::size_t tensor, double best) {
  if (least_to_come(tensor) >= best) {
    return best;
  }
  if (tensor == choices_.size()) {
    for_each_order([&](const Fills& fills, const std::vector<TensorId>& order) {
      const double sum = sum_of(fills);
      best = std::min(best,
                      phases_ != nullptr && sum < best ? phases_->least(fills, order, best) : sum);
    });
    return best;
  }
  const auto t = static_cast<TensorId>(tensor);
  for (const Choice& choice : choices_[t]) {
    chosen_[t] = choice;
    best = combine(tensor + 1, best);
  }
  return best;
}

}  // namespace mapsim::exact
