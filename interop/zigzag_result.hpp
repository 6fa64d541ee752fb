// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/mapping.hpp"
#include "interop/zigzag.hpp"

namespace mapsim {

// Thrown for a layer or a constraint without a counterpart; the layer is left out.
struct ZigzagLeftOut {
  const Node* at = nullptr;
  std::string why;
  bool of_mapping = false;
};

// ZigZag's file about a layer that it has mapped (NAME_complete.json), in the form of its inputs.
struct ZigzagResult {
  Node layer;         // as an item of a workload
  Node mapping;       // as an item of a mapping
  Node temporal;      // loops by operand and memory, both innermost first
  Node spatial;       // unrolled loops, in the same form
  double energy = 0;  // pJ
  double cycles = 0;  // including loading before and unloading after
};

bool is_zigzag_result(const Node& root);
// Throws ZigzagLeftOut if the file is not of a single layer.
ZigzagResult read_zigzag_result(const Document& document);

// The result's mapping on the machine of zigzag_arch(). If the order of memories and fanouts
// requires it, keeps move past loops that do not index their operand, which changes neither tiles
// nor traffic. Throws ZigzagLeftOut if that is not sufficient.
Mapping zigzag_mapping(const ZigzagMachine& machine, const Arch& arch, const Workload& workload,
                       const std::vector<ZigzagUnrolling>& unrollings, const ZigzagResult& result);

}  // namespace mapsim
