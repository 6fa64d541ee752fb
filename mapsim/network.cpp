// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "mapsim/request.hpp"

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

}  // namespace mapsim
