// SPDX-License-Identifier: Apache-2.0
#include "app/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <vector>

namespace mapsim {

namespace {

// Text as roff: no line begins with a command, hyphens are those of options.
std::string roff(const std::string& words) {
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

std::string names(const CLI::Option& option) {
  if (option.get_positional()) {
    return "\\fI" + roff(option.get_name(true)) + "\\fR";
  }
  std::vector<std::string> all;
  for (const std::string& name : option.get_snames()) {
    all.push_back("\\fB\\-" + roff(name) + "\\fR");
  }
  for (const std::string& name : option.get_lnames()) {
    all.push_back("\\fB\\-\\-" + roff(name) + "\\fR");
  }
  const std::string type = option.get_type_name();
  const bool is_flag = option.get_items_expected_max() == 0;
  return fmt::format("{}{}", fmt::join(all, ", "),
                     is_flag || type.empty() ? "" : " \\fI" + roff(type) + "\\fR");
}

std::string options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    text += fmt::format(".TP\n{}\n{}\n", names(*option), roff(option->get_description()));
  }
  return text;
}

}  // namespace

std::string manual(const CLI::App& app, const std::string& version) {
  std::string text = fmt::format(
      ".TH MAPSIM 1 \"\" \"mapsim {}\" \"User Commands\"\n.SH NAME\nmapsim \\- {}\n"
      ".SH SYNOPSIS\n.B mapsim\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH OPTIONS\n{}.SH COMMANDS\n",
      version, roff(app.get_description()), options(app));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format(".SS mapsim {}\n{}\n{}", roff(command->get_name()),
                        roff(command->get_description()), options(*command));
    if (const std::string footer = command->get_footer(); !footer.empty()) {
      text += ".PP\n" + roff(footer) + "\n";
    }
  }
  return text + ".SH EXIT STATUS\n" + roff(app.get_footer()) + "\n";
}

}  // namespace mapsim
