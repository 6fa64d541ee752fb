// SPDX-License-Identifier: Apache-2.0
// Certificates of fused networks: their claims are those of brute force, and lies are refused.
#include "campaign/network_certificate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "check/network_proof.hpp"
#include "check/sealed_file.hpp"
#include "core/diagnostic.hpp"
#include "mapper/front.hpp"
#include "tests/mapper/brute_chain.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::network_certificate_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Provenance kOrigin{"network", {}};
constexpr std::int64_t kSteps = 1'000'000;

double least_of(const ObjectiveFunction& function, const std::vector<TreePoint>& points) {
  double least = std::numeric_limits<double>::infinity();
  for (const TreePoint& point : points) {
    least = std::min(least, function.value(point.energy, static_cast<double>(point.cycles)));
  }
  return least;
}

// Chains of tiny_chain() on one machine, each twice as often as the one before it. Their layers
// are smaller than their einsums, so that some chains stay unfused.
struct TinyNetwork {
  Arch arch;
  Network network;
  FusedNetwork fused;
  double least = 0;  // by brute force
};
TinyNetwork tiny_network(const std::vector<std::uint64_t>& seeds, const Objective& objective) {
  TinyNetwork tiny{tiny_chain(seeds.front()).arch, {}, {}};
  tiny.network.name = "tiny";
  tiny.network.graph = NetworkGraph{};
  tiny.fused.objective = objective;
  SearchOptions options;
  options.objective = objective;
  std::int64_t count = 1;
  for (const std::uint64_t seed : seeds) {
    const EinsumChain chain = tiny_chain(seed).chain;
    std::int64_t trees = 0;
    double fused = least_of(objective.function, front_by_force(tiny.arch, chain, true, trees));
    if (!(fused < std::numeric_limits<double>::infinity())) {
      continue;
    }
    NetworkChain one{chain, count, {}};
    one.unfused.streams.push_back({Bits{static_cast<std::int64_t>(seed % 7) * 40}, Bits{8}});
    const auto beside = streams_of(tiny.arch, one.unfused);
    double layers = objective.function.value(beside.energy, beside.cycles);
    for (Workload layer : chain.einsums) {
      std::int64_t& bound = layer.dims.begin()->bound;
      bound = std::max<std::int64_t>(1, bound / 2);
      one.unfused.layers.push_back({layer.name, layer, 1});
      std::vector<TreePoint> points;
      const Problem problem{tiny.arch, layer};
      for (const FrontPoint& point : search_front(Mapspace{problem, {}}, {}).points) {
        points.push_back({point.value, point.measure});
      }
      layers += least_of(objective.function, points);
    }
    tiny.least += static_cast<double>(count) * std::min(fused, layers);
    tiny.fused.found.push_back(compare_ways(tiny.arch, chain, {}, options, layers));
    UnfusedChain& apart = tiny.fused.apart.emplace_back();
    if (layers < fused) {
      apart.chosen = fusion::HullPoint{};
    }
    tiny.fused.graph.chains.push_back(std::move(one));
    count *= 2;
  }
  return tiny;
}
std::string proof_of(const TinyNetwork& tiny) {
  SearchOptions options;
  options.objective = tiny.fused.objective;
  return network_certificate_file(kOrigin, tiny.arch, tiny.network, {}, options, tiny.fused);
}
std::vector<std::string> problems_of(const std::string& proof) {
  return check::check_network(check::parse_network_claim(proof, "proof"), kSteps).problems;
}

TEST(NetworkCertificate, ClaimsWhatBruteForceFinds) {
  int unfused = 0;
  int chains = 0;
  for (const std::uint64_t first : {2'000'002U, 2'000'012U, 3'000'012U}) {
    for (const Objective& objective : {Objective::kEnergy, Objective::kLatency,
                                       Objective{ObjectiveFunction::weighted_sum(20)}}) {
      const TinyNetwork tiny = tiny_network({first, first + 2, first + 4}, objective);
      const std::string proof = proof_of(tiny);
      const check::NetworkClaim claim = check::parse_network_claim(proof, "proof");
      EXPECT_NEAR(claim.value, tiny.least, 1e-9 * tiny.least) << "seed " << first;
      EXPECT_NEAR(claim.lower_bound, tiny.least, 1e-9 * tiny.least) << "seed " << first;
      EXPECT_THAT(problems_of(proof), IsEmpty()) << "seed " << first << "\n" << proof;
      for (const check::ClaimedChain& chain : claim.chains) {
        unfused += claim.parts[chain.part].tree ? 0 : 1;
        ++chains;
      }
    }
  }
  EXPECT_GT(unfused, 1);
  EXPECT_LT(unfused, chains - 3);
}

