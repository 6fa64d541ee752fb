// SPDX-License-Identifier: Apache-2.0
#include "check/path_costs.hpp"

#include <algorithm>

#include "check/geometry.hpp"
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

}  // namespace

double MovedTensor::bits_at(const Residence& at) const {
  const auto bits = static_cast<double>(tensor->bits.count());
  const auto partial = static_cast<double>(tensor->partial_bits.count());
  const double width = !output      ? bits
                       : two_widths ? (at.final ? bits : partial)
                                    : std::min(bits, partial);
  return width * stored;
}

bool have_phases(const std::vector<MovedTensor>& moved, std::size_t tensors) {
  int sliding = 0;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (((tensors >> i) & 1U) != 0) {
      sliding += moved[i].plain ? 2 : moved[i].slides ? 1 : 0;
    }
  }
  return sliding <= 1;
}

PathCosts::PathCosts(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
                     const BranchEntry& entry)
    : problem_{problem},
      arch_{problem.arch()},
      rules_{rules},
      ranges_{ranges},
      entry_{entry},
      instances_{problem, rules, ranges},
      operations_{static_cast<double>(problem.macs())} {}

MovedTensor PathCosts::describe(TensorId t) const {
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
    moved.distinct *= static_cast<double>(count_coordinates(rank, bounds_of(problem_.workload())));
    moved.slides = moved.slides ||
                   std::count_if(rank.terms.begin(), rank.terms.end(), [this](const Term& term) {
                     return problem_.workload().dims[term.dim].bound > 1;
                   }) > 1;
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

// Does the fanout lie on the step, and merge the tensor?
bool PathCosts::adds(const PathStep& step, FanoutId f) const {
  return instances_.is_between(f, step.from, step.to) && problem_.is_merged(f, step.moved->id);
}

// The least number of elements per compute unit that uses them at the same time, which is what
// units share at best. Units side by side along k dims of a window use at least the sum of their
// numbers less k - 1 coordinates.
double PathCosts::least_share(const PathStep& step) const {
  const InstanceBounds::Merged units = instances_.merged(step.moved->id, step.from, step.to);
  double used = 1;
  DimSet counted;
  for (const Rank& rank : step.moved->tensor->ranks) {
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
    used /= step.moved->tensor->dims().contains(d) ? static_cast<double>(units.along[d]) : 1;
  }
  return std::max(used / units.lacking, 1 / units.sharing);
}

// Sums that the networks leave of `child` ones.
double PathCosts::arriving(const PathStep& step, double child) const {
  for (const FanoutId f : ranges_.ids()) {
    child /= adds(step, f) ? ranges_[f].most_lacking[step.moved->id] : 1;
  }
  return child;
}

// Energy of the networks for `child` sums [pJ], if every instance has a sum to add, as with perfect
// factors.
double PathCosts::networks(const PathStep& step, double child) const {
  const TensorId t = step.moved->id;
  double arriving = child;
  double energy = 0;
  for (std::size_t i = ranges_.size(); !rules_.imperfect && i-- > 0;) {
    const auto f = static_cast<FanoutId>(i);
    if (adds(step, f)) {
      energy += (arriving - arriving / ranges_[f].fewest_lacking[t]) *
                problem_.addition_energy(f).count();
      arriving /= ranges_[f].most_lacking[t];
    }
  }
  return energy;
}

// The same for partial tiles, whose instances may have no sum to add: then one more arrives. With
// the lesser price of both the sum falls in neither number (BoundaryUse::additions_pj()).
double PathCosts::partial_additions(const PathStep& step, const Crossings& crossings) const {
  const MovedTensor& moved = *step.moved;
  if (!rules_.imperfect || !moved.output || moved.plain) {
    return 0;
  }
  double price = kInfinity;
  for (const FanoutId f : ranges_.ids()) {
    price = adds(step, f) ? std::min(price, problem_.addition_energy(f).count()) : price;
  }
  return crossings.child > crossings.parent && price < kInfinity
             ? std::min(price, std::min(moved.narrow, moved.wide) *
                                   access_energy(arch_.levels[step.from], true)) *
                   (crossings.child - crossings.parent)
             : 0;
}

Crossings PathCosts::crossings(const PathStep& step, const SharedCapacities& capacities,
                               TensorSet outer, double stay) const {
  const MovedTensor& moved = *step.moved;
  if (moved.plain) {
    return {moved.distinct, moved.distinct};
  }
  if (stay == 0) {
    return {kInfinity, kInfinity};
  }
  const double met = moved.distinct * instances_.fewest_copies(moved.id, step.to);
  const double child = std::max(met, operations_ / stay);
  if (moved.output) {
    return {child, arriving(step, child)};
  }
  const InstanceBounds::Merged served = instances_.merged(moved.id, step.from, step.to);
  const double stays = std::min(
      stay * served.sharing,
      served.along_lacking_only
          ? stay * served.lacking
          : most_operations(problem_.workload(), capacities, moved.id, outer, served.along));
  return {child, std::max({met / served.lacking, operations_ / stays,
                           moved.distinct * instances_.fewest_copies(moved.id, step.from)})};
}

Crossings PathCosts::raised(const PathStep& step, const Crossings& known, double child) const {
  const MovedTensor& moved = *step.moved;
  if (moved.plain || !(child > known.child)) {
    return known;
  }
  if (moved.output) {
    return {child, arriving(step, child)};
  }
  const InstanceBounds::Merged served = instances_.merged(moved.id, step.from, step.to);
  const double sharing =
      served.along_lacking_only ? std::min(served.lacking, served.sharing) : served.sharing;
  return {child, std::max(known.parent, child / sharing)};
}

double PathCosts::at_child(const PathStep& step, double child) const {
  const MovedTensor& moved = *step.moved;
  const double arrival = step.to ? arrival_energy(arch_.levels[*step.to], moved.output) : 0;
  if (moved.plain) {
    return child * std::min(moved.narrow, moved.wide) * arrival;
  }
  if (!moved.output) {
    return moved.narrow * child * arrival;
  }
  const EndEnergy energy = step.to ? child_energy(arch_.levels[*step.to], true) : EndEnergy{};
  const double width =
      is_more(child, moved.distinct) ? moved.wide : std::min(moved.narrow, moved.wide);
  const double again =
      std::max(0.0, child - moved.distinct * instances_.most_copies(moved.id, step.to));
  return networks(step, child) + width * energy.of({child, again});
}

double PathCosts::at_parent(const PathStep& step, double parent) const {
  const MovedTensor& moved = *step.moved;
  if (moved.plain) {
    return parent * std::min(moved.narrow, moved.wide) *
           access_energy(arch_.levels[step.from], moved.output);
  }
  if (!moved.output) {
    return moved.narrow * parent * access_energy(arch_.levels[step.from], false);
  }
  if (moved.two_widths && step.from_final && is_more(parent, moved.distinct)) {
    return kInfinity;
  }
  const bool wide = moved.two_widths ? !step.from_final : is_more(parent, moved.distinct);
  const double again =
      std::max(0.0, parent - moved.distinct * instances_.most_copies(moved.id, step.from));
  return (wide ? moved.wide : moved.narrow) *
         parent_energy(arch_.levels[step.from], true).of({parent, again});
}

double PathCosts::service(const PathStep& step) const {
  const MovedTensor& moved = *step.moved;
  if (!moved.output || has_window(*moved.tensor)) {
    return operations_ * least_share(step) * std::min(moved.narrow, moved.wide) *
           access_energy(arch_.levels[step.from], moved.output);
  }
  const Crossings crossings{operations_, arriving(step, operations_)};
  return networks(step, operations_) + at_parent(step, crossings.parent) +
         partial_additions(step, crossings);
}

void PathCosts::add_tile(const MovedTensor& moved, std::size_t residence, std::vector<Role>& roles,
                         SharedCapacities& capacities) const {
  const Residence& at = moved.residences[residence];
  const Role role = moved.tensor->role;
  const auto capacity = problem_.capacity(at.level, role);
  if (!capacity) {
    return;
  }
  const bool shared = arch_.levels[at.level].capacity.per_role.empty();
  auto found = shared ? roles.begin() : std::find(roles.begin(), roles.end(), role);
  if (found == roles.end()) {
    roles.push_back(role);
    capacities.all.push_back({static_cast<double>(capacity->count()), {}});
    found = roles.end() - 1;
  }
  capacities.all[static_cast<std::size_t>(found - roles.begin())].tiles.push_back(
      {moved.id, moved.bits_at(at)});
}

}  // namespace mapsim::check
