// SPDX-License-Identifier: Apache-2.0
#include "mapper/nvdla/search.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/roofline.hpp"
#include "mapper/membership.hpp"
#include "mapper/nvdla/schedules.hpp"
#include "mapper/supported.hpp"
#include "tests/nvdla/engines.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::search_test {
namespace {

struct Small {
  Arch arch;
  Workload workload;
};

// A small engine and a small layer of any form.
Small small_case(std::uint64_t seed) {
  Rng rng{seed};
  SmallEngine engine;
  engine.kernels = rng.between(1, 4);
  engine.channels = rng.between(1, 4);
  engine.banks = rng.between(2, 12);
  engine.buffer_bytes = engine.banks * rng.between(4, 60);
  engine.sums = rng.between(4, 40);
  engine.word = rng.between(0, 1) == 0 ? 1 : 4;
  const std::int64_t least = rng.between(1, 5);
  engine.timing = fmt::format(", stripe: {{min: {}, max: {}}}", least, least + rng.between(0, 6));
  if (rng.between(0, 3) == 0) {
    engine.timing += fmt::format(", weight_banks: {}", rng.between(1, engine.banks - 1));
  }
  if (rng.between(0, 1) == 0) {
    engine.timing += fmt::format(", post_throughput: {}", rng.between(1, 3));
  }
  if (rng.between(0, 3) == 0) {
    return {small_engine(engine),
            gemm("small", {rng.between(1, 9), rng.between(1, 9), rng.between(1, 12), {}, false})};
  }
  ConvShape shape;
  shape.groups = rng.between(0, 3) == 0 ? 2 : 1;
  shape.batch = rng.between(0, 3) == 0 ? 2 : 1;
  shape.in_channels = shape.groups * rng.between(1, 6);
  shape.out_channels = shape.groups * rng.between(1, 7);
  shape.kernel = {rng.between(1, 3), rng.between(1, 3)};
  shape.stride = {rng.between(1, 2), rng.between(1, 2)};
  shape.input = {shape.kernel[0] + rng.between(0, 8), shape.kernel[1] + rng.between(0, 6)};
  shape.padding = {rng.between(0, shape.kernel[0] / 2), rng.between(0, shape.kernel[1] / 2)};
  return {small_engine(engine), layer(shape)};
}

// The long way: every extent of rows and stripes, and all multiples of a kernel group, both orders,
// channels in as few parts as let anything fit.
std::optional<double> brute_force(const Problem& problem, const Objective& objective,
                                  std::int64_t& tried) {
  const LayerView view = view_layer(problem.workload()).value();
  const auto bound = [&](std::optional<DimId> dim) {
    return dim ? problem.workload().dims[*dim].bound : std::int64_t{1};
  };
  const auto& timing = std::get<NvdlaTiming>(problem.arch().compute.timing);
  const NvdlaAtom atom = nvdla_atoms(problem).front();
  std::optional<double> best;
  const auto consider = [&](const NvdlaSchedule& schedule) {
    ++tried;
    const Evaluation evaluation = evaluate(problem, mapping_of(problem, schedule));
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      const double value = objective_value(objective, *cost);
      best = best ? std::min(*best, value) : value;
    }
  };
  for (std::int64_t parts = 1; parts <= bound(view.channel) && !best; ++parts) {
    const std::int64_t blocks = (bound(view.channel) + atom.channels - 1) / atom.channels;
    const std::int64_t channels =
        std::min(bound(view.channel), (blocks + parts - 1) / parts * atom.channels);
    for (std::int64_t rows = 1; rows <= bound(view.rows); ++rows) {
      for (std::int64_t k = atom.kernels; k < bound(view.kernel) + atom.kernels;
           k += atom.kernels) {
        for (std::int64_t down = 1; down <= rows; ++down) {
          for (std::int64_t across = 1; across <= bound(view.columns); ++across) {
            if (down * across <= timing.most_stripe) {
              const std::int64_t kernels = std::min(k, bound(view.kernel));
              consider({atom, channels, rows, kernels, true, down, across});
              consider({atom, channels, rows, kernels, false, down, across});
            }
          }
        }
      }
    }
  }
  return best;
}

// Where others exceeded the budget, the first schedules until one fits; it proves that none does.
TEST(NvdlaSearch, TakesTheFirstScheduleThatFitsWithoutTime) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Small small = small_case(seed);
    const Problem problem{small.arch, small.workload};
    const Mapspace space{problem, {}};
    const SearchResult whole = search_nvdla(space, {});
    SearchOptions options;
    options.budget.seconds = -1;
    const SearchResult hasty = search_nvdla(space, options);
    ASSERT_EQ(hasty.cost.has_value(), whole.cost.has_value()) << seed;
    EXPECT_TRUE(hasty.interrupted ? hasty.certificate.status == Proof::kNone
                                  : hasty.certificate.status == whole.certificate.status);
    if (whole.cost) {
      EXPECT_GE(hasty.cost->energy.total, whole.cost->energy.total);
      early += hasty.statistics.evaluations < whole.statistics.evaluations ? 1 : 0;
    }
  }
  EXPECT_GT(early, 30);
}

