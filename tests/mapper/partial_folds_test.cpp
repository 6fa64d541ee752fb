// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/partial_folds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <variant>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/simulate.hpp"
#include "costmodel/roofline.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/nvdla/search.hpp"
#include "mapper/unfolded.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/form.hpp"
#include "workloads/load.hpp"

namespace mapsim::partial_folds_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kConfigs = source_path("configs/");

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

// A search that has no time or labels left for folds with a remainder claims nothing of them: its
// bound is no more than the optimum, and it does not say that nothing fits.
TEST(EdgeFolds, AreNotForgottenWhereNothingIsLeftForThem) {
  const Arch arch = load_arch(source_path("configs/arch/systolic_32x32.yaml"));
  for (const char* text : {"{m: 63, n: 67, k: 61}", "{m: 101, n: 103, k: 107}"}) {
    const Problem problem{arch, parse_workload(fmt::format("name: g\ngemm: {}\n", text), "w.yaml")};
    SearchOptions options;
    options.objective = Objective::kLatency;
    options.partial_folds = true;
    const SearchResult all = search_exact(Mapspace{problem, {}}, options);
    ASSERT_EQ(all.certificate.status, Proof::kOptimal) << text;
    const auto optimum = static_cast<double>(all.cost->latency.steady.count());
    ASSERT_LT(optimum, all.certificate.divisors->value.value_or(0)) << text;
    const auto check = [&](const SearchOptions& asked) {
      const SearchResult found = search_exact(Mapspace{problem, {}}, asked);
      const double value =
          found.cost ? static_cast<double>(found.cost->latency.steady.count()) : kInfinity;
      EXPECT_LE(found.certificate.lower_bound, optimum) << text;
      EXPECT_NE(found.certificate.status, Proof::kInfeasible) << text;
      EXPECT_TRUE(found.infeasible.reasons.empty()) << text;
      EXPECT_TRUE(found.certificate.status != Proof::kOptimal || value == optimum) << text;
    };
    for (const std::int64_t labels : {1, 4, 8, 64}) {
      options.budget = {};
      options.budget.labels = labels;
      check(options);
    }
    for (const double seconds : {1e-6, 1e-3, 5e-3, 2e-2, 0.1}) {
      options.budget = {};
      options.budget.seconds = seconds;
      check(options);
      options.objective.max_latency = Cycles{static_cast<std::int64_t>(optimum) + 10};
      check(options);
      options.objective.max_latency.reset();
    }
  }
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

// A small convolution, some without windows.
std::string random_image_text(Rng& rng) {
  const std::int64_t kernel = 1 + rng.below(2);
  return fmt::format(
      "name: w\nconv2d:\n  in_channels: {}\n  out_channels: {}\n  input: [{}, {}]\n  kernel: [{}, "
      "1]\n  stride: {}\nprecision: {{input: 8 b, weight: 8 b, output: 8 b, partial: 16 b}}\n",
      1 + rng.below(2), 1 + rng.below(2), kernel + 2, 3, kernel, 1);
}

FormedResult search_both_forms(const Problem& problem, const SearchOptions& options) {
  const Mapspace space{problem, {}};
  return search_both(space, unfolded_space(space, options.objective).value(), options);
}

// The optimum of both forms is the least of all their mappings, each evaluated; the simulator walks
// it in its form, and counts what evaluate() does.
TEST(LinearFolds, EqualTheLeastOfBothSpaces) {
  int looked_at = 0;
  int linear = 0;
  int proven = 0;
  for (std::uint64_t seed = 0; seed < tried_of(100U); ++seed) {
    Rng rng{seed};
    const Problem problem{parse_arch(random_arch_text(rng), "a.yaml"),
                          parse_workload(random_image_text(rng), "w.yaml")};
    SearchOptions options;
    options.objective = std::array{Objective::kLatency, Objective::kEdp}[seed % 2];
    options.partial_folds = true;
    const auto unfolded = unfolded_space(Mapspace{problem, {}}, options.objective);
    if (!unfolded || mapspace_size(Mapspace{problem, {}}).size() > 5) {
      continue;  // more than 99,999 mappings
    }
    ++looked_at;
    const FormedResult found = search_both_forms(problem, options);
    const double value =
        found.result.cost ? objective_value(options.objective, *found.result.cost) : kInfinity;
    double least = kInfinity;
    double sooner = kInfinity;
    for (const Problem& form : {problem, unfolded->problem}) {
      SearchOptions perfect = options;
      perfect.partial_folds = false;
      const SearchResult plain = search_exhaustive(Mapspace{form, {}}, perfect);
      const double divisors =
          plain.cost ? objective_value(options.objective, *plain.cost) : kInfinity;
      const Cycles known = plain.cost ? plain.cost->latency.steady
                                      : Cycles{std::numeric_limits<std::int64_t>::max()};
      const LeastOfFolds folds = least_of_folds(form, options.objective, known);
      least = std::min({least, divisors, folds.all});
      sooner = std::min({sooner, divisors, folds.sooner});
      EXPECT_LE(value, divisors * (1 + 1e-9)) << "seed " << seed;
    }
    EXPECT_GE(value, least * (1 - 1e-9)) << "seed " << seed;
    EXPECT_LE(found.result.certificate.lower_bound, sooner * (1 + 1e-9)) << "seed " << seed;
    if (found.result.certificate.status == Proof::kOptimal) {
      EXPECT_LE(value, sooner * (1 + 1e-9)) << "seed " << seed;
      ++proven;
    }
    if (found.result.cost && found.result.form != Form{}) {
      ++linear;
      const Problem& form = found.problem;
      const Mapping& mapping = *found.result.best;
      const std::string text = print_mapping(form.arch(), form.workload(), mapping);
      const Problem read{problem.arch(), parse_form(text, "m.yaml", problem.workload())};
      EXPECT_EQ(parse_mapping(text, "m.yaml", read.arch(), read.workload()), mapping);
      EXPECT_EQ(simulate(read, mapping, random_operands(read.workload(), seed), 10'000).counts,
                found.result.cost->counts)
          << "seed " << seed;
    }
  }
  EXPECT_GE(looked_at, tried_of(60));
  EXPECT_GE(linear, tried_of(4));
  EXPECT_GE(proven, tried_of(30));
}

// Where no rank is a window, merged dims have the tiles that they had apart.
TEST(LinearFolds, LoseNothingOfLayersWithoutWindows) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng{seed};
    const Problem problem{
        parse_arch(random_arch_text(rng), "a.yaml"),
        parse_workload(
            fmt::format("name: w\neinsum:\n  equation: O[k][p][q] += I[2*p][c][q] * W[k][c]\n"
                        "  dims: {{k: {}, p: {}, q: {}, c: {}}}\n"
                        "precision: {{input: 8 b, weight: 8 b, output: 8 b, partial: 16 b}}\n",
                        1 + rng.below(3), 2 + rng.below(3), 2 + rng.below(3), 1 + rng.below(3)),
            "w.yaml")};
    const Problem unfolded{problem.arch(),
                           in_form(problem.workload(), {FormKind::kUnfolded, 1}).value()};
    EXPECT_EQ(unfolded.workload().equation(), "O[k][pq] += I[pq][c] * W[k][c]");
    for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      SearchOptions options;
      options.objective = objective;
      const SearchResult apart = search_exact(Mapspace{problem, {}}, options);
      const SearchResult merged = search_exact(Mapspace{unfolded, {}}, options);
      ASSERT_EQ(apart.cost.has_value(), merged.cost.has_value()) << "seed " << seed;
      if (apart.cost) {
        const double value = objective_value(objective, *apart.cost);
        EXPECT_NEAR(objective_value(objective, *merged.cost), value, 1e-9 * value)
            << "seed " << seed;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 100);
}

TEST(LinearFolds, AreOfTheMatrixProductOfALayer) {
  const Workload conv1 = load_workload(kConfigs + "workloads/alexnet/conv1.yaml");
  const Workload unfolded = in_form(conv1, {FormKind::kUnfolded, 1}).value();
  EXPECT_EQ(unfolded.equation(), "O[NPQ][K] += I[NPQ][CRS] * W[K][CRS]");
  EXPECT_EQ(unfolded.dims[*unfolded.find_dim("NPQ")].bound, 55 * 55);
  EXPECT_EQ(unfolded.dims[*unfolded.find_dim("CRS")].bound, 3 * 11 * 11);
  EXPECT_EQ(unfolded.macs(), conv1.macs());
  EXPECT_FALSE(in_form(gemm(3, 4, 5), {FormKind::kUnfolded, 1}));
  EXPECT_FALSE(in_form(unfolded, {FormKind::kWinograd, 1}));
}

// An array without buffers or ports, in which one tensor stays: cycles are those of the folds.
std::string array_text(std::int64_t size, const std::string& stays) {
  const auto [others, columns, rows] =
      stays == "output"   ? std::array{"input, weight", "gemm_n", "gemm_m"}
      : stays == "weight" ? std::array{"input, output", "gemm_n", "gemm_k"}
                          : std::array{"weight, output", "gemm_m", "gemm_k"};
  const std::string energy = "    energy: {read: 1 pJ/B, write: 1 pJ/B}\n";
  return fmt::format(
      "name: a\nnodes:\n  - storage: DRAM\n    capacity: unlimited\n{0}"
      "  - fanout: Array\n    x: {{size: {1}, dims: [{2}]}}\n    y: {{size: {1}, dims: [{3}]}}\n"
      "    spatial_reduction: true\n"
      "  - storage: Register\n    capacity: {{weight: 1 B, input: 1 B, output: 4 B}}\n{0}"
      "    keep: [{4}]\n    bypass: [{5}]\n"
      "  - compute: MAC\n    energy: 1 pJ\n    timing: {{model: systolic, array: Array}}\n",
      energy, size, columns, rows, stays, others);
}

struct ImageLayer {
  std::int64_t channels, kernels, height, width, filter_rows, filter_columns, stride_y, stride_x;
};

// SCALE-Sim's folds of a layer: its matrix product in tiles of the whole array.
std::int64_t folded_cycles(const ImageLayer& layer, std::int64_t size, const std::string& stays) {
  const std::int64_t m = ((layer.height - layer.filter_rows) / layer.stride_y + 1) *
                         ((layer.width - layer.filter_columns) / layer.stride_x + 1);
  const std::int64_t k = layer.channels * layer.filter_rows * layer.filter_columns;
  const std::int64_t n = layer.kernels;
  const auto count = [size](std::int64_t rows, std::int64_t columns) {
    return (rows + size - 1) / size * ((columns + size - 1) / size);
  };
  return stays == "output"   ? count(m, n) * (k + 2 * size - 2)
         : stays == "weight" ? count(k, n) * (m + 3 * size - 2)
                             : count(k, m) * (n + 3 * size - 2);
}

// tools/linear_folds.py has all shipped layers.
TEST(LinearFolds, AreNeverSlowerThanThoseOfScaleSim) {
  int sooner = 0;
  for (const ImageLayer& layer : std::vector<ImageLayer>{{3, 24, 35, 35, 7, 7, 2, 2},
                                                         {16, 20, 13, 13, 3, 3, 1, 1},
                                                         {6, 16, 15, 29, 5, 5, 1, 2},
                                                         {24, 33, 27, 27, 1, 1, 1, 1},
                                                         {1, 40, 17, 13, 3, 5, 2, 1}}) {
    const Workload workload = parse_workload(
        fmt::format("name: w\nconv2d:\n  in_channels: {}\n  out_channels: {}\n  input: [{}, {}]\n"
                    "  kernel: [{}, {}]\n  stride: [{}, {}]\n"
                    "precision: {{input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}}\n",
                    layer.channels, layer.kernels, layer.height, layer.width, layer.filter_rows,
                    layer.filter_columns, layer.stride_y, layer.stride_x),
        "w.yaml");
    for (const std::int64_t size : {16, 32, 128}) {
      for (const char* stays : {"output", "weight", "input"}) {
        const Problem problem{parse_arch(array_text(size, stays), "a.yaml"), workload};
        SearchOptions options;
        options.objective = Objective::kLatency;
        options.partial_folds = true;
        const FormedResult found = search_both_forms(problem, options);
        ASSERT_TRUE(found.result.cost);
        EXPECT_LE(found.result.cost->latency.steady.count(), folded_cycles(layer, size, stays))
            << workload.equation() << ' ' << size << ' ' << stays;
        EXPECT_EQ(found.result.certificate.status, Proof::kOptimal) << size << ' ' << stays;
        sooner += found.result.form != Form{} ? 1 : 0;
      }
    }
  }
  EXPECT_GE(sooner, 5);
}

// A merged dim goes where all its parts may.
TEST(LinearFolds, ObeyConstraints) {
  const Problem conv1{load_arch(kConfigs + "arch/systolic_32x32.yaml"),
                      load_workload(kConfigs + "workloads/alexnet/conv1.yaml")};
  const Mapspace space{conv1,
                       load_constraints(kConfigs + "constraints/systolic_output.yaml", conv1)};
  SearchOptions options;
  options.objective = Objective::kLatency;
  options.partial_folds = true;
  const auto unfolded = unfolded_space(space, options.objective);
  ASSERT_TRUE(unfolded);
  const FormedResult found = search_both(space, *unfolded, options);
  EXPECT_EQ(found.result.cost->latency.steady, Cycles{95 * 3 * (363 + 32 + 32 - 2)});
  EXPECT_EQ(found.result.form.kind, FormKind::kUnfolded);
  EXPECT_EQ(found.result.certificate.status, Proof::kOptimal);
  Constraints one_line = space.constraints();
  one_line.unroll.front().y.dims = DimSet{*conv1.workload().find_dim("P")};
  const auto narrow = unfolded_space(Mapspace{conv1, one_line}, options.objective);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->constraints.unroll.front().y.dims, DimSet{});  // not Q, and so not NPQ
}

}  // namespace
}  // namespace mapsim::partial_folds_test
