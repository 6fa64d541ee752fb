// SPDX-License-Identifier: Apache-2.0
#include "app/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <map>
#include <thread>
#include <vector>

#include "core/edit_distance.hpp"
#include "report/json.hpp"
#include "report/names.hpp"

namespace mapsim {

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 a negative answer (nothing fits, or the counts differ); 2 bad input or\n"
    "usage; 4 an error of mapsim's own; 130 interrupted, the best so far written.";
constexpr int kMaxThreads = 1024;

void add_output(CLI::App& command, Output& output, bool with_json = true) {
  if (with_json) {
    command.add_flag("--json", output.json, "JSON for programs instead of text");
  }
  command.add_option("--out", output.file, "Write to FILE, whole or not at all")->type_name("FILE");
}

void add_inputs(CLI::App& command, std::string& arch, std::string& workload) {
  command.add_option("ARCH", arch, "Architecture (YAML)")->required()->type_name("");
  command.add_option("WORKLOAD", workload, "Workload (YAML)")->required()->type_name("");
}

CLI::App& add_search(CLI::App& app, SearchArguments& a) {
  CLI::App& command = *app.add_subcommand("search", "The best mapping, and the proof that it is");
  add_inputs(command, a.arch, a.workload);
  command.add_option("--constraints", a.constraints, "What mappings must look like (YAML)")
      ->type_name("FILE");
  std::map<std::string, Objective> objectives;
  for (const auto& [name, value] : kObjectives) {
    objectives.emplace(name, value);
  }
  command.add_option("--objective", a.objective, "energy (default), latency or edp")
      ->transform(CLI::Transformer(objectives))
      ->type_name("NAME");
  command.add_option("--strategy", a.strategy, "exact (default), exhaustive or sample")
      ->check([](const std::string& name) {
        return find_mapper(name) ? std::string{}
                                 : "no strategy '" + name + "'" +
                                       suggestion(name, {"exact", "exhaustive", "sample"});
      })
      ->type_name("NAME");
  command.add_flag("--even", a.even, "A level keeps all its tensors at one point of the nest");
  command.add_option("--samples", a.samples, "How many mappings to sample [10000]")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  command.add_option("--seed", a.seed, "Seed of the samples [1]")->type_name("N");
  command.add_option("--threads", a.threads, "Threads; the answer does not depend on it [all]")
      ->check(CLI::Range(1, kMaxThreads))
      ->type_name("N");
  command.add_option("--save-mapping", a.mapping_file, "Write the best mapping to FILE (YAML)")
      ->type_name("FILE");
  add_output(command, a.output);
  return command;
}

CLI::App& add_eval(CLI::App& app, EvalArguments& a) {
  CLI::App& command = *app.add_subcommand("eval", "The cost of one mapping");
  add_inputs(command, a.arch, a.workload);
  command.add_option("MAPPING", a.mapping, "Mapping (YAML)")->required()->type_name("");
  add_output(command, a.output);
  return command;
}

CLI::App& add_simulate(CLI::App& app, SimulateArguments& a) {
  CLI::App& command = *app.add_subcommand(
      "simulate", "Walk a mapping step by step; compare counts and results with eval's");
  add_inputs(command, a.arch, a.workload);
  command.add_option("MAPPING", a.mapping, "Mapping (YAML)")->required()->type_name("");
  command.add_option("--seed", a.seed, "Seed of the operands [1]")->type_name("N");
  command.add_option("--max-steps", a.max_steps, "Refuse walks of more steps [10000000]")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  add_output(command, a.output, false);
  return command;
}

CLI::App& add_roofline(CLI::App& app, RooflineArguments& a) {
  CLI::App& command = *app.add_subcommand("roofline", "Bounds that no mapping can beat");
  add_inputs(command, a.arch, a.workload);
  add_output(command, a.output);
  return command;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// CLI11 says of a misspelt command only that one is required.
void check_command_name(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw UsageError(fmt::format("no command '{}'{}", name, suggestion(name, names)));
  }
}

std::string unknown_arguments(const CLI::App& command) {
  for (const std::string& extra : command.remaining()) {
    if (extra.size() > 1 && extra.front() == '-') {
      const std::string name = extra.substr(0, extra.find('='));
      return fmt::format("no option '{}'{}", name, suggestion(name, option_names(command)));
    }
  }
  return fmt::format("'{}' is one argument too many", command.remaining().front());
}

}  // namespace

std::variant<Command, Information> parse_arguments(int argc, const char* const* argv) {
  CLI::App app{"Design-space simulator for mapping deep-learning layers onto hardware"};
  app.name("mapsim");
  app.set_version_flag("--version", "mapsim " + tool_version());
  app.footer(kExitCodes);
  app.require_subcommand(1);
  SearchArguments search;
  search.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  EvalArguments eval;
  SimulateArguments simulate;
  RooflineArguments roofline;
  CLI::App* const commands[] = {&add_search(app, search), &add_eval(app, eval),
                                &add_simulate(app, simulate), &add_roofline(app, roofline)};
  for (CLI::App* command : commands) {
    command->allow_extras();
  }
  if (argc > 1 && argv[1][0] != '-') {
    check_command_name(app, argv[1]);
  }
  // CLI11 speaks by exceptions, of help too; here they become values and errors of ours.
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Information{app.help()};
  } catch (const CLI::CallForVersion&) {
    return Information{app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  const CLI::App& chosen = *app.get_subcommands().front();
  if (chosen.remaining_size() > 0) {
    throw UsageError(unknown_arguments(chosen));
  }
  const std::map<std::string, Command> parsed{
      {"search", search}, {"eval", eval}, {"simulate", simulate}, {"roofline", roofline}};
  return parsed.at(chosen.get_name());
}

}  // namespace mapsim
