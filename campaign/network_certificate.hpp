// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "campaign/fused_network.hpp"

namespace mapsim {

// Why the certificate of a fused network cannot be written; empty: it can.
std::string network_certificate_obstacle(const Arch& arch, const Objective& objective);

// The certificate of a fused network (docs/certificates.md): one of each distinct chain, and one of
// each layer that stands for a chain without fusion. Searches the layers, within what is left of
// the budget. Empty: a chain or a layer has no mapping, or the search was stopped before it.
std::string network_certificate_file(const Provenance& origin, const Arch& arch,
                                     const Network& network, const FusionLimits& limits,
                                     const SearchOptions& options, const FusedNetwork& fused);

}  // namespace mapsim
