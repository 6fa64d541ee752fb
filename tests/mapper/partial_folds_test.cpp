// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/partial_folds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <variant>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/roofline.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";

std::string one_of(Rng& rng, const std::vector<std::string>& all) {
  return all[rng.below(all.size())];
}

// A small array between a DRAM, sometimes a buffer, and registers.
std::string random_arch_text(Rng& rng) {
  const std::string energy = "    energy: {read: 3 pJ/B, write: 2 pJ/B}\n";
  std::string text = "name: a\nnodes:\n  - storage: DRAM\n    capacity: unlimited\n" + energy +
                     one_of(rng, {"", "    bandwidth: {shared: 2 B/cycle}\n",
                                  "    bandwidth: {read: 1 B/cycle, write: 3 B/cycle}\n"});
  text += rng.below(2) == 0
              ? ""
              : fmt::format("  - storage: GLB\n    capacity: {} B\n    double_buffered: {}\n",
                            10 + rng.below(60), one_of(rng, {"true", "false"})) +
                    energy +
                    one_of(rng, {"", "    bandwidth: {read: 2 B/cycle}\n",
                                 "    bandwidth: {link: 2 B/cycle}\n"}) +
                    "    bypass: [weight]\n";
  text += fmt::format(
      "  - fanout: Array\n    x: {}\n    y: {}\n    spatial_reduction: true\n"
      "  - storage: Register\n    capacity: {} B\n    streamed: true\n",
      1 + rng.below(3), 2 + rng.below(3), 4 + 4 * rng.below(2));
  text += energy + one_of(rng, {"", "    keep: [weight]\n    bypass: [input, output]\n",
                                "    bypass: [input]\n"});
  return text + fmt::format(
                    "  - compute: MAC\n    energy: 1 pJ\n    timing: {{model: systolic, "
                    "fold_size: {}, overlap: {{stationary_load: {}, drain: {}}}}}\n",
                    one_of(rng, {"full", "used"}), one_of(rng, {"true", "false"}),
                    one_of(rng, {"true", "false"}));
}

std::string random_workload_text(Rng& rng) {
  const std::string precision =
      "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 16 b}\n";
  if (rng.below(3) == 0) {
    return fmt::format(
               "name: w\neinsum:\n  equation: O[k][p] += I[p+r] * W[k][r]\n"
               "  dims: {{k: {}, p: {}, r: {}}}\n",
               2 + rng.below(2), 3 + rng.below(3), 2) +
           precision;
  }
  return fmt::format("name: w\ngemm: {{m: {}, n: {}, k: {}}}\n", 1 + rng.below(5), 2 + rng.below(4),
                     1 + rng.below(5)) +
         precision;
}

// The least value of all mappings with folds that leave a remainder, each evaluated; and of those
// that take less time than `known`.
struct LeastOfFolds {
  double all = kInfinity;
  double sooner = kInfinity;
};
LeastOfFolds least_of_folds(const Problem& problem, const Objective& objective, Cycles known) {
  LeastOfFolds least;
  const std::optional<Unrolling> free;
  for (const UnrollingClass& unrolling_class : list_unrolling_classes(problem, {free, {}, true})) {
    Workload rounded = problem.workload();
    const auto bounds = temporal_bounds(problem.workload(), unrolling_class);
    for (const DimId d : bounds.ids()) {
      rounded.dims[d].bound = bounds[d] * unrolling_class.factors[FanoutId{0}][d];
    }
    if (rounded == problem.workload()) {
      continue;
    }
    const Problem padded{problem.arch(), rounded};
    Constraints constraints;
    constraints.spatial = unrolling_class.first;
    Evaluator evaluator{problem};
    Mapspace{padded, constraints}.enumerate([&](const Mapping& mapping) {
      if (!evaluator.evaluate(canonical(problem.workload(), mapping))) {
        const double value = objective_value(objective, evaluator.cost());
        const bool sooner = latency_of(objective.mode, evaluator.cost().latency) < known;
        least.all = std::min(least.all, value);
        least.sooner = sooner ? std::min(least.sooner, value) : least.sooner;
      }
      return true;
    });
  }
  return least;
}

