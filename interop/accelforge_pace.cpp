// SPDX-License-Identifier: Apache-2.0
#include "interop/accelforge_pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "interop/accelforge_accesses.hpp"

namespace mapsim {

namespace {

const std::string kTime = "__time_of_actions";

// A part of an expression: sum(a.n_calls / a.throughput for a in actions), max(...), or the same
// without throughput.
struct TimeOfActions {
  std::size_t begin = 0, size = 0;
  ForgePace pace;
};

std::optional<TimeOfActions> time_of_actions(const std::string& text) {
  constexpr std::string_view kNumber = "a.n_callsforainactions",
                             kSeconds = "a.n_calls/a.throughputforainactions";
  for (std::size_t open = text.find('('); open != std::string::npos;
       open = text.find('(', open + 1)) {
    const std::string_view before = std::string_view{text}.substr(0, open);
    const std::size_t close = text.find(')', open);
    if (close == std::string::npos || !(before.ends_with("sum") || before.ends_with("max"))) {
      continue;
    }
    const std::string inside = without_blanks(text.substr(open + 1, close - open - 1));
    if (inside == kNumber || inside == kSeconds) {
      return TimeOfActions{
          open - 3, close - open + 4, {before.ends_with("sum"), inside == kSeconds, 1}};
    }
  }
  return std::nullopt;
}

// Those of a component that are numbers, as expressions may name them.
void add_attributes(const Node& component, ForgeNames& names) {
  for (const char* scale : {"energy_scale", "actions_scale", "throughput_scale", "area_scale",
                            "leak_power_scale", "n_parallel_instances"}) {
    names.numbers[scale] = 1;
  }
  const ForgeNames outside = names;
  for (const Entry& entry : component.entries) {
    if (entry.value.kind == Node::Kind::kScalar && entry.key.text != "total_latency") {
      try {
        names.numbers[entry.key.text] = evaluate_number(entry.value.text, outside);
      } catch (const ExpressionError&) {
        continue;  // a word, such as its name; a mistake is reported where the attribute is read
      }
    }
  }
}

// The factor of an expression that is one times its time; nullopt: it is not. Times of all sizes
// tell, and none of them is a whole number of anything.
std::optional<double> factor_of(const std::string& expression, ForgeNames names) {
  const auto at = [&](double seconds) {
    names.numbers[kTime] = seconds;
    return evaluate_number(expression, names);
  };
  const double factor = at(1.2345678901) / 1.2345678901;
  constexpr std::array kTimes{1.7320508e-12, 1.4142135e-6, 2.2360679e-3, 3.1622776e4, 2.6457513e9};
  const bool proportional =
      at(0) == 0 && factor >= 0 && std::all_of(kTimes.begin(), kTimes.end(), [&](double seconds) {
        return std::abs(at(seconds) - factor * seconds) <= 1e-9 * factor * seconds;
      });
  return proportional ? std::optional{factor} : std::nullopt;
}

}  // namespace

ForgePace read_forge_pace(Reader& reader, const Node& latency, const Node& component,
                          ForgeNames names) {
  const std::string needed =
      "a time other than sum(a.n_calls / a.throughput for a in actions), or max(...), times or by "
      "numbers has no counterpart";
  auto found = time_of_actions(latency.text);
  if (!found) {
    reader.error(latency, needed);
    return {};
  }
  std::string expression = latency.text;
  expression.replace(found->begin, found->size, kTime);
  add_attributes(component, names);
  try {
    if (const auto factor = factor_of(expression, names)) {
      found->pace.factor = *factor;
    } else {
      reader.error(latency, needed);
    }
  } catch (const ExpressionError& error) {
    // The time is longer as it is written than its name is.
    const bool behind = error.offset() >= found->begin + kTime.size();
    reader.error(latency, error.offset() + (behind ? found->size - kTime.size() : 0), error.what());
  }
  return found->pace;
}

}  // namespace mapsim
