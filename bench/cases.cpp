// SPDX-License-Identifier: Apache-2.0
#include "bench/cases.hpp"

#include <algorithm>
#include <filesystem>

#include "arch/load.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "workloads/load.hpp"

namespace mapsim::bench {

namespace {

const std::filesystem::path kSources{MAPSIM_SOURCE_DIR};

std::string config(const std::string& folder, const std::string& name) {
  return (kSources / "configs" / folder / (name + ".yaml")).string();
}

std::string unrolling_name(const std::string& machine, const std::string& layer) {
  const bool eyeriss = machine == "eyeriss";
  if (layer == "conv1") {
    return eyeriss ? "eyeriss_7x7" : "nvdla_image";
  }
  if (layer == "fc") {
    return eyeriss ? "eyeriss_fc1000" : "nvdla_fc1000";
  }
  if (!eyeriss) {
    return "nvdla_conv";
  }
  const bool window = layer.find("3x3") != std::string::npos;
  const bool at7 = layer.starts_with("conv5") && layer != "conv5_1x1a_first";
  return std::string{"eyeriss_"} + (window ? "3x3" : "1x1") + (at7 ? "_at7" : "");
}

}  // namespace

std::vector<std::string> resnet50_layers() {
  std::vector<std::string> layers;
  for (const auto& file :
       std::filesystem::directory_iterator{kSources / "configs/workloads/resnet50"}) {
    layers.push_back(file.path().stem().string());
  }
  std::sort(layers.begin(), layers.end());
  return layers;
}

Problem shipped_problem(const std::string& machine, const std::string& layer) {
  const auto of_bench = kSources / "bench/machines" / (machine + ".yaml");
  const bool is_shipped = !std::filesystem::exists(of_bench);
  return Problem{load_arch(is_shipped ? config("arch", machine) : of_bench.string()),
                 load_workload(config("workloads", layer))};
}

Constraints given_unrolling(const Problem& problem, const std::string& layer) {
  const std::string& machine = problem.arch().name;
  if (machine.starts_with("square")) {
    const auto dim = [&](const char* name) { return *problem.workload().find_dim(name); };
    Constraints constraints;
    constraints.spatial = {{dim("K"), FanoutId{0}, Axis::kX, 16},
                           {dim("C"), FanoutId{0}, Axis::kY, 16}};
    return constraints;
  }
  if (layer == "4096") {
    return load_constraints(config("constraints", "tpu_gemm"), problem);
  }
  return load_constraints(config("constraints", unrolling_name(machine, layer)), problem);
}

}  // namespace mapsim::bench