TEST(NvdlaSearch, IsExhaustive) {
  int fitting = 0;
  int split = 0;
  std::int64_t searched = 0;
  std::int64_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Small small = small_case(seed);
    const Problem problem{small.arch, small.workload};
    SearchOptions options;
    options.objective = seed % 3 == 0   ? Objective::kEnergy
                        : seed % 3 == 1 ? Objective::kLatency
                                        : Objective::kEdp;
    const SearchResult result = search_nvdla(Mapspace{problem, {}}, options);
    const std::optional<double> best = brute_force(problem, options.objective, tried);
    ASSERT_EQ(result.cost.has_value(), best.has_value()) << seed;
    searched += result.statistics.evaluations;
    if (!best) {
      EXPECT_EQ(result.certificate.status, Proof::kInfeasible);
      continue;
    }
    ++fitting;
    ASSERT_NEAR(objective_value(options.objective, *result.cost), *best, 1e-11 * *best)
        << "seed " << seed << '\n'
        << small.workload.equation() << '\n'
        << print_mapping(problem.arch(), problem.workload(), *result.best);
    EXPECT_EQ(result.certificate.status, Proof::kOptimal);
    const std::optional<DimId> channel = view_layer(problem.workload())->channel;
    split += channel && nvdla_space(problem, LatencyMode::kSteady).schedules.front().channels <
                            problem.workload().dims[*channel].bound
                 ? 1
                 : 0;
  }
  EXPECT_GT(fitting, 200);
  EXPECT_GT(split, 5);
  EXPECT_LT(3 * searched, tried);
}

TEST(NvdlaSearch, ReturnsWhatEvaluationOfItsFileGives) {
  ConvShape square;
  square.in_channels = square.out_channels = 64;
  square.input = {56, 56};
  square.kernel = {3, 3};
  square.padding = {1, 1};
  ConvShape depthwise = square;
  depthwise.groups = 64;
  ConvShape stem = square;
  stem.in_channels = 3;
  for (const ConvShape& shape : {square, depthwise, stem}) {
    const Problem problem{shipped_engine("nv_full"), layer(shape)};
    SearchOptions options;
    options.objective = Objective::kLatency;
    const FormedResult found = search_forms(problem, options);
    const Workload& formed = found.problem.workload();
    EXPECT_NE(formed.form, Form{});
    const std::string file = print_mapping(problem.arch(), formed, *found.result.best);
    const Mapping read = parse_mapping(file, "best.yaml", problem.arch(), formed);
    const Cost cost = std::get<Cost>(evaluate(Problem{problem.arch(), formed}, read));
    EXPECT_EQ(cost.latency.steady, found.result.cost->latency.steady);
    EXPECT_EQ(cost.energy.total, found.result.cost->energy.total);
  }
}

Form best_form(const std::string& engine, const Workload& workload, const Objective& objective) {
  SearchOptions options;
  options.objective = objective;
  const Problem problem{shipped_engine(engine), workload};
  return search_forms(problem, options).problem.workload().form;
}

TEST(NvdlaSearch, ChoosesTheForm) {
  ConvShape shape;
  shape.in_channels = shape.out_channels = 64;
  shape.input = {56, 56};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  EXPECT_EQ(best_form("nv_full", layer(shape), Objective::kLatency),
            (Form{FormKind::kWinograd, 1}));
  EXPECT_EQ(best_form("nv_large", layer(shape), Objective::kLatency), Form{});
  shape.groups = 64;
  EXPECT_EQ(best_form("nv_large", layer(shape), Objective::kLatency).kind, FormKind::kMerged);
  shape.groups = 1;
  shape.in_channels = 3;
  EXPECT_EQ(best_form("nv_large", layer(shape), Objective::kLatency).kind, FormKind::kImage);
  const Workload fc = gemm("fc", {1, 1000, 2048, {}, false});
  EXPECT_EQ(best_form("nv_full", fc, Objective::kLatency), (Form{FormKind::kBatch, 32}));
  EXPECT_EQ(best_form("nv_large", fc, Objective::kLatency), Form{});
}

