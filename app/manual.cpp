// SPDX-License-Identifier: Apache-2.0
#include "app/manual.hpp"

#include <fmt/format.h>

#include <string_view>

#include "app/command_list.hpp"
#include "report/json.hpp"

namespace mapsim {

namespace {

// Text as roff: no line begins with a command, hyphens are those of options.
std::string roff(std::string_view words) {
  std::string text;
  for (const char c : words) {
    const bool starts = text.empty() || text.back() == '\n';
    if (starts && (c == '.' || c == '\'')) {
      text += "\\&";
    }
    text += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string{c};
  }
  return text;
}

std::string names(const Option& option) {
  if (!option.names.starts_with("-")) {
    return fmt::format("\\fI{}\\fR", roff(option.names));
  }
  std::string all = "\\fB";
  for (const char c : option.names) {
    all += c == ',' ? "\\fR, \\fB" : roff({&c, 1});
  }
  return all + "\\fR" + (option.type.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.type)));
}

std::string options_text(const Options& options) {
  std::string text;
  for (const Option& option : options) {
    text += fmt::format(".TP\n{}\n{}\n", names(option), roff(option.help));
  }
  return text;
}

}  // namespace

const char* const kProgramHelp =
    "Design-space simulator for mapping deep-learning layers onto hardware";

const char* const kExitCodes =
    "Exit codes: 0 done; 1 a negative answer (nothing fits, counts differ, a proof does not\n"
    "hold); 2 bad input or usage; 4 an error of mapsim's own; 130 interrupted, the best so far "
    "written.";

// No value: who asks for information gets it instead of a command.
Option help_option() { return {"-h,--help", "", "Print this help message and exit", {}}; }
Options information_options() {
  return {{"--version", "", "Print the version, its commit and what is built in, and exit", {}},
          {"--man", "", "Print the manual page, for man -l, and exit", {}},
          {"--completion", "", "Print completions for bash, to be sourced, and exit", {}}};
}

std::string manual() {
  std::string text = fmt::format(
      ".TH MAPSIM 1 \"\" \"mapsim {}\" \"User Commands\"\n.SH NAME\nmapsim \\- {}\n"
      ".SH SYNOPSIS\n.B mapsim\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH OPTIONS\n{}.SH COMMANDS\n",
      tool_version(), roff(kProgramHelp),
      options_text(joined({{help_option()}, information_options()})));
  for (const CommandEntry& command : command_list()) {
    const CommandOptions taken = command.make().options;
    text += fmt::format(".SS mapsim {}\n{}\n{}", roff(command.name), roff(command.help),
                        options_text(joined({{help_option()}, taken.options})));
    if (!taken.footer.empty()) {
      text += fmt::format(".PP\n{}\n", roff(taken.footer));
    }
  }
  return text + fmt::format(".SH EXIT STATUS\n{}\n", roff(kExitCodes));
}

}  // namespace mapsim
