// SPDX-License-Identifier: Apache-2.0
#include "design/supported.hpp"

#include <fmt/format.h>

#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw UnsupportedSearch("design: " + message);
}

}  // namespace

void check_supported_by_design(const Campaign& campaign) {
  if (campaign.strategy != "exact") {
    refuse(fmt::format("the strategy {} proves nothing; take the strategy out of the file",
                       campaign.strategy));
  }
  if (campaign.questions.size() > 1 || campaign.layers.empty()) {
    for (const Question& question : campaign.questions) {
      if (question.constraints != campaign.questions.front().constraints) {
        refuse("designs are compared under one set of constraints; the file names several");
      }
    }
  }
  for (const Question& question : campaign.questions) {
    if (question.objective.max_energy || !question.max_latency.empty()) {
      refuse("limits on a layer's energy or latency are not known to it; 'mapsim sweep' has them");
    }
    if (question.objective.mode != campaign.questions.front().objective.mode) {
      refuse("the file names two latencies, steady and ramped; keep one");
    }
  }
  if (!(campaign.budget == Budget{})) {
    refuse("budget_labels leaves layers unproven; give --budget or --gap for the whole");
  }
  if (!campaign.unpriced.empty()) {
    const auto& [network, kind, count] = campaign.unpriced.front();
    refuse(fmt::format("{}: the cost of {} x {} is not known, so no total would be complete",
                       network, count, kind));
  }
}

}  // namespace mapsim
