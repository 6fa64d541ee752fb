// SPDX-License-Identifier: Apache-2.0
#include "report/json_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mapsim {

nlohmann::ordered_json provenance_json(const Provenance& origin) {
  // Objects and arrays are begun as such: the library leaves a null in a bad state where memory
  // ends while an index or push_back() makes it one.
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["schema"] = kResultSchema;
  json["tool"] = {{"name", "mapsim"}, {"version", tool_version()}};
  json["command"] = origin.command;
  json["inputs"] = nlohmann::ordered_json::object();
  for (const InputFile& input : origin.inputs) {
    json["inputs"][input.role] = {{"path", input.path},
                                  {"fnv1a", fmt::format("{:016x}", input.hash)}};
  }
  if (!origin.warnings.empty()) {
    json["warnings"] = origin.warnings;
  }
  return json;
}

void add_widths(nlohmann::ordered_json& json, const Widths& widths) {
  for (const auto& [name, bits] : widths.operands) {
    json.emplace("operand_bits", nlohmann::ordered_json::object());
    json["operand_bits"][name] = bits;
  }
  json["sum_bits"] = widths.sums;
  json["output_bits"] = widths.outputs;
}

nlohmann::ordered_json widths_json(const WidthSets& widths) {
  return {{"operands_bits", widths.operands},
          {"outputs_bits", widths.outputs},
          {"sums_bits", widths.sums}};
}

nlohmann::ordered_json record_json(const SimulationRecord& record) {
  auto differences = nlohmann::ordered_json::array();
  for (const SimulationRecord::Difference& difference : record.differences) {
    differences.push_back({{"count", difference.name},
                           {"closed_form", difference.model},
                           {"simulated", difference.simulated}});
  }
  nlohmann::ordered_json json{{"agrees", record.agrees()},
                              {"steps", record.steps},
                              {"counts_compared", record.counts_compared},
                              {"differences", differences},
                              {"outputs", record.outputs},
                              {"outputs_wrong", record.outputs_wrong}};
  if (!record.zeros.empty()) {
    auto counts = nlohmann::ordered_json::array();
    for (const ZeroCount& count : record.zeros) {
      counts.push_back(
          {{"count", count.name}, {"closed_form", count.expected}, {"simulated", count.simulated}});
    }
    json["zeros"] = {{"known", record.zeros_known}, {"counts", counts}};
  }
  return json;
}

bool SimulationRecord::agrees() const {
  return differences.empty() && outputs_wrong == 0 &&
         !(zeros_known && std::any_of(zeros.begin(), zeros.end(),
                                      [](const ZeroCount& count) { return !count.agrees(); }));
}

std::string list_json(const std::vector<ListedFile>& files) {
  nlohmann::ordered_json json = provenance_json({"list", {}});
  json["files"] = nlohmann::ordered_json::array();
  for (const ListedFile& file : files) {
    json["files"].push_back({{"kind", file.kind}, {"name", file.name}, {"what", file.what}});
  }
  return json.dump(2) + "\n";
}

}  // namespace mapsim
