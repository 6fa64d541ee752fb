// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of mapsim/mapsim.hpp about networks whose layers are searched one by one (fused layers:
// mapsim/systems.hpp). The rules of that header about lifetimes, errors and threads hold here, too.
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
