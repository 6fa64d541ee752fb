// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>

#include "check/plan_proof.hpp"

namespace mapsim::check {

namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// What the groups behind a position demand of those in front of it.
struct Demand {
  std::vector<std::size_t> covered;  // operations in front that a group behind has
  std::vector<std::size_t> later;    // operations behind that a group in front will have
  // By tensor: the places that read it, in the order of their first reads.
  std::map<std::size_t, std::vector<std::size_t>> places;
  friend auto operator<=>(const Demand&, const Demand&) = default;
};

void insert_sorted(std::vector<std::size_t>& list, std::size_t value) {
  list.insert(std::upper_bound(list.begin(), list.end(), value), value);
}

class Backward {
 public:
  Backward(const PlanClaim& claim, const PlanWeights& weights, std::size_t most_labels)
      : claim_{claim},
        weights_{weights},
        most_labels_{most_labels},
        at_(claim.operations),
        first_(claim.operations, claim.operations) {
    for (std::size_t g = 0; g < claim.groups.size(); ++g) {
      at_[claim.groups[g].anchor].push_back(g);
      for (const std::size_t i : claim.groups[g].operations) {
        first_[i] = std::min(first_[i], claim.groups[g].anchor);
      }
    }
  }

  std::optional<double> run(std::size_t& labels) {
    std::map<Demand, double> now{{Demand{}, 0}};
    for (std::size_t i = claim_.operations; i-- > 0;) {
      next_.clear();
      for (const auto& [demand, value] : now) {
        step_back(i, demand, value);
      }
      labels += next_.size();
      if (labels > most_labels_) {
        return std::nullopt;
      }
      now.swap(next_);
    }
    const auto end = now.find(Demand{});
    return end == now.end() ? std::nullopt : std::optional{end->second};
  }

 private:
  // Either nothing is anchored at operation i, or one group is.
  void step_back(std::size_t i, const Demand& demand, double value) {
    const bool is_covered = std::binary_search(demand.covered.begin(), demand.covered.end(), i);
    Demand after = demand;
    if (is_covered) {  // by a group that is anchored behind
      std::erase(after.covered, i);
      keep(i, std::move(after), value);
      return;
    }
    insert_sorted(after.later, i);  // by one that is anchored in front
    keep(i, std::move(after), value);
    for (const std::size_t g : at_[i]) {
      const PlanGroup& group = claim_.groups[g];
      for (std::size_t place = 0; place < claim_.places; ++place) {
        if (group.on[place]) {
          run_back(i, group, place, demand, value);
        }
      }
    }
  }

  void run_back(std::size_t i, const PlanGroup& group, std::size_t place, const Demand& demand,
                double value) {
    Demand before = demand;
    value += weights_.value(*group.on[place]);
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
      if (asked != before.places.end()) {
        value += deliver(tensor, place, asked->second);
        before.places.erase(asked);
      }
    }
    if (value == kImpossible) {
      return;
    }
    for (const std::size_t tensor : group.reads) {
      std::vector<std::size_t>& places = before.places[tensor];
      std::erase(places, place);
      places.insert(places.begin(), place);
    }
    keep(i, std::move(before), value);
  }

  // Moves a tensor from where it is made to all places that read it, one after the other.
  double deliver(std::size_t tensor, std::size_t made, const std::vector<std::size_t>& places) {
    std::vector<std::size_t> there{made};
    double value = 0;
    for (const std::size_t to : places) {
      if (std::find(there.begin(), there.end(), to) != there.end()) {
        continue;
      }
      double least = kImpossible;
      for (const std::size_t from : there) {
        const auto& moves = claim_.tensors[tensor].moves;
        const std::size_t m = from * claim_.places + to;
        least = m < moves.size() && moves[m] ? std::min(least, weights_.value(*moves[m])) : least;
      }
      value += least;
      there.push_back(to);
    }
    return value;
  }

  // Keeps a state in front of operation i.
  void keep(std::size_t i, Demand&& demand, double value) {
    if (std::any_of(demand.later.begin(), demand.later.end(),
                    [&](std::size_t j) { return first_[j] >= i; })) {
      return;  // no group that is left has it
    }
    const auto [at, is_new] = next_.try_emplace(std::move(demand), value);
    at->second = std::min(at->second, value);
  }

  const PlanClaim& claim_;
  const PlanWeights& weights_;
  std::size_t most_labels_;
  std::vector<std::vector<std::size_t>> at_;  // groups, by anchor
  std::vector<std::size_t> first_;  // per operation: the first anchor of the groups that have it
  std::map<Demand, double> next_;
};

}  // namespace

double PlanWeights::value(const PlanPrice& price) const {
  const double engine =
      price.engine && *price.engine < busy.size() ? busy[*price.engine] * price.busy : 0;
  return latency * price.latency + energy * price.energy + bytes * price.bytes + engine;
}

std::optional<double> least_plan(const PlanClaim& claim, const PlanWeights& weights,
                                 std::size_t most_labels, std::size_t& labels) {
  return Backward{claim, weights, most_labels}.run(labels);
}

}  // namespace mapsim::check
