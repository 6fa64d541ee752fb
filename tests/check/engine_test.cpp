// SPDX-License-Identifier: Apache-2.0
#include "check/engine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "mapper/nvdla/front.hpp"
#include "mapper/nvdla/schedules.hpp"
#include "mapper/nvdla/search.hpp"
#include "proven.hpp"
#include "tests/nvdla/engines.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/form.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::engine_test {
namespace {

using ::testing::HasSubstr;

// A small engine and a small layer that has some form.
Problem engine_case(std::uint64_t seed) {
  Rng rng{seed};
  SmallEngine engine;
  engine.kernels = rng.between(1, 4);
  engine.channels = rng.between(1, 4) * (rng.between(0, 2) == 0 ? 16 : 1);
  engine.banks = rng.between(2, 12);
  engine.buffer_bytes = engine.banks * rng.between(4, 60);
  engine.sums = rng.between(4, 40);
  engine.word = rng.between(0, 1) == 0 ? 1 : 4;
  const std::int64_t least = rng.between(1, 5);
  engine.timing =
      fmt::format(", stripe: {{min: {}, max: {}}}, winograd: {}, image_input: {}, batch: 4", least,
                  least + rng.between(0, 6), rng.between(0, 1) == 1, rng.between(0, 1) == 1);
  if (rng.between(0, 1) == 0) {
    engine.timing += fmt::format(", post_throughput: {}", rng.between(1, 3));
  }
  if (rng.between(0, 3) == 0) {
    const GemmShape product{rng.between(1, 2), rng.between(1, 9), rng.between(1, 12), {}, false};
    return {small_engine(engine), gemm("small", product)};
  }
  ConvShape shape;
  shape.groups = rng.between(0, 2) == 0 ? rng.between(2, 7) : 1;
  shape.in_channels = shape.groups * rng.between(1, 3);
  shape.out_channels = shape.groups * rng.between(1, 3);
  const std::int64_t kernel = rng.between(1, 3);
  shape.kernel = {kernel, kernel};
  shape.stride = {rng.between(1, 2), rng.between(1, 2)};
  shape.input = {kernel + rng.between(0, 5), kernel + rng.between(0, 5)};
  shape.padding = {rng.between(0, 2), rng.between(0, 2)};
  return {small_engine(engine), layer(shape)};
}

Objective objective_of(std::uint64_t seed) {
  Objective objective = seed % 3 == 0   ? Objective::kEnergy
                        : seed % 3 == 1 ? Objective::kLatency
                                        : Objective::kEdp;
  objective.exact_ties = seed % 3 != 2 && seed % 2 == 0;
  objective.mode = seed / 2 % 2 == 0 ? LatencyMode::kRamped : LatencyMode::kSteady;
  return objective;
}

std::string schedules_proof(const Problem& problem, const Objective& objective,
                            Frames frames = Frames::kOne) {
  SearchOptions options;
  options.objective = objective;
  return schedules_certificate_file({"search", {}}, problem, frames, objective,
                                    search_forms(problem, options, frames));
}

std::string front_proof(const Problem& problem) {
  const Mapspace space{problem, {}};
  return front_certificate_file({"search", {}}, space, {}, search_front(space, {}));
}

TEST(EngineProof, HoldsOfWhatTheSearchFinds) {
  int fitting = 0;
  int in_forms = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const Problem problem = engine_case(seed);
    const Frames frames = seed % 2 == 0 ? Frames::kOne : Frames::kBatches;
    const std::string proof = schedules_proof(problem, objective_of(seed), frames);
    ASSERT_EQ(complaint(proof), "") << "seed " << seed << '\n' << proof;
    const check::Certificate read = check::parse_certificate(proof, "proof");
    EXPECT_EQ(read.lower_bound, read.value);
    fitting += read.points.empty() ? 0 : 1;
    in_forms += read.points.empty() || read.points[0].form == Form{} ? 0 : 1;
    ASSERT_EQ(complaint(front_proof(problem)), "") << "seed " << seed;
  }
  EXPECT_GT(fitting, 90);
  EXPECT_GT(in_forms, 25);
}

