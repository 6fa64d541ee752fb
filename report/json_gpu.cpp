// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/gpu.hpp"
#include "report/json_calibration.hpp"
#include "report/json_head.hpp"

namespace mapsim {
namespace {

using Json = nlohmann::ordered_json;

Json tile_json(const GemmTile& tile) { return {tile.m, tile.n, tile.k}; }

Json kernel_json(const KernelChoice& kernel) {
  return {{"path", to_string(kernel.path)},
          {"block", tile_json(kernel.block)},
          {"warp", {kernel.warp.m, kernel.warp.n}},
          {"fragment", tile_json(kernel.fragment)},
          {"stages", kernel.stages},
          {"split_k", kernel.split_k},
          {"raster", kernel.raster},
          {"padding", kernel.padding},
          {"cluster", kernel.cluster},
          {"threads", kernel.threads()}};
}

Json resources_json(const GpuWork& work) {
  return {{"registers", work.resources.registers},
          {"registers_measured", work.resources.registers_measured},
          {"shared_bytes", work.resources.shared.count()},
          {"blocks_per_sm", work.resources.blocks_per_sm},
          {"blocks", work.waves.blocks},
          {"slots", work.waves.slots}};
}

Json bytes_json(const RankedKernel& ranked) {
  const GpuTraffic& traffic = ranked.work.traffic;
  return {{"dram", ranked.estimate.dram_bytes},          {"l2", ranked.estimate.l2_bytes},
          {"shared_read", traffic.shared_read},          {"shared_write", traffic.shared_write},
          {"shared_wavefronts", ranked.work.wavefronts}, {"register_read", traffic.register_read},
          {"register_write", traffic.register_write}};
}

Json energy_json(const GpuJoules& energy) {
  return {{"mma", energy.mma.count()},
          {"instructions", energy.instructions.count()},
          {"registers", energy.registers.count()},
          {"shared", energy.shared.count()},
          {"l2", energy.l2.count()},
          {"dram", energy.dram.count()},
          {"constant", energy.constant.count()},
          {"total", energy.total.count()}};
}

Json ranked_json(const RankedKernel& ranked) {
  return {{"kernel", kernel_json(ranked.kernel)},
          {"form", ranked.form},
          {"seconds", ranked.total.count()},
          {"passes_seconds", ranked.passes.count()},
          {"log_error_90", ranked.estimate.error},
          {"bound", to_string(ranked.estimate.bound)},
          {"as_good_as_first", ranked.as_good_as_first},
          {"best_on_average", ranked.is_fixed},
          {"same_prediction", ranked.same},
          {"share_of_peak", ranked.estimate.mma_share},
          {"clock_share", ranked.estimate.clock_share},
          {"resources", resources_json(ranked.work)},
          {"times", time_json(ranked.estimate.time)},
          {"bytes", bytes_json(ranked)},
          {"energy_pj", energy_json(ranked.estimate.energy)}};
}

Json form_json(const GemmForm& form) {
  const GemmProblem& problem = form.problem;
  Json passes = Json::array();
  for (const ExtraPass& pass : form.passes) {
    passes.push_back({{"what", pass.what}, {"bytes", pass.bytes}});
  }
  Json json{{"m", problem.m},
            {"n", problem.n},
            {"k", problem.k},
            {"batch", problem.batch},
            {"precision", to_string(problem.precision)}};
  add_widths(json, widths_of(problem));
  json.update(Json{{"a", problem.a == MatrixLayout::kRow ? "row" : "column"},
                   {"b", problem.b == MatrixLayout::kRow ? "row" : "column"},
                   {"tensor_cores", form.tensor_cores},
                   {"pruned_b", problem.pruned_b},
                   {"passes", passes},
                   {"notes", form.notes}});
  return json;
}

// What all results about kernels begin with.
Json report_json(const Provenance& origin, const KernelReport& report) {
  Json json = provenance_json(origin);
  json["gpu"] = report.gpu.name;
  json["workload"] = report.workload.name;
  json["equation"] = report.workload.equation();
  const GpuSearchResult& result = report.result;
  json["calibrated_on"] = result.calibration.fitted_from;
  json["calibration"] = Json();
  if (!result.ranked.empty()) {
    json["calibration"] =
        calibration_source_json(result.calibration, report.gpu.name,
                                result.forms[result.ranked.front().form].problem.precision);
  }
  return json;
}

}  // namespace

nlohmann::ordered_json time_json(const GpuTime& time) {
  return {{"mma", time.mma.count()},
          {"shared", time.shared.count()},
          {"issue", time.issue.count()},
          {"l2", time.l2.count()},
          {"dram", time.dram.count()},
          {"stall", time.stall.count()},
          {"fill", time.fill.count()},
          {"tail", time.tail.count()},
          {"reduction", time.reduction.count()},
          {"launch", time.launch.count()},
          {"power", time.power.count()}};
}

std::string provenance_text(const Provenance& origin) { return provenance_json(origin).dump(); }

std::string gpu_roofline_json(const Provenance& origin, const Gpu& gpu, const Workload& workload,
                              const GemmProblem& problem) {
  Json json = provenance_json(origin);
  json["gpu"] = gpu.name;
  json["workload"] = workload.name;
  json["equation"] = workload.equation();
  json["gemm"] = {{"m", problem.m},
                  {"n", problem.n},
                  {"k", problem.k},
                  {"batch", problem.batch},
                  {"precision", to_string(problem.precision)}};
  add_widths(json["gemm"], widths_of(problem));
  json["rooflines"] = Json::array();
  for (const GpuRoofline& line : gpu_rooflines(gpu, problem)) {
    json["rooflines"].push_back({{"path", line.path},
                                 {"ops_per_second", line.peak.ops_per_second},
                                 {"bytes_per_second", line.peak.bytes_per_second},
                                 {"intensity", line.bound.intensity},
                                 {"ridge", line.bound.ridge},
                                 {"math_seconds", line.bound.compute.count()},
                                 {"memory_seconds", line.bound.transfer.count()},
                                 {"limiter", to_string(line.bound.limiter)},
                                 {"seconds", line.bound.time().count()}});
  }
  return json.dump(2) + "\n";
}

std::string kernel_json(const Provenance& origin, const KernelComparison& comparison) {
  const KernelReport& report = comparison.report;
  Json json = report_json(origin, report);
  const RankedKernel& given = report.result.ranked.front();
  json["form"] = form_json(report.result.forms[given.form]);
  json["kernel"] = ranked_json(given);
  for (const auto& [key, kernel] :
       {std::pair{"best_of_path", &comparison.best_of_path}, std::pair{"best", &comparison.best}}) {
    json[key] = *kernel ? ranked_json(**kernel) : Json{};
  }
  return json.dump(2) + "\n";
}

std::string kernels_json(const Provenance& origin, const KernelReport& report) {
  const GpuSearchResult& result = report.result;
  Json json = report_json(origin, report);
  json["resolution"] = result.calibration.resolution;
  json["considered"] = result.considered;
  json["legal"] = result.legal;
  json["as_good_as_first"] = result.as_good_as_first;
  json["forms"] = Json::array();
  for (const GemmForm& form : result.forms) {
    json["forms"].push_back(form_json(form));
  }
  json["kernels"] = Json::array();
  for (std::size_t i = 0; i < result.ranked.size(); ++i) {
    json["kernels"].push_back(ranked_json(result.ranked[i]));
    if (i < report.not_written.size()) {
      json["kernels"].back()["not_written"] = report.not_written[i];
    }
  }
  json["best_written"] = Json();
  if (const auto& best = report.best_written) {
    json["best_written"] = {{"kernel", kernel_json(best->kernel)},
                            {"form", best->form},
                            {"seconds", best->total.count()}};
  }
  return json.dump(2) + "\n";
}

}  // namespace mapsim
