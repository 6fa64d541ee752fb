// SPDX-License-Identifier: Apache-2.0
#include "design/search.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "campaign/network.hpp"
#include "campaign/report.hpp"
#include "core/diagnostic.hpp"
#include "design/certificate.hpp"
#include "mapper/mapper.hpp"
#include "tests/design/random_space.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::search_test {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = source_path("configs/campaigns/");

std::string refusal(const std::string& arch, const std::string& grid, const std::string& more) {
  const Campaign campaign =
      parse_campaign("name: c\narchitectures:\n  - file: ../arch/" + arch + ".yaml\n    grid: {" +
                         grid + "}\nworkloads: [../workloads/teaching/gemm.yaml]\n" + more,
                     kFolder + "c.yaml");
  try {
    search_design(campaign, {});
  } catch (const UnsupportedSearch& error) {
    return error.what();
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

double settled(const DesignCounts& counts) {
  return counts.valued + counts.by_bound + counts.by_area + counts.by_limit + counts.infeasible +
         counts.unreadable;
}

TEST(Design, IsTheBestOfAFullSweep) {
  for (std::uint64_t seed = 1; seed <= tried_of(16U); ++seed) {
    EXPECT_EQ(compare_with_sweep(random_space(seed), seed), "") << "seed " << seed;
  }
}

// The best mappings of many designs break a limit that other ones keep.
TEST(Design, ChoosesMappingsThatKeepLimits) {
  int by_choice = 0;
  for (std::uint64_t seed = 1; seed <= tried_of(24U); ++seed) {
    EXPECT_EQ(compare_with_sweep(random_space(seed), seed, &by_choice), "") << "seed " << seed;
  }
  EXPECT_GT(by_choice, tried_of(8));
}

// Better by another choice of mappings than any sweep whose rows are filtered.
TEST(Design, FindsWhatOnlyOtherMappingsAllow) {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const RandomSpace space = random_space(seed);
    DesignOptions options;  // energy
    const FullSweep sweep = full_sweep(space.campaign, options.objective);
    double fastest = std::numeric_limits<double>::infinity();
    for (const FullSweep::Row& row : sweep.designs) {
      fastest = row.value ? std::min(fastest, row.seconds) : fastest;
    }
    options.limits.latency = Seconds{0.97 * fastest};
    const DesignAnswer found = search_design(space.campaign, options);
    EXPECT_TRUE(found.proven);
    EXPECT_TRUE(sweep.wanted(options).empty());
    better += found.best() != nullptr ? 1 : 0;
  }
  EXPECT_GE(better, 2);
}

TEST(Design, IsBoundedByMachinesThatNoDesignBeats) {
  std::int64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(compare_enclosures(random_space(seed), seed, compared), "") << "seed " << seed;
  }
  EXPECT_GT(compared, 50);
}

TEST(Design, MayBeWorseByTheGapAllowed) {
  DesignOptions options;
  options.objective = std::get<DesignObjective>(parse_design_objective("sum-edp"));
  options.gap = 0.3;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const RandomSpace space = random_space(seed);
    const DesignAnswer found = search_design(space.campaign, options);
    const double best = full_sweep(space.campaign, options.objective).best().value();
    EXPECT_TRUE(found.proven);
    EXPECT_LE(found.best()->value, best * 1.3);
    EXPECT_LE(found.lower_bound, best * (1 + kRounding));
    EXPECT_GE(found.lower_bound * 1.3 * (1 + kRounding), found.best()->value);
  }
}

// Threads bound boxes, each from what was known before: neither the answer nor the work depends on
// their number. The proof has every bound, in its order.
TEST(Design, IsTheSameOnAnyNumberOfThreads) {
  std::int64_t boxes = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const RandomSpace space = random_space(seed);
    DesignOptions options;
    options.objective =
        std::get<DesignObjective>(parse_design_objective(seed % 3 == 0   ? "edp"
                                                         : seed % 3 == 1 ? "sum-edp"
                                                                         : "energy"));
    options.certificate = true;
    const DesignAnswer alone = search_design(space.campaign, options);
    const std::string proof = design_certificate(space.campaign, options, alone);
    boxes += alone.boxes;
    for (const int threads : {2, 5}) {
      options.threads = threads;
      const DesignAnswer found = search_design(space.campaign, options);
      EXPECT_EQ(found.boxes, alone.boxes) << "seed " << seed;
      EXPECT_EQ(found.searches, alone.searches) << "seed " << seed;
      EXPECT_EQ(design_certificate(space.campaign, options, found), proof) << "seed " << seed;
    }
  }
  EXPECT_GT(boxes, 200);
}

