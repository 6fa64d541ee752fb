// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/stripe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/nvdla/features.hpp"
#include "costmodel/nvdla/sheet_layer.hpp"
#include "costmodel/reference/loop_walk.hpp"
#include "costmodel/roofline.hpp"
#include "mapper/nvdla/schedules.hpp"
#include "mapper/nvdla/search.hpp"
#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/random_case.hpp"
#include "tests/nvdla/engines.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::stripe_test {
namespace {

// Loops up to the innermost one that moves the sums in the accumulators.
std::size_t loops_that_drain(const Problem& problem, const NvdlaTiming& timing, const Nest& nest) {
  const Workload& workload = problem.workload();
  std::size_t position = 0;
  for (const Placement& place : nest.placements[workload.output()]) {
    if (index_of(place.level) > index_of(timing.buffer) &&
        problem.arch().is_above(place.level, timing.array)) {
      position = place.position;
    }
  }
  std::size_t moved = 0;
  for (std::size_t i = 0; i < position; ++i) {
    const NestLoop& loop = nest.loops[i];
    if (!loop.fanout && workload.tensors[workload.output()].dims().contains(loop.dim)) {
      moved = i + 1;
    }
  }
  return moved;
}

// The definition: the first instance's steps one by one; a stripe ends when the weights in the
// array change, or the sums in the accumulators.
Stripes walk_stripes(const Problem& problem, const NvdlaTiming& timing, const Mapping& mapping) {
  const Workload& workload = problem.workload();
  const Nest nest = make_nest(workload, mapping);
  std::optional<TensorId> weights;
  for (const TensorId t : workload.tensors.ids()) {
    if (!weights && workload.tensors[t].role == Role::kWeight) {
      weights = t;
    }
  }
  std::optional<std::size_t> position;
  if (weights && problem.arch().compute.register_reuse.contains(Role::kWeight)) {
    position = nest.loops.size();
  }
  if (weights) {
    for (const Placement& place : nest.placements[*weights]) {
      if (!problem.arch().is_above(place.level, timing.array)) {
        position = place.position;
      }
    }
  }
  LoopWalk walk(workload, mapping);
  Stripes stripes;
  std::int64_t length = 0;
  const auto finish = [&] {
    ++stripes.count;
    stripes.cycles += std::max(timing.least_stripe, length);
    length = 0;
  };
  // The weights change when the innermost loop that moves their tile advances, or one outside it.
  std::size_t moved = position ? 0 : nest.loops.size();
  for (std::size_t i = 0; position && i < *position; ++i) {
    const NestLoop& loop = nest.loops[i];
    if (!loop.fanout && workload.tensors[*weights].dims().contains(loop.dim)) {
      moved = i + 1;
    }
  }
  moved = std::max(moved, loops_that_drain(problem, timing, nest));
  std::optional<std::size_t> advanced = 0;
  bool first = true;
  while (advanced) {
    if (!first && *advanced < moved) {
      finish();
    }
    first = false;
    ++length;
    ++stripes.operations;
    advanced = walk.advance();
  }
  finish();
  return stripes;
}

TEST(NvdlaStripes, AreThoseWalkedOneByOne) {
  int arrays = 0;
  int several = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    RandomCase random = random_case(seed);
    if (random.arch.fanouts.empty()) {
      continue;
    }
    NvdlaTiming timing;
    timing.array = static_cast<FanoutId>(seed / 8 % random.arch.fanouts.size());
    timing.least_stripe = 1 + static_cast<std::int64_t>(seed % 7);
    const Problem problem{random.arch, random.workload};
    const Stripes walked = walk_stripes(problem, timing, random.mapping);
    const Nest nest = make_nest(random.workload, random.mapping);
    ASSERT_EQ(stripes_of(problem, timing, nest), walked) << "seed " << seed << describe(random);
    ++arrays;
    several += walked.count > 1 ? 1 : 0;
  }
  EXPECT_GT(arrays, 2000);
  EXPECT_GT(several, 500);
}

ConvShape shape(std::int64_t channels, std::int64_t kernels, std::int64_t size,
                std::int64_t kernel) {
  ConvShape made;
  made.in_channels = channels;
  made.out_channels = kernels;
  made.input = {size, size};
  made.kernel = {kernel, kernel};
  made.padding = {kernel / 2, kernel / 2};
  return made;
}

std::int64_t least_compute(const std::string& engine, const Workload& workload, Form form = {}) {
  SearchOptions options;
  options.objective = Objective::kLatency;
  Arch arch = shipped_engine(engine);
  arch.levels[LevelId{0}].bandwidth = {};  // the engine alone
  const Problem problem{arch, in_form(workload, form).value()};
  return search_nvdla(Mapspace{problem, {}}, options).cost->latency.steady.count();
}

