// SPDX-License-Identifier: Apache-2.0
#include "costmodel/objective_formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/diagnostic.hpp"
#include "core/edit_distance.hpp"

namespace mapsim {

namespace {

constexpr double kMostPower = 8;         // keeps values finite
constexpr double kMostWeight = 0x1p100;  // likewise

// What can stand in a product.
struct Factor {
  std::string_view name;
  double energy = 0;
  double latency = 0;
};
constexpr std::array kFactors{Factor{"energy", 1, 0}, Factor{"latency", 0, 1}, Factor{"edp", 1, 1}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value)
             ? std::optional{value}
             : std::nullopt;
}

// A formula while it is read. The parts that its functions take are views of it.
class Formula {
 public:
  explicit Formula(std::string_view text) : text_{text} {}

  std::variant<ObjectiveFunction, FormulaFault> read() {
    const std::size_t plus = text_.find('+');
    return plus != std::string_view::npos && trimmed(text_.substr(0, plus)) == "energy"
               ? weighted_sum(text_.substr(plus + 1))
               : product();
  }

 private:
  FormulaFault fault(std::string_view part, std::string what) const {
    return {std::move(what), static_cast<std::size_t>(part.data() - text_.data())};
  }
  // Where `part`, which is empty, stands.
  FormulaFault missing(std::string_view part, std::string_view expected) const {
    const auto at = static_cast<std::size_t>(part.data() - text_.data());
    return {fmt::format("expected {}, not {}", expected,
                        at == text_.size() ? "the end" : fmt::format("'{}'", text_[at])),
            at};
  }

  // NAME or NAME^NUMBER; adds it to the powers. What is wrong, or nothing.
  std::optional<FormulaFault> add_factor(std::string_view part) {
    const std::size_t caret = part.find('^');
    const std::string_view name = trimmed(part.substr(0, caret));
    if (name.empty()) {
      return missing(name, "energy, latency or edp");
    }
    const auto* factor = std::find_if(kFactors.begin(), kFactors.end(),
                                      [&](const Factor& f) { return f.name == name; });
    if (factor == kFactors.end()) {
      const auto near = nearest_word(name, names_of(kFactors));
      return fault(name, fmt::format("there is no figure '{}'{}", name,
                                     near ? fmt::format(" (did you mean '{}'?)", *near) : ""));
    }
    double exponent = 1;
    if (caret != std::string_view::npos) {
      const std::string_view digits = trimmed(part.substr(caret + 1));
      if (digits.empty()) {
        return missing(digits, fmt::format("a number from 0 to {}", kMostPower));
      }
      const auto read = number(digits);
      if (!read || *read < 0) {
        return fault(digits, fmt::format("'{}' is not a number from 0 to {}", digits, kMostPower));
      }
      exponent = *read;
    }
    energy_ += factor->energy * exponent;
    latency_ += factor->latency * exponent;
    if (energy_ > kMostPower || latency_ > kMostPower) {
      return fault(name, fmt::format("powers are at most {}", kMostPower));
    }
    return std::nullopt;
  }

  std::variant<ObjectiveFunction, FormulaFault> product() {
    for (std::size_t begin = 0; begin <= text_.size();) {
      const std::size_t end = std::min(text_.find('*', begin), text_.size());
      if (auto wrong = add_factor(text_.substr(begin, end - begin))) {
        return *std::move(wrong);
      }
      begin = end + 1;
    }
    if (energy_ + latency_ == 0) {
      return fault(text_, "it is the same for every mapping");
    }
    return ObjectiveFunction::product(energy_, latency_);
  }

  // W*latency or latency: pJ per cycle, of what stands behind "energy +".
  std::variant<ObjectiveFunction, FormulaFault> weighted_sum(std::string_view part) const {
    const std::size_t star = part.find('*');
    const std::string_view figure =
        trimmed(star == std::string_view::npos ? part : part.substr(star + 1));
    const std::optional<double> weight =
        star == std::string_view::npos ? 1 : number(trimmed(part.substr(0, star)));
    if (figure != "latency" || !weight || !(*weight > 0) || *weight > kMostWeight) {
      return fault(trimmed(part), fmt::format("after 'energy +' expected 'W*latency' with a number "
                                              "W above 0 in pJ per cycle, not '{}'",
                                              trimmed(part)));
    }
    return ObjectiveFunction::weighted_sum(*weight);
  }

  std::string_view text_;
  double energy_ = 0;  // powers
  double latency_ = 0;
};

}  // namespace

std::variant<ObjectiveFunction, FormulaFault> read_formula(std::string_view text) {
  return Formula{text}.read();
}

std::string with_caret(const std::string& message, std::string_view formula, std::size_t at) {
  if (formula.empty()) {
    return message;
  }
  std::string line{formula};
  std::replace(line.begin(), line.end(), '\n', ' ');
  const std::string shown = to_string(Diagnostic{"", 1, static_cast<int>(at) + 1, "", "", line});
  return message + shown.substr(shown.find('\n'));
}

}  // namespace mapsim
