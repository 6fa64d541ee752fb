// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign.hpp"
#include "mapper/mapspace/constraints.hpp"

namespace mapsim {

// Rules whose dims some layers lack, each once, with the layers that lack them.
class LackingLayers {
 public:
  void add(const std::vector<LackingRule>& rules, const std::string& layer);
  std::vector<std::string> warnings() const;

 private:
  std::vector<std::pair<LackingRule, std::vector<std::string>>> layers_;
};

// Warnings about the results of a campaign: rules whose dims a layer lacks, zeros whose
// figures are lower bounds, operands wider than a machine's words, warnings of the reader of
// a model. Each machine is represented by its first design, if that can be read and is no
// GPU.
std::vector<std::string> campaign_warnings(const Campaign& campaign);

}  // namespace mapsim
