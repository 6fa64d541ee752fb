// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "plan/plan.hpp"
#include "plan/pricing.hpp"

namespace mapsim {

namespace {

constexpr double kTwice = 2;

Soc with_transitions(Soc soc, double share) {
  for (Transition& transition : soc.transitions) {
    transition.sync = Seconds{share * transition.sync.count()};
  }
  return soc;
}

Soc without_launches(Soc soc) {
  for (Engine& engine : soc.engines) {
    engine.launch.fill(Seconds{0});
    engine.overhead = Seconds{0};
  }
  return soc;
}

Soc with_bandwidth(Soc soc, double times) {
  soc.memory.bandwidth = BytesPerSecond{times * soc.memory.bandwidth.count()};
  for (Engine& engine : soc.engines) {
    if (auto* gpu = std::get_if<Gpu>(&engine.machine)) {
      gpu->dram_bandwidth = BytesPerSecond{times * gpu->dram_bandwidth.count()};
    } else if (auto& shared = std::get<Arch>(engine.machine).levels.begin()->bandwidth.shared) {
      shared = BitsPerCycle{times * shared->count()};
    }
  }
  return soc;
}

std::vector<std::pair<std::string, Soc>> chips_like(const Soc& soc) {
  std::vector<std::pair<std::string, Soc>> chips;
  if (soc.engines.size() > 1) {
    chips.emplace_back("changing engines waits half as long", with_transitions(soc, 1 / kTwice));
    chips.emplace_back("no synchronisation between engines", with_transitions(soc, 0));
  }
  chips.emplace_back("launches and overheads take no time", without_launches(soc));
  chips.emplace_back("twice the bandwidth of memory", with_bandwidth(soc, kTwice));
  chips.emplace_back("half the bandwidth of memory", with_bandwidth(soc, 1 / kTwice));
  return chips;
}

}  // namespace

std::size_t count_what_ifs(const Soc& soc) { return chips_like(soc).size(); }

std::vector<WhatIf> what_if(const Soc& soc, const Network& network, PlanOptions options,
                            const std::string& soc_file, const std::string& network_file) {
  options.front = false;
  const auto chips = chips_like(soc);
  std::vector<WhatIf> found;
  const SharedBudget budget = budget_of(options);
  for (const auto& [what, chip] : chips) {
    const PlanOptions share =
        with_share(options, budget, static_cast<double>(chips.size() - found.size()));
    if (!(share.seconds > 0)) {
      break;
    }
    const PlanAnswer answer = make_plan(chip, network, share, soc_file, network_file);
    found.push_back({answer.misfit.empty() ? what : what + " (breaks a limit)", answer.plan.total,
                     answer.plan.busy});
  }
  return found;
}

}  // namespace mapsim
