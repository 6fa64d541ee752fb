// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check/design_certificate.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

struct DesignCheckOptions {
  int threads = 1;
  std::int64_t max_steps = 1'000'000;  // walk a mapping step by step if it takes no more
  // The number of layer bounds to prove again, drawn evenly; 0: all.
  std::size_t sample = 0;
  Stop stop{};
};

// The result of a check: what was verified, and its faults.
struct DesignVerdict {
  std::vector<std::string> problems;  // empty: the proof holds
  double designs = 0;
  std::size_t leaves = 0;  // boxes that tile the grids
  std::size_t answers = 0, mappings = 0;
  std::size_t bounds = 0;    // of layers that the leaves need
  std::size_t reproved = 0;  // ... and of them those that were proven again
  std::size_t compared = 0;  // designs whose nodes were read one by one and as a whole
  double seconds = 0;
};

// Derives the claim again: boxes tile the grids, machines enclose their designs, bounds of boxes
// follow from those of layers, and these hold. Shares no code with the search of designs.
DesignVerdict check_design(DesignCertificate& certificate, const DesignCheckOptions& options);

}  // namespace mapsim::check
