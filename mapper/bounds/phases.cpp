// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/phases.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "mapper/objective.hpp"

// Take one keep of each tensor, and sort the tensors by the innermost loop that moves their kept
// tiles, the one furthest in first; of tensors with the same loop one that slides comes last. A
// *phase* of the second tensor is the time between two moves of its tile. In a phase the tiles of
// all tensors but the first stay. So
//
// 1. the operations of a phase are a box (an extent per dim) whose parts of the second and all
//    later tensors lie in their tiles, and fit the capacities together;
// 2. each phase brings the box's elements of the first tensor, whose loops start anew, and of the
//    second, whose tile is a new one (unless it slides);
// 3. the first tile of every loop is full, so each phase is a part of the largest one, and a part
//    needs no fewer elements per operation.
//
// Hence there is one box that fits, and each of the two tensors needs at least (operations) x
// (elements of the box) / (operations of the box) elements. The least over all boxes that fit and
// all orders is a lower bound. Taken for the node that serves the compute units it bounds refetches
// from the next level; taken for the first keep of each tensor, over all instances, it bounds what
// the outermost level moves.

namespace mapsim::exact {

namespace {

constexpr std::size_t kMostSorted = 4;  // more have too many orders
constexpr std::size_t kMostPaths = 8;   // choices of first keeps
constexpr double kTolerance = 1e-4;     // of the bound

}  // namespace

double UnrollingBound::least_by_phases(double enough) {
  Phases phases(*this, enough);
  phases_ = &phases;
  const double found = least();
  phases_ = nullptr;
  return found;
}

UnrollingBound::Phases::Phases(const UnrollingBound& bound, double enough)
    : bound_{bound},
      workload_{bound.problem_.workload()},
      all_extents_{domains(workload_, Factors{true})},
      enough_{enough} {}

// Does some rank have several dims of more than one index?
bool UnrollingBound::Phases::slides(TensorId t) const {
  const auto& ranks = bound_.paths_[t].use.ranks;
  return std::any_of(ranks.begin(), ranks.end(), [this](const TensorUse::OfRank& rank) {
    return std::count_if(rank.dims.begin(), rank.dims.end(),
                         [this](const auto& of) { return workload_.dims[of.dim].bound > 1; }) > 1;
  });
}

// Per dim, the instances of a node.
PerDim<std::int64_t> UnrollingBound::Phases::instances(std::size_t node) const {
  PerDim<std::int64_t> instances(workload_.dims.size(), 1);
  for (const FanoutId f : bound_.factors_.ids()) {
    for (const DimId d : instances.ids()) {
      instances[d] *= bound_.problem_.arch().levels_above[f] <= node
                          ? static_cast<std::int64_t>(bound_.factors_[f][d])
                          : 1;
    }
  }
  return instances;
}

// Bits that an element takes of a capacity, at least.
double UnrollingBound::Phases::element_bits(TensorId t) const {
  const Tensor& tensor = workload_.tensors[t];
  return bound_.problem_.least_stored_bits(t, std::min(tensor.bits, tensor.partial_bits));
}

bool UnrollingBound::Phases::may_share(std::size_t node, TensorId one, TensorId other) const {
  const bool is_parted =
      !bound_.problem_.arch().levels[static_cast<LevelId>(node)].capacity.per_role.empty();
  return !is_parted || workload_.tensors[one].role == workload_.tensors[other].role;
}

// Is there at most one tensor that slides?
bool UnrollingBound::Phases::slide_apart(const std::vector<TensorId>& tensors) const {
  return std::count_if(tensors.begin(), tensors.end(), [this](TensorId t) { return slides(t); }) <=
         1;
}

// The extents that a box may have, of a domain. Along dims of tensors that stay it lies in their
// tiles. Along others there may be loops outside the fanouts, too, and an instance may have more
// than its share of the indices; the whole bound stands for what it has.
PerDim<ExtentDomain> UnrollingBound::Phases::extents(const PerDim<ExtentDomain>& domains,
                                                     const PerDim<std::int64_t>& instances,
                                                     std::span<const TensorId> staying) const {
  PerDim<ExtentDomain> extents(workload_.dims.size());
  for (const DimId d : extents.ids()) {
    const ExtentDomain& all = domains[d];
    const std::int64_t most = ceil_div(workload_.dims[d].bound, instances[d]);
    const bool lies_in_tiles = std::any_of(staying.begin(), staying.end(), [&](TensorId t) {
      return workload_.tensors[t].dims().contains(d);
    });
    extents[d].assign(lies_in_tiles ? all.begin() : all.end() - 1,
                      lies_in_tiles ? std::upper_bound(all.begin(), all.end(), most) : all.end());
  }
  return extents;
}

// The capacities in which these tiles lie. A box has its parts in all instances.
std::vector<SharedTiles> UnrollingBound::Phases::capacities(const std::vector<Kept>& kept) const {
  std::vector<SharedTiles> all;
  std::vector<std::size_t> nodes;  // of `all`
  for (const Kept& each : kept) {
    const auto capacity = bound_.problem_.capacity(static_cast<LevelId>(each.node),
                                                   workload_.tensors[each.tensor].role);
    if (!capacity) {
      continue;
    }
    std::size_t at = 0;
    while (at < all.size() && !(nodes[at] == each.node &&
                                may_share(each.node, all[at].tiles.front().tensor, each.tensor))) {
      ++at;
    }
    if (at == all.size()) {
      all.push_back({{}, real(capacity->count()), instances(each.node)});
      nodes.push_back(each.node);
    }
    all[at].tiles.push_back({each.tensor, each.bits});
  }
  return all;
}

double UnrollingBound::Phases::least(const Fills& fills, const std::vector<TensorId>& order,
                                     double best) {
  const double enough = std::min(enough_, best);
  const double tolerance = kTolerance * bound_.sum_of(fills);
  const double served = least_served(fills, order, enough, tolerance);
  if (served >= enough) {
    return served;
  }
  Charged charged{fills, {}, enough - served, tolerance};
  for (std::size_t i = 0; i < std::min<std::size_t>(2, order.size()); ++i) {
    charged.left_out.insert(order[i]);
  }
  return served + least_outer(charged);
}

// The cost of the paths to the serving node and of the accesses there.
double UnrollingBound::Phases::least_served(const Fills& fills, const std::vector<TensorId>& order,
                                            double enough, double tolerance) const {
  const bool are_together =
      order.size() > 1 && std::all_of(order.begin(), order.end(), [&](TensorId t) {
        return bound_.chosen_[t].node == bound_.chosen_[order.front()].node;
      });
  const std::size_t staying = are_together && slides(order[1]) ? 2 : 1;
  if (!are_together || order.size() <= staying || !slide_apart(order)) {
    return bound_.sum_of(fills);
  }
  const std::size_t node = bound_.chosen_[order.front()].node;
  return least_cost_of_boxes(
      workload_, extents(bound_.domains_, instances(node), std::span(order).subspan(staying)),
      capacities_at(node, order, staying), {order[0], order[1]},
      [&](double first, double second) {
        Fills more = fills;
        more[order[0]] = std::max(more[order[0]], bound_.macs_ * first);
        more[order[1]] = std::max(more[order[1]], bound_.macs_ * second);
        return bound_.sum_of(more);
      },
      enough, tolerance);
}

// The capacities of one instance of the serving node, beside one element of each tensor whose tile
// does not stay: the tensors before the `staying`-th one.
std::vector<SharedTiles> UnrollingBound::Phases::capacities_at(std::size_t node,
                                                               const std::vector<TensorId>& order,
                                                               std::size_t staying) const {
  std::vector<Kept> kept;
  for (std::size_t i = staying; i < order.size(); ++i) {
    kept.push_back({order[i], node, bound_.width(order[i], node)});
  }
  std::vector<SharedTiles> all = capacities(kept);
  for (SharedTiles& tiles : all) {
    tiles.shares = PerDim<std::int64_t>(workload_.dims.size(), 1);
    for (std::size_t k = 0; k < staying; ++k) {
      tiles.capacity -=
          may_share(node, order[k], tiles.tiles.front().tensor) ? bound_.width(order[k], node) : 0;
    }
  }
  return all;
}

// The least cost at the outermost level beyond the compulsory traffic; 0 if nothing is known.
double UnrollingBound::Phases::least_outer(const Charged& charged) const {
  PerTensor<std::vector<PathBoundary>> firsts(bound_.paths_.size());
  std::vector<TensorId> tensors;
  std::size_t paths = 1;
  for (const TensorId t : firsts.ids()) {
    tensors.push_back(t);
    bool is_known = bound_.source(t) == 0;
    for (const PathBoundary& boundary : bound_.paths_[t].boundaries) {
      if (boundary.from == bound_.source(t) && boundary.to <= bound_.chosen_[t].node) {
        firsts[t].push_back(boundary);
        is_known = is_known && boundary.to != bound_.latch_;
      }
    }
    paths *= is_known ? firsts[t].size() : 0;
  }
  if (paths == 0 || paths > kMostPaths || !slide_apart(tensors) || tensors.size() > kMostSorted) {
    return 0;
  }
  double least = kInfinity;
  for (std::size_t path = 0; path < paths && least > 0; ++path) {
    FirstBoundaries first(firsts.size());
    std::size_t rest = path;
    for (const TensorId t : firsts.ids()) {
      first[t] = firsts[t][rest % firsts[t].size()];
      rest /= firsts[t].size();
    }
    Charged closer = charged;
    closer.enough = std::min(closer.enough, least);
    least = std::min(least, least_outer(first, closer));
  }
  return least;
}

double UnrollingBound::Phases::least_outer(const FirstBoundaries& first,
                                           const Charged& charged) const {
  std::vector<TensorId> order;
  for (const TensorId t : first.ids()) {
    order.push_back(t);
  }
  Charged closer = charged;
  do {
    closer.enough = std::min(closer.enough, least_outer(first, order, closer));
  } while (closer.enough > 0 && std::next_permutation(order.begin(), order.end()));
  return closer.enough;
}

// The sums at a level that the compute units do not use are narrow only if each of them arrives
// there once, all added. Either their box has all indices that are summed over, or the level that
// adds them holds them from one phase to the next.
double UnrollingBound::Phases::least_outer(const FirstBoundaries& first,
                                           const std::vector<TensorId>& order,
                                           const Charged& charged) const {
  const std::size_t staying = order.size() > 1 && slides(order[1]) ? 2 : 1;
  if (order.size() <= staying) {
    return 0;
  }
  const TensorId output = bound_.output_;
  const Tensor& sums = workload_.tensors[output];
  const std::size_t serving = bound_.chosen_[output].node;
  const double narrow = element_bits(output);
  const double wide = bound_.problem_.least_stored_bits(output, sums.partial_bits);
  double least = charged.enough;
  const CostOfRates cost = [&](double one, double other) {
    return beyond(order[0], first[order[0]], bound_.macs_ * one, charged) +
           beyond(order[1], first[order[1]], bound_.macs_ * other, charged);
  };
  const auto take = [&](const PerDim<ExtentDomain>& extents,
                        const std::vector<SharedTiles>& capacities) {
    least =
        std::min(least, least_cost_of_boxes(workload_, extents, capacities, {order[0], order[1]},
                                            cost, least, charged.tolerance));
  };
  // Over all instances, whatever tiles the space has: with n phases along a dim of bound D some
  // phase has ceil(D/n) indices or more, and D / ceil(D/n) is at most n.
  const PerDim<ExtentDomain> whole =
      extents(all_extents_, PerDim<std::int64_t>(workload_.dims.size(), 1),
              std::span(order).subspan(staying));
  const bool stays = std::find(order.begin() + static_cast<std::ptrdiff_t>(staying), order.end(),
                               output) != order.end();
  if (!stays || !(narrow < wide) || first[output].to == serving) {
    take(whole,
         capacities_of(first, order, staying,
                       first[output].to == serving ? bound_.width(output, serving) : narrow));
    return least;
  }
  take(whole, capacities_of(first, order, staying, wide));
  PerDim<ExtentDomain> summed = whole;
  for (const DimId d : summed.ids()) {
    if (!sums.dims().contains(d)) {
      summed[d].assign(1, workload_.dims[d].bound);
    }
  }
  std::vector<SharedTiles> capacities = capacities_of(first, order, staying, narrow);
  take(summed, capacities);
  const auto& boundaries = bound_.paths_[output].boundaries;
  const bool goes_straight =
      std::none_of(boundaries.begin(), boundaries.end(), [&](const PathBoundary& boundary) {
        return boundary.from == first[output].to && boundary.to != serving;
      });
  const auto capacity = bound_.problem_.capacity(static_cast<LevelId>(serving), sums.role);
  if (goes_straight && capacity) {
    capacities.push_back({{{output, narrow}}, real(capacity->count()), instances(serving)});
  }
  take(whole, capacities);
  return least;
}

std::vector<SharedTiles> UnrollingBound::Phases::capacities_of(const FirstBoundaries& first,
                                                               const std::vector<TensorId>& order,
                                                               std::size_t staying,
                                                               double bits_of_sums) const {
  std::vector<Kept> kept;
  for (std::size_t i = staying; i < order.size(); ++i) {
    const TensorId t = order[i];
    kept.push_back({t, first[t].to, t == bound_.output_ ? bits_of_sums : element_bits(t)});
  }
  return capacities(kept);
}

// A lower bound of what a first boundary costs if `elements` leave the source (sums: arrive there),
// beyond what is charged already.
double UnrollingBound::Phases::beyond(TensorId t, const PathBoundary& boundary, double elements,
                                      const Charged& charged) const {
  const bool is_served = boundary.to == bound_.chosen_[t].node;
  if (is_served && charged.left_out.contains(t)) {
    return 0;
  }
  const double compulsory = bound_.fills_at_least(t, boundary.to);
  const double known = bound_.boundary_cost(t, boundary, is_served ? charged.fills[t] : compulsory);
  bool spreads = false;
  for (const FanoutId f : bound_.factors_.ids()) {
    spreads = spreads || bound_.is_between(boundary, f);
  }
  double cost = 0;
  if (!spreads) {
    cost = bound_.boundary_cost(t, boundary, std::max(elements, compulsory));
  } else if (t != bound_.output_) {
    const double bits = bound_.problem_.moved_bits(t, workload_.tensors[t].bits);
    cost = bits * (elements * bound_.weights_.levels[boundary.from].read +
                   std::max(elements, compulsory) * bound_.weights_.levels[boundary.to].write);
  }
  return std::max(0.0, cost - known);
}

}  // namespace mapsim::exact