TEST(EngineProof, HoldsOfRampedTimesOfAShippedEngine) {
  const std::string configs = source_path("configs/");
  const Problem problem{load_arch(configs + "arch/nv_small.yaml"),
                        load_workload(configs + "workloads/vgg16/conv1_2.yaml")};
  Objective objective = Objective::kLatency;
  objective.mode = LatencyMode::kRamped;
  EXPECT_EQ(complaint(schedules_proof(problem, objective)), "");
}

// A file that is sound in all but that another schedule is better.
std::string worse_proof(const Problem& problem, const Objective& objective,
                        const std::string& proof, Rng& rng) {
  const check::Certificate best = check::parse_certificate(proof, "proof");
  std::vector<Form> forms = check::list_forms(problem, false);
  const Form form = forms[rng.below(forms.size())];
  FormedResult other{check::formed(problem, form).value(), {}, {}};
  other.result.form = form;
  for (const NvdlaSchedule& schedule : nvdla_space(other.problem, LatencyMode::kRamped).schedules) {
    Mapping mapping = mapping_of(other.problem, schedule);
    const Evaluation evaluation = evaluate(other.problem, mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost != nullptr && objective_value(objective, *cost) > best.value * 1.001) {
      other.result.cost = *cost;
      other.result.best = std::move(mapping);
      if (rng.below(8) == 0) {
        break;
      }
    }
  }
  return other.result.best
             ? schedules_certificate_file({"search", {}}, problem, Frames::kOne, objective, other)
             : std::string{};
}

TEST(EngineProof, DoesNotHoldOfAWorseSchedule) {
  Rng rng{1};
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = engine_case(seed);
    const Objective objective = objective_of(seed);
    const std::string worse =
        worse_proof(problem, objective, schedules_proof(problem, objective), rng);
    if (!worse.empty()) {
      EXPECT_THAT(complaint(worse), HasSubstr("which is better than claimed")) << seed;
      ++refused;
    }
  }
  EXPECT_GT(refused, 25);
}

// Winograd is quicker than the direct form, which takes less energy: a front of both.
Problem winograd_case() {
  SmallEngine engine;
  engine.kernels = 4;
  engine.channels = 32;
  engine.buffer_bytes = 8 * engine.banks * 64;
  engine.sums = 64;
  engine.timing = ", winograd: true";
  ConvShape shape;
  shape.in_channels = 4;
  shape.out_channels = 8;
  shape.kernel = {3, 3};
  shape.input = {9, 9};
  shape.padding = {1, 1};
  return {small_engine(engine), layer(shape)};
}

TEST(EngineProof, IsRefusedOnceItIsTamperedWith) {
  Objective quickest = Objective::kLatency;
  quickest.exact_ties = true;
  const std::string proof = schedules_proof(winograd_case(), quickest);
  ASSERT_EQ(complaint(proof), "");
  ASSERT_THAT(proof, HasSubstr("form: winograd\nmapping:\n"));
  for (const auto& [from, to, with] : std::vector<std::array<std::string, 3>>{
           {"form: winograd", "\n", "form: direct"},
           {"form: winograd\n", "mapping", ""},
           {"form: winograd", "\n", "form: image"},
           {"frames: one", "\n", "frames: two"},
           {"frames: one\n", "digest", ""},
           {"schedules: nvdla", "\n", "schedules: all"},
           {"  schedules: nvdla\n  frames: one\n", "digest",
            "  tiling: uneven\n  factors: perfect\n"},
           {"lower_bound: ", "\n", "lower_bound: 1000000 cycles"},
           {"tie: ", "\n", "tie: 1 pJ"},
           {"function: latency, ties: energy", "}", "function: latency^2"},
           {"function: latency, ties: energy", "}", "function: energy"},
           {"mapspace: ", "\n", "mapspace: \"12\""},
           {"winograd: true", "}", "winograd: false"},
           {"in_channels: 4", "\n", "in_channels: 8"},
           {"form: winograd", "\n", "form: winograd\nbounds: []"},
           {"rules:", "\n", "bounds: []\nrules:"}}) {
    EXPECT_NE(complaint(altered(proof, from, to, with)), "") << from << " -> " << with;
  }
}

