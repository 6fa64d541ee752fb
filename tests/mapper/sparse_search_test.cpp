// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <string>
#include <utility>
#include <variant>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/sparse_costs.hpp"
#include "mapper/least_busiest.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/supported.hpp"
#include "random_sparse.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::sparse_search_test {
namespace {

// The exact search finds what trying every mapping finds.
TEST(SparseSearch, EqualsBruteForce) {
  int compared = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < tried_of(35U); ++seed) {
    Rng rng{seed};
    const bool deep = rng.below(3) == 0;
    const std::string machine = random_sparse_machine(rng, deep);
    const std::string layer = random_sparse_layer(rng, deep);
    try {
      const Problem problem(parse_arch(machine, "m.yaml"), parse_workload(layer, "w.yaml"));
      check_supported(problem, {}, "exact");
      const Mapspace space{problem, Constraints{}};
      for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
        SearchOptions options;
        options.objective = objective;
        const SearchResult exact = search_exact(space, options);
        const SearchResult brute = search_exhaustive(space, options);
        ASSERT_EQ(exact.best.has_value(), brute.best.has_value()) << seed << machine << layer;
        if (brute.best) {
          const double best = objective_value(objective, *brute.cost);
          EXPECT_NEAR(objective_value(objective, *exact.cost), best, 1e-11 * best)
              << seed << "\n"
              << machine << layer;
          EXPECT_NEAR(exact.certificate.lower_bound, best, 1e-11 * best) << seed;
        }
      }
      ++compared;
    } catch (const ConfigError& error) {
      ++refused;
      RecordProperty("refused", error.what());
    } catch (const UnsupportedSearch& error) {
      ++refused;
    }
  }
  std::printf("%d compared, %d refused\n", compared, refused);
  EXPECT_GT(compared, tried_of(25));
}

// A tensor may wait for two others if no loop that leaves its tile moves both: parts of the
// operations would wait less often than all of them together.
TEST(SparseSearch, TakesLeadersThatNoLoopMovesTogether) {
  const auto machine = [](const char* conditions) {
    const std::string zeros = fmt::format(
        "    format: {{input: bitmask, weight: bitmask}}\n    when_empty: {}\n", conditions);
    return parse_arch(
        "name: m\nclock: 1 GHz\nnodes:\n  - storage: DRAM\n    word: 8 b\n"
        "    capacity: unlimited\n    energy: {read: 20 pJ/word, write: 200 pJ/word}\n" +
            zeros +
            "  - storage: Buffer\n    word: 8 b\n    capacity: 8 B\n    keep: [output]\n"
            "    energy: {read: 2 pJ/word, write: 3 pJ/word}\n" +
            zeros + "  - compute: MAC\n    energy: 1 pJ\n    when_zero: skip\n",
        "m.yaml");
  };
  const auto why = [](const Problem& problem) {
    try {
      check_supported(problem, {}, "exact");
    } catch (const UnsupportedSearch& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  const Problem both{machine("[{skip: output, on: [input, weight]}]"),
                     parse_workload("name: w\ngemm: {m: 1, n: 1, k: 8}\n"
                                    "density: {A: 0.2, B: 0.2}\n",
                                    "w.yaml")};
  EXPECT_NE(why(both).find("waits for A and B, which K indexes all"), std::string::npos)
      << why(both);
  const Problem cut{machine("[{skip: output, on: input}]"),
                    parse_workload("name: w\ngemm: {m: 1, n: 1, k: 6}\n"
                                   "density: {A: structured 1:3 along K}\n",
                                   "w.yaml")};
  EXPECT_NE(why(cut).find("whose blocks of 3 along K may be cut by tiles"), std::string::npos)
      << why(cut);
  for (const char* act : {"skip", "gate"}) {
    for (const char* follower : {"weight", "output"}) {
      const Problem problem{
          machine(fmt::format("[{{{}: {}, on: input}}]", act, follower).c_str()),
          parse_workload("name: w\neinsum:\n  equation: 'Z[M][N] += A[M][K] * B[K][L] * C[L][N]'\n"
                         "  dims: {M: 2, K: 4, L: 2, N: 1}\n"
                         "  roles: {A: input, B: weight, C: input}\n"
                         "density: {A: 0.25, B: 0.5, C: 0.5}\n",
                         "w.yaml")};
      ASSERT_EQ(why(problem), "");
      const Mapspace space{problem, Constraints{}};
      const SearchResult exact = search_exact(space, {});
      const SearchResult brute = search_exhaustive(space, {});
      EXPECT_NEAR(exact.cost->energy.total.count(), brute.cost->energy.total.count(), 1e-6);
      EXPECT_NEAR(exact.certificate.lower_bound, brute.cost->energy.total.count(), 1e-6);
    }
  }
}

// Of n:m structure every tile of the same extents has the same chance on average, and parts of a
// tile have zeros no more often than the tile.
TEST(SparseSearch, TakesLeadersOfBlocks) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    Rng rng{seed};
    const std::string machine = random_sparse_machine(rng, false);
    const char* along[] = {"A: structured 1:2 along K", "A: structured 2:4 along K, B: 0.5",
                           "B: structured 1:4 along K, A: 0.5", "A: structured 1:2 along M",
                           "B: structured 1:2 along N, A: structured 1:2 along K"};
    const std::string layer =
        fmt::format("name: w\ngemm: {{m: 4, n: 2, k: 4}}\ndensity: {{{}}}\n", along[rng.below(5)]);
    try {
      const Problem problem(parse_arch(machine, "m.yaml"), parse_workload(layer, "w.yaml"));
      check_supported(problem, {}, "exact");
      const Mapspace space{problem, Constraints{}};
      SearchOptions options;
      options.objective = rng.below(2) == 0 ? Objective::kEnergy : Objective::kEdp;
      const SearchResult exact = search_exact(space, options);
      const SearchResult brute = search_exhaustive(space, options);
      ASSERT_EQ(exact.best.has_value(), brute.best.has_value()) << seed << machine << layer;
      if (brute.best) {
        const double best = objective_value(options.objective, *brute.cost);
        EXPECT_NEAR(objective_value(options.objective, *exact.cost), best, 1e-11 * best)
            << seed << "\n"
            << machine << layer;
        EXPECT_NEAR(exact.certificate.lower_bound, best, 1e-11 * best) << seed;
        compared += problem.sparse()->has_conditions() ? 1 : 0;
      }
    } catch (const ConfigError&) {
    } catch (const UnsupportedSearch&) {
    }
  }
  std::printf("%d compared\n", compared);
  EXPECT_GT(compared, 3);
}

