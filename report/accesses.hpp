// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "report/page.hpp"

namespace mapsim {

// One kind of action at a node, on average over data sets: how often it is made, gated and skipped
// (elements of an access, operations), the bits that say where nonzeros are, and their energies.
struct ActionRow {
  std::string node, tensor;  // no tensor: additions, operations, leakage
  std::string format;        // in which the node stores the tensor, if the machine knows of zeros
  std::string action;
  double made = 0, gated = 0, skipped = 0, format_bits = 0;
  Picojoules energy{0}, gated_energy{0}, skipped_energy{0}, format_energy{0};
  Picojoules all() const { return energy + gated_energy + skipped_energy + format_energy; }
};

// All energy of a mapping, in the order of the breakdown.
std::vector<ActionRow> action_rows(const Problem& problem, const Cost& cost);
std::string action_csv(const Problem& problem, const Cost& cost);
PageTable action_table(const Problem& problem, const Cost& cost);

}  // namespace mapsim