TEST(NvdlaStripes, TakeTheClosedFormsOfTheUnitDescription) {
  // ceil(K / 32) ceil(C / 64) R S max(16, P Q)
  EXPECT_EQ(least_compute("nv_full", layer(shape(128, 128, 28, 3))), 4 * 2 * 9 * 28 * 28);
  EXPECT_EQ(least_compute("nv_full", layer(shape(100, 40, 14, 1))), 2 * 2 * 14 * 14);
  EXPECT_EQ(least_compute("nv_full", layer(shape(512, 512, 7, 1))), 16 * 8 * 49);
  EXPECT_EQ(least_compute("nv_full", layer(shape(128, 32, 3, 1))), 2 * 16);
  // Fully connected: one operation of 16 cycles, 6.25 %; 16 frames share the weights.
  const Workload fc = gemm("fc", {1, 1024, 2048, {}, false},
                           {{{Role::kInput, Bits{8}}, {Role::kOutput, Bits{8}}}, {}, Bits{32}});
  EXPECT_EQ(least_compute("nv_full", fc), 32 * 32 * 16);
  EXPECT_EQ(least_compute("nv_full", fc, {FormKind::kBatch, 16}), 32 * 32 * 16);
  // Winograd: ceil(K / 32) ceil(C / 4) max(16, P' Q' / 4), outputs padded to multiples of 4.
  EXPECT_EQ(least_compute("nv_full", layer(shape(64, 64, 56, 3)), {FormKind::kWinograd, 1}),
            2 * 16 * 28 * 28);
  EXPECT_EQ(least_compute("nv_full", layer(shape(256, 256, 14, 3)), {FormKind::kWinograd, 1}),
            8 * 64 * 64);
  // Image: ceil(K / 32) ceil(R / post) P max(16, Q); 21 columns, so two filter lines at once.
  ConvShape stem = shape(3, 64, 224, 7);
  stem.stride = {2, 2};
  EXPECT_EQ(least_compute("nv_full", layer(stem), {FormKind::kImage, 1}), 2 * 4 * 112 * 112);
  // A filter of one operation: its stripes are within a line all the same.
  ConvShape line = shape(1, 32, 1, 1);
  line.input = {30, 7};
  line.kernel = {1, 7};
  EXPECT_EQ(least_compute("nv_small", layer(line), {FormKind::kImage, 1}), 4 * 30 * 16);
  // Four lines at once for a filter of three.
  EXPECT_EQ(least_compute("nv_full", layer(shape(3, 16, 224, 3)), {FormKind::kImage, 1}),
            224 * 224);
}

TEST(NvdlaStripes, WaitForWhatIsBehindTheArray) {
  // 64 channels in one operation: 32 outputs a cycle, of which SDP takes 16.
  EXPECT_EQ(least_compute("nv_full", layer(shape(64, 64, 56, 1))), 4 * 56 * 56);
}

TEST(NvdlaStripes, TakeHalfOfTheKernelsAt16Bits) {
  const Precision wide{
      {{Role::kInput, Bits{16}}, {Role::kOutput, Bits{16}}, {Role::kWeight, Bits{16}}},
      {},
      Bits{32}};
  const Workload workload = conv2d("wide", shape(128, 128, 28, 3), wide);
  EXPECT_EQ(least_compute("nv_full", workload), 8 * 2 * 9 * 28 * 28);
  EXPECT_THROW(Problem(shipped_engine("nv_large"), workload), std::exception);
}

// 4 channels of 56 x 56 in words of 32 B, through 20 B a cycle, to 4 channels in such words again.
TEST(NvdlaStripes, FeaturesMoveInWholeWordsOfTheMemory) {
  const Problem problem{shipped_engine("nv_large"), layer(shape(4, 4, 56, 1))};
  SearchOptions options;
  options.objective = Objective::kLatency;
  const Cost cost = *search_nvdla(Mapspace{problem, {}}, options).cost;
  constexpr std::int64_t kPixels = 56 * 56;
  EXPECT_EQ(cost.latency.steady, Cycles{(2 * kPixels * 32 + 16 + 19) / 20});
  const TensorId input{0};
  EXPECT_EQ(cost.counts.levels[LevelId{0}][input].total.reads, 4 * kPixels);
  EXPECT_NEAR(cost.energy.levels[LevelId{0}][input].read.count(), kPixels * 32 * 162.5, 1);
  Arch bytes = problem.arch();
  bytes.levels[LevelId{0}].word = Bits{8};
  const Problem narrow{bytes, problem.workload()};
  const Cost packed = *search_nvdla(Mapspace{narrow, {}}, options).cost;
  EXPECT_EQ(packed.latency.steady, Cycles{kPixels});
  // Pixels of image input are packed.
  const Problem image{problem.arch(), *in_form(problem.workload(), {FormKind::kImage, 1})};
  EXPECT_EQ(search_nvdla(Mapspace{image, {}}, options).cost->latency.steady,
            Cycles{(kPixels * 36 + 16 + 19) / 20});
}

