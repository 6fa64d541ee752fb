// SPDX-License-Identifier: Apache-2.0
#include "validate/calibration_json.hpp"

#include <nlohmann/json.hpp>

#include "validate/metrics_json.hpp"

namespace mapsim {
namespace {

using Json = nlohmann::ordered_json;

Json score_json(const CalibrationScore& score) {
  Json json{{"name", score.name}};
  json["errors"] = score.errors ? errors_json(*score.errors) : Json();
  json["ranks"] = score.ranks.problems == 0 ? Json()
                                            : Json{{"problems", score.ranks.problems},
                                                   {"tau", score.ranks.tau},
                                                   {"top1_regret", score.ranks.top1},
                                                   {"top5_regret", score.ranks.top5}};
  return json;
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

}  // namespace

std::string calibration_json(const std::string& head, const Gpu& gpu,
                             const std::vector<GroupCalibration>& groups) {
  Json json = Json::parse(head);
  json["gpu"] = gpu.name;
  json["groups"] = Json::array();
  for (const GroupCalibration& group : groups) {
    json["groups"].push_back(group_json(group));
  }
  return json.dump(2) + "\n";
}

}  // namespace mapsim