// Stopped after any number of boxes it says what is proven by then.
TEST(Design, TellsItsTrueGapWhenItIsStopped) {
  const RandomSpace space = random_space(3);
  DesignOptions options;
  const double best = full_sweep(space.campaign, options.objective).best().value();
  std::atomic<bool> stop{false};
  options.stop = &stop;
  for (std::int64_t boxes = 1; boxes < 8; ++boxes) {
    stop = false;
    options.progress = [&](const DesignProgress& progress) { stop = progress.boxes >= boxes; };
    const DesignAnswer found = search_design(space.campaign, options);
    EXPECT_LE(found.lower_bound, best * (1 + kRounding));
    EXPECT_EQ(settled(found.counts) + found.counts.open, found.counts.designs);
    EXPECT_EQ(found.interrupted, found.counts.open > 0);
    if (found.best() != nullptr) {
      EXPECT_GE(found.best()->value, best * (1 - kRounding));
    }
  }
}

// Where a limit chooses among mappings the bound of a box is worked out in other units.
TEST(Design, TellsItsTrueGapWithinLimitsWhenItIsStopped) {
  int bounded = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const RandomSpace space = random_space(seed);
    FullSweep sweep;
    DesignOptions options = random_question(space, seed, sweep, true);
    options.wanted = Wanted::kBest;
    options.top = 1;
    const std::vector<FullSweep::Row> best = sweep.wanted(options);
    if (best.empty() || !options.limits.on_figures()) {
      continue;
    }
    std::atomic<bool> stop{false};
    options.stop = &stop;
    for (std::int64_t boxes = 3; boxes < 6; ++boxes) {
      stop = false;
      options.progress = [&](const DesignProgress& progress) { stop = progress.boxes >= boxes; };
      const DesignAnswer found = search_design(space.campaign, options);
      EXPECT_LE(found.lower_bound, *best.front().value * (1 + kRounding)) << "seed " << seed;
      bounded += found.interrupted && found.lower_bound > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(bounded, 3);
}

// Stopped before any layer is searched to the end it has a machine all the same; and a bound, where
// the whole space has a composite machine.
TEST(Design, HasAnAnswerHoweverSoonItIsStopped) {
  int with_machine = 0;
  int with_bound = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const RandomSpace space = random_space(seed);
    DesignOptions options;
    options.objective =
        std::get<DesignObjective>(parse_design_objective(seed % 2 == 0 ? "edp" : "sum-edp"));
    const double best = full_sweep(space.campaign, options.objective).best().value();
    const std::atomic<bool> stop{true};
    options.stop = &stop;
    const DesignAnswer found = search_design(space.campaign, options);
    EXPECT_TRUE(found.interrupted);
    EXPECT_EQ(found.counts.open, found.counts.designs);
    EXPECT_LE(found.lower_bound, best * (1 + kRounding)) << seed;
    with_bound += found.lower_bound > 0 ? 1 : 0;
    if (found.best() != nullptr) {
      ++with_machine;
      EXPECT_GE(found.best()->value, best * (1 - kRounding)) << seed;
    }
  }
  EXPECT_GE(with_machine, 8);
  EXPECT_GE(with_bound, 1);
}

// The first design of a descent has no room for anything; the largest one has.
TEST(Design, HasAnAnswerAtOnceWhereTheFirstDesignDoesNotFit) {
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/teaching.yaml\n    grid:\n"
      "      nodes.Buffer.capacity: [1 b, 2 b, 3 b, 64 KiB]\n"
      "      nodes.Buffer.keep: [[input, weight, output]]\n"
      "workloads: [../workloads/teaching/gemm.yaml]\n",
      kFolder + "c.yaml");
  DesignOptions options;
  const std::atomic<bool> stop{true};
  options.stop = &stop;
  EXPECT_NE(search_design(campaign, options).best(), nullptr);
}

