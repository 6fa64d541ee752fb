// SPDX-License-Identifier: Apache-2.0
#include "validate/calibration_json.hpp"

#include <nlohmann/json.hpp>

#include "validate/metrics_json.hpp"
#include "validate/predictions.hpp"

namespace mapsim {
namespace {

using Json = nlohmann::ordered_json;

// null: no problem has two kernels.
Json ranks_json(const RankMetrics& ranks) {
  return ranks.problems == 0 ? Json()
                             : Json{{"problems", ranks.problems},
                                    {"tau", ranks.tau},
                                    {"top1_regret", ranks.top1},
                                    {"top5_regret", ranks.top5}};
}

Json score_json(const CalibrationScore& score) {
  Json json{{"name", score.name}};
  json["errors"] = score.errors ? errors_json(*score.errors) : Json();
  json["ranks"] = ranks_json(score.ranks);
  return json;
}

Json score_json(const PredictionScore& score) {
  return {{"name", score.name},
          {"errors", errors_json(score.errors)},
          {"covered", score.covered},
          {"ranks", ranks_json(score.ranks)}};
}

Json parameter_json(const CalibratedParameter& parameter) {
  return {{"name", parameter.name},
          {"before", parameter.before},
          {"fitted", parameter.fitted.value},
          {"relative_error", parameter.fitted.relative_error},  // dumped as null where infinite
          {"at_bound", parameter.fitted.at_bound},
          {"determined", parameter.fitted.determined}};
}

Json group_json(const GroupCalibration& group) {
  Json json{{"precision", to_string(group.precision)}};
  json["path"] = group.path ? Json(to_string(*group.path)) : Json();
  json["rows"] = group.rows;
  json["problems"] = group.problems;
  json["left_out"] = group.left_out;
  json["refusal"] = group.refusal ? Json(*group.refusal) : Json();
  json["warnings"] = group.warnings;
  json["times_only"] = group.fitted.best_fixed.has_value();
  json["held_out"] = group.by_kernel ? "kernels" : "problems";
  json["log_error_90"] = group.fitted.error;
  json["covered"] = group.covered;  // of held-out times, by the interval of the other folds
  json["reached"] = group.reached;
  json["resolution"] = group.fitted.resolution;
  json["resolution_fitted"] = group.resolution_fitted;
  json["scores"] = Json::array();
  for (const CalibrationScore& score : group.scores) {
    json["scores"].push_back(score_json(score));
  }
  json["by_decade"] = Json::array();
  for (std::size_t i = 0; i < group.decades.size(); ++i) {
    Json entry = errors_json(group.by_decade[i]);
    entry["from_seconds"] = group.decades[i];
    json["by_decade"].push_back(std::move(entry));
  }
  json["parameters"] = Json::array();
  for (const CalibratedParameter& parameter : group.parameters) {
    json["parameters"].push_back(parameter_json(parameter));
  }
  return json;
}

Json cache_json(const CacheEvidence& cache) {
  return {{"hot", cache.hot},
          {"cold", cache.cold},
          {"unsaid", cache.unsaid},
          {"too_fast_for_dram", cache.too_fast},
          {"unsaid_taken_as", cache.taken_hot ? "hot" : "cold"}};
}

}  // namespace

std::string calibration_json(const std::string& head, const Gpu& gpu, const CacheEvidence& cache,
                             const std::vector<GroupCalibration>& groups) {
  Json json = Json::parse(head);
  json["gpu"] = gpu.name;
  json["cache"] = cache_json(cache);
  json["groups"] = Json::array();
  for (const GroupCalibration& group : groups) {
    json["groups"].push_back(group_json(group));
  }
  return json.dump(2) + "\n";
}

std::string predictions_json(const std::string& head, const Gpu& gpu, const CacheEvidence& cache,
                             const MeasuredPredictions& predictions) {
  Json json = Json::parse(head);
  json["gpu"] = gpu.name;
  json["cache"] = cache_json(cache);
  json["groups"] = Json::array();
  for (const PredictedGroup& group : predictions.groups) {
    const GpuCalibration& calibration = group.calibration;
    Json entry{{"name", group.name},
               {"precision", to_string(group.precision)},
               {"rows", group.kernels.size()},
               {"problems", group.problems},
               {"left_out", group.left_out},
               {"fitted_from", calibration.fitted_from},
               {"chip", calibration.fitted_on.empty() ? gpu.name : calibration.fitted_on},
               {"log_error_90", calibration.error},
               {"all", score_json(group.all)}};
    entry["classes"] = Json::array();
    for (const PredictionScore& score : group.classes) {
      entry["classes"].push_back(score_json(score));
    }
    entry["random"] = ranks_json(group.blind.random);
    entry["best_fixed"] = ranks_json(group.blind.fixed);
    json["groups"].push_back(std::move(entry));
  }
  json["over_paths"] = Json::array();
  for (const PathRanks& ranks : predictions.together) {
    json["over_paths"].push_back({{"precision", to_string(ranks.precision)},
                                  {"rows", ranks.kernels},
                                  {"ranks", ranks_json(ranks.ranks)},
                                  {"random", ranks_json(ranks.blind.random)},
                                  {"best_fixed", ranks_json(ranks.blind.fixed)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace mapsim
