// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/design_grid.hpp"
#include "core/units.hpp"
#include "costmodel/objective_function.hpp"
#include "workloads/workload.hpp"

namespace mapsim::check {

// A layer of the work, or an operator that only moves data.
struct DesignLayer {
  double count = 1;
  std::optional<Workload> workload;
  Bits in{0}, out{0};  // of what only moves data
};

// A design that is claimed to be one of the best, with a mapping of each layer.
struct DesignClaim {
  std::size_t space = 0;
  std::vector<std::size_t> values;
  double value = 0;                     // pJ, s
  std::vector<std::string> mappings{};  // YAML, by layer; empty: it only moves data
};

// A box of designs that is done with, and why.
struct DesignLeaf {
  enum class Why : std::uint8_t { kBound, kArea, kLimit, kUnreadable };
  Why why = Why::kBound;
  std::size_t space = 0;
  Box box;
};

// No mapping of a layer has less of a function on the best machine of a box [pJ, cycles].
struct LayerProof {
  std::size_t layer = 0, space = 0;
  Box box;
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  double bound = 0;  // infinite: none fits
  int line = 0;
};

// The certificate of the best designs of a space as it is claimed (docs/certificates.md): nothing
// of it is believed.
struct DesignCertificate {
  std::string file, tool, objective;
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  bool is_joint = false;  // the product of total energy and total latency
  bool ramped = false;
  double gap = 0;
  bool is_front = false;  // of value and area
  std::size_t top = 1;
  std::optional<double> max_area, max_energy, max_latency, max_power;  // mm2, pJ, s, mW
  std::vector<DesignLayer> layers;
  std::vector<DesignGrid> spaces;
  std::vector<DesignClaim> claims;
  std::vector<DesignLeaf> leaves;
  std::vector<LayerProof> proofs;
};

// Is a file such a certificate, by how it begins?
bool is_design_certificate(const std::string& text);
// Throws ConfigError: not a whole certificate, or something in it is not known.
DesignCertificate parse_design_certificate(const std::string& text, const std::string& filename);

}  // namespace mapsim::check
