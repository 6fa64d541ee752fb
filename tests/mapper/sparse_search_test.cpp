// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/sparse_costs.hpp"
#include "mapper/mapper.hpp"
#include "mapper/supported.hpp"
#include "random_sparse.hpp"
#include "workloads/load.hpp"

namespace mapsim::sparse_search_test {
namespace {

// The exact search finds what trying every mapping finds.
TEST(SparseSearch, EqualsBruteForce) {
  int compared = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
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
  EXPECT_GT(compared, 30);
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
  const HeldMemory within(&deadline);
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
