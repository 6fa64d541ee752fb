// SPDX-License-Identifier: Apache-2.0
// Certificates of tensors with zeros: the checker derives every probability by its own products.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "check/design_certificate.hpp"
#include "check/nonzeros.hpp"
#include "check/plan_proof.hpp"
#include "check/sealed_file.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/sparse/model.hpp"
#include "mapper/mapper.hpp"
#include "proven.hpp"
#include "workloads/load.hpp"

namespace mapsim::sparse_test {
namespace {

template <class Density>
Problem problem_of(const char* format, const char* act, Density density,
                   const char* sizes = "m: 8, n: 4, k: 8") {
  const std::string machine = fmt::format(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {{read: 20 pJ/word, write: 30 pJ/word, gated: 1 pJ/word}}\n"
      "    bandwidth: {{shared: 16 b/cycle}}\n    format: {{input: {0}, weight: bitmask}}\n"
      "    when_empty: [{{{1}: weight, on: input}}]\n"
      "  - fanout: PEs\n    x: 2\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: 200 b\n    fits: 90 %\n"
      "    energy: {{read: 2 pJ/word, write: 3 pJ/word}}\n"
      "    format: {{input: {0}, weight: bitmask}}\n"
      "    when_empty: [{{{1}: weight, on: input}}]\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {1}\n",
      format, act);
  return Problem{parse_arch(machine, "m.yaml"),
                 parse_workload(fmt::format("name: w\ngemm: {{{}}}\ndensity: {{A: {}, B: 0.5}}\n",
                                            sizes, density),
                                "w.yaml")};
}

TEST(SparseProofs, HoldAndDoNotHoldOfMoreNonzeros) {
  for (const char* format : {"bitmask", "coordinates 3 b", "runs 2 b", "csr", "ideal"}) {
    for (const char* act : {"skip", "gate"}) {
      for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
        const Problem problem = problem_of(format, act, 0.25);
        const Mapspace space{problem, Constraints{}};
        SearchOptions options;
        options.objective = objective;
        const SearchResult result = search_exact(space, options);
        ASSERT_TRUE(result.best);
        const std::string proof = certificate_file({"search", {}}, space, objective, result, 1);
        EXPECT_EQ(faults_of(proof), "") << format << ", " << act;
        // The same result claimed of another density is a lie.
        const Problem denser = problem_of(format, act, 0.75);
        const Mapspace other{denser, Constraints{}};
        EXPECT_NE(faults_of(certificate_file({"search", {}}, other, objective, result, 1)), "");
      }
    }
  }
}

// Every share that the checker derives is that of the cost model: more of a tile's elements or bits
// would raise a bound, which no certificate of an optimum shows. In the small layer a tile may be
// as large as all zeros together, which still leaves it a chance to be empty.
TEST(SparseBounds, MoveWhatTheCostModelMoves) {
  for (const char* format :
       {"bitmask", "coordinates 3 b", "runs 1 b", "runs 2 b", "csr", "ideal",
        "[dense, coordinates 1 b]", "[dense, runs 3 b]", "[dense, coordinates 1 b, by columns]"}) {
    for (const char* sizes : {"m: 8, n: 4, k: 8", "m: 2, n: 2, k: 2", "m: 3, n: 1, k: 2"}) {
      for (const std::string& density :
           std::vector<std::string>{"0.25", "0.5", "structured 1:4 along K"}) {
        const bool is_structured = density.size() > 4;
        if (is_structured && (sizes[3] != '8' || format[0] == 'r')) {
          continue;
        }
        const Problem problem = problem_of(format, "skip", density, sizes);
        const Workload& workload = problem.workload();
        const SparseModel& model = *problem.sparse();
        check::NonzeroFlows flows{problem};
        const PerDim<std::int64_t> ones(workload.dims.size(), 1);
        std::vector<PerDim<std::int64_t>> tiles{ones};
        for (const DimId d : workload.dims.ids()) {
          const std::size_t count = tiles.size();
          for (std::int64_t extent = 2; extent <= workload.dims[d].bound; ++extent) {
            for (std::size_t i = 0; workload.dims[d].bound % extent == 0 && i < count; ++i) {
              tiles.push_back(tiles[i]);
              tiles.back()[d] = extent;
            }
          }
        }
        for (const PerDim<std::int64_t>& tile : tiles) {
          for (const TensorId t : workload.tensors.ids()) {
            const FlowOfNonzeros flow = flows.flow(t, LevelId{0}, LevelId{1}, tile, ones);
            const TileShape shape = tile_shape(workload.tensors[t], tile);
            SCOPED_TRACE(fmt::format("{}, {}, {}, {} of {}", format, sizes, density,
                                     fmt::join(shape, "x"), workload.tensors[t].name));
            const MovedShare parent = model.moved(LevelId{0}, t, shape);
            const MovedShare child = model.moved(LevelId{1}, t, shape);
            EXPECT_NEAR(flow.parent.elements, parent.elements, 1e-12);
            EXPECT_NEAR(flow.parent.format_bits, parent.format_bits, 1e-9);
            EXPECT_NEAR(flow.child.elements, child.elements, 1e-12);
            EXPECT_NEAR(flow.child.format_bits, child.format_bits, 1e-9);
            double made = 1;
            for (const BoundCondition& condition : model.conditions(LevelId{0}, t)) {
              made = 1 - model.occupancy(condition.leader)
                             .empty(tile_shape(workload.tensors[condition.leader], tile));
            }
            EXPECT_NEAR(flow.made, made, 1e-12);
            const double stored = model.stored_bits(LevelId{1}, t, shape, Bits{8});
            EXPECT_NEAR(flows.stored_bits(t, LevelId{1}, tile, Bits{8}), stored, 1e-9);
          }
        }
      }
    }
  }
}

// A proof is about what a mask held when it was found; the layer of a campaign is, too.
TEST(SparseProofs, NameAMaskThatHasChanged) {
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / "mapsim_mask_proof_test";
  std::filesystem::create_directories(folder);
  const std::string mask = (folder / "b.txt").string();
  std::ofstream{mask} << "1 0\n0 1\n1 1\n0 0\n";
  const std::string workload_text =
      "name: w\ngemm: {m: 4, n: 2, k: 4}\ndensity: {B: data " + mask + "}\n";
  const Workload workload = parse_workload(workload_text, "w.yaml");
  const Problem problem{parse_arch("name: m\nnodes:\n"
                                   "  - storage: DRAM\n    capacity: unlimited\n    word: 8 b\n"
                                   "    energy: {read: 20 pJ/word, write: 30 pJ/word}\n"
                                   "    format: {weight: bitmask}\n"
                                   "  - storage: Buffer\n    capacity: 200 b\n    word: 8 b\n"
                                   "    energy: {read: 2 pJ/word, write: 3 pJ/word}\n"
                                   "  - compute: MAC\n    energy: 1 pJ\n",
                                   "m.yaml"),
                        workload};
  const std::string proof = proof_of(problem, {}, Objective::kEnergy);
  EXPECT_EQ(faults_of(proof), "");
  // It moves with its mask.
  const std::filesystem::path moved = folder / "moved";
  std::filesystem::create_directories(moved);
  std::filesystem::rename(mask, moved / "b.txt");
  EXPECT_THROW(check::parse_certificate(proof, (folder / "c.proof").string()), ConfigError);
  EXPECT_EQ(check::parse_certificate(proof, (moved / "c.proof").string())
                .problem.workload()
                .tensors[TensorId{1}]
                .pattern->nonzero,
            workload.tensors[TensorId{1}].pattern->nonzero);
  // A proof without the hash proves nothing about what is in the mask.
  std::string silent = proof.substr(0, proof.rfind("digest:"));
  const std::size_t hash = silent.find("masks:");
  silent.erase(hash, silent.find("\n", silent.find("  B: ", hash)) + 1 - hash);
  try {
    check::parse_certificate(silent + check::seal(silent), (moved / "c.proof").string());
    ADD_FAILURE() << "nothing says what the mask held";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string{error.what()}.find("no hash under 'masks' says what"), std::string::npos)
        << error.what();
  }
  // A layer that is no proof has no hash of its mask, so it has what it names or nothing.
  EXPECT_THROW(parse_workload(workload_text, (moved / "w.yaml").string()), ConfigError);
  std::filesystem::rename(moved / "b.txt", mask);
  std::ofstream{mask} << "1 1\n0 1\n1 0\n0 0\n";  // as many nonzeros, elsewhere
  try {
    faults_of(proof);
    ADD_FAILURE() << "the mask has changed";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string{error.what()}.find(
                  "b.txt has changed since the proof was written, so the zeros of B"),
              std::string::npos)
        << error.what();
  }
  std::filesystem::remove_all(folder);
}

