// SPDX-License-Identifier: Apache-2.0
#include "check/plan_needs.hpp"

#include <algorithm>
#include <utility>

#include "check/plan_demands.hpp"

namespace mapsim::check {

double needs_of(const PlanClaim& claim, const std::set<std::size_t>& alive) {
  const auto& [most, bound, least, wholes, inputs] = *claim.memory_limit;
  double sum = 0;
  for (const std::size_t tensor : alive) {
    auto whole = wholes[tensor];
    while (whole && !alive.contains(*whole)) {
      whole = wholes[*whole];
    }
    sum += whole ? 0 : least[tensor];
  }
  return sum;
}

std::vector<std::vector<bool>> copies_of(const PlanClaim& claim) {
  constexpr std::size_t kMostReads = 8;
  std::vector<std::vector<bool>> copies(claim.tensors.size(),
                                        std::vector<bool>(claim.places, true));
  for (std::size_t tensor = 0; tensor < copies.size(); ++tensor) {
    for (std::size_t from = 0; from < claim.places; ++from) {
      for (std::size_t to = 0; to < claim.places; ++to) {
        const PlanPrice* move = from == to ? nullptr : move_of(claim, tensor, from, to);
        if (move != nullptr && !move->engine) {
          copies[tensor][to] = false;
        }
      }
    }
  }
  const auto& wholes = claim.memory_limit->whole;
  for (std::size_t tensor = 0; tensor < wholes.size(); ++tensor) {
    if (wholes[tensor]) {
      copies[tensor].assign(claim.places, false);
      copies[*wholes[tensor]].assign(claim.places, false);
    }
  }
  for (const PlanGroup& group : claim.groups) {
    for (const std::size_t tensor : group.reads) {
      if (group.reads.size() > kMostReads) {
        copies[tensor].assign(claim.places, false);
      }
    }
  }
  return copies;
}

double most_needed(const PlanClaim& claim) {
  // By group: what is alive there, from the last one to the first.
  std::vector<std::set<std::size_t>> alive;
  std::set<std::size_t> read;
  for (auto step = claim.plan.rbegin(); step != claim.plan.rend(); ++step) {
    const PlanGroup& group = claim.groups[step->first];
    read.insert(group.reads.begin(), group.reads.end());
    alive.push_back(read);
    alive.back().insert(group.writes.begin(), group.writes.end());
    for (const std::size_t tensor : group.writes) {
      read.erase(tensor);
    }
  }
  const auto copies = copies_of(claim);
  std::set<std::pair<std::size_t, std::size_t>> there;  // tensors and places
  double most = 0;
  for (const auto& [g, place] : claim.plan) {
    double needs = needs_of(claim, alive.back()) + claim.memory_limit->inputs[g][place];
    alive.pop_back();
    for (const std::size_t tensor : claim.groups[g].reads) {
      const bool is_moved = there.insert({tensor, place}).second;
      needs += is_moved && copies[tensor][place] ? claim.memory_limit->least[tensor] : 0;
    }
    for (const std::size_t tensor : claim.groups[g].writes) {
      there.insert({tensor, place});
    }
    most = std::max(most, needs);
  }
  return most;
}

std::optional<std::string> wrong_needs(const PlanClaim& claim) {
  const auto& [most, bound, least, wholes, inputs] = *claim.memory_limit;
  if (claim.at_once || !claim.mix.empty()) {
    return "a limit on memory is for plans of a frame, one group after the other";
  }
  if (!(most >= 0) || !(bound >= 0) || least.size() != claim.tensors.size() ||
      wholes.size() != claim.tensors.size() ||
      std::any_of(least.begin(), least.end(), [](double bytes) { return !(bytes >= 0); })) {
    return "a tensor has no size, or the limit on memory none";
  }
  if (inputs.size() != claim.groups.size() ||
      std::any_of(inputs.begin(), inputs.end(), [&](const std::vector<double>& each) {
        return each.size() != claim.places ||
               std::any_of(each.begin(), each.end(), [](double bytes) { return !(bytes >= 0); });
      })) {
    return "inputs of a group have no size at some place";
  }
  std::vector<double> parts(wholes.size(), 0);
  for (std::size_t tensor = 0; tensor < wholes.size(); ++tensor) {
    std::size_t depth = 0;
    for (auto whole = wholes[tensor]; whole; whole = wholes[*whole]) {
      if (*whole >= wholes.size() || ++depth > wholes.size()) {
        return "a tensor is a part of one that is not there, or of itself";
      }
    }
    if (wholes[tensor]) {
      parts[*wholes[tensor]] += least[tensor];
    }
  }
  for (std::size_t tensor = 0; tensor < wholes.size(); ++tensor) {
    if (parts[tensor] > least[tensor]) {
      return "parts of a tensor take more than it does";
    }
  }
  return std::nullopt;
}

}  // namespace mapsim::check