// From nothing to enough: searches of layers are cut short first, and boxes have no memory at all.
TEST(Design, TellsItsTrueGapWithLittleMemory) {
  std::int64_t cut_short = 0;
  int stopped = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const RandomSpace space = random_space(1 + (seed - 1) / 2);
    DesignOptions options;
    options.objective = std::get<DesignObjective>(
        parse_design_objective(seed % 2 == 0 ? "edp" : "energy"));  // one of them is chosen jointly
    const auto best = full_sweep(space.campaign, options.objective).best();
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{2'000}, std::size_t{20'000}}) {
      options.bytes = bytes;
      const DesignAnswer found = search_design(space.campaign, options);
      EXPECT_EQ(settled(found.counts) + found.counts.open, found.counts.designs) << seed;
      EXPECT_EQ(found.out_of_memory, found.interrupted) << seed;
      if (best) {
        EXPECT_LE(found.lower_bound, *best * (1 + kRounding)) << seed;
      }
      if (found.best() != nullptr) {
        EXPECT_GE(found.best()->value, best.value() * (1 - kRounding)) << seed;
        EXPECT_TRUE(!found.proven || found.best()->value <= *best * (1 + kRounding)) << seed;
      }
      cut_short += found.short_of_memory;
      stopped += found.out_of_memory ? 1 : 0;
    }
  }
  EXPECT_GT(cut_short, 10);
  EXPECT_GT(stopped, 6);
}

TEST(Design, IsWrittenAsAFileThatReadsAsItself) {
  const RandomSpace space = random_space(5);
  const DesignAnswer found = search_design(space.campaign, {});
  const Arch read = parse_arch(best_arch_text(space.campaign, found), "best.yaml");
  EXPECT_EQ(print_arch(read), print_arch(found.best()->arch));
}

// Nothing follows of an engine's layers without a search: weights without end would be tried.
TEST(Design, ChoosesJointlyOnEngines) {
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/nv_small.yaml\n    grid: {clock: [1 GHz, 500 "
      "MHz]}\n"
      "workloads: [../workloads/teaching/gemm.yaml, ../workloads/teaching/conv.yaml]\n"
      "objectives: [edp]\n",
      kFolder + "c.yaml");
  DesignOptions options;
  options.objective = network_objective(ObjectiveFunction::product(1, 1));
  const DesignAnswer found = search_design(campaign, options);
  ASSERT_NE(found.best(), nullptr);
  EXPECT_TRUE(found.proven);
  EXPECT_LT(found.searches, 40);
  Network network;
  for (const CampaignLayer& layer : campaign.layers) {
    network.layers.emplace_back().workload = layer.workload;
  }
  NetworkOptions layers;
  layers.search.objective = Objective::kEdp;
  const NetworkResult same = search_network(found.best()->arch, network, layers);
  ASSERT_TRUE(same.joint);
  EXPECT_NEAR(found.best()->value, same.joint->edp / found.best()->arch.clock.count(),
              1e-9 * found.best()->value);
}

// The figure of --svg is made of what --json prints, as that of a report.
TEST(Design, IsDrawnFromItsAnswer) {
  const RandomSpace space = random_space(1);
  DesignOptions options;
  options.limits.area = SquareMillimetres{1};
  const auto picture = [&] {
    return design_search_svg(design_json({"design", {}}, space.campaign, options,
                                         search_design(space.campaign, options)));
  };
  EXPECT_THAT(picture(), AllOf(HasSubstr("one step from the best design"), HasSubstr("<svg")));
  options.wanted = Wanted::kFront;
  EXPECT_THAT(picture(), AllOf(HasSubstr("random: energy against area"),
                               HasSubstr("keeps the limits and is better")));
}

// A technology gives a MAC unit an area by the widths of the layers.
TEST(Design, KnowsTheAreaOfMacsOfATechnology) {
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/edge.yaml\n    grid: {nodes.PEs.x.size: [1, 2]}\n"
      "workloads: [../workloads/teaching/gemm.yaml]\n",
      kFolder + "c.yaml");
  DesignOptions options;
  options.limits.area = SquareMillimetres{2};
  EXPECT_THAT(search_design(campaign, options).unknown_areas, testing::ElementsAre("DRAM"));
}

