// SPDX-License-Identifier: Apache-2.0
#include "app/format_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <variant>

#include "app/arguments.hpp"
#include "core/ascii.hpp"

namespace mapsim {

namespace {

// "timeloop, accelforge: what a name stands for": of which of the formats a part of a help speaks;
// none: of all.
Words named_formats(const std::string& part, const Words& formats) {
  Words named;
  const std::string start = lower_case(part.substr(0, part.find(": ")));
  for (std::size_t begin = 0; begin <= start.size();) {
    const std::size_t end = std::min(start.find(", ", begin), start.size());
    named.push_back(start.substr(begin, end - begin));
    begin = end + 2;
  }
  const bool known = std::ranges::any_of(named, [&formats](const std::string& name) {
    return std::ranges::find(formats, name) != formats.end();
  });
  return known ? named : Words{};
}

// The parts of a help, "timeloop: ...; scalesim: ...", that are about one format, without its name.
std::string help_for(const std::string& help, const std::string& format, const Words& formats) {
  std::string kept;
  bool about = true;  // a part without a format goes on with the one before it
  for (std::size_t begin = 0; begin < help.size();) {
    const std::size_t end = std::min(help.find("; ", begin), help.size());
    const std::string part = help.substr(begin, end - begin);
    const Words named = named_formats(part, formats);
    about = named.empty() ? about : std::ranges::find(named, format) != named.end();
    if (about) {
      kept +=
          (kept.empty() ? "" : "; ") + (named.empty() ? part : part.substr(part.find(": ") + 2));
    }
    begin = end + 2;
  }
  if (!kept.empty()) {
    kept[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(kept[0])));
  }
  return kept;
}

}  // namespace

Words formats_of(const Options& options) {
  const auto argument =
      std::ranges::find_if(options, [](const Option& option) { return option.names == "FORMAT"; });
  return argument == options.end() ? Words{} : std::get<Choice>(argument->value).words;
}

void check_format(const std::string& command, const std::string& format, const Options& options,
                  const Given& given) {
  const Words formats = formats_of(options);
  for (const Option& option : options) {
    const bool idle = option.names != "FORMAT" && given(name_of(option)) &&
                      help_for(option.help, format, formats).empty();
    if (idle) {
      Words takers;
      for (const std::string& other : formats) {
        if (!help_for(option.help, other, formats).empty()) {
          takers.push_back(command + " " + other);
        }
      }
      throw UsageError(fmt::format("{}: only for {}", name_of(option), fmt::join(takers, ", ")));
    }
  }
}

std::string keep_format(Options& options, std::span<const std::string> words) {
  const Words formats = formats_of(options);
  const auto named = std::ranges::find_if(words, [&](const std::string& word) {
    return std::ranges::find(formats, word) != formats.end();
  });
  if (named == words.end()) {
    return {};
  }
  std::erase_if(options, [&](Option& option) {
    option.help = option.names == "FORMAT" ? *named : help_for(option.help, *named, formats);
    return option.help.empty();
  });
  const auto is_gone = [&options](const std::string& name) {
    return std::ranges::none_of(options,
                                [&name](const Option& other) { return name_of(other) == name; });
  };
  for (Option& option : options) {
    std::erase_if(option.excludes, is_gone);
    std::erase_if(option.needs, is_gone);
  }
  return *named;
}

}  // namespace mapsim