// What is read and what is gated are together 6 elements of 8 b: 16 cycles of 3 b, where a sum of
// floating-point numbers is 48.000000000000005 b.
TEST(SparseSearch, TakesNoCycleForTheRoundingOfItsSums) {
  const Problem problem{
      parse_arch("name: m\nclock: 1 GHz\nnodes:\n  - storage: DRAM\n    word: 8 b\n"
                 "    capacity: unlimited\n    energy: {read: 10 pJ/word, write: 10 pJ/word}\n"
                 "    bandwidth: {shared: 3 b/cycle}\n"
                 "    format: {input: runs 2 b, weight: coo}\n"
                 "    when_empty: [{gate: weight, on: [input]}, {skip: output, on: [weight]}]\n"
                 "  - storage: L1\n    word: 8 b\n    capacity: 96 b\n    fits: expected\n"
                 "    energy: {read: 3 pJ/word, write: 5 pJ/word}\n"
                 "    bandwidth: {shared: 4 B/cycle}\n"
                 "    format: {weight: bitmask, output: bitmask, input: bitmask}\n"
                 "    when_empty: [{gate: weight, on: [input]}, {skip: output, on: [weight]}]\n"
                 "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [input, weight]}\n"
                 "    register_reuse: [input]\n",
                 "m.yaml"),
      parse_workload("name: w\neinsum:\n"
                     "  equation: 'Z[m] += A[m][k] * B[k][l] * C[l][p] * D[p][m]'\n"
                     "  dims: {k: 3, l: 1, m: 3, p: 4}\n"
                     "  roles: {A: input, B: weight, C: input, D: weight}\n"
                     "density: {A: 0.111111111111, B: 0.333333333333, C: 0.25, "
                     "D: 0.0833333333333, Z: 0.333333333333}\n",
                     "w.yaml")};
  const Mapspace space{problem, Constraints{}};
  SearchOptions options;
  options.objective = Objective::kLatency;
  const SearchResult exact = search_exact(space, options);
  EXPECT_EQ(exact.cost->latency.steady, Cycles{16});
  EXPECT_EQ(exact.certificate.lower_bound, 16);
}

Problem waiting_problem(const char* mask, int m) {
  const std::string path = testing::TempDir() + "/mapsim_waiting_mask.txt";
  std::ofstream{path} << mask;
  return {
      parse_arch("name: m\nclock: 1 GHz\nnodes:\n"
                 "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
                 "    energy: {read: 20 pJ/word, write: 30 pJ/word}\n"
                 "    format: {input: bitmask}\n"
                 "  - fanout: PEs\n    x: 2\n"
                 "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [input]}\n",
                 "m.yaml"),
      parse_workload(
          fmt::format("name: w\ngemm: {{m: {}, n: 1, k: 4}}\ndensity: {{A: data {}}}\n", m, path),
          "w.yaml")};
}