// A grouped layer on a small engine whose memory has words and a bandwidth.
Small grouped_case(std::uint64_t seed) {
  Rng rng{seed};
  SmallEngine engine;
  engine.kernels = rng.between(1, 8);
  engine.channels = rng.between(1, 8);
  engine.buffer_bytes = engine.banks * rng.between(16, 400);
  engine.word = std::int64_t{1} << rng.between(0, 4);
  engine.timing =
      rng.between(0, 1) == 0 ? "" : fmt::format(", post_throughput: {}", rng.between(1, 4));
  ConvShape shape;
  shape.groups = rng.between(2, 23);
  shape.in_channels = shape.groups * rng.between(1, 3);
  shape.out_channels = shape.groups * rng.between(1, 3);
  const std::int64_t kernel = rng.between(1, 3);
  shape.kernel = {kernel, kernel};
  shape.stride = {rng.between(1, 2), rng.between(1, 2)};
  shape.input = {kernel + rng.between(0, 5), kernel + rng.between(0, 5)};
  shape.padding = {kernel / 2, kernel / 2};
  Small small{small_engine(engine), layer(shape)};
  small.arch.levels[LevelId{0}].bandwidth.shared =
      BitsPerCycle{static_cast<double>(rng.between(1, 64))};
  return small;
}

// Merges that search_forms() leaves out are no better: every number of groups, by every objective.
TEST(NvdlaSearch, LeavesOutNoMergeThatIsBest) {
  int merges = 0;
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const Small small = grouped_case(seed);
    const Problem problem{small.arch, small.workload};
    SearchOptions options;
    options.objective = seed % 3 == 0   ? Objective::kEnergy
                        : seed % 3 == 1 ? Objective::kLatency
                                        : Objective::kEdp;
    double best = std::numeric_limits<double>::infinity();
    for (std::int64_t n = 1; n <= small.workload.dims[*small.workload.find_dim("G")].bound; ++n) {
      const Form form = n == 1 ? Form{} : Form{FormKind::kMerged, n};
      const Problem formed{small.arch, in_form(small.workload, form).value()};
      const SearchResult result = search_nvdla(Mapspace{formed, {}}, options);
      best = result.cost ? std::min(best, objective_value(options.objective, *result.cost)) : best;
      ++merges;
    }
    const FormedResult found = search_forms(problem, options);
    tried += static_cast<int>(found.tried.size());
    ASSERT_EQ(found.result.cost.has_value(), std::isfinite(best)) << seed;
    if (found.result.cost) {
      ASSERT_NEAR(objective_value(options.objective, *found.result.cost), best, 1e-11 * best)
          << "seed " << seed << ", " << to_string(found.result.form) << '\n'
          << small.workload.equation();
    }
  }
  EXPECT_LT(tried, merges);
}

// By hand: five merges of at most 32 channels, in words of 32 B that move once each, take 2 x 9
// operations for 784 outputs each; three merges of 48 take as many words and twice the operations.
// 67 groups of one channel and two kernels in words of 8 B: nine merges of eight.
TEST(NvdlaSearch, MergesForWordsOfMemoryToo) {
  SearchOptions options;
  options.objective = Objective::kLatency;
  const auto cycles = [&](const std::string& engine, const Workload& workload) {
    return search_forms(Problem{shipped_engine(engine), workload}, options)
        .result.cost->latency.steady.count();
  };
  ConvShape shape;
  shape.in_channels = shape.out_channels = shape.groups = 144;
  shape.input = {56, 56};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  shape.stride = {2, 2};
  EXPECT_EQ(cycles("nv_medium_512", layer(shape)), 5 * 2 * 9 * 784);
  shape.in_channels = shape.groups = 67;
  shape.out_channels = 134;
  shape.input = {23, 20};
  shape.kernel = {2, 2};
  shape.padding = {0, 0};
  EXPECT_LE(cycles("nv_small", layer(shape)), 52128);
}

TEST(NvdlaSearch, MoreBanksAreNeverWorse) {
  ConvShape shape;
  shape.in_channels = 96;
  shape.out_channels = 80;
  shape.input = {30, 30};
  shape.kernel = {3, 3};
  double before = std::numeric_limits<double>::infinity();
  for (const std::int64_t banks : {8, 12, 16, 32, 64}) {
    Arch arch = shipped_engine("nv_small");
    auto& timing = std::get<NvdlaTiming>(arch.compute.timing);
    timing.banks = banks;
    arch.levels[timing.buffer].capacity.shared = Bits{banks * 4096 * 8};
    const Problem problem{arch, layer(shape)};
    const double energy = search_nvdla(Mapspace{problem, {}}, {}).cost->energy.total.count();
    EXPECT_LE(energy, before * (1 + 1e-11)) << banks;
    before = energy;
  }
}

