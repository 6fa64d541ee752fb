// SPDX-License-Identifier: Apache-2.0
#include "campaign/campaign_parts.hpp"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "core/shipped.hpp"

namespace mapsim {

namespace {

// Backslashes before what glob(3) takes for a pattern.
std::string escaped(const std::string& folder) {
  std::string text;
  for (const char c : folder) {
    text +=
        std::string("*?[\\").find(c) == std::string::npos ? std::string{c} : std::string{'\\', c};
  }
  return text;
}

}  // namespace

std::vector<std::string> files_of(const std::string& folder, const std::string& pattern) {
  const std::filesystem::path relative{pattern};
  const std::string full =
      relative.is_absolute() || folder.empty() ? pattern : escaped(folder) + "/" + pattern;
  glob_t found{};
  std::vector<std::string> files;
  if (glob(full.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> shipped_files_of(const std::string& pattern, FileKind kind,
                                          const Words& configs) {
  std::vector<std::string> files;
  for (const std::string& name : shipped_names(kind, configs)) {
    if (fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME) == 0) {
      files.push_back(find_shipped(name, kind, configs));
    }
  }
  return files;
}

std::optional<Question> read_objective(Reader& reader, const Node& node) {
  Question question;
  const auto formula = [&](const Node* text) {
    if (text != nullptr && text->text == "throughput") {
      question.is_throughput = true;
      question.objective = Objective::kLatency;
      return true;
    }
    const auto parsed = reader.quantity(text, [](std::string_view given) {
      Parsed<Objective> read = parse_objective(given);
      if (auto* wrong = std::get_if<std::string>(&read)) {
        wrong->resize(std::min(wrong->find('\n'), wrong->size()));  // the file's own line follows
      }
      return read;
    });
    if (parsed) {
      question.objective = *parsed;
    }
    return parsed.has_value();
  };
  if (node.kind != Node::Kind::kMap) {
    return formula(&node) ? std::optional{question} : std::nullopt;
  }
  const Fields fields = reader.fields(node, {"minimize", "latency", "max_energy", "max_latency"});
  const bool good = formula(fields.require("minimize"));
  const auto mode = reader.choice(fields.find("latency"), {"steady", "ramped"}, "latency");
  question.objective.mode = mode == 1U ? LatencyMode::kRamped : LatencyMode::kSteady;
  question.objective.max_energy = reader.quantity(
      fields.find("max_energy"), [](std::string_view text) { return parse_energy(text); });
  const Node* limit = fields.find("max_latency");
  const auto parse = [](std::string_view text) -> Parsed<Cycles> {  // each machine has a clock
    auto wrong = wrong_duration(text);
    return wrong ? Parsed<Cycles>{*std::move(wrong)} : Cycles{1};
  };
  if (reader.quantity(limit, parse)) {
    question.max_latency = limit->text;
  }
  return good ? std::optional{question} : std::nullopt;
}

}  // namespace mapsim