// Proofs of plans and designs name masks, too.
TEST(SparseProofs, OfPlansAndDesignsNameAMaskThatHasChanged) {
  const std::string mask = testing::TempDir() + "/mapsim_plan_mask_test.txt";
  const auto error_of = [](const auto& read) {
    try {
      read();
      return std::string{};
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
  };
  const auto plan = [&] {
    check::parse_plan_claim(
        R"({"plan_certificate":{"soc":"s","network":"n","objective":"latency","operations":1,)"
        R"("engines":1,"places":["p"],"tensors":[],"groups":[{"operations":[0],"reads":[],)"
        R"("writes":[],"anchor":0,"on":[[1,1,1,1,0]]}],"masks":[{"layer":"fc","tensor":"B",)"
        R"("extents":[4,2],"hash":"ff2ae34b492c9c21","path":")" +
            mask + R"("}],"weights":{"latency":1,"energy":0,"bytes":0},"plan":[[0,0]],"value":1}})",
        testing::TempDir() + "/moved_plan/plan.proof");
  };
  const auto design = [&](const std::string& masks = "--- masks 0\nB: \"ff2ae34b492c9c21\"\n") {
    const std::string text =
        "design_certificate: 1\ntool: t\nobjective: \"energy\"\nlatency: steady\nwanted: best\n"
        "top: 1\ngap: 0\ncounts: [1]\nspaces:\n  - name: \"m\"\n--- layer 0\nname: w\n"
        "gemm: {m: 4, n: 2, k: 4}\ndensity: {B: data " +
        mask + "}\n" + masks;
    check::parse_design_certificate(text + check::seal(text), "design.proof");
  };
  const std::string changed = "has changed since the proof was written, so the zeros of B";
  std::ofstream{mask} << "1 0\n0 1\n1 1\n0 0\n";
  EXPECT_EQ(error_of(plan), "");
  EXPECT_EQ(error_of(design).find(changed), std::string::npos) << error_of(design);
  EXPECT_NE(error_of([&] { design(""); }).find("no hash under 'masks' says what"),
            std::string::npos);
  const std::filesystem::path moved = testing::TempDir() + "/moved_plan";
  std::filesystem::create_directories(moved);
  std::filesystem::rename(mask, moved / "mapsim_plan_mask_test.txt");
  EXPECT_EQ(error_of(plan), "");
  std::filesystem::remove_all(moved);
  std::ofstream{mask} << "1 1\n0 1\n1 0\n0 0\n";
  EXPECT_NE(error_of(plan).find(changed + " of fc"), std::string::npos) << error_of(plan);
  EXPECT_NE(error_of(design).find(changed), std::string::npos) << error_of(design);
  std::filesystem::remove(mask);
}

}  // namespace
}  // namespace mapsim::sparse_test