// AlexNet's conv3 counts 15 x 15 pixels; the 13 x 13 that are stored move.
TEST(NvdlaStripes, ZerosOfThePaddingAreNotFetched) {
  const Problem problem{shipped_engine("nv_large"), layer(shape(256, 384, 13, 3))};
  SearchOptions options;
  options.objective = Objective::kEnergy;
  const Cost cost = *search_nvdla(Mapspace{problem, {}}, options).cost;
  const TensorId input{0};
  EXPECT_EQ(cost.counts.levels[LevelId{0}][input].total.reads, 256 * 15 * 15);
  EXPECT_NEAR(cost.energy.levels[LevelId{0}][input].read.count(), 256 * 13 * 13 * 162.5, 1);
  EXPECT_EQ(
      buffer_tile(problem, feature_words(problem), input, cost.counts.levels[LevelId{1}][input]),
      Bits{8 * 256 * 13 * 13});
  const Roofline bounds = roofline(problem.arch(), problem.workload());
  EXPECT_LE(bounds.least_energy.count(), cost.energy.total.count());
  constexpr double kWeights = 256. * 384 * 9;
  EXPECT_NEAR(bounds.least_energy.count(),
              0.3 * kWeights * 169 + 162.5 * (256 * 169 + kWeights + 384 * 169), 1);
  // Tiles of columns overlap, so that the input is not fetched as a whole: with all that is
  // counted.
  PerTensor<TensorCounts> memory = cost.counts.levels[LevelId{0}];
  EXPECT_EQ(feature_paddings(problem, memory)[input].used, 15 * 15);
  memory[input].total.reads += 256 * 15;
  EXPECT_EQ(feature_paddings(problem, memory)[input].used, 1);
}

// 37 channels depthwise on 8 x 8: five merges of eight, nine operations each.
TEST(NvdlaStripes, MergeGroupsThatNothingDivides) {
  ConvShape depthwise = shape(37, 37, 28, 3);
  depthwise.groups = 37;
  SearchOptions options;
  options.objective = Objective::kLatency;
  Arch arch = shipped_engine("nv_small");
  arch.levels[LevelId{0}].bandwidth = {};
  const FormedResult found = search_forms(Problem{arch, layer(depthwise)}, options);
  EXPECT_EQ(found.result.form, (Form{FormKind::kMerged, 8}));
  EXPECT_EQ(found.result.cost->latency.steady, Cycles{5 * 9 * 28 * 28});
}

// A MAC of 16 b costs more than one of 8 b: 0.2 pJ * 2^1.98 + 0.1 pJ.
TEST(NvdlaStripes, MacsCostEnergyByWidth) {
  const auto energy = [](std::int64_t bits, Form form = {}) {
    const Precision precision{
        {{Role::kInput, Bits{bits}}, {Role::kOutput, Bits{bits}}, {Role::kWeight, Bits{bits}}},
        {},
        Bits{32}};
    const Workload workload = conv2d("c", shape(64, 32, 8, 3), precision);
    return Problem{shipped_engine("nv_full"), *in_form(workload, form)}.mac_energy().count();
  };
  EXPECT_DOUBLE_EQ(energy(8), 0.3);
  EXPECT_DOUBLE_EQ(energy(8, {FormKind::kWinograd, 1}), 0.3);  // a sum is one of the four outputs
  EXPECT_NEAR(energy(16), 0.1 + 0.2 * std::pow(2, std::log(15.5) / std::log(4)), 1e-9);
}

TEST(NvdlaStripes, TilesTakeWholeBanks) {
  Arch arch = small_engine({2, 2, 256, 8, 64, ""});
  const auto& timing = std::get<NvdlaTiming>(arch.compute.timing);
  EXPECT_EQ(banked(arch, timing, Bits{8}), Bits{8 * 32});
  EXPECT_EQ(banked(arch, timing, Bits{8 * 32}), Bits{8 * 32});
  EXPECT_EQ(banked(arch, timing, Bits{8 * 33}), Bits{8 * 64});
}

TEST(NvdlaTiming, IsReadAsItIsPrinted) {
  for (const char* name : {"nv_small", "nv_full"}) {
    Arch arch = shipped_engine(name);
    auto& timing = std::get<NvdlaTiming>(arch.compute.timing);
    timing.weight_banks = 3;
    timing.least_stripe = 8;
    timing.sheet_padding = 16;
    for (const NvdlaMode mode : {NvdlaMode::kStripe, NvdlaMode::kSheet}) {
      timing.mode = mode;
      EXPECT_EQ(parse_arch(print_arch(arch), "printed.yaml").compute.timing, arch.compute.timing);
    }
  }
}

TEST(NvdlaSheetMode, IsTheWorkbookWhateverTheMapping) {
  Arch arch = shipped_engine("nv_full");
  std::get<NvdlaTiming>(arch.compute.timing).mode = NvdlaMode::kSheet;
  ConvShape reduce = shape(256, 64, 56, 1);  // Res2a_branch2a of the workbook
  const Problem problem{arch, layer(reduce)};
  const SearchResult result = search_exact(Mapspace{problem, {}}, {});
  const Latency& latency = result.cost->latency;
  EXPECT_EQ(latency.resources[0].time, Cycles{50176});
  EXPECT_EQ(latency.resources[1].time, Cycles{99600 / 2});  // 20 GB/s here, 10 in the workbook
  EXPECT_EQ(latency.steady, Cycles{50176});
}

}  // namespace
}  // namespace mapsim::stripe_test
