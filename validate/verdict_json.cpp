// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "validate/candidates.hpp"
#include "validate/metrics_json.hpp"
#include "validate/verdict.hpp"

namespace mapsim {
namespace {

using Json = nlohmann::ordered_json;

Json problem_ranks_json(const RankMetrics& ranks) {
  return {{"tau", ranks.tau}, {"top1_regret", ranks.top1}, {"top5_regret", ranks.top5}};
}

Json known(double value) { return value > 0 ? Json(value) : Json(nullptr); }

Json kernel_json(const KernelVerdict& kernel) {
  const GpuMeasurement& row = kernel.measurement;
  Json json{{"kernel", to_string(*row.kernel)},
            {"measured_s", row.median.count()},
            {"q1_s", row.first_quartile.count()},
            {"q3_s", row.third_quartile.count()},
            {"predicted_s", kernel.predicted},
            {"roofline_s", kernel.roofline},
            {"bound", to_string(kernel.estimate.bound)},
            {"dram_bytes", kernel.estimate.dram_bytes},
            {"l2_bytes", kernel.estimate.l2_bytes},
            {"sm_clock_hz", known(row.clock.count())},
            {"registers", row.kernel->registers ? Json(*row.kernel->registers) : Json(nullptr)}};
  if (!kernel.counters.empty()) {
    json["counters"] = kernel.counters;
  }
  return json;
}

Json problem_json(const ProblemVerdict& problem) {
  const GemmProblem& p = problem.problem;
  Json json{{"name", problem.name},
            {"precision", to_string(p.precision)},
            {"m", p.m},
            {"n", p.n},
            {"k", p.k},
            {"batch", p.batch},
            {"cache", problem.cold ? "cold" : "hot"},
            {"errors", errors_json(problem.errors)},
            {"ranks", problem_ranks_json(problem.ranks)},
            {"roofline", problem_ranks_json(problem.roofline)},
            {"static_best", problem_ranks_json(problem.fixed)},
            {"random", problem_ranks_json(problem.random)},
            {"best_s", known(problem.best)},
            {"best_kernel", problem.best_kernel},
            {"library_s", known(problem.library)},
            {"naive_s", known(problem.naive)},
            {"first_to_best", known(problem.first_to_best)},
            {"share_of_library", known(problem.library_to_best)},
            {"share_of_ceiling", known(problem.share_of_ceiling)},
            {"kernels", Json::array()}};
  std::vector<KernelChoice> choices;
  for (const KernelVerdict& kernel : problem.kernels) {
    json["kernels"].push_back(kernel_json(kernel));
    choices.push_back(*kernel.measurement.kernel);
  }
  json["tiles"] = distinct_tiles(choices);
  return json;
}

}  // namespace

std::string verdict_json(const std::string& head, const Gpu& gpu, const ValidationVerdict& verdict,
                         std::span<const std::string> refusals) {
  Json json = Json::parse(head);
  json.update({{"gpu", gpu.name},
               {"kernels", verdict.kernels},
               {"host_bound", verdict.host_bound},
               {"errors", errors_json(verdict.errors)},
               {"roofline_errors", errors_json(verdict.roofline_errors)},
               {"ranks", problem_ranks_json(verdict.ranks)},
               {"roofline", problem_ranks_json(verdict.roofline)},
               {"static_best", problem_ranks_json(verdict.fixed)},
               {"random", problem_ranks_json(verdict.random)},
               {"median_first_to_best", known(verdict.first_to_best)},
               {"median_share_of_library", known(verdict.library_to_best)},
               {"median_share_of_ceiling", known(verdict.share_of_ceiling)},
               {"throttled", verdict.throttles},
               {"refused", Json(std::vector<std::string>(refusals.begin(), refusals.end()))},
               {"problems", Json::array()}});
  for (const ProblemVerdict& problem : verdict.problems) {
    json["problems"].push_back(problem_json(problem));
  }
  return json.dump(2) + "\n";
}

}  // namespace mapsim
