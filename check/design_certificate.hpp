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
  Bits in{0}, out{0};  // if it only moves data
};

// A design that is claimed to be one of the best, with a mapping of each layer.
struct DesignClaim {
  std::size_t space = 0;
  std::vector<std::size_t> values;
  double value = 0;                     // pJ, s
  std::vector<std::string> mappings{};  // YAML, by layer; empty: it only moves data
};

// A decided box of designs, and the reason.
struct DesignLeaf {
  enum class Why : std::uint8_t { kBound, kArea, kLimit, kUnreadable };
  Why why = Why::kBound;
  std::size_t space = 0;
  Box box;
};

// Claim: on a box's best machine no mapping of the layer is below `bound` [pJ, cycles].
struct LayerProof {
  std::size_t layer = 0, space = 0;
  Box box;
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  double bound = 0;  // infinite: none fits
  int line = 0;
};

// The certificate of the best designs of a space, as written (docs/certificates.md). The checker
// trusts none of it.
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

// Does a text begin like such a certificate?
bool is_design_certificate(const std::string& text);
// Throws ConfigError if the certificate is incomplete or has something unknown.
DesignCertificate parse_design_certificate(const std::string& text, const std::string& filename);

}  // namespace mapsim::check
