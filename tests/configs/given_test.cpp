// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::given_test {
namespace {

const std::filesystem::path kConfigs = source_path("configs");

std::string config(const std::string& name) { return (kConfigs / name).string() + ".yaml"; }

Problem load_problem(const std::string& arch, const std::string& workload) {
  return Problem{load_arch(config("arch/" + arch)), load_workload(config("workloads/" + workload))};
}

// A constraints file, the layers that it is for, and the MAC units that it keeps busy.
struct Given {
  std::string name;
  std::string arch;
  std::int64_t busy;
  std::vector<std::string> layers;
};

// As the table in configs/README.md says.
const std::vector<Given> kGiven{
    {"eyeriss_7x7", "eyeriss", 98, {"resnet50/conv1"}},
    {"eyeriss_3x3",
     "eyeriss",
     168,
     {"resnet50/conv2_3x3", "resnet50/conv3_3x3_first", "resnet50/conv3_3x3",
      "resnet50/conv4_3x3_first", "resnet50/conv4_3x3", "vgg16/conv1_2", "vgg16/conv5_1"}},
    {"eyeriss_3x3_at7", "eyeriss", 168, {"resnet50/conv5_3x3_first", "resnet50/conv5_3x3"}},
    {"eyeriss_1x1",
     "eyeriss",
     112,
     {"resnet50/conv2_1x1a_first", "resnet50/conv2_1x1a", "resnet50/conv2_1x1b",
      "resnet50/conv3_1x1a_first", "resnet50/conv3_1x1a", "resnet50/conv3_1x1b",
      "resnet50/conv3_projection", "resnet50/conv4_1x1a_first", "resnet50/conv4_1x1a",
      "resnet50/conv4_1x1b", "resnet50/conv4_projection", "resnet50/conv5_1x1a_first"}},
    {"eyeriss_1x1_at7",
     "eyeriss",
     112,
     {"resnet50/conv5_1x1a", "resnet50/conv5_1x1b", "resnet50/conv5_projection"}},
    {"eyeriss_fc1000", "eyeriss", 80, {"resnet50/fc"}},
    {"nvdla_image", "nvdla_like_1024", 336, {"resnet50/conv1"}},
    {"nvdla_conv",
     "nvdla_like_1024",
     1024,
     {"resnet50/conv2_1x1a_first", "resnet50/conv2_1x1a",       "resnet50/conv2_3x3",
      "resnet50/conv2_1x1b",       "resnet50/conv3_1x1a_first", "resnet50/conv3_3x3_first",
      "resnet50/conv3_projection", "resnet50/conv3_1x1a",       "resnet50/conv3_3x3",
      "resnet50/conv3_1x1b",       "resnet50/conv4_1x1a_first", "resnet50/conv4_3x3_first",
      "resnet50/conv4_projection", "resnet50/conv4_1x1a",       "resnet50/conv4_3x3",
      "resnet50/conv4_1x1b",       "resnet50/conv5_1x1a_first", "resnet50/conv5_3x3_first",
      "resnet50/conv5_projection", "resnet50/conv5_1x1a",       "resnet50/conv5_3x3",
      "resnet50/conv5_1x1b"}},
    {"nvdla_fc1000", "nvdla_like_1024", 640, {"resnet50/fc"}},
    {"tpu_gemm", "tpu_v1_like", 65536, {"gemm/512", "gemm/4096", "bert_base/ffn_up"}},
    {"dual_side_gemm", "dual_side_tensor_core", 128, {"gemm/512", "gemm/4096"}},
    {"tensor_core_2_4", "tensor_core_2_4", 64, {"gemm/512", "gemm/4096", "bert_base/ffn_up"}},
};

TEST(ShippedConstraints, UnrollEveryLayerTheyAreForOverTheMacsTheySay) {
  for (const Given& given : kGiven) {
    for (const std::string& layer : given.layers) {
      const Problem problem = load_problem(given.arch, layer);
      const Constraints constraints =
          load_constraints(config("constraints/" + given.name), problem);
      std::int64_t busy = 1;
      for (const Unroll& unroll : constraints.spatial.value()) {
        busy *= unroll.factor;
      }
      EXPECT_EQ(busy, given.busy) << given.name << " on " << layer;
    }
  }
}

TEST(ShippedConstraints, ServeEveryLayerOfResnet50OnBothMachines) {
  for (const std::string arch : {"eyeriss", "nvdla_like_1024"}) {
    std::set<std::string> served;
    for (const Given& given : kGiven) {
      if (given.arch == arch) {
        served.insert(given.layers.begin(), given.layers.end());
      }
    }
    for (const auto& file : std::filesystem::directory_iterator{kConfigs / "workloads/resnet50"}) {
      EXPECT_TRUE(served.contains("resnet50/" + file.path().stem().string())) << file.path();
    }
  }
}

TEST(ShippedConstraints, ReadEvenTiling) {
  const Problem problem = load_problem("teaching", "teaching/conv");
  const Constraints constraints = load_constraints(config("constraints/even"), problem);
  EXPECT_TRUE(constraints.even);
  EXPECT_FALSE(constraints.spatial.has_value());
}

// Every loop outside, and in each level below DRAM one value of each tensor that must be there: the
// mapping that needs the least room.
Mapping smallest_mapping(const Problem& problem) {
  const Workload& workload = problem.workload();
  Mapping mapping;
  for (const LevelId level : problem.arch().levels.ids()) {
    Keep keep{level, {}};
    for (const TensorId tensor : workload.tensors.ids()) {
      if (problem.must_keep(level, tensor)) {
        keep.tensors.insert(tensor);
      }
    }
    if (!keep.tensors.empty()) {
      mapping.nodes.push_back(keep);
    }
    if (level == LevelId{0}) {
      for (const DimId dim : workload.dims.ids()) {
        mapping.nodes.push_back(Temporal{dim, 1});
      }
    }
  }
  return mapping;
}

// Are the operands as narrow as the words next to the MACs? Those of workloads/eyeriss have 16 b.
bool has_room_for_operands(const Arch& arch, const Workload& workload) {
  const Bits word = arch.levels[arch.levels.last()].word;
  return std::all_of(workload.tensors.begin(), workload.tensors.end(), [&](const Tensor& tensor) {
    return tensor.role == Role::kOutput || tensor.bits <= word;
  });
}

TEST(ShippedWorkloads, RunOnEveryShippedMachineOfTheirWidth) {
  int run = 0;
  for (const auto& machine : std::filesystem::directory_iterator{kConfigs / "arch"}) {
    if (machine.is_directory() || describes_gpu(read_yaml(machine.path().string()))) {
      continue;
    }
    const Arch arch = load_arch(machine.path().string());
    for (const auto& file : std::filesystem::recursive_directory_iterator{kConfigs / "workloads"}) {
      if (file.is_directory()) {
        continue;
      }
      const Workload workload = load_workload(file.path().string());
      if (!has_room_for_operands(arch, workload)) {
        continue;
      }
      const Problem problem{arch, workload};
      ++run;
      const Evaluation evaluation = evaluate(problem, smallest_mapping(problem));
      // A systolic array does not run it, as nothing stays in it; there is room all the same.
      EXPECT_TRUE(std::holds_alternative<Cost>(evaluation) ||
                  std::holds_alternative<NotRunnable>(std::get<Infeasible>(evaluation)))
          << arch.name << " " << file.path();
    }
  }
  EXPECT_GT(run, 800);  // nine machines, some hundred layers
}

Cost cost_of_teaching_mapping(const Problem& problem, const std::string& name) {
  const Mapping mapping =
      load_mapping(config("mappings/" + name), problem.arch(), problem.workload());
  return std::get<Cost>(evaluate(problem, mapping));
}

// What the comments in the two files claim.
TEST(ShippedMappings, DoWhatTheySay) {
  const Problem problem = load_problem("teaching", "teaching/conv");
  const Workload& workload = problem.workload();
  const Cost os = cost_of_teaching_mapping(problem, "teaching_output_stationary");
  const Cost ws = cost_of_teaching_mapping(problem, "teaching_weight_stationary");
  const TensorId weights = workload.find_tensor("W").value();
  const LevelId dram{0};
  const LevelId buffer{1};
  const LevelId registers{2};
  for (const Cost& cost : {os, ws}) {
    const auto& at_dram = cost.counts.levels[dram];
    for (const TensorId tensor : workload.tensors.ids()) {
      EXPECT_EQ(at_dram[tensor].total.reads + at_dram[tensor].total.updates,
                at_dram[tensor].footprint);
    }
  }
  EXPECT_EQ(os.counts.steps, 18'432 / 64);
  EXPECT_EQ(os.counts.levels[buffer][workload.output()].total.readbacks, 0);
  EXPECT_EQ(os.counts.levels[buffer][weights].total.reads, 18'432 / 8);
  EXPECT_EQ(ws.counts.steps, 18'432 / 32);
  EXPECT_EQ(ws.counts.levels[registers][weights].total.fills, 288);
  EXPECT_GT(ws.counts.levels[buffer][workload.output()].total.readbacks, 0);
}

}  // namespace
}  // namespace mapsim::given_test
