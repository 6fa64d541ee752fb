// SPDX-License-Identifier: Apache-2.0
#include "check/plan_demands.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "check/plan_needs.hpp"

namespace mapsim::check {

namespace {

void insert_sorted(std::vector<std::size_t>& list, std::size_t value) {
  list.insert(std::upper_bound(list.begin(), list.end(), value), value);
}

}  // namespace

Demands::Demands(const PlanClaim& claim)
    : claim_{claim},
      at_(claim.operations),
      is_copied_(claim.memory_limit ? copies_of(claim) : std::vector<std::vector<bool>>{}),
      first_(claim.operations, claim.operations) {
  for (std::size_t g = 0; g < claim.groups.size(); ++g) {
    at_[claim.groups[g].anchor].push_back(g);
    for (const std::size_t i : claim.groups[g].operations) {
      first_[i] = std::min(first_[i], claim.groups[g].anchor);
    }
  }
}

// Either nothing is anchored at operation i, or one group is.
std::vector<DemandStep> Demands::steps(std::size_t i, const Demand& demand) const {
  std::vector<DemandStep> found;
  DemandStep step{demand};
  if (std::binary_search(demand.covered.begin(), demand.covered.end(), i)) {
    std::erase(step.before.covered, i);  // by a group that is anchored behind
    keep(i, std::move(step), found);
    return found;
  }
  insert_sorted(step.before.later, i);  // by one that is anchored in front
  keep(i, std::move(step), found);
  for (const std::size_t g : at_[i]) {
    for (std::size_t place = 0; place < claim_.places; ++place) {
      if (claim_.groups[g].on[place]) {
        run_back(i, g, place, demand, found);
      }
    }
  }
  return found;
}

void Demands::run_back(std::size_t i, std::size_t g, std::size_t place, const Demand& demand,
                       std::vector<DemandStep>& steps) const {
  const PlanGroup& group = claim_.groups[g];
  const double needed =
      claim_.memory_limit ? needs(group, demand) + claim_.memory_limit->inputs[g][place] : 0;
  if (claim_.memory_limit && needed > claim_.memory_limit->most) {
    return;
  }
  DemandStep step{demand, g, place};
  Demand& before = step.before;
  for (const std::size_t j : group.operations) {
    if (j < i) {
      if (std::binary_search(before.covered.begin(), before.covered.end(), j)) {
        return;
      }
      insert_sorted(before.covered, j);
    } else if (j > i) {
      const auto waits = std::find(before.later.begin(), before.later.end(), j);
      if (waits == before.later.end()) {
        return;
      }
      before.later.erase(waits);
    }
  }
  for (const std::size_t tensor : group.writes) {
    const auto asked = before.places.find(tensor);
    if (asked != before.places.end() && !agrees(tensor, place, before)) {
      return;
    }
    if (asked != before.places.end()) {
      std::erase_if(before.copied, [&](const auto& each) { return each.first == tensor; });
      std::vector<std::size_t> to = asked->second;
      std::erase(to, place);
      step.deliveries.push_back({tensor, std::move(to)});
      before.places.erase(asked);
    }
  }
  for (const std::size_t tensor : group.reads) {
    if (before.copied.contains({tensor, place})) {
      return;  // this group would have it there before
    }
    std::vector<std::size_t>& places = before.places[tensor];
    std::erase(places, place);
    places.insert(places.begin(), place);
  }
  if (claim_.memory_limit) {
    keep_copying(i, group, needed, step, steps);
  } else {
    keep(i, std::move(step), steps);
  }
}

// Whether a tensor that is made at a place can be moved where and when the later groups say.
bool Demands::agrees(std::size_t tensor, std::size_t place, const Demand& demand) const {
  const std::vector<std::size_t>& places = demand.places.at(tensor);
  return !claim_.memory_limit || std::all_of(places.begin(), places.end(), [&](std::size_t to) {
    const bool is_moved = demand.copied.contains({tensor, to});
    return to == place ? !is_moved : is_moved || !is_copied_[tensor][to];
  });
}

// Of the tensors that the group reads any may be moved for it, or be there already.
void Demands::keep_copying(std::size_t i, const PlanGroup& group, double needs,
                           const DemandStep& step, std::vector<DemandStep>& steps) const {
  std::vector<std::size_t> may;
  for (const std::size_t tensor : std::set(group.reads.begin(), group.reads.end())) {
    if (is_copied_[tensor][step.place]) {
      may.push_back(tensor);
    }
  }
  for (std::size_t moved = 0; moved < std::size_t{1} << may.size(); ++moved) {
    DemandStep next = step;
    double copies = 0;
    for (std::size_t k = 0; k < may.size(); ++k) {
      if ((moved >> k & 1) != 0) {
        next.before.copied.insert({may[k], step.place});
        copies += claim_.memory_limit->least[may[k]];
      }
    }
    if (needs + copies <= claim_.memory_limit->most) {
      keep(i, std::move(next), steps);
    }
  }
}

double Demands::needs(const PlanGroup& group, const Demand& demand) const {
  std::set<std::size_t> alive(group.reads.begin(), group.reads.end());
  alive.insert(group.writes.begin(), group.writes.end());
  for (const auto& [tensor, places] : demand.places) {
    alive.insert(tensor);
  }
  return needs_of(claim_, alive);
}

// A step to in front of operation i, unless no group is left that has what is to be covered.
void Demands::keep(std::size_t i, DemandStep&& step, std::vector<DemandStep>& steps) const {
  if (std::none_of(step.before.later.begin(), step.before.later.end(),
                   [&](std::size_t j) { return first_[j] >= i; })) {
    steps.push_back(std::move(step));
  }
}

const PlanPrice* move_of(const PlanClaim& claim, std::size_t tensor, std::size_t from,
                         std::size_t to) {
  const auto& moves = claim.tensors[tensor].moves;
  const std::size_t m = from * claim.places + to;
  return m < moves.size() && moves[m] ? &*moves[m] : nullptr;
}

}  // namespace mapsim::check
