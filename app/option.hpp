// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/edit_distance.hpp"
#include "core/file_kind.hpp"

namespace mapsim {

// Options as data: what a command takes, in the order of its --help. Only app/arguments.cpp, which
// reads a command line by them, knows CLI11.

// The kinds of options, each with the place of its value. A bool* is a flag; a std::string* takes
// any text, a vector several of them.
struct Whole {  // a whole number
  std::function<void(std::int64_t)> take;
  std::int64_t least, most;
};
struct Choice {  // one of a few words
  std::function<void(const std::string&)> take;
  Words words;
  std::map<std::string, std::string> elsewhere{};  // words of other commands, and what takes them
};
// Any other text: what is wrong with it, else nothing, and the value is taken.
using Read = std::function<std::optional<std::string>(const std::string&)>;
using OptionValue =
    std::variant<bool*, std::string*, std::vector<std::string>*, Whole, Choice, Read>;

struct Option {
  std::string names;  // "-o,--out"; of a positional argument its name: "ARCH"
  std::string type;   // stands for the value in --help: "FILE"; empty: nothing does
  std::string help;
  OptionValue value;
  bool required = false;
  bool repeats = false;             // each value is taken
  std::optional<FileKind> input{};  // a file that is read; it may go by the name of a shipped one
  std::vector<FileKind> also{};     // other kinds of files that it may be, for completion
  Words usual{};                    // values among others, for completion
  // Options that cannot stand beside this one, and those without which it means nothing.
  Words excludes{};
  Words needs{};
  std::string group{};  // a heading of --help; empty: the first one
};
using Options = std::vector<Option>;

// Was an option given? Known by its long name.
using Given = std::function<bool(const std::string& name)>;
struct CommandOptions {
  Options options;
  std::string footer{};  // of --help
  // What options that were given have against each other beyond `excludes` and `needs`; throws
  // UsageError.
  std::function<void(const Given& given)> check{};
};

// "-o,--out": -o and --out.
Words names_in(const std::string& list);
// What messages call an option: by its first long name, if any.
std::string name_of(const Option& option);

Options joined(std::initializer_list<Options> parts);
inline Option required(Option option) {
  option.required = true;
  return option;
}

// The options under a heading of --help.
Options under(const std::string& heading, Options options);

inline Option usual(Option option, Words values) {
  option.usual = std::move(values);
  return option;
}

inline Option input(Option option, FileKind kind) {
  option.input = kind;
  return option;
}

// Options that require another one.
inline Options needing(const std::string& other, Options options) {
  for (Option& option : options) {
    option.needs = {other};
  }
  return options;
}

template <class Number>
Whole whole(Number& number, std::int64_t least, std::int64_t most) {
  return {[&number](std::int64_t value) {
            if constexpr (std::is_arithmetic_v<Number>) {
              number = static_cast<Number>(value);
            } else {
              number = value;
            }
          },
          least, most};
}
inline Choice choice(std::string& word, Words words) {
  return {[&word](const std::string& text) { word = text; }, std::move(words)};
}

// What is wrong with a text, else nothing; `take` gets what it means.
template <class Parsed, class Take>
std::optional<std::string> taken(const Parsed& parsed, const Take& take) {
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  take(std::get<0>(parsed));
  return std::nullopt;
}

// Takes what `parse` makes of a text.
template <class Parse, class Take>
Read reads(Parse parse, Take take) {
  return [parse, take](const std::string& text) { return taken(parse(text), take); };
}

}  // namespace mapsim
