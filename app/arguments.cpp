// SPDX-License-Identifier: Apache-2.0
#include "app/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "app/manual.hpp"
#include "app/options.hpp"
#include "core/edit_distance.hpp"
#include "report/json.hpp"

namespace mapsim {

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 a negative answer (nothing fits, counts differ, a proof does not\n"
    "hold); 2 bad input or usage; 4 an error of mapsim's own; 130 interrupted, the best so far "
    "written.";

Words option_names(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

Words command_names(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Misspelt commands and options, before CLI11 sees them: it says only that something is missing.
void check_spelling(const CLI::App& app, const Words& words) {
  const Words commands = command_names(app);
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (word == "--") {
      return;
    }
    if (word.starts_with("--")) {
      const Words known = option_names(*command);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw UsageError(fmt::format("no option '{}'{}", name, suggestion(name, known)));
      }
    } else if (command == &app && !word.starts_with("-")) {
      if (std::find(commands.begin(), commands.end(), word) == commands.end()) {
        throw UsageError(fmt::format("no command '{}'{}", word, suggestion(word, commands)));
      }
      command = app.get_subcommand(word);
    }
  }
  if (words.empty()) {
    throw UsageError(fmt::format("a command is missing; one of {}", fmt::join(commands, ", ")));
  }
}

// CLI11 speaks by exceptions, of help too; here they become values and errors of ours.
std::optional<Information> read(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Information{app.help()};
  } catch (const CLI::CallForVersion&) {
    return Information{app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

// The commands, each with the arguments that CLI11 fills.
struct Offered {
  CLI::App& app;
  std::map<const CLI::App*, std::function<Command()>> commands;

  template <class Arguments>
  void add(void (*describe)(CLI::App&, Arguments&)) {
    const auto arguments = std::make_shared<Arguments>();
    describe(app, *arguments);
    commands[app.get_subcommands(nullptr).back()] = [arguments] { return Command{*arguments}; };
  }
};

}  // namespace

std::variant<Command, Information> parse_arguments(int argc, const char* const* argv) {
  CLI::App app{"Design-space simulator for mapping deep-learning layers onto hardware"};
  app.name("mapsim");
  app.set_version_flag("--version", "mapsim " + tool_version());
  bool man = false;  // asked for below
  app.add_flag("--man", man, "Print the manual page, for man -l, and exit");
  app.footer(kExitCodes);
  app.require_subcommand(1);
  Offered offered{app, {}};
  offered.add(add_search);
  offered.add(add_network);
  offered.add(add_sweep);
  offered.add(add_merge);
  offered.add(add_results);
  offered.add(add_report);
  offered.add(add_check);
  offered.add(add_eval);
  offered.add(add_simulate);
  offered.add(add_roofline);
  offered.add(add_show);
  offered.add(add_histogram);
  offered.add(add_import);
  offered.add(add_export);
  offered.add(add_calibrate);
  offered.add(add_validate);
  offered.add(add_microbench);
  check_spelling(app, Words(argv + 1, argv + argc));
  if (argc == 2 && std::string_view{argv[1]} == "--man") {
    return Information{manual(app, tool_version())};
  }
  if (const auto information = read(app, argc, argv)) {
    return *information;
  }
  return offered.commands.at(app.get_subcommands().front())();
}

}  // namespace mapsim
