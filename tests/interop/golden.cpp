// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/build_paths.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<Golden> goldens_in(const fs::path& inputs, const fs::path& results) {
  std::vector<Golden> goldens;
  if (!fs::is_directory(results)) {
    return goldens;
  }
  for (const auto& entry : fs::directory_iterator(results)) {
    if (entry.path().extension() == ".json") {
      const std::string id = entry.path().stem().string();
      goldens.push_back({id, inputs / (id + ".yaml"), entry.path()});
    }
  }
  std::sort(goldens.begin(), goldens.end(),
            [](const Golden& a, const Golden& b) { return a.id < b.id; });
  return goldens;
}

std::optional<TimeloopTensorResult> tensor_result(const Json& level, const std::string& name) {
  if (!level["dataspaces"].contains(name)) {
    return std::nullopt;
  }
  const Json& at = level["dataspaces"][name];
  return TimeloopTensorResult{at["tile_size"], at["reads"], at["fills"], at["updates"],
                              at["energy_total_pJ"]};
}

std::optional<TimeloopNetworkResult> network_result(const Json& networks, const std::string& level,
                                                    const std::string& name) {
  if (!networks.contains(level) || !networks[level]["dataspaces"].contains(name)) {
    return std::nullopt;
  }
  const Json& at = networks[level]["dataspaces"][name];
  return TimeloopNetworkResult{at["ingresses"], at["link_transfers"], at["energy_total_pJ"],
                               at["link_transfer_energy_total_pJ"]};
}

}  // namespace

std::vector<Golden> kept_goldens() {
  const fs::path folder = source_path("tests/golden/timeloop");
  return goldens_in(folder, folder);
}

fs::path collected_folder() {
  const char* root = std::getenv("MAPSIM_GOLDENS");
  return root == nullptr ? "" : root;
}

std::vector<Golden> collected_goldens() {
  const fs::path folder = collected_folder() / "timeloop";
  return goldens_in(folder / "raw", folder / "triples");
}

std::optional<TimeloopResult> read_result(const Golden& golden, const TimeloopDesign& design,
                                          const std::string& run) {
  const Json all = Json::parse(std::ifstream{golden.expected});
  if (!all.contains(run)) {
    return std::nullopt;
  }
  const Json& expected = all[run];
  TimeloopResult result;
  for (const TimeloopStorage& storage : design.machine.storages) {
    const Json& printed = expected["levels"][storage.name];
    TimeloopResult::Level level;
    level.cycles = printed["cycles"].get<std::int64_t>();
    for (const Tensor& tensor : design.workload.tensors) {
      level.tensors.push_back(tensor_result(printed, tensor.name));
      level.networks.push_back(network_result(expected["networks"], storage.name, tensor.name));
    }
    result.levels.push_back(std::move(level));
  }
  result.computes = expected["mac"]["computes"];
  result.cycles = expected["summary"]["cycles"];
  result.energy = expected["summary"]["energy_total_pJ"];
  return result;
}

}  // namespace mapsim