TEST(Design, SaysWhatNoLemmaCovers) {
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/teaching.yaml\n    grid:\n"
      "      clock: [1 GHz, 500 MHz]\n      nodes.Buffer.double_buffered: [false, true]\n"
      "      nodes.Buffer.capacity: [1 KiB, 4 KiB]\n"
      "workloads: [../workloads/teaching/gemm.yaml]\n",
      kFolder + "c.yaml");
  const DesignAnswer found = search_design(campaign, {});
  std::vector<std::string> branched;
  for (const auto& [axis, why] : found.branched) {
    branched.push_back(axis + ": " + why);
  }
  EXPECT_THAT(branched,
              testing::ElementsAre(
                  "clock: changes more than single nodes of the machine",
                  "nodes.Buffer.double_buffered: changes Buffer in a way that no lemma covers"));
  const Campaign arrays = parse_campaign(
      "name: c\narchitectures:\n  - file: ../arch/systolic_32x32.yaml\n    grid: "
      "{nodes.Array.x.size: [16, 32]}\nworkloads: [../workloads/teaching/gemm.yaml]\n",
      kFolder + "c.yaml");
  const DesignSpace systolic{arrays.machines.front(), false};
  EXPECT_EQ(systolic.axes().front().branched, "a systolic array's time depends on its size");
}

// What zeros save is written in a node, is one of the whole machine, and depends on two axes here:
// an energy per word, which is 0 in the first item, and the word.
TEST(Design, BoundsWhatZerosSaveValueByValue) {
  const std::string folder = testing::TempDir();
  std::ofstream{folder + "zeros.yaml"}
      << "name: zeros\nclock: 1 GHz\nnodes:\n"
         "  - {storage: DRAM, word: 16 b, capacity: unlimited, bandwidth: {shared: 50 GB/s},\n"
         "     energy: {read: 200 pJ/word, write: 200 pJ/word},\n"
         "     format: {input: coordinates, weight: coordinates}}\n"
         "  - {storage: Buffer, word: 8 b, capacity: 1 KiB,\n"
         "     energy: {read: 1.5 pJ/b, write: 1.5 pJ/b, gated: 0 pJ/word},\n"
         "     format: {input: coordinates, weight: coordinates},\n"
         "     when_empty: [{gate: input, 'on': weight}]}\n"
         "  - {compute: MAC, energy: 1 pJ, issue_interval: 1, when_zero: gate}\n";
  std::ofstream{folder + "sparse.yaml"}
      << "name: sparse\ngemm: {m: 32, n: 32, k: 32}\n"
         "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
         "density: {input: 0.1, weight: 0.1}\n";
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: zeros.yaml\n    list:\n"
      "      - {nodes.Buffer.energy.gated: 0 pJ/word, nodes.Buffer.energy.read: 1.555 pJ/b}\n"
      "      - {nodes.Buffer.energy.gated: 40 pJ/word, nodes.Buffer.energy.read: 1.5 pJ/b}\n"
      "    grid: {nodes.Buffer.word: [8 b, 64 b, 512 b]}\n"
      "workloads: [sparse.yaml]\n",
      folder + "c.yaml");
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < campaign.designs(); ++d) {
    const Problem problem{read_arch(design(campaign, d).document()),
                          campaign.layers.front().workload};
    least = std::min(least, search_exact(Mapspace{problem, {}}, {}).cost->energy.total.count());
  }
  const DesignAnswer found = search_design(campaign, {});
  EXPECT_TRUE(found.proven);
  EXPECT_EQ(found.branched.size(), 2U);
  ASSERT_NE(found.best(), nullptr);
  EXPECT_NEAR(found.best()->value, least, 1e-9 * least);
}

TEST(Design, RefusesByNameWhatItDoesNotKnow) {
  EXPECT_THAT(refusal("a100_40gb", "", ""), HasSubstr("is a GPU"));
  EXPECT_THAT(refusal("teaching", "", "strategy: random\n"), HasSubstr("the strategy random"));
  EXPECT_THAT(refusal("teaching", "", "objectives: [{minimize: edp, max_latency: 1 ms}]\n"),
              HasSubstr("limits on a layer's energy or latency"));
  EXPECT_THAT(refusal("teaching", "", "budget_labels: 10\n"), HasSubstr("budget_labels"));
  EXPECT_THAT(std::get<std::string>(parse_design_objective("power")), HasSubstr("power"));
}

