// SPDX-License-Identifier: Apache-2.0
#include "check/claim_values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <variant>

#include "check/goal.hpp"

namespace mapsim::check {

ObjectiveFunction read_function(Reader& reader, const Node& node) {
  const std::string text = reader.text(&node, "an objective").value_or("energy");
  const Parsed<ObjectiveFunction> parsed = parse_objective_function(text);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    reader.error(node, fmt::format("{} is no objective: {}", describe(node), *wrong));
    reader.finish();
  }
  return std::get<ObjectiveFunction>(parsed);
}

double read_value(Reader& reader, const Node& node, const std::string& unit) {
  const std::string text = reader.text(&node, "a value").value_or("");
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text == kNoTreeFits) {
    return kInfinity;
  }
  if (failure != std::errc{} || std::string(end, text.data() + text.size()) != " " + unit ||
      !(value >= 0) || !(value < kInfinity)) {
    reader.error(node, fmt::format("expected a number of {} or '{}', not {}", unit, kNoTreeFits,
                                   describe(node)));
  }
  return value;
}

}  // namespace mapsim::check
