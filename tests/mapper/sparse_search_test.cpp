// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/sparse_costs.hpp"
#include "mapper/mapper.hpp"
#include "mapper/supported.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

std::string pick(Rng& rng, const std::vector<std::string>& choices) {
  return choices[rng.below(choices.size())];
}

std::string random_format(Rng& rng) {
  return pick(rng, {"dense", "ideal", "bitmask", "coordinates 3 b", "coordinates", "runs 1 b",
                    "runs 2 b", "csr", "csc", "[bitmask, dense]", "[dense, coordinates]"});
}

std::string formats(Rng& rng) {
  return fmt::format("    format: {{input: {}, weight: {}, output: {}}}\n", random_format(rng),
                     random_format(rng), pick(rng, {"dense", "bitmask", "coordinates"}));
}

// One condition for the whole machine, so that every level states the same; or none.
std::string condition(Rng& rng, bool skip) {
  const std::string act = skip ? "skip" : "gate";
  return rng.below(3) == 0
             ? ""
             : fmt::format(
                   "    when_empty: [{{{}: weight, on: input}}{}]\n", act,
                   rng.below(2) == 0 ? "" : fmt::format(", {{{}: output, on: weight}}", act));
}

// `deep`: with registers below the buffer, for which only tiny layers can be tried one by one.
std::string random_machine(Rng& rng, bool deep) {
  const bool skip = rng.below(2) == 0;
  const std::string when_empty = condition(rng, skip);
  const std::string fanout =
      rng.below(2) == 0
          ? ""
          : fmt::format(
                "  - fanout: PEs\n    x: 2\n    multicast: {}\n"
                "    spatial_reduction: {}\n",
                pick(rng, {"true", "false", "[input]"}), pick(rng, {"true", "false"}));
  const std::string reuse = pick(rng, {"", "    register_reuse: [weight]\n"});
  const std::string registers =
      !deep ? ""
            : fmt::format(
                  "  - storage: Registers\n    word: 8 b\n    capacity: {} b\n"
                  "    energy: {{read: 0.3 pJ/word, write: 0.4 pJ/word}}\n{}{}",
                  20 + rng.below(100), formats(rng), when_empty);
  return fmt::format(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {{read: 20 pJ/word, write: 30 pJ/word, gated: 1 pJ/word, skipped: 0.5 "
      "pJ/word}}\n"
      "    bandwidth: {{shared: {} b/cycle}}\n    format: {{input: {}, weight: bitmask}}\n{}{}"
      "  - storage: Buffer\n    word: 8 b\n    capacity: {} b\n"
      "    energy: {{read: 2 pJ/word, write: 3 pJ/word}}\n    fits: {}\n{}{}{}"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {}\n    gated_energy: 0.1 pJ\n{}",
      4 + rng.below(60), random_format(rng), when_empty, fanout, 60 + rng.below(400),
      pick(rng, {"worst", "expected", "90 %"}), formats(rng), when_empty, registers,
      skip ? "skip" : "gate", reuse);
}

std::string random_layer(Rng& rng, bool deep) {
  const std::string bounds =
      deep ? pick(rng, {"{m: 2, n: 2, k: 2}", "{m: 2, n: 1, k: 4}", "{m: 4, n: 2, k: 1}"})
           : pick(rng, {"{m: 4, n: 2, k: 4}", "{m: 2, n: 4, k: 4}", "{m: 6, n: 2, k: 2}"});
  return fmt::format("name: w\ngemm: {}\ndensity: {{A: {}, B: {}}}\nprecision: {{partial: {} b}}\n",
                     bounds, pick(rng, {"0.2", "0.5", "0.9"}), pick(rng, {"0.3", "0.7", "1"}),
                     pick(rng, {"8", "16"}));
}

// The exact search finds what trying every mapping finds.
TEST(SparseSearch, EqualsBruteForce) {
  int compared = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng{seed};
    const bool deep = rng.below(3) == 0;
    const std::string machine = random_machine(rng, deep);
    const std::string layer = random_layer(rng, deep);
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
}  // namespace mapsim
