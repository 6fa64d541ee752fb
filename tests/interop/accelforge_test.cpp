// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "arch/load.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::accelforge_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// The machine of tests/golden/README.md.
Problem machine(std::int64_t glb_bits, std::int64_t rf_bits, std::int64_t size) {
  const std::string arch = fmt::format(
      "name: g3\nnodes:\n"
      "  - {{storage: DRAM, capacity: unlimited, energy: {{read: 25 pJ/b, write: 25 pJ/b}}}}\n"
      "  - {{storage: GLB, capacity: {} b, energy: {{read: 0.75 pJ/b, write: 0.75 pJ/b}}}}\n"
      "  - {{storage: RF, capacity: {} b, energy: {{read: 0.0625 pJ/b, write: 0.0625 pJ/b}}}}\n"
      "  - {{compute: MAC, energy: 0.5 pJ}}\n",
      glb_bits, rf_bits);
  const std::string gemm = fmt::format("name: gemm\ngemm: {{m: {0}, n: {0}, k: {0}}}\n", size);
  return Problem{parse_arch(arch, "g3.yaml"), parse_workload(gemm, "gemm.yaml")};
}

// "[A in GLB] A reserves GLB T-n in [0..32) shape=16 ... MAC computes MM"
Mapping parse_their_mapping(const std::string& text, const Problem& problem) {
  std::string ours = "mapping:\n";
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    const auto next = [&words, &word] { return static_cast<bool>(words >> word); };
    if (word[0] == '[') {
      const std::string tensors = word.substr(1);
      EXPECT_TRUE(next() && word == "in" && next()) << text;
      ours += fmt::format("  - keep {}: [{}]\n", word.substr(0, word.find(']')), tensors);
    } else if (word.starts_with("T-")) {
      const char dim = static_cast<char>(std::toupper(word[2]));
      EXPECT_TRUE(next() && word == "in" && next() && next()) << text;
      ours += fmt::format("  - for {}: {}\n", dim, word.substr(word.find('=') + 1));
    }
  }
  return parse_mapping(ours, "mapping.yaml", problem.arch(), problem.workload());
}

Cost cost_of(const Problem& problem, const Mapping& mapping) {
  const Evaluation evaluation = evaluate(problem, mapping);
  EXPECT_TRUE(std::holds_alternative<Cost>(evaluation));
  return std::get<Cost>(evaluation);
}

TEST(AccelForge, EnergiesAndActionsToTheLastDigit) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(source_path("tests/golden/accelforge"))) {
    const Json golden = Json::parse(std::ifstream{entry.path()});
    const std::string layer = golden["layer"];
    const Problem problem = machine(golden["arch_params"]["GLB"], golden["arch_params"]["RF"],
                                    std::stoll(layer.substr(layer.rfind('_') + 1)));
    const Cost cost = cost_of(problem, parse_their_mapping(golden["mapping"], problem));
    EXPECT_EQ(cost.energy.total.count(), golden["energy"].get<double>()) << entry.path();
    EXPECT_EQ(cost.energy.compute.count(), golden["energy_breakdown"]["MAC"].get<double>());
    for (const LevelId l : problem.arch().levels.ids()) {
      const std::string& level = problem.arch().levels[l].name;
      AccessCounts all;
      for (const TensorId t : problem.workload().tensors.ids()) {
        const std::string key =
            fmt::format("('{}', '{}')", level, problem.workload().tensors[t].name);
        const Json& parts = golden["energy_ct"];
        EXPECT_EQ(cost.energy.levels[l][t].total.count(),
                  parts.contains(key) ? parts[key].get<double>() : 0.0)
            << entry.path() << key;
        const AccessCounts& n = cost.counts.levels[l][t].total;
        all.reads += n.reads + n.readbacks + n.drains;
        all.fills += n.fills + n.updates;
      }
      constexpr int kBits = 8;
      EXPECT_EQ(static_cast<double>(all.reads * kBits),
                golden["actions"][fmt::format("('{}', 'read')", level)].get<double>());
      EXPECT_EQ(static_cast<double>(all.fills * kBits),
                golden["actions"][fmt::format("('{}', 'write')", level)].get<double>());
    }
    ++files;
  }
  EXPECT_EQ(files, 3);
}

// A better mapping than the one that AccelForge's own search returned; this is what AccelForge's
// evaluator says that it costs.
TEST(AccelForge, CostsABetterMappingAsAccelForgeDoes) {
  const Problem problem = machine(1'048'576, 4096, 512);
  const Mapping mapping = parse_mapping(
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 256\n  - for N: 256\n  - keep GLB: [Z]\n"
      "  - for K: 128\n  - keep GLB: [B]\n  - for M: 16\n  - keep GLB: [A]\n  - for N: 16\n"
      "  - keep RF: [Z]\n  - for K: 1\n  - keep RF: [B]\n  - for M: 1\n  - keep RF: [A]\n"
      "  - for N: 1\n",
      "mapping.yaml", problem.arch(), problem.workload());
  EXPECT_EQ(cost_of(problem, mapping).energy.total.count(), 726'401'024.0);
}

}  // namespace
}  // namespace mapsim::accelforge_test
