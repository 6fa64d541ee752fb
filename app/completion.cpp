// SPDX-License-Identifier: Apache-2.0
#include "app/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <variant>

#include "app/command_list.hpp"
#include "app/format_options.hpp"
#include "app/manual.hpp"
#include "core/shipped_kinds.hpp"

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

// What stands for the names of shipped files of a kind: "@layers", as `mapsim list` calls them;
// empty: none are shipped.
std::string names_as(FileKind files) {
  Words names;
  for (const ShippedKind& kind : kShippedKinds) {
    if (kind.files == files) {
      names.push_back(fmt::format("@{}", kind.name));
    }
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// What the value of an option, or a positional argument, may be.
std::string values_of(const Option& option) {
  const auto* choice = std::get_if<Choice>(&option.value);
  std::string values =
      fmt::format("{}", fmt::join(choice != nullptr ? choice->words : option.usual, " "));
  values += option.input ? names_as(*option.input) : "";
  for (const FileKind other : option.also) {
    values += (values.empty() ? "" : " ") + names_as(other);
  }
  return values;
}

struct Completions {
  std::string taken;   // options that a value follows
  std::string places;  // of positional arguments, each with what may stand there
  std::string values;  // of options, as branches of a shell's case
};

Completions completions_of(const std::string& command, const Options& options) {
  Completions all;
  for (const Option& option : options) {
    const std::string values = values_of(option);
    if (!option.names.starts_with("-")) {
      all.places += fmt::format("{}'{}'", all.places.empty() ? "" : " ", values);
    } else if (!std::holds_alternative<bool*>(option.value)) {
      all.taken += spaced(option.names) + " ";
      if (!values.empty()) {
        all.values += fmt::format("        {}:{}) words='{}' ;;\n", command, option.names, values);
      }
    }
  }
  return all;
}

// Of a command with a FORMAT, once it stands on the line, what that format takes.
std::string formats_case(const Options& options) {
  const Words formats = formats_of(options);
  if (formats.empty()) {
    return "";
  }
  std::string cases;
  for (const std::string& format : formats) {
    Options kept = options;
    keep_format(kept, std::span{&format, 1});
    cases += fmt::format("        {}) options='{}' ;;\n", format, option_names(kept));
  }
  return fmt::format("      case \"${{COMP_WORDS[2]}}\" in\n{}      esac ;;\n", cases);
}

// {0}: options without a command; {1}: commands; {2}: what each has; {3}: values of its options.
// A word "@layers" stands for the names of shipped files. `--option=value` comes as three words.
// zsh, whose bashcompinit runs the script, has no mapfile: _mapsim_reply takes its place.
constexpr const char* kScript =
    R"sh(# completion for mapsim(1): of bash, and of zsh after "autoload -Uz bashcompinit; bashcompinit"
_mapsim_reply() {{
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done
}}
_mapsim() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" last="${{COMP_WORDS[COMP_CWORD-1]}}" each names='' i place=0
  local options='{0}' taken='' words='{1}'
  local -a places=()
  if [[ $word == = ]]; then word=''; elif [[ $last == = ]]; then last="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
  if ((COMP_CWORD > 1)); then
    case "${{COMP_WORDS[1]}}" in
{2}    *) return ;;
    esac
    words=''
    if [[ $taken == *" $last "* ]]; then
      case "${{COMP_WORDS[1]}}:$last" in
{3}        *) ;;
      esac
    elif [[ $word != -* && ${{#places[@]}} -gt 0 ]]; then
      for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ $taken == *" ${{COMP_WORDS[i]}} "* ]]; then ((++i)); [[ ${{COMP_WORDS[i]}} == = ]] && ((++i)); elif [[ ${{COMP_WORDS[i]}} != -* ]]; then ((++place)); fi
      done
      words="${{places[place < ${{#places[@]}} ? place : ${{#places[@]}} - 1]}}"
      [[ ${{COMP_WORDS[1]}} == list && $place == 1 ]] && words="@${{COMP_WORDS[2]}}"
    fi
  fi
  if [[ $word == -* ]]; then
    _mapsim_reply < <(compgen -W "$options" -- "$word")
    return
  fi
  for each in $words; do
    [[ $each == @* ]] && each="$("${{COMP_WORDS[0]}}" list "${{each#@}}" --names 2>/dev/null)"
    names+=" $each"
  done
  _mapsim_reply < <(compgen -W "$names" -- "$word"; ((COMP_CWORD > 1)) && compgen -f -- "$word")
}}
complete -o filenames -F _mapsim mapsim
)sh";

}  // namespace

std::string completion() {
  std::string values;
  std::string commands;
  Words names;
  for (const CommandEntry& command : command_list()) {
    const Options options = joined({{help_option()}, command.make().options.options});
    const Completions own = completions_of(command.name, options);
    names.emplace_back(command.name);
    values += own.values;
    const std::string formats = formats_case(options);
    commands += fmt::format("    {}) options='{}' taken=' {}' places=({}){}", command.name,
                            option_names(options), own.taken, own.places,
                            formats.empty() ? " ;;\n" : "\n" + formats);
  }
  return fmt::format(kScript, option_names(joined({{help_option()}, information_options()})),
                     fmt::join(names, " "), commands, values);
}

}  // namespace mapsim
