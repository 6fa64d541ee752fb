// SPDX-License-Identifier: Apache-2.0
// What a search for the best design asks about: its layers, and the machines of its boxes.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "design/space.hpp"

namespace mapsim {

// A layer that differs from all others in more than its name, and how often it occurs.
struct DistinctLayer {
  const CampaignLayer* layer = nullptr;  // the first of its kind
  double count = 0;
};
std::vector<DistinctLayer> distinct_layers(const Campaign& campaign);

// Machines in a form that layers are asked about: those of a box of a space.
struct DesignMachine {
  DesignMachine(std::size_t space, DesignBox box, const Enclosure& enclosure,
                const Excepted& excepted);
  std::size_t space;
  DesignBox box;
  Arch arch;   // the design, or the machine with the most of each resource at the lowest energies
  Arch least;  // what leaks no more than any design
  bool is_single;
  bool is_engine;
  MachineNumbers numbers;
  std::string structure;
};

}  // namespace mapsim
