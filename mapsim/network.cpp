// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "mapsim/request.hpp"
#include "report/network_check.hpp"

namespace mapsim {

NetworkSolution search_network(const Arch& arch, const Network& network,
                               const SearchRequest& request) {
  NetworkSolution solution{arch, network, {}, {}};
  NetworkOptions& options = solution.options;
  options.strategy = request.strategy;
  options.frames = frames_of(arch, request);
  options.search = request.options;
  options.search.partial_folds = true;
  options.constraints = [request](const Problem& problem) {
    return constraints_of(problem, request);
  };
  solution.result = search_network(arch, network, options);
  options.search = kept(request.options);
  return solution;
}

std::string to_json(const NetworkSolution& solution) {
  return network_json({"network", {}}, solution.arch, solution.network, solution.options,
                      solution.result);
}

std::string to_text(const NetworkSolution& solution) {
  return network_text(solution.arch, solution.network, solution.options, solution.result);
}

VerifiedNetwork verify_network(const std::string& proof, const std::string& name,
                               const check::CheckOptions& options) {
  check::NetworkClaim claim = check::parse_network_claim(proof, name);
  check::NetworkVerdict verdict =
      check::check_network(claim, options.max_steps, options.effort.stop);
  return {std::move(claim), std::move(verdict)};
}

std::string to_json(const VerifiedNetwork& verified) {
  return network_check_json({"check", {}, {}}, verified.claim, verified.verdict, false);
}

}  // namespace mapsim