// All mappings have the same mean over instances; some of them leave one instance all the work.
TEST(SparseSearch, TakesTheMappingWhoseBusiestInstanceIsDoneFirst) {
  for (const auto& [mask, m] : {std::pair{"1 1 1 1\n1 1 1 1\n0 0 0 0\n0 0 0 0\n", 4},
                                {"1 1 1 1\n0 0 0 0\n1 0 1 1\n0 0 0 0\n", 4},
                                {"1 1 0 0\n1 1 0 0\n0 1 1 0\n0 0 0 0\n0 0 1 0\n1 1 0 0\n", 6}}) {
    const Problem problem = waiting_problem(mask, m);
    const Mapspace space{problem, Constraints{}};
    SearchOptions options;
    options.objective = Objective::kLatency;
    SearchResult result = search_exact(space, options);
    const double bound = result.certificate.lower_bound;
    const auto value = [&](const Mapping& mapping) {
      const Evaluation evaluation = evaluate(problem, mapping);
      const Cost* cost = std::get_if<Cost>(&evaluation);
      const auto busiest = cost == nullptr
                               ? std::nullopt
                               : busiest_value(problem, options.objective, mapping, *cost);
      return busiest ? std::optional{busiest->value} : std::nullopt;
    };
    double least = 1e9;
    space.enumerate([&](const Mapping& mapping) {
      least = std::min(least, value(mapping).value_or(least));
      return true;
    });
    take_least_busiest(space, options, result);
    EXPECT_EQ(value(*result.best), least) << mask;
    EXPECT_EQ(result.certificate.lower_bound, bound);
    EXPECT_LE(bound, least);
    EXPECT_NEAR(objective_value(options.objective, *result.cost),
                bound * (1 + result.certificate.gap), 1e-9);
  }
}

