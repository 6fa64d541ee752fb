// SPDX-License-Identifier: Apache-2.0
#include "app/manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

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
    return fmt::format("\\fI{}\\fR", roff(option.get_name(true)));
  }
  std::string all;
  const auto add = [&all](const char* hyphens, const std::string& name) {
    all += fmt::format("{}\\fB{}{}\\fR", all.empty() ? "" : ", ", hyphens, roff(name));
  };
  for (const std::string& name : option.get_snames()) {
    add("\\-", name);
  }
  for (const std::string& name : option.get_lnames()) {
    add("\\-\\-", name);
  }
  const std::string type = option.get_type_name();
  const bool is_flag = option.get_items_expected_max() == 0;
  return all + (is_flag || type.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(type)));
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
      text += fmt::format(".PP\n{}\n", roff(footer));
    }
  }
  return text + fmt::format(".SH EXIT STATUS\n{}\n", roff(app.get_footer()));
}

}  // namespace mapsim
