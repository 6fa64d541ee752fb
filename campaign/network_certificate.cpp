// SPDX-License-Identifier: Apache-2.0
#include "campaign/network_certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "check/certificate.hpp"
#include "check/network_proof.hpp"
#include "check/sealed_file.hpp"
#include "mapper/fusion/additive.hpp"
#include "mapper/shared_budget.hpp"
#include "report/certificate.hpp"
#include "report/certificate_subject.hpp"

namespace mapsim {

namespace {

constexpr FusionLimits kAlone{1, 0, false};

class NetworkCertificate {
 public:
  NetworkCertificate(const Arch& arch, const Network& network, const FusionLimits& limits,
                     const SearchOptions& options, const FusedNetwork& fused)
      : arch_{arch}, network_{network}, limits_{limits}, budget_{options}, fused_{fused} {}

  std::string text(const Provenance& origin) {
    claim_.goal.function = fused_.objective.function;
    claim_.traffic = check::traffic_of(*network_.graph, fused_.graph);
    for (std::size_t i = 0; i < fused_.graph.chains.size(); ++i) {
      if (i >= fused_.found.size() || !add_chain(i)) {
        return "";
      }
    }
    const check::NetworkSums sums = check::sums_of(claim_);
    const check::Goal& goal = claim_.goal;
    std::string head = fmt::format(
        "network_certificate: 1\ntool: mapsim {}\nnetwork: {}\nobjective: {}\nvalue: {}\n"
        "lower_bound: {}\n{}chains:\n",
        tool_version(), network_.name, to_string(goal.function),
        check::value_text(sums.value, goal),
        check::value_text(std::min(sums.value, sums.lower_bound), goal), inputs_text(origin));
    for (const check::ClaimedChain& chain : claim_.chains) {
      std::vector<std::string> layers;
      for (const auto& [part, count] : chain.layers) {
        layers.push_back(fmt::format("{{part: {}, count: {}}}", part + 1, count));
      }
      head +=
          fmt::format("  - {{part: {}, count: {}{}{}}}\n", chain.part + 1, chain.count,
                      layers.empty() ? "" : fmt::format(", layers: [{}]", fmt::join(layers, ", ")),
                      traffic_text(", ", chain.traffic));
    }
    head += claim_.traffic.empty() ? "" : traffic_text("", claim_.traffic) + "\n";
    head += check::seal(head);
    for (const std::string& part : parts_) {
      head += check::kPartsLine + part;
    }
    return head;
  }

 private:
  // As a key of a map; empty: there is none.
  static std::string traffic_text(const char* before, const check::NetworkTraffic& traffic) {
    std::vector<std::string> lines;
    for (const auto& [bits, count] : traffic) {
      lines.push_back(
          fmt::format("{{reads: {}, writes: {}, count: {}}}", bits.first, bits.second, count));
    }
    return lines.empty() ? "" : fmt::format("{}traffic: [{}]", before, fmt::join(lines, ", "));
  }

  std::size_t add_part(const std::string& text) {
    claim_.parts.push_back(check::parse_chain_claim(text, "the certificate"));
    parts_.push_back(text);
    return parts_.size() - 1;
  }
  // False: it has no mapping, or was not searched.
  bool add_chain(std::size_t i) {
    const NetworkChain& chain = fused_.graph.chains[i];
    const EinsumChain einsums = check::named_as_part(chain.chain);
    const ChainResult& found = fused_.found[i].fused;
    const bool is_layer = einsums.einsums.size() == 1;
    const FusionLimits& limits = is_layer ? kAlone : limits_;
    check::ClaimedChain claimed;
    claimed.count = chain.count;
    claimed.traffic = check::traffic_of(chain.unfused);
    if (const auto known = is_layer ? find_layer(einsums.einsums[0]) : std::nullopt) {
      claimed.part = *known;
    } else if (found.cost && !fused_.apart[i].chosen) {
      claimed.part = add_part(
          chain_certificate_file({"search", {}}, arch_, einsums, limits, fused_.objective, found));
    }
    for (const NodeLayer& layer : chain.unfused.layers) {
      const auto part = find_layer(layer.workload);
      const auto added = part ? part : add_layer(layer.workload);
      if (!added) {
        return false;
      }
      claimed.layers.emplace_back(*added, layer.count);
    }
    if (fused_.apart[i].chosen) {  // that no tree is better than the layers is enough
      const double least = std::min(found.lower_bound, check::layers_of(claim_, claimed).value);
      claimed.part = add_part(chain_bound_file(arch_, einsums, limits, fused_.objective, least));
    } else if (!found.cost) {
      return false;
    }
    claim_.chains.push_back(std::move(claimed));
    return true;
  }
  std::optional<std::size_t> find_layer(const Workload& layer) const {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& einsums = claim_.parts[p].chain.einsums;
      if (claim_.parts[p].tree && einsums.size() == 1 && check::is_same_layer(einsums[0], layer)) {
        return p;
      }
    }
    return std::nullopt;
  }
  std::optional<std::size_t> add_layer(const Workload& layer) {
    const EinsumChain alone = check::named_as_part(chain_of(layer));
    const ChainResult found = search_chain(arch_, alone, kAlone, budget_.rest());
    return found.cost ? std::optional(add_part(chain_certificate_file(
                            {"search", {}}, arch_, alone, kAlone, fused_.objective, found)))
                      : std::nullopt;
  }

  const Arch& arch_;
  const Network& network_;
  const FusionLimits& limits_;
  SharedBudget budget_;
  const FusedNetwork& fused_;
  check::NetworkClaim claim_;
  std::vector<std::string> parts_;
};

}  // namespace

std::string network_certificate_obstacle(const Arch& arch, const Objective& objective) {
  return fusion::is_additive(objective) ? check::chain_proof_obstacle(arch)
                                        : "the checker proves sums over the chains of a network, "
                                          "without limits: energy, latency, or energy + "
                                          "W*latency";
}

std::string network_certificate_file(const Provenance& origin, const Arch& arch,
                                     const Network& network, const FusionLimits& limits,
                                     const SearchOptions& options, const FusedNetwork& fused) {
  return NetworkCertificate{arch, network, limits, options, fused}.text(origin);
}

}  // namespace mapsim