// It moves to neighbours, for which unrollings are listed. These are millions.
TEST(SparseSearch, KeepsTheMappingWhereThereIsNothingToWaitFor) {
  const Problem problem{load_arch(source_path("configs/arch/tpu_pod_like.yaml")),
                        gemm("g", {5'040, 5'040, 5'040, {}, false}, {})};
  const Mapspace space{problem, Constraints{}};
  SearchOptions options{Objective::kEdp};
  options.budget.labels = 1;
  SearchResult result = search_exact(space, options);
  ASSERT_TRUE(result.best);
  result.interrupted = false;
  const Mapping best = *result.best;
  take_least_busiest(space, options, result);
  EXPECT_EQ(*result.best, best);
}

// A weight is not moved where the inputs that it meets are zero: those of one instance, or of both
// where one transfer serves both.
TEST(SparseSearch, CountsTheZerosOfAllThatATransferServes) {
  const std::string zeros =
      "    format: {input: bitmask, weight: bitmask}\n"
      "    when_empty: [{skip: weight, on: input}]\n";
  const Problem problem(
      parse_arch("name: m\nclock: 1 GHz\nnodes:\n"
                 "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
                 "    energy: {read: 20 pJ/word, write: 30 pJ/word}\n" +
                     zeros +
                     "  - fanout: PEs\n    x: 2\n    multicast: true\n"
                     "  - storage: Buffer\n    word: 8 b\n    capacity: 1 KiB\n"
                     "    energy: {read: 2 pJ/word, write: 3 pJ/word}\n" +
                     zeros + "  - compute: MAC\n    energy: 1 pJ\n    when_zero: skip\n",
                 "m.yaml"),
      parse_workload("name: w\ngemm: {m: 4, n: 4, k: 4}\ndensity: {A: 0.3}\n", "w.yaml"));
  const Workload& workload = problem.workload();
  const Tensor& input = workload.tensors[TensorId{0}];
  ASSERT_EQ(input.role, Role::kInput);
  HeldMemory within(nullptr);
  int compared = 0;
  for (const DimId split : workload.dims.ids()) {
    const Mapspace space{
        problem, parse_constraints(fmt::format("mapspace: {{spatial: {{PEs: {{X: {{{}: 2}}}}}}}}\n",
                                               workload.dims[split].name),
                                   "s.yaml", problem)};
    const exact::Unrolled unrolled(problem, space.unrolling_classes().front());
    const exact::StateGraph graph(space, unrolled.used);
    for (const exact::BoundaryEdge& edge : graph.edges()) {
      const Tensor& tensor = workload.tensors[edge.tensor];
      if (tensor.role != Role::kWeight || edge.from != 0 || edge.to != 1 || edge.crossed != 1) {
        continue;
      }
      const exact::FlowsByTile flows(graph, unrolled, edge, within);
      const exact::DivisorLattice& lattice = unrolled.lattices[edge.crossed];
      for (std::size_t tile = 0; tile < lattice.size(); ++tile) {
        PerDim<std::int64_t> served(workload.dims.size());
        for (const DimId d : workload.dims.ids()) {
          const bool by_both = d == split && !tensor.dims().contains(d);
          served[d] = lattice.extent(d, tile) * (by_both ? 2 : 1);
        }
        const double moved =
            1 - problem.sparse()->occupancy(TensorId{0}).empty(tile_shape(input, served));
        EXPECT_NEAR(flows.at(tile)->made, moved, 1e-12) << workload.dims[split].name << tile;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 3 * 8);
}

// Where the budget was over before the search began, the bound is that of the operations that
// conditions leave.
TEST(SparseSearch, BoundsWhatItDoesNotBegin) {
  const Problem problem(
      parse_arch("name: m\nclock: 1 GHz\nnodes:\n"
                 "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
                 "    energy: {read: 20 pJ/word, write: 30 pJ/word}\n"
                 "    format: {input: bitmask, weight: bitmask}\n"
                 "    when_empty: [{skip: weight, on: input}]\n"
                 "  - storage: Buffer\n    word: 8 b\n    capacity: 64 B\n"
                 "    energy: {read: 2 pJ/word, write: 3 pJ/word}\n"
                 "    format: {input: bitmask, weight: bitmask}\n"
                 "    when_empty: [{skip: weight, on: input}]\n"
                 "  - compute: MAC\n    energy: 9000 pJ\n",
                 "m.yaml"),
      parse_workload("name: w\ngemm: {m: 4, n: 4, k: 4}\ndensity: {A: 0.1, B: 0.7}\n", "w.yaml"));
  const Mapspace space{problem, Constraints{}};
  for (const ObjectiveFunction& function :
       {ObjectiveFunction::product(1, 0), ObjectiveFunction::product(0, 1),
        ObjectiveFunction::product(1, 1)}) {
    SearchOptions options;
    options.objective.function = function;
    const SearchResult best = search_exact(space, options);
    ASSERT_EQ(best.certificate.status, Proof::kOptimal);
    options.budget.seconds = -1;
    const SearchResult none = search_exact(space, options);
    EXPECT_LE(none.certificate.lower_bound, best.certificate.lower_bound * (1 + 1e-9));
    EXPECT_GT(none.certificate.lower_bound, 0);
  }
}

// Tables of formats and conditions can take minutes: each tile asks whether time is over.
TEST(SparseSearch, StopsWhileItMakesTables) {
  const Problem problem(
      parse_arch("name: m\nclock: 1 GHz\nnodes:\n"
                 "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
                 "    energy: {read: 20 pJ/word, write: 30 pJ/word}\n"
                 "    format: {input: [dense, runs 5 b]}\n"
                 "  - storage: Buffer\n    word: 8 b\n    capacity: 1 KiB\n"
                 "    energy: {read: 2 pJ/word, write: 3 pJ/word}\n"
                 "  - compute: MAC\n    energy: 1 pJ\n",
                 "m.yaml"),
      parse_workload("name: w\ngemm: {m: 64, n: 64, k: 64}\ndensity: {A: 0.3}\n", "w.yaml"));
  const Mapspace space{problem, Constraints{}};
  const exact::Unrolled unrolled(problem, space.unrolling_classes().front());
  const exact::StateGraph graph(space, unrolled.used);
  std::atomic<bool> stop{false};
  SearchOptions options;
  options.stop = &stop;
  const Deadline deadline(options);
  HeldMemory within(&deadline);
  std::size_t formats = 0;
  for (const exact::BoundaryEdge& edge : graph.edges()) {
    stop = false;
    const bool by_tile = !exact::FlowsByTile(graph, unrolled, edge, within).empty();
    stop = true;
    if (by_tile) {
      ++formats;
      EXPECT_THROW(exact::FlowsByTile(graph, unrolled, edge, within), OutOfBudget);
    }
    if (edge.to != exact::BoundaryEdge::kMac) {
      EXPECT_THROW(exact::stored_bits(graph, unrolled, edge, Bits{8}, within), OutOfBudget);
    }
  }
  EXPECT_GT(formats, 0U);
}

}  // namespace
}  // namespace mapsim::sparse_search_test