// With `size` characters replaced, and their part or the head sealed again.
std::string forged(std::string proof, std::size_t at, std::size_t size, const std::string& to) {
  proof.replace(at, size, to);
  const std::size_t line = proof.rfind(check::kPartsLine, at);
  const std::size_t begin = line == std::string::npos ? 0 : line + 4;
  const std::size_t digest = proof.find("\ndigest: ", begin) + 1;
  const std::size_t end = proof.find('\n', digest) + 1;
  return proof.replace(digest, end - digest, check::seal(proof.substr(begin, digest - begin)));
}
std::string forged(const std::string& proof, const std::string& from, const std::string& to) {
  const std::size_t at = proof.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? proof : forged(proof, at, from.size(), to);
}
std::string line_with(const std::string& text, const std::string& key) {
  const std::size_t begin = text.find(key);
  return text.substr(begin, text.find('\n', begin) - begin);
}
std::string refusal_of(const std::string& proof) {
  try {
    check::parse_network_claim(proof, "proof");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

Network small_graph(int kernel) {
  return parse_network(
      fmt::format(
          "name: small\nprecision: {{input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}}\n"
          "inputs:\n  image: {{shape: [1, 4, 8, 8]}}\ngraph:\n"
          "  - {{name: one, conv2d: {{out_channels: 4, kernel: {}, padding: 1}}, in: image,"
          " epilogue: [relu]}}\n"
          "  - {{name: two, conv2d: {{out_channels: 2, kernel: 1}}, in: one}}\n"
          "  - {{name: pool, op: MaxPool, in: two, kernel: 2, stride: 2}}\n"
          "  - {{name: three, conv2d: {{out_channels: 8, kernel: 3, stride: 2}}, in: pool}}\n",
          kernel),
      "small.yaml");
}
std::string small_proof(const Network& network, const char* machine = "nvdla_like_1024") {
  const Arch arch = load_arch(source_path(fmt::format("configs/arch/{}.yaml", machine)));
  SearchOptions options;
  const FusedNetwork fused =
      search_fused(arch, network, {}, options, [](const GraphChains&, std::size_t) {});
  return network_certificate_file(kOrigin, arch, network, {}, options, fused);
}

TEST(NetworkCertificate, IsRefusedWithALieInIt) {
  const Network network = small_graph(3);
  const std::string proof = small_proof(network);
  ASSERT_THAT(problems_of(proof), IsEmpty()) << proof;
  const check::NetworkClaim claim = check::parse_network_claim(proof, "proof");
  EXPECT_THAT(check::strangers(claim, network), IsEmpty());
  EXPECT_THAT(check::strangers(claim, small_graph(1)),
              ::testing::Contains(HasSubstr("chain 1 of the network is another: one .. two")));
  const std::string renamed = forged(proof, "network: small", "network: other");
  ASSERT_THAT(problems_of(renamed), IsEmpty());  // a claim about the same chains
  EXPECT_THAT(check::strangers(check::parse_network_claim(renamed, "proof"), network),
              ElementsAre("the network is small, not other"));

  const std::string value = line_with(proof, "value: ");
  const std::string bound = line_with(proof, "lower_bound: ");
  const std::string traffic = line_with(proof, "traffic: [{reads:");
  // What does not follow from the parts.
  for (const auto& [from, to, says] :
       {std::array{value, std::string{"value: 1 pJ"}, std::string{"the parts add up to "}},
        std::array{bound, std::string{"lower_bound: 1e12 pJ"},
                   std::string{"the lower bounds of the parts add up to "}},
        std::array{std::string{"{part: 1, count: 1"}, std::string{"{part: 1, count: 2"},
                   std::string{"the parts add up to "}},
        std::array{traffic, std::string{"traffic: [{reads: 8, writes: 8, count: 1}]"},
                   std::string{"the parts add up to "}}}) {
    EXPECT_THAT(problems_of(forged(proof, from, to)), ::testing::Contains(HasSubstr(says))) << to;
  }
  // A part that claims more than is so is found, wherever the sums fit.
  const std::size_t part = proof.find(check::kPartsLine);
  const std::string least = line_with(proof.substr(part), "lower_bound: ");
  EXPECT_THAT(problems_of(forged(proof, "\n" + least + "\nspace", "\nlower_bound: 1e12 pJ\nspace")),
              ::testing::Contains(HasSubstr("part 1 (")));
  // With other layers a chain is another.
  const std::string other =
      forged(proof, "layers: [{part: 2, count: 1}", "layers: [{part: 2, count: 5}");
  EXPECT_THAT(check::strangers(check::parse_network_claim(other, "proof"), network),
              ::testing::Not(IsEmpty()));
}

TEST(NetworkCertificate, IsNotReadWhereItIsDamaged) {
  const std::string proof = small_proof(small_graph(3));
  const std::size_t first = proof.find(check::kPartsLine);
  const std::size_t last = proof.rfind(check::kPartsLine);
  std::string changed = proof;
  changed.replace(changed.find("count: 1"), 8, "count: 3");
  EXPECT_THAT(refusal_of(changed), HasSubstr("the file has been changed"));
  changed = proof;
  changed.replace(changed.rfind("bound: "), 7, "bound:  ");
  EXPECT_THAT(refusal_of(changed), HasSubstr("the file has been changed"));
  EXPECT_THAT(refusal_of(proof.substr(0, first)), HasSubstr("are missing"));
  EXPECT_THAT(refusal_of(proof.substr(0, last)), HasSubstr("at most"));
  EXPECT_THAT(refusal_of(proof + proof.substr(last)), HasSubstr("no chain names part "));
  EXPECT_THAT(refusal_of(forged(proof, "objective: energy", "objective: edp")),
              HasSubstr("a sum over chains is energy, latency or energy + W*latency"));
  const std::string other =
      proof.substr(0, last) + forged(proof.substr(last), "name: nvdla", "name: other");
  EXPECT_THAT(refusal_of(other), HasSubstr("is about another machine than part 1"));
}

// Why a file is no proof about a network; empty: it is one.
std::string fault_of(const std::string& proof, const Network& network) {
  try {
    const check::NetworkClaim claim = check::parse_network_claim(proof, "proof");
    const std::vector<std::string> strange = check::strangers(claim, network);
    const std::vector<std::string> wrong = check::check_network(claim, kSteps).problems;
    return !strange.empty() ? strange.front() : wrong.empty() ? "" : wrong.front();
  } catch (const ConfigError& error) {
    return error.what();
  }
}
// Its head with other chains, which claims what they add up to.
std::string with_chains(const std::string& proof, const std::string& from, const std::string& to) {
  const std::string other = forged(proof, from, to);
  check::NetworkClaim claim;
  try {
    claim = check::parse_network_claim(other, "proof");
  } catch (const ConfigError&) {
    return other;
  }
  const check::NetworkSums sums = check::sums_of(claim);
  return forged(forged(other, line_with(other, "value: "), fmt::format("value: {} pJ", sums.value)),
                line_with(other, "lower_bound: "),
                fmt::format("lower_bound: {} pJ", sums.lower_bound));
}

// A chain left out, one twice, one of another network: sums that are added up anew do not help.
TEST(NetworkCertificate, IsAboutAllChainsOfItsNetwork) {
  const Network network = small_graph(3);
  const std::string proof = small_proof(network);
  ASSERT_EQ(fault_of(proof, network), "");
  ASSERT_EQ(fault_of(with_chains(proof, "chains:", "chains:"), network), "");
  const std::string first = line_with(proof, "  - {part: 1,") + "\n";
  EXPECT_THAT(fault_of(with_chains(proof, first, ""), network), HasSubstr("no chain names part 1"));
  EXPECT_THAT(fault_of(with_chains(proof, first, first + first), network),
              HasSubstr("the network has 2 chains, not 3"));
  EXPECT_THAT(fault_of(with_chains(proof, "{part: 1, count: 1", "{part: 1, count: 2"), network),
              HasSubstr("chain 1 of the network is another"));
  EXPECT_THAT(fault_of(with_chains(proof, "{part: 2, count: 1}, {part: 3, count: 1}",
                                   "{part: 3, count: 1}, {part: 2, count: 1}"),
                       network),
              HasSubstr("chain 1 of the network is another"));
  const std::string layers = first.substr(first.find(", layers"));
  EXPECT_THAT(fault_of(with_chains(proof, layers, "}\n"), network),
              HasSubstr("no chain names part"));
  // Parts of another network, whose chains differ.
  const std::string other = small_proof(small_graph(1));
  const std::string others = other.substr(other.find(check::kPartsLine));
  const std::string mixed = proof.substr(0, proof.find(check::kPartsLine)) + others;
  EXPECT_THAT(fault_of(with_chains(mixed, "chains:", "chains:"), network),
              HasSubstr("chain 1 of the network is another"));
  EXPECT_THAT(fault_of(mixed, network), ::testing::Not(IsEmpty()));
}

// Every number of the file is either refused when it is another, or says nothing that is wrong.
TEST(NetworkCertificate, HasNoNumberThatMayBeWrong) {
  const Network network = small_graph(3);
  const std::string proof = small_proof(network, "teaching_flat");
  ASSERT_EQ(fault_of(proof, network), "");
  const check::NetworkClaim truth = check::parse_network_claim(proof, "proof");
  const std::string machine = print_arch(truth.parts.front().arch);
  const auto is_part_of_word = [](char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  int refused = 0, harmless = 0;
  for (std::size_t at = 0; at < proof.size(); ++at) {
    const std::size_t begin = proof.rfind('\n', at) + 1;
    const bool is_hash = proof.compare(begin, 6, "digest") == 0 ||
                         proof.compare(begin, 4, "tool") == 0 ||
                         proof.compare(begin, 9, "  - {role") == 0;
    if (is_hash || std::isdigit(proof[at]) == 0 || (at > 0 && is_part_of_word(proof[at - 1]))) {
      continue;
    }
    const std::size_t size = proof.find_first_not_of("0123456789", at) - at;
    const std::int64_t number = std::stoll(proof.substr(at, size));
    const std::array<std::int64_t, 3> others{number + 1, 10 * number + 9, number / 2};
    const std::string to = std::to_string(others[at % others.size()]);
    const std::string other = forged(proof, at, size, to);
    if (to == proof.substr(at, size) || !fault_of(other, network).empty()) {
      ++refused;
      continue;
    }
    ++harmless;
    const check::NetworkClaim claim = check::parse_network_claim(other, "proof");
    const std::string changed = line_with(other.substr(begin), "");
    EXPECT_EQ(claim.value, truth.value) << changed;
    EXPECT_LE(claim.lower_bound, truth.lower_bound) << changed;
    EXPECT_EQ(print_arch(claim.parts.front().arch), machine) << changed;
  }
  EXPECT_GT(refused, 150);
  EXPECT_LT(harmless, refused / 10);
}

// Without a mapping of a chain there is nothing to prove.
TEST(NetworkCertificate, IsNotWrittenWhereNothingFits) {
  const Network network = small_graph(3);
  const Arch arch = parse_arch(
      "name: narrow\nclock: 1 GHz\nnodes:\n"
      "  - {storage: DRAM, word: 8 b, capacity: unlimited, energy: {read: 1 pJ/word, write: 1 "
      "pJ/word}}\n"
      "  - {storage: Buffer, word: 8 b, capacity: 2 B, keep: [input, weight, output], energy: "
      "{read: 1 pJ/word, write: 1 pJ/word}}\n"
      "  - {compute: MAC, energy: 1 pJ}\n",
      "narrow.yaml");
  SearchOptions options;
  const FusedNetwork fused =
      search_fused(arch, network, {}, options, [](const GraphChains&, std::size_t) {});
  EXPECT_EQ(totals(fused).missing, 2);
  EXPECT_EQ(network_certificate_file(kOrigin, arch, network, {}, options, fused), "");
}

}  // namespace
}  // namespace mapsim::network_certificate_test
