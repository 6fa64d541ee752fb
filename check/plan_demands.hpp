// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "check/plan_proof.hpp"

namespace mapsim::check {

// A label of the backward search: what later groups demand of earlier ones, at a position between
// two operations.
struct Demand {
  std::vector<std::size_t> covered;  // earlier operations that belong to a later group
  std::vector<std::size_t> later;    // later operations that an earlier group is still to have
  // Tensors that are not made yet: the places that read each, in the order of their first reads.
  std::map<std::size_t, std::vector<std::size_t>> places;
  // With a limit on memory, tensors and places: the tensor is moved there for the first group that
  // reads it there, as a copy of its own. Elsewhere it is already there before that group, if it
  // could come only as a copy.
  std::set<std::pair<std::size_t, std::size_t>> copied;
  friend auto operator<=>(const Demand&, const Demand&) = default;
};

// From the demand after operation i to one before it.
struct DemandStep {
  // A tensor that the group makes, and the places that it has to be moved to, one after the other.
  struct Delivery {
    std::size_t tensor = 0;
    std::vector<std::size_t> to;
  };
  Demand before;
  std::optional<std::size_t> group{};  // that runs there
  std::size_t place = 0;
  std::vector<Delivery> deliveries{};
};

class Demands {
 public:
  explicit Demands(const PlanClaim& claim);  // with the claim's limit on memory
  std::vector<DemandStep> steps(std::size_t i, const Demand& demand) const;

 private:
  void run_back(std::size_t i, std::size_t group, std::size_t place, const Demand& demand,
                std::vector<DemandStep>& steps) const;
  double needs(const PlanGroup& group, const Demand& demand) const;
  bool agrees(std::size_t tensor, std::size_t place, const Demand& demand) const;
  void keep_copying(std::size_t i, const PlanGroup& group, double needs, const DemandStep& step,
                    std::vector<DemandStep>& steps) const;
  void keep(std::size_t i, DemandStep&& step, std::vector<DemandStep>& steps) const;

  const PlanClaim& claim_;
  std::vector<std::vector<std::size_t>> at_;  // groups, by anchor
  std::vector<std::vector<bool>> is_copied_;  // with a limit on memory: by tensor and place
  std::vector<std::size_t> first_;  // per operation: the first anchor of the groups that have it
};

// The price of a move; null: there is no way.
const PlanPrice* move_of(const PlanClaim& claim, std::size_t tensor, std::size_t from,
                         std::size_t to);

}  // namespace mapsim::check
