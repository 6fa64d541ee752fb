// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of mapsim/mapsim.hpp about networks whose layers are searched one by one (fused layers:
// mapsim/systems.hpp), and proofs of fused ones. The rules of that header about lifetimes, errors
// and threads hold here, too.
#include <string>

#include "campaign/network.hpp"
#include "campaign/network_file.hpp"
#include "check/check.hpp"
#include "check/network_proof.hpp"
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

// A proof of a fused network, which `mapsim network --fuse --certificate` writes, and the verdict
// of a checker as of verify_chain().
struct VerifiedNetwork {
  check::NetworkClaim claim;
  check::NetworkVerdict verdict;  // `problems` empty: the proof holds
};
VerifiedNetwork verify_network(const std::string& proof, const std::string& name = "proof",
                               const check::CheckOptions& options = {});
std::string to_json(const VerifiedNetwork& verified);

}  // namespace mapsim
