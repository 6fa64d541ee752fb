// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/mapping.hpp"
#include "interop/zigzag.hpp"

namespace mapsim {

// A layer or a rule that has no counterpart; the layer is left out.
struct ZigzagLeftOut {
  const Node* at = nullptr;
  std::string why;
  bool of_mapping = false;
};

// What ZigZag writes of a layer that it has mapped (NAME_complete.json), in the words of its
// inputs.
struct ZigzagResult {
  Node layer;         // as an item of a workload
  Node mapping;       // as an item of a mapping
  Node temporal;      // per operand and memory that holds it, innermost first: its loops, likewise
  Node spatial;       // the same of what is unrolled
  double energy = 0;  // pJ
  double cycles = 0;  // loading before and unloading after included
};

bool is_zigzag_result(const Node& root);
// Throws ZigzagLeftOut where it is of no single layer.
ZigzagResult read_zigzag_result(const Document& document);

// Its mapping on the machine that zigzag_arch() makes. Keeps move past loops that do not index
// their operand where the order of memories and fanouts asks for that: the tile and what moves stay
// the same. Throws ZigzagLeftOut where that does not do.
Mapping zigzag_mapping(const ZigzagMachine& machine, const Arch& arch, const Workload& workload,
                       const std::vector<ZigzagUnrolling>& unrollings, const ZigzagResult& result);

}  // namespace mapsim