TEST(EngineProof, OfAFrontHasAllOfItsPoints) {
  const std::string proof = front_proof(winograd_case());
  ASSERT_EQ(complaint(proof), "");
  const check::Certificate read = check::parse_certificate(proof, "proof");
  ASSERT_GE(read.points.size(), 2U);
  EXPECT_NE(read.points.front().form, read.points.back().form);
  for (const check::Point& point : read.points) {
    const std::string value = fmt::format("  - value: {} pJ", point.figures.first);
    const std::size_t begin = proof.find(value);
    const std::size_t end = std::min(proof.find("  - value: ", begin + 1), proof.find("inputs:"));
    std::string without = proof;
    without.erase(begin, end - begin);
    EXPECT_THAT(complaint(sealed(without)), HasSubstr("which is better than claimed"));
    EXPECT_NE(complaint(altered(proof, value, "\n", "  - value: 1 pJ")), "");
  }
}

// The points of a front by the long way: every schedule of every form, every number of groups.
TEST(EngineFront, IsWhatAllSchedulesComeTo) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = engine_case(seed);
    std::vector<std::pair<double, std::int64_t>> all;
    for (const Form form : check::list_forms(problem, false)) {
      const Problem formed = check::formed(problem, form).value();
      check::visit_schedules(formed, [&](const Mapping& mapping) {
        const Evaluation evaluation = evaluate(formed, mapping);
        if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
          all.emplace_back(cost->energy.total.count(), cost->latency.steady.count());
        }
      });
    }
    std::sort(all.begin(), all.end());
    std::vector<std::pair<double, std::int64_t>> steps;
    for (const auto& point : all) {
      if (steps.empty() || point.second < steps.back().second) {
        const bool same = !steps.empty() && point.first <= steps.back().first * (1 + 1e-11);
        same ? static_cast<void>(steps.back() = point) : steps.push_back(point);
      }
    }
    const Front front = search_front(Mapspace{problem, {}}, {});
    ASSERT_EQ(front.points.size(), steps.size()) << seed;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_NEAR(front.points[i].value, steps[i].first, 1e-10 * steps[i].first) << seed;
      EXPECT_EQ(front.points[i].measure, steps[i].second) << seed;
    }
  }
}

// Or says that nothing keeps it.
TEST(EngineFront, KeepsALimitOnLatency) {
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Problem problem = engine_case(seed);
    const Mapspace space{problem, {}};
    const Front whole = search_front(space, {});
    if (whole.points.empty()) {
      continue;
    }
    EXPECT_TRUE(whole.infeasible.reasons.empty()) << seed;
    SearchOptions options;
    options.objective.max_latency = Cycles{whole.points.front().measure - 1};
    const Front faster = search_front(space, options);
    ASSERT_EQ(faster.points.size(), whole.points.size() - 1) << seed;
    for (std::size_t i = 0; i < faster.points.size(); ++i) {
      EXPECT_EQ(faster.points[i].measure, whole.points[i + 1].measure) << seed;
    }
    cut += faster.points.empty() ? 0 : 1;
    options.objective.max_latency = Cycles{whole.points.back().measure - 1};
    const Front none = search_front(space, options);
    EXPECT_TRUE(none.points.empty()) << seed;
    EXPECT_THAT(none.infeasible.reasons, testing::Contains(testing::Key("latency limit"))) << seed;
  }
  EXPECT_GT(cut, 3);
}

TEST(EngineProof, HoldsAtRealSize) {
  ConvShape shape;
  shape.in_channels = shape.out_channels = 64;
  shape.input = {56, 56};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  for (const char* engine : {"nv_large", "nv_full"}) {
    EXPECT_EQ(complaint(schedules_proof({shipped_engine(engine), layer(shape)}, Objective::kEdp)),
              "");
  }
}

}  // namespace
}  // namespace mapsim::engine_test
