// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/import.hpp"
#include "app/onnx_model.hpp"
#include "arch/load.hpp"
#include "arch/print.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/accelforge.hpp"
#include "interop/folder_files.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_import.hpp"
#include "interop/zigzag.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/supported.hpp"
#include "report/json.hpp"
#include "workloads/graph_print.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

Arch arch_of(const TimeloopImport& import) {
  try {
    return to_arch(import.design.machine);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

// The architecture, with where the numbers of a node come from beside its name.
std::string arch_text(const TimeloopImport& import, const Arch& arch) {
  std::string text = print_arch(arch);
  for (const auto& [name, origin] : import.origins) {
    for (const char* kind : {"storage", "compute"}) {
      const std::string line = fmt::format("  - {}: {}\n", kind, name);
      if (const std::size_t at = text.find(line); at != std::string::npos) {
        text.insert(at + line.size(), fmt::format("    # {}\n", printable(origin)));
      }
    }
  }
  return text;
}

// What contradicts itself only when all of it is read: a complaint about the design's files, not
// about one that nobody has written yet.
void check_constraints(const std::string& text, const Problem& problem,
                       const std::vector<std::string>& sources) {
  try {
    parse_constraints(text, "constraints.yaml", problem);
  } catch (const ConfigError& error) {
    std::vector<Diagnostic> found;
    for (const Diagnostic& each : error.diagnostics()) {
      found.push_back(
          {joined(sources, " "), 0, 0, "",
           fmt::format("the constraints of the mapspace cannot hold here: {}, of {}", each.message,
                       each.source.substr(each.source.find_first_not_of(' '))),
           ""});
    }
    throw ConfigError{std::move(found)};
  }
}

// What goes into the folder, read back once: what is written can be used.
std::vector<ImportedFile> files_of(const TimeloopImport& import,
                                   const std::vector<std::string>& sources) {
  std::string heading = "# Imported from Timeloop.\n";
  for (const std::string& note : import.notes) {
    heading += fmt::format("# {}\n", note);
  }
  std::vector<ImportedFile> files;
  if (import.has_machine) {
    files.push_back({"arch.yaml", heading + arch_text(import, arch_of(import))});
  }
  if (import.has_workload) {
    files.push_back({"workload.yaml",
                     (import.has_machine ? "" : heading) + print_workload(import.design.workload)});
  }
  std::optional<Arch> arch;
  if (import.has_machine) {
    arch = parse_arch(files.front().text, "arch.yaml");
  }
  std::optional<Workload> workload;
  if (import.has_workload) {
    workload = parse_workload(files.back().text, "workload.yaml");
  }
  if (!arch || !workload) {
    return files;
  }
  if (!import.design.blocks.empty()) {
    const Mapping mapping = to_mapping(import.design);
    files.push_back({"mapping.yaml", print_mapping(*arch, *workload, mapping)});
    parse_mapping(files.back().text, "mapping.yaml", *arch, *workload);
  }
  // Without constraints of its own a design has those of every Timeloop mapping.
  files.push_back({"constraints.yaml", constraints_text(import)});
  check_constraints(files.back().text, Problem{*arch, *workload}, sources);
  return files;
}

ImportedFiles import_timeloop(const ImportArguments& arguments) {
  std::vector<std::string> files = timeloop_files(arguments.files, arguments.timeloop);
  TimeloopImport import = read_timeloop(files, timeloop_options(arguments.timeloop));
  return {files_of(import, files), std::move(import.notes), std::move(import.objective)};
}

// A plan reads the chip's file beside those of its cores.
ImportedFiles files_of(const ZigzagChip& chip, std::vector<std::string> notes) {
  const std::string heading = "# Imported from Stream.\n";
  ImportedFiles cores{{}, std::move(notes)};
  for (const ZigzagCore& core : chip.cores) {
    cores.files.push_back({core.name + ".arch.yaml", heading + print_arch(core.arch)});
    parse_arch(cores.files.back().text, cores.files.back().name);
  }
  if (!chip.soc.empty()) {
    cores.files.push_back({"soc.yaml", heading + chip.soc});
  }
  return cores;
}

// An architecture of its own is written for a layer whose unrolling gives a memory another share of
// its energy.
ImportedFiles import_zigzag(const ImportArguments& arguments) {
  ZigzagImport import = read_zigzag(arguments.files, options_of(arguments.onnx));
  const std::string heading = "# Imported from ZigZag.\n";
  if (!import.chip.cores.empty()) {
    return files_of(import.chip, std::move(import.notes));
  }
  ImportedFiles imported{{{"arch.yaml", heading + print_arch(import.arch)}},
                         std::move(import.notes)};
  parse_arch(imported.files.front().text, "arch.yaml");
  std::set<std::string> names;
  Network network;
  network.name = import.arch.name;
  network.unpriced = import.left_out;
  for (const ZigzagImport::Layer& layer : import.layers) {
    std::string name = layer.name;
    while (!names.insert(name).second) {
      name += "_";
    }
    const std::string machine = heading + print_arch(layer.arch);
    const bool usual = machine == imported.files.front().text;
    const std::string file = usual ? "arch.yaml" : name + ".arch.yaml";
    if (!usual) {
      imported.files.push_back({file, machine});
    }
    const std::string workload = heading + print_workload(layer.workload);
    imported.files.push_back({name + ".workload.yaml", workload});
    network.layers.push_back({name, layer.workload, layer.count, name + ".workload.yaml"});
    imported.layer = network.layers.front().name;
    const std::string rules =
        fmt::format("# Imported from ZigZag, for {}.\n{}", file, layer.constraints);
    check_constraints(rules, Problem{parse_arch(machine, file), parse_workload(workload, name)},
                      arguments.files);
    imported.files.push_back({name + ".constraints.yaml", rules});
    if (layer.found) {
      imported.files.push_back(
          {name + ".mapping.yaml",
           fmt::format("# Found by ZigZag, for {}.\n{}", file,
                       print_mapping(layer.arch, layer.workload, layer.found->mapping))});
      parse_mapping(imported.files.back().text, imported.files.back().name, layer.arch,
                    layer.workload);
    }
  }
  const PrintedGraph graph =
      import.graph ? print_graph(import.network, *import.graph) : PrintedGraph{};
  if (!graph.why.empty()) {
    imported.notes.push_back("the network is a list of layers, not a graph: " + graph.why);
  }
  if (network.layers.size() > 1 || !graph.text.empty()) {
    imported.files.push_back(
        {"network.yaml",
         heading + (graph.text.empty() ? print_network(network, ".") : graph.text)});
    imported.notes.emplace_back(
        "mapsim network takes arch.yaml and network.yaml, mapsim plan a chip and a network that is "
        "a graph; neither reads constraints: their optima are those of free unrollings");
  }
  return imported;
}

// A layer has an architecture of its own where the widths of its tensors change what a memory
// holds.
ImportedFiles import_accelforge(const ImportArguments& arguments) {
  ForgeImport import = read_accelforge(
      arguments.files, {arguments.timeloop.settings.begin(), arguments.timeloop.settings.end()});
  const std::string heading = "# Imported from AccelForge.\n";
  ImportedFiles imported{{}, std::move(import.notes)};
  const auto add = [&imported](const std::string& name, const std::string& text) {
    imported.files.push_back({name, text});
    return text;
  };
  std::string usual;
  if (import.arch) {
    usual = add("arch.yaml", heading + print_arch(*import.arch));
    parse_arch(usual, "arch.yaml");
  }
  if (!import.network) {
    return imported;
  }
  add("network.yaml", heading + print_network(*import.network, "."));
  if (import.chain) {
    add("chain.yaml", heading + print_chain(*import.chain));
  }
  if (!import.tree.empty()) {
    add("tree.yaml", heading + import.tree);
  }
  const bool ruled = std::any_of(import.layers.begin(), import.layers.end(),
                                 [](const auto& layer) { return !layer.constraints.empty(); });
  if (import.arch && ruled) {
    imported.notes.emplace_back(
        "conditions on a layer's loops (min_usage, reuse ...) are in its constraints; mapsim "
        "network and the search of a chain do not read these, so their optima are over a wider "
        "mapspace");
  }
  for (std::size_t i = 0; i < import.layers.size(); ++i) {
    const ForgeImport::Layer& layer = import.layers[i];
    const std::string text =
        add(layer.name + ".yaml", heading + print_workload(import.network->layers[i].workload));
    const Workload workload = parse_workload(text, layer.name);
    if (!import.arch) {
      continue;
    }
    const std::string machine = heading + print_arch(layer.arch);
    const std::string file = machine == usual ? "arch.yaml" : layer.name + ".arch.yaml";
    if (machine != usual) {
      add(file, machine);
    }
    const Problem problem{parse_arch(machine, file), workload};
    const std::string where = fmt::format("# Imported from AccelForge, for {}.\n", file);
    if (!layer.constraints.empty()) {
      check_constraints(add(layer.name + ".constraints.yaml", where + layer.constraints), problem,
                        arguments.files);
    }
    if (!layer.mapping.empty()) {
      parse_mapping(add(layer.name + ".mapping.yaml", where + layer.mapping),
                    layer.name + ".mapping.yaml", problem.arch(), problem.workload());
    }
  }
  return imported;
}

const ImportedFile* file_named(const ImportedFiles& imported, std::string_view name) {
  const auto found = std::find_if(imported.files.begin(), imported.files.end(),
                                  [name](const ImportedFile& file) { return file.name == name; });
  return found == imported.files.end() ? nullptr : &*found;
}

// The first layer's own file of a kind, else the file that all layers have.
std::string file_of(const ImportedFiles& imported, const std::string& kind) {
  const std::string own = imported.layer + "." + kind;
  return file_named(imported, own) == nullptr ? kind : own;
}

// Why the search refuses what came in; nothing if it does not.
std::string why_not_searched(const ImportedFiles& imported) {
  const ImportedFile* arch = file_named(imported, file_of(imported, "arch.yaml"));
  const ImportedFile* workload = file_named(imported, file_of(imported, "workload.yaml"));
  if (arch == nullptr || workload == nullptr) {
    return "";
  }
  const Problem problem{parse_arch(arch->text, arch->name),
                        parse_workload(workload->text, workload->name)};
  const ImportedFile* rules = file_named(imported, file_of(imported, "constraints.yaml"));
  try {
    check_supported(
        problem,
        rules == nullptr ? Constraints{} : parse_constraints(rules->text, rules->name, problem),
        "exact");
  } catch (const UnsupportedSearch& refusal) {
    return refusal.what();
  }
  return "";
}

// The command that comes next, where a machine and a layer came in: a search, or, where there can
// be none, an evaluation; why there can be none is a note.
std::string next_step(ImportedFiles& imported, const std::string& folder) {
  const std::string why = why_not_searched(imported);
  if (!why.empty()) {
    imported.notes.push_back("mapsim search refuses this: " + why);
    if (file_named(imported, file_of(imported, "mapping.yaml")) == nullptr) {
      return "";
    }
  }
  std::string command = why.empty() ? "mapsim search" : "mapsim eval";
  std::size_t found = 0;
  using Part = std::pair<const char*, const char*>;  // an option, and the file that it takes
  for (const Part& part :
       {Part{"", "arch.yaml"}, Part{"", "workload.yaml"}, Part{"", "chain.yaml"},
        why.empty() ? Part{"--constraints ", "constraints.yaml"} : Part{"", "mapping.yaml"}}) {
    const std::string file = file_of(imported, part.second);
    if (file_named(imported, file) != nullptr) {
      ++found;
      command += fmt::format(" {}{}", part.first, (std::filesystem::path{folder} / file).string());
    }
  }
  if (why.empty() && !imported.objective.empty() && imported.objective != "energy") {
    command += " --objective " + imported.objective;
  }
  return found < 2 ? "" : command;
}

ImportedFiles import_one(const ImportArguments& arguments) {
  return arguments.format == "scalesim"     ? import_scalesim(arguments)
         : arguments.format == "zigzag"     ? import_zigzag(arguments)
         : arguments.format == "onnx"       ? import_onnx(arguments)
         : arguments.format == "accelforge" ? import_accelforge(arguments)
                                            : import_timeloop(arguments);
}

// The folders among the arguments, replaced by their files.
FolderFiles import_files(const ImportArguments& arguments) {
  FolderRequest request =
      folder_request(arguments.format, "import " + arguments.format, " -o " + arguments.folder);
  request.has_energies = !arguments.timeloop.ert.empty();
  request.why_not = [&arguments](const std::vector<std::string>& files) {
    if (arguments.format == "scalesim") {
      return why_no_scalesim(files);
    }
    ImportArguments one = arguments;
    one.files = files;
    return why_refused([&one] { import_one(one); });
  };
  return argument_files(arguments.files, request);
}

Answer answer_of(const ImportArguments& arguments, const ImportRecord& record,
                 const std::string& figures) {
  if (arguments.output.json) {
    return {kDone, import_json({"import", input_files("file", arguments.files)}, record)};
  }
  std::string text;
  for (const std::string& file : record.files) {
    text += fmt::format("wrote {}\n", file);
  }
  for (const std::string& note : record.notes) {
    text += fmt::format("note: {}\n", printable(note));
  }
  return {kDone,
          text + figures + (record.next.empty() ? "" : fmt::format("next: {}\n", record.next))};
}

}  // namespace

FolderRequest folder_request(const std::string& format, const std::string& command,
                             const std::string& rest) {
  FolderRequest request;
  request.format = format;
  request.reader = fmt::format("'{}'", command);
  request.call = [command, rest](const std::vector<std::string>& files) {
    return fmt::format("mapsim {} {}{}", command, fmt::join(files, " "), rest);
  };
  return request;
}

FolderFiles argument_files(const std::vector<std::string>& arguments,
                           const FolderRequest& request) {
  try {
    return files_of_folders(arguments, request);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

std::vector<std::string> timeloop_files(std::vector<std::string> files,
                                        const TimeloopArguments& arguments) {
  if (!arguments.ert.empty()) {
    files.push_back(arguments.ert);
  }
  return files;
}

TimeloopOptions timeloop_options(const TimeloopArguments& arguments) {
  return {{arguments.settings.begin(), arguments.settings.end()}, arguments.counts_only};
}

Answer run(const ImportArguments& given) {
  ImportArguments arguments = given;
  if (arguments.format == "gpu-table") {
    return import_gpu_tables(arguments);
  }
  if (arguments.folder == "-") {
    throw UsageError("-o: '-' names no folder; the files go to a folder (./- is one)");
  }
  namespace fs = std::filesystem;
  FolderFiles files = import_files(arguments);
  arguments.files = std::move(files.files);
  ImportedFiles imported = import_one(arguments);
  imported.notes.insert(imported.notes.begin(), files.notes.begin(), files.notes.end());
  std::error_code failure;
  fs::create_directories(arguments.folder, failure);
  if (failure) {
    throw UsageError(
        fmt::format("cannot make the folder '{}': {}", arguments.folder, failure.message()));
  }
  const Uninterrupted all_or_none;
  std::deque<OutputFile> open;  // all of them, before anything is written
  for (const ImportedFile& file : imported.files) {
    open.emplace_back((fs::path{arguments.folder} / file.name).string());
  }
  ImportRecord record;
  for (const ImportedFile& file : imported.files) {
    open.front().write(file.text);
    open.pop_front();
    record.files.push_back((fs::path{arguments.folder} / file.name).string());
  }
  record.next = next_step(imported, arguments.folder);
  record.notes = std::move(imported.notes);
  return answer_of(arguments, record, imported.figures);
}

}  // namespace mapsim
