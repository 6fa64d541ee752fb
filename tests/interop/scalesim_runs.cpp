// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/scalesim_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/rng.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::json;

ScaleSimTraffic traffic_of(const Json& access, const std::string& operand, const char* count) {
  const Json& sram = access.at("sram_" + operand);
  const Json& dram = access.at("dram_" + operand);
  const auto whole = [](const Json& number) {
    return static_cast<std::int64_t>(std::llround(number.get<double>()));
  };
  return {whole(sram.at(count)), whole(dram.at(count)), whole(dram.at("start_cycle"))};
}

ToolRun run_of(const Json& json) {
  const Json& job = json.at("job");
  const Json& layer = job.at("layer");
  ToolRun run;
  run.text = job.dump();
  const std::map<std::string, ScaleSimDataflow> dataflows{{"os", ScaleSimDataflow::kOutput},
                                                          {"ws", ScaleSimDataflow::kWeight},
                                                          {"is", ScaleSimDataflow::kInput}};
  run.config = {"scalesim",
                job.at("rows"),
                job.at("cols"),
                job.at("sram_kb")[0],
                job.at("sram_kb")[1],
                job.at("sram_kb")[2],
                dataflows.at(job.at("df")),
                {}};
  run.layer.name = layer.at("name");
  if (layer.contains("M")) {
    run.layer.gemm = true;
    run.layer.ifmap_height = layer.at("M");
    run.layer.ifmap_width = run.layer.filter_width = layer.at("K");
    run.layer.filters = layer.at("N");
  } else {
    run.layer = {layer.at("name"),
                 layer.at("H"),
                 layer.at("W"),
                 layer.at("R"),
                 layer.at("S"),
                 layer.at("C"),
                 layer.at("K"),
                 layer.at("stride"),
                 1,
                 false};
  }
  if (job.contains("bw")) {
    const std::int64_t port = job.at("bw");
    run.config.bandwidth = {port, port, port};
  }
  run.printed.cycles = std::llround(json.at("total_cycles").get<double>());
  run.printed.stall_cycles = std::llround(json.at("stall_cycles").get<double>());
  run.printed.cycles_with_prefetch =
      std::llround(json.at("total_cycles_incl_prefetch").get<double>());
  run.printed.overall_utilization = json.at("overall_util_pct");
  run.printed.mapping_efficiency = json.at("mapping_eff_pct");
  run.printed.compute_utilization = json.at("compute_util_pct");
  run.printed.ifmap = traffic_of(json.at("access"), "ifmap", "reads");
  run.printed.filter = traffic_of(json.at("access"), "filter", "reads");
  run.printed.ofmap = traffic_of(json.at("access"), "ofmap", "writes");
  run.seconds = json.at("wall_s");
  return run;
}

}  // namespace

std::vector<ToolRun> collected_scalesim_runs(bool given) {
  std::vector<ToolRun> runs;
  const char* folder = std::getenv("MAPSIM_GOLDENS");
  if (folder == nullptr) {
    return runs;
  }
  std::ifstream file{std::string{folder} + "/systolic/scalesim_runs.jsonl"};
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    if (json.at("job").contains("bw") == given) {
      runs.push_back(run_of(json));
    }
  }
  return runs;
}

ToolRun random_scalesim_run(std::uint64_t seed) {
  Rng rng{seed};
  ToolRun run;
  run.config = {"random",
                rng.between(1, 9),
                rng.between(1, 9),
                rng.between(1, 2),
                rng.between(1, 2),
                rng.between(1, 2),
                static_cast<ScaleSimDataflow>(seed % 3),
                {}};
  const std::int64_t height = rng.between(1, 16);
  const std::int64_t width = rng.between(1, 16);
  run.layer = {"random",
               height,
               width,
               rng.between(1, std::min<std::int64_t>(height, 4)),
               rng.between(1, std::min<std::int64_t>(width, 4)),
               rng.between(1, 6),
               rng.between(1, 20),
               rng.between(1, 3),
               1,
               false};
  run.text = fmt::format("seed {}", seed);
  return run;
}

}  // namespace mapsim
