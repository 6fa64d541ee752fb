// SPDX-License-Identifier: Apache-2.0
#include "app/manual.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "app/command_list.hpp"
#include "app/examples.hpp"
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

// A name and what it stands for.
using NamedText = std::pair<std::string_view, std::string_view>;

constexpr std::array kFiles{
    NamedText{"configs/",
              "Shipped machines, layers, networks, mappings, constraints and campaigns, which "
              "commands take by name. The folder is looked for in the working folder, beside the "
              "program, and in share/mapsim where the program is installed. configs/schema has the "
              "JSON schemas of these files, configs/schema/results those of --json."},
    NamedText{"docs/",
              "The documents that messages name (docs/energy.md). Where the program is installed, "
              "they are in "
              "share/doc/mapsim, with README.md to begin with."},
    NamedText{"FILE.PID.tmp",
              "An output while it is being written. It is renamed to FILE when it is complete."}};
constexpr std::array kEnvironment{
    NamedText{
        "MAPSIM_CUDA_LIBRARY, MAPSIM_NVML_LIBRARY, MAPSIM_CUBLAS_LIBRARY, "
        "MAPSIM_NVRTC_LIBRARY",
        "Paths of NVIDIA's libraries, for validate and microbench, if the system does not find "
        "them."},
    NamedText{"MAPSIM_CUDA_INCLUDE", "Folder of CUDA's headers, for compiling kernels."},
    NamedText{"CUDA_HOME", "A CUDA toolkit, in which validate and microbench look for both."},
    NamedText{"OMPI_COMM_WORLD_SIZE, PMIX_RANK",
              "Set by mpirun; sweep then divides its points among the processes."}};

template <std::size_t kCount>
std::string named_text(const std::array<NamedText, kCount>& list) {
  std::string text;
  for (const auto& [name, what] : list) {
    text += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(what));
  }
  return text;
}

}  // namespace

const char* const kProgramHelp =
    "Find provably optimal mappings of deep-learning layers onto hardware";

const char* const kExitCodes =
    "Exit codes: 0 done; 1 negative answer (nothing fits, counts differ, a proof does not hold);\n"
    "2 bad input or usage; 4 internal error; 130 interrupted (the best so far is written).";

// No value: who asks for information gets it instead of a command.
Option help_option() { return {"-h,--help", "", "Print this help message and exit", {}}; }
Options information_options() {
  return {{"--version", "", "Print version, commit and build options, and exit", {}},
          {"--man", "", "Print the manual page (for man -l -), and exit", {}},
          {"--completion",
           "",
           "Print the completion script for bash (and zsh's bashcompinit), and exit",
           {}}};
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
  text += ".SH EXAMPLES\n";
  for (const CommandEntry& command : command_list()) {
    for (const Example& example : examples_of(command.name)) {
      text += fmt::format(".TP\n.B {}\n{}\n", roff(example.line), roff(example.what));
    }
  }
  text += ".SH FILES\n" + named_text(kFiles) + ".SH ENVIRONMENT\n" + named_text(kEnvironment);
  return text + fmt::format(".SH EXIT STATUS\n{}\n", roff(kExitCodes));
}

}  // namespace mapsim
