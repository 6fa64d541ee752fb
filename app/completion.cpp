// SPDX-License-Identifier: Apache-2.0
#include "app/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "app/command_list.hpp"
#include "app/manual.hpp"
#include "app/shipped_kinds.hpp"

namespace mapsim {

namespace {

// Of "-o,--out" both.
std::string spaced(std::string names) {
  for (char& c : names) {
    c = c == ',' ? ' ' : c;
  }
  return names;
}

std::string option_names(const Options& options) {
  std::string all;
  for (const Option& option : options) {
    if (option.names.starts_with("-")) {
      all += (all.empty() ? "" : " ") + spaced(option.names);
    }
  }
  return all;
}

// What `mapsim list` calls the files of a kind; empty: they are not shipped.
std::string listed_as(FileKind files) {
  Words names;
  for (const ShippedKind& kind : kShippedKinds) {
    if (kind.files == files) {
      names.emplace_back(kind.name);
    }
  }
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::string completion() {
  std::string values;  // of options that take one of a few words, or a shipped file
  std::string commands;
  Words names;
  for (const CommandEntry& command : command_list()) {
    const Options options = joined({{help_option()}, command.make().options.options});
    names.emplace_back(command.name);
    std::string kinds;
    std::string words;  // of a positional argument
    for (const Option& option : options) {
      const bool positional = !option.names.starts_with("-");
      const auto* choice = std::get_if<Choice>(&option.value);
      if (choice != nullptr && positional) {
        words = fmt::format("{}", fmt::join(choice->words, " "));
      } else if (choice != nullptr) {
        values += fmt::format("    {}:{}) words='{}' ;;\n", command.name, option.names,
                              fmt::join(choice->words, " "));
      } else if (positional && (option.input || !option.also.empty())) {
        kinds += option.input ? " " + listed_as(*option.input) : "";
        for (const FileKind other : option.also) {
          kinds += " " + listed_as(other);
        }
      } else if (option.input) {
        values += fmt::format("    {}:{}) kinds='{}' ;;\n", command.name, option.names,
                              listed_as(*option.input));
      }
    }
    commands += fmt::format("    {}) options='{}' kinds='{}' words='{}' ;;\n", command.name,
                            option_names(options), kinds, words);
  }
  return fmt::format(
      "# bash completion for mapsim(1)\n"
      "_mapsim() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" options='{0}' kinds='' words='{1}' kind\n"
      "  if ((COMP_CWORD > 1)); then\n"
      "    case \"${{COMP_WORDS[1]}}\" in\n{2}    *) return ;;\n    esac\n"
      "    case \"${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD-1]}}\" in\n{3}    *) ;;\n    esac\n"
      "  fi\n"
      "  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n    return\n  fi\n"
      "  for kind in $kinds; do\n"
      "    words+=\" $(\"${{COMP_WORDS[0]}}\" list \"$kind\" --names 2>/dev/null)\"\n  done\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\"; ((COMP_CWORD > 1)) && "
      "compgen -f -- \"$word\")\n"
      "}}\ncomplete -o filenames -F _mapsim mapsim\n",
      option_names(joined({{help_option()}, information_options()})), fmt::join(names, " "),
      commands, values);
}

}  // namespace mapsim
