// SPDX-License-Identifier: Apache-2.0
// Answers of the commands that write files of a kind of their own.
#include <nlohmann/json.hpp>

#include "report/json_head.hpp"

namespace mapsim {

std::string text_json(const Provenance& origin, const WrittenText& written) {
  nlohmann::ordered_json json = provenance_json(origin);
  json["format"] = written.format;
  json["text"] = written.text;
  json["notes"] = written.notes;
  if (origin.command == "report") {
    json["figures"] = nlohmann::ordered_json::array();
    for (const WrittenText::Figure& figure : written.figures) {
      json["figures"].push_back({{"name", figure.name},
                                 {"caption", figure.caption},
                                 {"svg", figure.svg},
                                 {"csv", figure.csv}});
    }
  }
  return json.dump(2) + "\n";
}

std::string import_json(const Provenance& origin, const ImportRecord& record) {
  nlohmann::ordered_json json = provenance_json(origin);
  json["files"] = record.files;
  json["notes"] = record.notes;
  json["next"] = nullptr;
  if (!record.next.empty()) {
    json["next"] = record.next;
  }
  json["tables"] = nlohmann::ordered_json::array();
  for (const ImportRecord::Table& table : record.tables) {
    json["tables"].push_back({{"path", table.path},
                              {"kind", table.kind},
                              {"added", table.added},
                              {"known", table.known}});
  }
  return json.dump(2) + "\n";
}

std::string merge_json(const std::string& into, const std::vector<std::string>& from) {
  nlohmann::ordered_json json = provenance_json({"merge", {}});
  json["into"] = into;
  json["from"] = from;
  return json.dump(2) + "\n";
}

}  // namespace mapsim
