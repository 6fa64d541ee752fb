// SPDX-License-Identifier: Apache-2.0
// The only file that knows CLI11, which takes seconds to compile.
#include "app/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

#include "app/command_list.hpp"
#include "app/completion.hpp"
#include "app/examples.hpp"
#include "app/format_options.hpp"
#include "app/manual.hpp"
#include "app/places.hpp"
#include "app/version.hpp"
#include "core/ascii.hpp"
#include "core/edit_distance.hpp"
#include "core/shipped.hpp"
#include "core/text_stream.hpp"

namespace mapsim {

namespace {

// Misspelt options among `words`, before CLI11 sees them: it says only that something is missing.
void check_spelling(std::span<const std::string> words, const Options& options) {
  Words known;
  for (const Option& option : options) {
    std::ranges::copy_if(names_in(option.names), std::back_inserter(known),
                         [](const std::string& name) { return name.starts_with("--"); });
  }
  for (const std::string& word : words) {
    if (word == "--") {
      return;
    }
    const std::string name = word.substr(0, word.find('='));
    if (word.starts_with("--") && std::ranges::find(known, name) == known.end()) {
      throw UsageError(fmt::format("no option '{}'{}", name, suggestion(name, known)));
    }
  }
}

// "--html page.html": flags that are called like the format that they choose take no file.
void check_flags(std::span<const std::string> words, const Options& options) {
  for (const Option& option : options) {
    const std::string name = name_of(option);
    const auto flag = std::ranges::find(words, name);
    if (!std::holds_alternative<bool*>(option.value) || words.end() - flag < 2) {
      continue;
    }
    const std::string& next = *(flag + 1);
    if (next.ends_with("." + name.substr(2)) && !std::filesystem::exists(next)) {
      throw UsageError(fmt::format("{} takes no file; write '{} -o {}'", name, name, next));
    }
  }
}

std::optional<std::string> take_whole(const Whole& kind, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  if (!is_whole || value < kind.least || value > kind.most) {
    return fmt::format("'{}' is not a whole number from {} to {}", text, kind.least, kind.most);
  }
  kind.take(value);
  return std::nullopt;
}

// "no layout 'nz'; did you mean 'nn'?": of --layout, FORMAT.
std::optional<std::string> take_choice(const Choice& kind, const std::string& option,
                                       const std::string& word) {
  if (std::ranges::find(kind.words, word) == kind.words.end()) {
    if (const auto other = kind.elsewhere.find(word); other != kind.elsewhere.end()) {
      return fmt::format("'{}' is not for this command; {}", word, other->second);
    }
    std::string what = option.substr(std::min(option.find_first_not_of('-'), option.size()));
    return fmt::format("no {} '{}'{}", lower_case(what), word, suggestion(word, kind.words));
  }
  kind.take(word);
  return std::nullopt;
}

// What an option whose text is read does with it.
std::optional<std::string> take(const Option& option, const std::string& text) {
  if (const auto* whole = std::get_if<Whole>(&option.value)) {
    return take_whole(*whole, text);
  }
  if (const auto* choice = std::get_if<Choice>(&option.value)) {
    return take_choice(*choice, name_of(option), text);
  }
  return std::get<Read>(option.value)(text);
}

CLI::Option* add(CLI::App& command, const Option& option) {
  if (auto* const* flag = std::get_if<bool*>(&option.value)) {
    return command.add_flag(option.names, **flag, option.help);
  }
  if (auto* const* text = std::get_if<std::string*>(&option.value)) {
    return command.add_option(option.names, **text, option.help);
  }
  if (auto* const* texts = std::get_if<std::vector<std::string>*>(&option.value)) {
    return command.add_option(option.names, **texts, option.help);
  }
  const auto read = [&option](const std::string& text) {
    if (const auto problem = take(option, text)) {
      throw CLI::ValidationError(name_of(option), *problem);
    }
  };
  if (option.repeats) {
    return command
        .add_option_function<Words>(
            option.names, [read](const Words& texts) { std::ranges::for_each(texts, read); },
            option.help)
        ->allow_extra_args(false);  // one value each time: what follows may be an argument
  }
  return command.add_option_function<std::string>(option.names, read, option.help);
}

// What CLI11 must know of a command's options, which stay where they are.
void add(CLI::App& command, const CommandOptions& taken, const std::string& format) {
  for (const Option& option : taken.options) {
    CLI::Option* added = add(command, option)->required(option.required);
    if (!option.group.empty()) {
      added->group(option.group);
    }
    if (!std::holds_alternative<bool*>(option.value)) {
      added->type_name(option.type);
    }
    // In place of CLI11's own words, which list what an option excludes.
    const bool must_be_given = option.required && option.names.starts_with("-");
    added->option_text(fmt::format("{}{}{} ", option.type, option.repeats ? " ..." : "",
                                   must_be_given ? " (required)" : ""));
  }
  for (const Option& option : taken.options) {
    CLI::Option* added = command.get_option(name_of(option));
    for (const std::string& other : option.excludes) {
      added->excludes(command.get_option(other));
    }
    for (const std::string& other : option.needs) {
      added->needs(command.get_option(other));
    }
  }
  command.footer(fmt::format("{}{}{}\n{}", taken.footer, taken.footer.empty() ? "" : "\n\n",
                             examples_text(command.get_name(), format), kExitCodes));
}

bool asks_for_help(std::span<const std::string> words) {
  return std::ranges::any_of(
      words, [](const std::string& word) { return word == "-h" || word == "--help"; });
}

// Lines of more than 100 characters broken between words, below the column of the texts, and one
// empty line where there are several.
std::string wrapped(const std::string& help) {
  constexpr std::size_t kWidth = 100;
  const std::string indent(30, ' ');
  std::string all;
  std::istringstream lines = stream_of(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && all.ends_with("\n\n")) {
      continue;
    }
    while (line.size() > kWidth) {
      const std::size_t space = line.rfind(' ', kWidth);
      if (space == std::string::npos || space <= indent.size()) {
        break;
      }
      all += line.substr(0, space) + "\n";
      line = indent + line.substr(space + 1);
    }
    all += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return all;
}

// CLI11 speaks by exceptions, of help too; here they become values and errors of ours.
std::optional<Information> read(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Information{wrapped(app.help())};
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

// Inputs that are no files here but are shipped with the program.
void find_inputs(const Options& options) {
  for (const Option& option : options) {
    if (!option.input) {
      continue;
    }
    const auto shipped = [&](const std::string& path) {
      return find_shipped(path, *option.input, shipped_configs());
    };
    if (auto* const* path = std::get_if<std::string*>(&option.value)) {
      **path = shipped(**path);
    } else if (auto* const* paths = std::get_if<std::vector<std::string>*>(&option.value)) {
      std::ranges::transform(**paths, (*paths)->begin(), shipped);
    }
  }
}

// The command that a line names, and where; the end where it names none.
struct Named {
  const CommandEntry* command = nullptr;
  std::size_t at = 0;
};
Named named_command(const Words& words) {
  const auto& commands = command_list();
  if (words.empty()) {
    throw UsageError(
        fmt::format("a command is missing; one of {}", fmt::join(names_of(commands), ", ")));
  }
  const auto word = std::ranges::find_if(
      words, [](const std::string& candidate) { return !candidate.starts_with("-"); });
  const auto at = static_cast<std::size_t>(word - words.begin());
  if (word == words.end()) {
    for (const std::string& option : words) {
      if (option.starts_with("-") && !option.starts_with("--") && option != "-h") {
        throw UsageError(
            fmt::format("no option '{}'{}", option,
                        option == "-v" || option == "-V" ? "; did you mean '--version'?" : ""));
      }
    }
    return {nullptr, at};
  }
  const auto named = std::ranges::find_if(
      commands, [&](const CommandEntry& entry) { return entry.name == *word; });
  if (named == commands.end()) {
    throw UsageError(
        fmt::format("no command '{}'{}", *word, suggestion(*word, names_of(commands))));
  }
  return {&*named, at};
}

// The commands as CLI11 wants them; of the options those of one command, since no other is read.
void add_commands(CLI::App& app, const CommandEntry* named, const CommandOptions& options,
                  const std::string& format) {
  for (const Option& option : information_options()) {
    app.add_flag(option.names, option.help);  // answered before
  }
  for (const CommandEntry& entry : command_list()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.help);
    if (&entry == named) {
      add(*command, options, format);
    }
  }
}

}  // namespace

std::variant<Command, Information> parse_arguments(int argc, const char* const* argv) {
  const Words words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "--version") {
    return Information{version_text(!mpi_module().empty())};
  }
  if (!words.empty() && words.front() == "--man") {
    return Information{manual()};
  }
  if (!words.empty() && words.front() == "--completion") {
    if (words.size() > 1 && words[1] != "bash" && words[1] != "zsh") {
      throw UsageError(fmt::format(
          "--completion: none for {}; of bash, and of zsh after \"autoload -Uz bashcompinit; "
          "bashcompinit\"",
          quoted(words[1])));
    }
    return Information{completion()};
  }
  const Named named = named_command(words);
  ReadableCommand command = named.command == nullptr ? ReadableCommand{} : named.command->make();
  const std::span all{words};
  check_spelling(all.first(named.at), joined({{help_option()}, information_options()}));
  if (named.command != nullptr) {
    check_spelling(all.subspan(named.at), joined({{help_option()}, command.options.options}));
    check_flags(all.subspan(named.at), command.options.options);
  }
  const std::string format =
      asks_for_help(all) ? keep_format(command.options.options, all.subspan(named.at)) : "";
  CLI::App app{kProgramHelp, "mapsim"};
  app.footer(fmt::format("{}\n{}", examples_text("", ""), kExitCodes));
  app.require_subcommand(1);
  add_commands(app, named.command, command.options, format);
  if (const auto information = read(app, argc, argv)) {
    return *information;
  }
  const CLI::App& read_command = *app.get_subcommands().front();
  const auto given = [&](const std::string& name) { return read_command.count(name) > 0; };
  if (!formats_of(command.options.options).empty()) {
    check_format(read_command.get_name(), read_command["FORMAT"]->as<std::string>(),
                 command.options.options, given);
  }
  if (command.options.check) {
    command.options.check(given);
  }
  find_inputs(command.options.options);
  return command.arguments();
}

}  // namespace mapsim
