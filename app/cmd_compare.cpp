// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/import.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/folder_files.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_compare.hpp"
#include "interop/timeloop_stats.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace mapsim {

namespace {

// Why energies that are not Accelergy's say nothing about ours; empty: they are.
const char* why_other(TimeloopImport::Energies energies) {
  switch (energies) {
    case TimeloopImport::Energies::kTheirs:
      return "";
    case TimeloopImport::Energies::kOwnTables:
      return "own tables";
    case TimeloopImport::Energies::kLeftOut:
      return "left out";
  }
  return "";
}

bool is_of_table(TimeloopFigure figure) {
  return figure == TimeloopFigure::kEnergy || figure == TimeloopFigure::kTotalEnergy ||
         figure == TimeloopFigure::kWholeEnergy;
}

ComparisonRecord comparison_of(const std::vector<ComparedFigure>& figures,
                               TimeloopImport::Energies energies) {
  ComparisonRecord record;
  record.tool = "timeloop";
  for (const ComparedFigure& each : figures) {
    if (energies != TimeloopImport::Energies::kTheirs && is_of_table(each.figure)) {
      record.figures.push_back({to_string(each.figure),
                                each.where,
                                each.timeloop,
                                std::nullopt,
                                each.ours,
                                why_other(energies),
                                {}});
      ++record.not_compared;
      continue;
    }
    ComparisonRecord::Figure figure{
        to_string(each.figure),  each.where, each.timeloop, each.derived, each.ours,
        to_string(each.verdict), {}};
    for (const TimeloopRule rule : IdRange<TimeloopRule>{kTimeloopRules}) {
      if (each.rules.contains(rule)) {
        figure.rules.emplace_back(to_string(rule));
      }
    }
    record.figures.push_back(std::move(figure));
    record.equal += each.verdict == Verdict::kEqual ? 1 : 0;
    record.derived += each.verdict == Verdict::kExplained ? 1 : 0;
    record.unexplained += each.verdict == Verdict::kUnexplained ? 1 : 0;
  }
  return record;
}

// By what a user calls them, newest first.
struct Version {
  const char* name;
  TimeloopRules rules;
};
constexpr std::array kVersions{
    Version{"current", kAllTimeloopRules}, Version{"2024", kTimeloopRulesOf2024},
    Version{"2021", kTimeloopRulesOf2021}, Version{"2020", kTimeloopRulesOf2020}};

// What is unexplained may be of another version: all of them are tried.
template <class Compare>
ComparisonRecord compare_by_version(const std::string& wanted, const Compare& compare) {
  const auto* version = std::find_if(kVersions.begin(), kVersions.end(),
                                     [&](const Version& each) { return each.name == wanted; });
  ComparisonRecord record = compare(version->rules);
  std::int64_t fewest = record.unexplained;
  for (const Version& other : kVersions) {
    if (fewest == 0) {
      break;
    }
    if (const std::int64_t left = compare(other.rules).unexplained; left < fewest) {
      fewest = left;
      record.closer = {other.name, left};
    }
  }
  return record;
}

// The folders among the arguments, replaced by their files.
FolderFiles design_of(const CompareArguments& arguments) {
  FolderRequest request =
      folder_request("timeloop", "compare timeloop", " --stats " + arguments.stats);
  request.compares = true;
  request.has_energies = !arguments.timeloop.ert.empty();
  request.why_not = [&arguments](const std::vector<std::string>& files) {
    return why_refused([&] {
      const TimeloopImport import = read_timeloop(timeloop_files(files, arguments.timeloop),
                                                  timeloop_options(arguments.timeloop));
      if (import.design.blocks.empty()) {
        throw UsageError("no mapping");
      }
    });
  };
  return argument_files(arguments.files, request);
}

std::string comparison_text(const ComparisonRecord& record, bool all,
                            TimeloopImport::Energies energies) {
  std::string text =
      fmt::format("{} figures: {} equal, {} derived by Timeloop's rules, {} unexplained\n",
                  record.figures.size(), record.equal, record.derived, record.unexplained);
  if (record.closer) {
    text += fmt::format("by the rules of another version {} unexplained: --timeloop-version {}\n",
                        record.closer->unexplained == 0
                            ? "none is"
                            : fmt::format("{} are", record.closer->unexplained),
                        record.closer->version);
  }
  if (record.not_compared > 0) {
    text += fmt::format("{} energies are not compared: {}\n", record.not_compared,
                        energies == TimeloopImport::Energies::kOwnTables
                            ? "there is no ERT, and ours are by our own tables"
                            : "ours are left out");
  }
  std::vector<Row> rows{{"figure", "Timeloop", "derived", "ours", "rules"}};
  for (const ComparisonRecord::Figure& each : record.figures) {
    if (all || each.verdict != "equal") {
      const std::string rules = each.rules.empty() ? each.verdict : joined(each.rules, "; ");
      rows.push_back({fmt::format("{}, {}", each.figure, each.where),
                      fmt::format("{:.10g}", each.theirs),
                      each.derived ? fmt::format("{:.10g}", *each.derived) : "-",
                      each.ours ? fmt::format("{:.10g}", *each.ours) : "-", rules});
    }
  }
  return text + (rows.size() > 1 ? table(rows) : "");
}

}  // namespace

Answer run(const CompareArguments& arguments) {
  if (arguments.format == "zigzag") {
    return compare_zigzag(arguments);
  }
  if (arguments.stats.empty()) {
    throw UsageError(
        "compare timeloop: --stats FILE is required. timeloop-model and timeloop-mapper write it "
        "to their output folder (timeloop-model.stats.txt, timeloop-mapper.stats.txt), beside the "
        "energies (*.ERT.yaml) and the mapping (*.map.yaml)");
  }
  const FolderFiles design = design_of(arguments);
  const std::vector<std::string> files = timeloop_files(design.files, arguments.timeloop);
  TimeloopImport import = read_timeloop(files, timeloop_options(arguments.timeloop));
  import.notes.insert(import.notes.begin(), design.notes.begin(), design.notes.end());
  if (!import.has_machine || !import.has_workload || import.design.blocks.empty()) {
    throw UsageError(
        "compare needs an architecture, a problem and a mapping; timeloop-mapper writes "
        "its mapping to timeloop-mapper.map.yaml");
  }
  if (import.design.machine.sparsity) {
    throw UsageError(
        "compare timeloop: figures of a design with sparse_optimizations are means over data sets, "
        "which no rule derives; 'mapsim import' and 'mapsim eval' give ours");
  }
  const TimeloopResult result = read_timeloop_stats(arguments.stats, import.design);
  const Problem problem{to_arch(import.design.machine), import.design.workload};
  const Mapping mapping = to_mapping(import.design);
  const Counts counts = count(problem, mapping);
  const ComparisonRecord record = compare_by_version(arguments.version, [&](TimeloopRules rules) {
    return comparison_of(compare(import.design, problem, counts, result, rules), import.energies);
  });
  const ExitCode code = record.unexplained == 0 ? kDone : kNegative;
  if (arguments.output.json) {
    Provenance origin{"compare", input_files("design", files), import.notes};
    origin.inputs.push_back(input_file("stats", arguments.stats));
    return {code, comparison_json(origin, problem, mapping, record)};
  }
  std::string text = comparison_text(record, arguments.all, import.energies);
  for (const std::string& note : import.notes) {
    text += fmt::format("note: {}\n", printable(note));
  }
  return {code, text};
}

}  // namespace mapsim
