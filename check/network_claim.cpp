// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "arch/print.hpp"
#include "check/claim_values.hpp"
#include "check/network_proof.hpp"
#include "check/sealed_file.hpp"
#include "core/reader.hpp"

namespace mapsim::check {

namespace {

// Of times, bits and cycles: up to here doubles are exact.
constexpr std::int64_t kMost = std::int64_t{1} << 53;

// The head: what the network is cut into. Parts are numbered from 1.
class NetworkHeadReader {
 public:
  NetworkHeadReader(const Document& document, std::size_t parts)
      : reader_{document}, root_{document.root}, parts_{parts} {}

  NetworkClaim read() {
    const Fields fields =
        reader_.fields(root_, {"network_certificate", "tool", "network", "objective", "value",
                               "lower_bound", "inputs", "chains", "traffic", "digest"});
    reader_.integer(fields.require("network_certificate"), 1, 1);
    const auto tool = reader_.text(fields.require("tool"), "a name and a version");
    const auto network = reader_.text(fields.require("network"), "a name");
    const Node* objective = fields.require("objective");
    const Node* value = fields.require("value");
    const Node* bound = fields.require("lower_bound");
    const Node* chains = fields.require("chains");
    reader_.finish();
    NetworkClaim claim;
    claim.tool = *tool;
    claim.network = *network;
    claim.goal.function = read_function(reader_, *objective);
    if (!is_one_sum(claim.goal)) {
      reader_.error(*objective, fmt::format("a sum over chains is energy, latency or energy + "
                                            "W*latency, not {}",
                                            describe(*objective)));
    }
    claim.value = read_value(reader_, *value, unit_of(claim.goal.function));
    claim.lower_bound = read_value(reader_, *bound, unit_of(claim.goal.function));
    for (const Node* item : reader_.items(*chains, "chains")) {
      claim.chains.push_back(read_chain(*item));
    }
    claim.traffic = read_traffic(fields.find("traffic"));
    claim.records_inputs = fields.has("inputs");
    for (std::size_t p = 0; p < parts_; ++p) {
      if (!used_.contains(p)) {
        reader_.error(*chains, fmt::format("no chain names part {} of the file", p + 1));
      }
    }
    reader_.finish();
    return claim;
  }

 private:
  std::size_t read_part(const Node* node) {
    const auto number = reader_.integer(node, 1, static_cast<std::int64_t>(parts_));
    const auto part = static_cast<std::size_t>(number.value_or(1) - 1);
    used_.insert(part);
    return part;
  }
  std::int64_t read_count(const Node* node) { return reader_.integer(node, 1, kMost).value_or(1); }
  // {part: 1, count: 12, layers: [{part: 2, count: 1}], traffic: [...]}
  ClaimedChain read_chain(const Node& node) {
    const Fields fields = reader_.fields(node, {"part", "count", "layers", "traffic"});
    ClaimedChain chain;
    chain.part = read_part(fields.require("part"));
    chain.count = read_count(fields.require("count"));
    const Node* layers = fields.find("layers");
    for (const Node* item :
         layers != nullptr ? reader_.items(*layers, "layers") : std::vector<const Node*>{}) {
      const Fields layer = reader_.fields(*item, {"part", "count"});
      const std::size_t part = read_part(layer.require("part"));
      chain.layers.emplace_back(part, read_count(layer.require("count")));
    }
    chain.traffic = read_traffic(fields.find("traffic"));
    return chain;
  }
  // [{reads: 8, writes: 16, count: 2}], in bits
  NetworkTraffic read_traffic(const Node* list) {
    NetworkTraffic traffic;
    for (const Node* item :
         list != nullptr ? reader_.items(*list, "traffic") : std::vector<const Node*>{}) {
      const Fields fields = reader_.fields(*item, {"reads", "writes", "count"});
      const auto bits = [&](const char* key) {
        return reader_.integer(fields.require(key), 0, kMost).value_or(0);
      };
      const std::pair<std::int64_t, std::int64_t> of{bits("reads"), bits("writes")};
      if (!traffic.emplace(of, read_count(fields.require("count"))).second) {
        reader_.error(*item, "this traffic has a line above");
      }
    }
    return traffic;
  }

