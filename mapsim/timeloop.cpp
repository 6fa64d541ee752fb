// SPDX-License-Identifier: Apache-2.0
#include "mapsim/timeloop.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "arch/print.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/folder_files.hpp"
#include "interop/timeloop_stats.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

ImportedTimeloop import_files(const std::vector<std::string>& paths,
                              const TimeloopOptions& options) {
  ImportedTimeloop found{read_timeloop(paths, options), {}, {}, {}, {}};
  const TimeloopImport& import = found.import;
  if (import.has_workload) {
    found.workload = print_workload(import.design.workload);
  }
  if (!import.has_machine) {
    return found;
  }
  const Arch arch = to_arch(import.design.machine);
  found.arch = print_arch(arch);
  if (!import.has_workload) {
    return found;
  }
  found.constraints = constraints_text(import);
  if (!import.design.blocks.empty()) {
    found.mapping = print_mapping(arch, import.design.workload, to_mapping(import.design));
  }
  return found;
}

}  // namespace

ImportedTimeloop import_timeloop(const std::vector<std::string>& paths,
                                 const TimeloopOptions& options) {
  FolderRequest request;
  request.format = "timeloop";
  request.reader = "import_timeloop()";
  request.call = [](const std::vector<std::string>& files) {
    return fmt::format("import_timeloop([\"{}\"])", fmt::join(files, "\", \""));
  };
  request.why_not = [&options](const std::vector<std::string>& files) {
    return why_unread([&] { import_files(files, options); });
  };
  const FolderFiles files = files_of_folders(paths, request);
  ImportedTimeloop found = import_files(files.files, options);
  found.import.notes.insert(found.import.notes.begin(), files.notes.begin(), files.notes.end());
  return found;
}

std::vector<ComparedFigure> compare_timeloop(const TimeloopImport& import,
                                             const std::string& statistics,
                                             const std::string& version) {
  static const std::map<std::string, TimeloopRules> kVersions{{"current", kAllTimeloopRules},
                                                              {"2024", kTimeloopRulesOf2024},
                                                              {"2021", kTimeloopRulesOf2021},
                                                              {"2020", kTimeloopRulesOf2020}};
  const auto rules = kVersions.find(version);
  if (rules == kVersions.end()) {
    throw std::invalid_argument{"version: '" + version +
                                "' is unknown; one of current, 2024, 2021, 2020"};
  }
  if (!import.has_machine || !import.has_workload || import.design.blocks.empty()) {
    throw std::invalid_argument{
        "an architecture, a problem and a mapping are compared: read all three together; "
        "timeloop-mapper writes its mapping to timeloop-mapper.map.yaml"};
  }
  if (import.design.machine.sparsity) {
    throw std::invalid_argument{
        "figures of a design with sparse_optimizations are means over data sets, which no rule "
        "derives"};
  }
  const Problem problem{to_arch(import.design.machine), import.design.workload};
  const TimeloopResult theirs = read_timeloop_stats(statistics, import.design);
  std::vector<ComparedFigure> figures = compare(
      import.design, problem, count(problem, to_mapping(import.design)), theirs, rules->second);
  if (import.energies != TimeloopImport::Energies::kTheirs) {
    std::erase_if(figures, [](const ComparedFigure& each) {
      return each.figure == TimeloopFigure::kEnergy ||
             each.figure == TimeloopFigure::kTotalEnergy ||
             each.figure == TimeloopFigure::kWholeEnergy;
    });
  }
  return figures;
}

}  // namespace mapsim