// Bounds within limits hold for mappings whose folds leave a remainder, which a search for the
// least energy leaves out: here they need little more than half of its energy.
TEST(Design, BoundsMappingsWhoseFoldsLeaveARemainder) {
  const std::string folder = testing::TempDir();
  std::ofstream{folder + "folds.yaml"}
      << "name: folds\nclock: 1 GHz\nnodes:\n"
         "  - {storage: DRAM, word: 8 b, capacity: unlimited, bandwidth: {shared: 32 B/cycle},\n"
         "     energy: {read: 10 pJ/word, write: 10 pJ/word}}\n"
         "  - {storage: SRAM, word: 8 b, capacity: 4 KiB,\n"
         "     bandwidth: {read: 256 B/cycle, write: 256 B/cycle},\n"
         "     energy: {read: 5 pJ/word, write: 5 pJ/word}, leakage: 10 mW, area: 1 um2/b}\n"
         "  - {fanout: Array, x: {size: 8, dims: [gemm_n, gemm_m]},\n"
         "     y: {size: 8, dims: [gemm_k, gemm_m]}, spatial_reduction: true,\n"
         "     reduction_energy: 0 pJ}\n"
         "  - {storage: Register, word: 8 b, capacity: {weight: 1 B, input: 1 B, output: 4 B},\n"
         "     kind: regfile, energy: {read: 0.1 pJ/word, write: 0.1 pJ/word}}\n"
         "  - {compute: MAC, energy: 1 pJ, timing: {model: systolic, array: Array}}\n";
  std::ofstream{folder + "primes.yaml"}
      << "name: primes\ngemm: {m: 53, n: 46, k: 31}\n"
         "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n";
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n  - file: folds.yaml\n"
      "    grid: {nodes.SRAM.capacity: [4 KiB, 5 KiB]}\nworkloads: [primes.yaml]\n",
      folder + "c.yaml");
  const auto energy = ObjectiveFunction::product(1, 0);
  const auto latency = ObjectiveFunction::product(0, 1);
  const auto edp = ObjectiveFunction::product(1, 1);
  struct Point {
    double energy = 0, seconds = 0;
  };
  std::vector<Point> points;
  double least = std::numeric_limits<double>::infinity();  // energy, as it is searched for
  for (std::size_t d = 0; d < campaign.designs(); ++d) {
    const Arch arch = read_arch(design(campaign, d).document());
    const Problem problem{arch, campaign.layers.front().workload};
    SearchOptions options;
    options.partial_folds = true;
    for (const ObjectiveFunction& function :
         {energy, latency, edp, ObjectiveFunction::weighted_sum(1),
          ObjectiveFunction::weighted_sum(32), ObjectiveFunction::weighted_sum(1024)}) {
      options.objective = Objective{function};
      const Cost cost = *search_exact(Mapspace{problem, {}}, options).cost;
      const Point point{cost.energy.total.count(),
                        static_cast<double>(cost.latency.steady.count()) / arch.clock.count()};
      points.push_back(point);
      least = function.is_energy() ? std::min(least, point.energy) : least;
    }
  }
  std::vector<DesignLimits> limits;
  for (const Point& point : points) {
    limits.push_back({.energy = Picojoules{point.energy * 1.01}});
    limits.push_back({.latency = Seconds{point.seconds * 1.01}});
    limits.push_back({.latency = Seconds{point.seconds * 1.01},
                      .power = Milliwatts{point.energy / point.seconds * 1e-9 * 1.01}});
  }
  bool any_below = false;
  for (const DesignLimits& limit : limits) {
    for (const DesignObjective& objective :
         {DesignObjective{latency}, network_objective(edp),
          DesignObjective{ObjectiveFunction::weighted_sum(32)}}) {
      DesignOptions options;
      options.objective = objective;
      options.limits = limit;
      EXPECT_THAT(why_no_certificate(campaign, options), HasSubstr("remainder"));
      const DesignAnswer found = search_design(campaign, options);
      for (const Point& point : points) {
        Assessment all;
        all.energy = point.energy;
        all.seconds = point.seconds;
        const double value =
            objective.is_joint
                ? point.energy * point.seconds
                : objective.function.scaled(
                      objective.function.value(point.energy, point.seconds * 1e9), 1, 1e9);
        if (!is_beyond(limit, all)) {
          any_below = any_below || point.energy < 0.9 * least;
          EXPECT_LE(found.lower_bound, value * (1 + 1e-9)) << to_string(objective);
          EXPECT_FALSE(found.proven && found.designs.empty()) << to_string(objective);
        }
      }
    }
    DesignOptions options;
    options.objective = {energy};
    options.limits = limit;
    EXPECT_THROW(search_design(campaign, options), UnsupportedSearch);
    EXPECT_THAT(why_no_certificate(campaign, options), HasSubstr("remainder"));
  }
  EXPECT_TRUE(any_below);
  EXPECT_TRUE(search_design(campaign, {}).proven);
}

}  // namespace
}  // namespace mapsim::search_test