  Reader reader_;
  const Node& root_;
  std::size_t parts_;
  std::set<std::size_t> used_;
};

struct FilePiece {
  std::string text;
  std::size_t lines_above = 0;
};
// The head, and the parts.
std::vector<FilePiece> file_pieces(const std::string& text) {
  std::vector<FilePiece> pieces;
  std::size_t begin = 0;
  std::size_t lines = 0;
  while (true) {
    const std::size_t end = text.find(std::string{"\n"} + kPartsLine, begin);
    pieces.push_back({text.substr(begin, end == std::string::npos ? end : end + 1 - begin), lines});
    if (end == std::string::npos) {
      return pieces;
    }
    const std::size_t next = end + 1 + std::string_view{kPartsLine}.size();
    lines += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 text.begin() + static_cast<std::ptrdiff_t>(next),
                                                 '\n'));
    begin = next;
  }
}

// Is traffic carried in a number of cycles that can be added up?
bool is_in_time(const Arch& arch, const NetworkTraffic& traffic) {
  const Bandwidth& ports = arch.levels[LevelId{0}].bandwidth;
  return std::all_of(traffic.begin(), traffic.end(), [&](const auto& line) {
    const double bits =
        static_cast<double>(line.first.first) + static_cast<double>(line.first.second);
    return std::ranges::all_of(std::array{ports.shared, ports.read, ports.write},
                               [&](const std::optional<BitsPerCycle>& port) {
                                 return !port || bits / port->count() < static_cast<double>(kMost);
                               });
  });
}

// All about one machine, by one objective; chains in one space; layers are single einsums.
void refuse_mixed_parts(const NetworkClaim& claim, const Document& head) {
  Reader reader{head};
  const std::string machine = print_arch(claim.parts.front().arch);
  for (std::size_t p = 0; p < claim.parts.size(); ++p) {
    const ChainClaim& part = claim.parts[p];
    if (!(part.goal.function == claim.goal.function) || !is_one_sum(part.goal)) {
      reader.error(head.root, fmt::format("part {} is not about the network's objective", p + 1));
    }
    if (print_arch(part.arch) != machine) {
      reader.error(head.root, fmt::format("part {} is about another machine than part 1", p + 1));
    }
    if (part.chain.einsums.size() > 1 && part.space != space_of(claim)) {
      reader.error(head.root,
                   fmt::format("part {} is about another space than the chains above", p + 1));
    }
  }
  bool is_carried = is_in_time(claim.parts.front().arch, claim.traffic);
  for (const ClaimedChain& chain : claim.chains) {
    is_carried = is_carried && is_in_time(claim.parts.front().arch, chain.traffic);
    for (const auto& [part, count] : chain.layers) {
      if (claim.parts[part].chain.einsums.size() != 1) {
        reader.error(head.root,
                     fmt::format("part {} is no layer: it has several einsums", part + 1));
      }
    }
  }
  if (!is_carried) {
    reader.error(head.root, "some traffic takes too many cycles");
  }
  reader.finish();
}

}  // namespace

bool is_network_certificate(const std::string& text) {
  return text.starts_with("network_certificate:");
}

NetworkClaim parse_network_claim(const std::string& text, const std::string& filename) {
  const std::vector<FilePiece> pieces = file_pieces(text);
  const Document head = parse_yaml(pieces.front().text, filename);
  check_seal(head);
  if (pieces.size() == 1) {
    Reader reader{head};
    reader.error(head.root, "the certificates of the network's chains are missing");
    reader.finish();
  }
  NetworkClaim claim = NetworkHeadReader{head, pieces.size() - 1}.read();
  claim.file = filename;
  for (std::size_t p = 1; p < pieces.size(); ++p) {
    claim.parts.push_back(parse_chain_claim(pieces[p].text, filename, pieces[p].lines_above));
    claim.parts.back().may_lack_tree = true;
    claim.lines_above.push_back(pieces[p].lines_above);
  }
  refuse_mixed_parts(claim, head);
  return claim;
}

}  // namespace mapsim::check