// Of 251 problems the small ones: what is found is no worse than the best without a remainder, and
// the bound is no more than the least of all mappings there are.
TEST(EdgeFolds, AreBoundedByWhatAllOfThemCost) {
  int looked_at = 0;
  int improved = 0;
  int proven = 0;
  int bounded = 0;
  for (std::uint64_t i = 0; i <= 250; ++i) {
    const std::uint64_t seed = i < 250 ? i : 4'188;  // a last fold of one row is the best of all
    Rng rng{seed};
    const Problem problem{parse_arch(random_arch_text(rng), "a.yaml"),
                          parse_workload(random_workload_text(rng), "w.yaml")};
    if (mapspace_size(Mapspace{problem, {}}).size() > 4) {
      continue;  // more than 9,999 mappings
    }
    ++looked_at;
    SearchOptions options;
    options.objective = std::array{Objective::kLatency, Objective::kEdp}[seed % 2];
    options.objective.mode = seed % 3 == 0 ? LatencyMode::kRamped : LatencyMode::kSteady;
    const Mapspace space{problem, {}};
    const SearchResult plain = search_exact(space, options);
    options.partial_folds = true;
    const SearchResult found = search_exact(space, options);
    const double value = found.cost ? objective_value(options.objective, *found.cost) : kInfinity;
    const double divisors =
        plain.cost ? objective_value(options.objective, *plain.cost) : kInfinity;
    const Cycles known = plain.cost ? latency_of(options.objective.mode, plain.cost->latency)
                                    : Cycles{std::numeric_limits<std::int64_t>::max()};
    const LeastOfFolds folds = least_of_folds(problem, options.objective, known);
    const double least = std::min(divisors, folds.all);
    const double sooner = std::min(divisors, folds.sooner);
    ASSERT_LE(value, divisors) << "seed " << seed;
    ASSERT_GE(value, least * (1 - 1e-9)) << "seed " << seed;
    if (!found.certificate.divisors) {
      EXPECT_EQ(value, divisors) << "seed " << seed;
      continue;
    }
    EXPECT_EQ(found.certificate.divisors->value.value_or(kInfinity), divisors);
    EXPECT_LE(found.certificate.lower_bound, sooner * (1 + 1e-9)) << "seed " << seed;
    if (found.certificate.status == Proof::kOptimal) {
      EXPECT_LE(value, sooner * (1 + 1e-9)) << "seed " << seed;
      ++proven;
    }
    improved += value < divisors ? 1 : 0;
    bounded += found.certificate.status == Proof::kBounded ? 1 : 0;
  }
  EXPECT_GE(looked_at, 60);
  EXPECT_GE(improved, 10);
  EXPECT_GE(proven, 10);
  EXPECT_GE(bounded, 3);
}

SearchResult fastest(const Problem& problem, const std::string& constraints = "") {
  SearchOptions options;
  options.objective = Objective::kLatency;
  options.partial_folds = true;
  return search_exact(
      Mapspace{problem,
               constraints.empty() ? Constraints{} : load_constraints(constraints, problem)},
      options);
}

Workload gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return parse_workload(
      fmt::format("name: g\ngemm: {{m: {}, n: {}, k: {}}}\nprecision: {{input: 8 b, weight: 8 b, "
                  "output: 8 b, partial: 32 b}}\n",
                  m, n, k),
      "g.yaml");
}

std::int64_t folds(std::int64_t rows, std::int64_t columns) {
  return (rows + 31) / 32 * ((columns + 31) / 32);
}

// The canonical folds of 32 x 32 for M, N, K: weights stay (K x N), inputs (K x M), sums (M x N).
std::int64_t least_canonical(std::int64_t m, std::int64_t n, std::int64_t k) {
  return std::min({folds(k, n) * (m + 3 * 32 - 2), folds(k, m) * (n + 3 * 32 - 2),
                   folds(m, n) * (k + 2 * 32 - 2)});
}

// Bounds without a divisor that fits, and others: never slower than the best of the three, or than
// everything takes through the DRAM once; proven.
TEST(EdgeFolds, AreNeverWorseThanTheCanonicalOnes) {
  const Arch arch = load_arch(kConfigs + "arch/systolic_32x32.yaml");
  for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
           {127, 127, 127}, {33, 65, 129}, {97, 32, 31}, {1, 101, 211}, {50, 60, 64}}) {
    const Problem problem{arch, gemm(m, n, k)};
    const SearchResult found = fastest(problem);
    const Cycles moving = roofline(arch, problem.workload()).least_cycles;
    ASSERT_TRUE(found.cost) << m;
    EXPECT_LE(found.cost->latency.steady.count(),
              std::max(least_canonical(m, n, k), moving.count()))
        << m << ' ' << n << ' ' << k;
    EXPECT_EQ(found.certificate.status, Proof::kOptimal) << m << ' ' << n << ' ' << k;
  }
  const Problem cube{arch, gemm(127, 127, 127)};
  EXPECT_EQ(fastest(cube).cost->latency.steady, Cycles{16 * (127 + 32 + 32 - 2)});
}

// 55 x 55 pixels on 32 rows, 96 kernels on 32 columns: 14 x 7 folds of 4 x 8 pixels and 3 of
// kernels, 363 steps each. Divisors allow 5 x 5 pixels.
TEST(EdgeFolds, FillTheArrayOnTheFirstLayerOfAlexNet) {
  const Problem conv1{load_arch(kConfigs + "arch/systolic_32x32.yaml"),
                      load_workload(kConfigs + "workloads/alexnet/conv1.yaml")};
  const SearchResult found = fastest(conv1, kConfigs + "constraints/systolic_output.yaml");
  EXPECT_EQ(found.certificate.divisors->value, 154'275);
  EXPECT_EQ(found.cost->latency.steady, Cycles{14 * 7 * 3 * (363 + 32 + 32 - 2)});
  EXPECT_EQ(found.certificate.status, Proof::kOptimal);
}

}  // namespace
}  // namespace mapsim