TEST(NvdlaSearch, FixedSplitsAreNoBetterThanTheBest) {
  ConvShape shape;
  shape.in_channels = 64;
  shape.out_channels = 256;
  shape.input = {28, 28};
  shape.kernel = {3, 3};
  const auto energy = [&](std::optional<std::int64_t> weight_banks) {
    Arch arch = shipped_engine("nv_small");
    std::get<NvdlaTiming>(arch.compute.timing).weight_banks = weight_banks;
    const Problem problem{arch, layer(shape)};
    const SearchResult result = search_nvdla(Mapspace{problem, {}}, {});
    return result.cost ? result.cost->energy.total.count() : HUGE_VAL;
  };
  double best = HUGE_VAL;
  for (std::int64_t banks = 1; banks < 32; ++banks) {
    best = std::min(best, energy(banks));
  }
  EXPECT_DOUBLE_EQ(energy(std::nullopt), best);
}

// A second memory between DRAM and buffer: what is fetched again comes from there.
TEST(NvdlaSearch, UsesASecondMemory) {
  std::ifstream file{kNvdlaConfigs + "arch/nv_small.yaml"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  const std::size_t place = text.find("  - storage: CBUF");
  ASSERT_NE(place, std::string::npos);
  text.insert(place, R"(  - storage: SRAM
    capacity: 4 MiB
    bandwidth: {read: 25 GB/s, write: 25 GB/s}
    energy: {read: 12.5 pJ/B, write: 12.5 pJ/B}
    keep: [input, output]
    bypass: [weight]
)");
  ConvShape shape;
  shape.in_channels = shape.out_channels = 512;
  shape.input = {28, 28};
  shape.kernel = {3, 3};
  const auto run = [&](const Arch& arch) {
    const Problem problem{arch, layer(shape)};
    return *search_nvdla(Mapspace{problem, {}}, {}).cost;
  };
  const Cost without = run(shipped_engine("nv_small"));
  const Cost with = run(parse_arch(text, "nv_small_sram.yaml"));
  const TensorId input{};
  const LevelId dram{};
  EXPECT_EQ(with.counts.levels[dram][input].total.reads, 512 * 28 * 28);
  EXPECT_LT(with.energy.total, without.energy.total);
  EXPECT_LE(with.latency.steady, without.latency.steady);
}

TEST(NvdlaSearch, RefusesWhatItCannotRun) {
  const Problem problem{shipped_engine("nv_small"), gemm("fc", {1, 16, 16, {}, false})};
  Constraints even;
  even.even = true;
  EXPECT_THROW(search_exact(Mapspace{problem, even}, {}), UnsupportedSearch);
}

// Winograd takes 4/9 of the MACs, and the workbook's KB are larger than those of a port: what the
// roofline calls the least is no more than what the best form takes, and in the mode sheet just it.
TEST(EngineRoofline, IsNoMoreThanTheBestFormTakes) {
  int winograd = 0;
  for (const NvdlaMode mode : {NvdlaMode::kStripe, NvdlaMode::kSheet}) {
    Arch arch = shipped_engine("nv_full");
    std::get<NvdlaTiming>(arch.compute.timing).mode = mode;
    for (const std::int64_t kernel : {1, 3, 5}) {
      ConvShape shape;
      shape.in_channels = 128;
      shape.out_channels = 64;
      shape.kernel = {kernel, kernel};
      shape.input = {27 + kernel, 27 + kernel};
      const Workload work = layer(shape);
      SearchOptions options;
      options.objective = Objective::kLatency;
      const FormedResult found = search_forms(Problem{arch, work}, options, Frames::kOne);
      const Roofline bounds = roofline(arch, work);
      EXPECT_LE(bounds.least_cycles, found.result.cost->latency.steady) << kernel;
      EXPECT_LE(bounds.least_energy, found.result.cost->energy.total) << kernel;
      if (mode == NvdlaMode::kSheet) {
        EXPECT_EQ(bounds.least_cycles, found.result.cost->latency.steady) << kernel;
      }
      winograd += found.result.form.kind == FormKind::kWinograd ? 1 : 0;
    }
  }
  EXPECT_EQ(winograd, 1);
}

TEST(NvdlaSpace, KnowsItsSchedulesAndNoOthers) {
  int known = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Small small = small_case(seed);
    const Problem problem{small.arch, small.workload};
    const Mapspace space{problem, {}};
    const SearchResult result = search_nvdla(space, {});
    EXPECT_EQ(result.best ? why_outside_of(space, *result.best) : "", "");
    EXPECT_NE(why_outside_of(space, Mapping{}), "");
    known += result.best ? 1 : 0;
    EXPECT_THROW(check_supported(problem, {}, "random"), UnsupportedSearch);
  }
  EXPECT_GT(known, 6);
}

}  // namespace
}  // namespace mapsim::search_test
