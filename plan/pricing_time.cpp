// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "plan/pricing.hpp"

// The time of a plan, how searches share it, and the clock.

namespace mapsim {

SharedBudget budget_of(const PlanOptions& options) {
  SearchOptions search;
  search.budget = {.seconds = options.seconds, .bytes = options.bytes};
  search.stop = options.stop;
  search.partial_folds = true;
  return SharedBudget{search};
}

PlanOptions with_share(PlanOptions options, const SharedBudget& budget, double parts) {
  options.seconds = budget.share(parts).budget.seconds;
  return options;
}

void Pricing::set_clock(double share) {
  machines_.clear();
  for (std::size_t e = 0; e < soc_.engines.size(); ++e) {
    machines_.push_back(machine_of(soc_.engines[e], launch_));
    if (auto* gpu = std::get_if<Gpu>(&machines_.back())) {
      *gpu = at_clock_share(std::move(*gpu), share);
      known_[e].clear();
    }
  }
}

Workload Pricing::anonymous(Workload workload) {
  workload.name.clear();
  workload.note.clear();
  return workload;
}

SearchOptions Pricing::share() const {
  double searches = 2;
  for (const auto& of_engine : expected_) {
    searches += static_cast<double>(of_engine.size());
  }
  return budget_.share(searches);
}

void Pricing::expect(const Operations& operations, const Group& group, const Place& place) {
  if (group.elided || !group.unpriced.empty() ||
      !refusal(operations, group, place.engine).empty()) {
    return;
  }
  for (const NodeLayer& each : group.layers) {
    const Workload wanted = anonymous(each.workload);
    const std::int64_t macs = wanted.macs();
    const auto is_like = [&](const Workload& other) { return other == wanted; };
    const auto [known, end] = known_[place.engine].equal_range(macs);
    const auto [expected, last] = expected_[place.engine].equal_range(macs);
    if (std::none_of(known, end, [&](const auto& one) { return is_like(one.second.workload); }) &&
        std::none_of(expected, last, [&](const auto& one) { return is_like(one.second); })) {
      expected_[place.engine].emplace(macs, wanted);
    }
  }
}

void Pricing::forget_expected(std::size_t engine, const Workload& workload) {
  auto [at, end] = expected_[engine].equal_range(workload.macs());
  at = std::find_if(at, end, [&](const auto& one) { return one.second == workload; });
  if (at != end) {
    expected_[engine].erase(at);
  }
}

}  // namespace mapsim
