// SPDX-License-Identifier: Apache-2.0
#pragma once
// Of mapsim/mapsim.hpp the part about networks whose layers are searched one by one (fused ones:
// mapsim/systems.hpp). What that header says of lifetimes, errors and threads holds here as well.
#include <string>

#include "campaign/network.hpp"
#include "campaign/network_file.hpp"
#include "mapsim/search_request.hpp"

namespace mapsim {

// A network on a machine, each distinct layer searched once. load_network() reads one;
// read_network() also an ONNX model.
struct NetworkSolution {
  Arch arch;
  Network network;
  NetworkOptions options;
  NetworkResult result;
};
NetworkSolution search_network(const Arch& arch, const Network& network,
                               const SearchRequest& request);
std::string to_json(const NetworkSolution& solution);
std::string to_text(const NetworkSolution& solution);

}  // namespace mapsim
