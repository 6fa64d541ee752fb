// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "campaign/store_schema.hpp"
#include "core/utf8.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

// Whole numbers below this times any count can still be added up.
constexpr std::int64_t kMostWhole = std::int64_t{1} << 56;

const Column* known_column(const std::string& name, bool& optional) {
  for (const std::int64_t schema : {kStoreSchema, kOldestReadSchema}) {
    for (const StoreTable& table : store_tables(schema)) {
      for (const auto* columns : {&table.keys, &table.values}) {
        for (const Column& column : *columns) {
          if (column.name == name) {
            optional = table.name == "results" && columns == &table.values;
            return &column;
          }
        }
      }
    }
  }
  return nullptr;
}

bool is_scalar(const Json& value) { return value.is_string() || value.is_number(); }

// Settings are scalars by their paths, a breakdown is numbers by node or by node and tensor.
std::string json_problem(const std::string& column, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  bool good = json.is_object();
  for (const auto& [key, value] : json.items()) {
    if (column == "settings") {
      good = good && is_scalar(value);
    } else if (value.is_object()) {
      for (const auto& [tensor, part] : value.items()) {
        good = good && part.is_number() && std::isfinite(part.get<double>());
      }
    } else {
      good = good && value.is_number() && std::isfinite(value.get<double>());
    }
  }
  return good                   ? ""
         : column == "settings" ? "settings is not a JSON object of values by paths"
                                : "breakdown is not a JSON object of numbers";
}

std::string number_problem(const std::string& column, double value) {
  const bool may_be_negative = column == "gap" || column == "lower_bound";
  if (!std::isfinite(value)) {
    return column + " is not finite";
  }
  return value < 0 && !may_be_negative ? column + " is negative" : "";
}

std::string value_problem(const Column& column, const Cell& cell) {
  const std::string name{column.name};
  if (const auto* const text = std::get_if<std::string>(&cell)) {
    if (column.type != "TEXT") {
      return name + " is text, not a number";
    }
    if (first_non_text_byte(*text)) {
      return name + " has bytes that are no text";
    }
    return name == "settings" || name == "breakdown" ? json_problem(name, *text) : "";
  }
  if (column.type == "TEXT") {
    return name + " is a number, not text";
  }
  if (const auto* const number = std::get_if<double>(&cell)) {
    return column.type == "INTEGER" ? name + " is not a whole number"
                                    : number_problem(name, *number);
  }
  const std::int64_t whole = std::get<std::int64_t>(cell);
  const std::int64_t least = name == "count" ? 1 : 0;
  return whole < least || whole > kMostWhole
             ? fmt::format("{} is {}, not from {} to {}", name, whole, least, kMostWhole)
             : "";
}

std::string cell_text(const Cell& cell) {
  const auto* const text = std::get_if<std::string>(&cell);
  const auto* const whole = std::get_if<std::int64_t>(&cell);
  return text != nullptr ? *text : whole != nullptr ? fmt::to_string(*whole) : "?";
}

}  // namespace

RowCheck::RowCheck(std::vector<std::string> columns) : columns_{std::move(columns)} {
  for (const std::string& column : columns_) {
    bool optional = true;
    known_.push_back(known_column(column, optional));
    optional_.push_back(optional);
  }
}

std::string RowCheck::problem(const Record& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (known_[i] == nullptr) {
      continue;
    }
    if (std::holds_alternative<std::monostate>(row[i])) {
      if (!optional_[i]) {
        return columns_[i] + " is missing";
      }
      continue;
    }
    const bool is_settings = columns_[i] == "settings";
    if (is_settings && row[i] == Cell{settings_}) {
      continue;
    }
    if (std::string problem = value_problem(*known_[i], row[i]); !problem.empty()) {
      return problem;
    }
    settings_ = is_settings ? std::get<std::string>(row[i]) : settings_;
  }
  return "";
}

std::string RowCheck::name(const Record& row) const {
  if (columns_.size() > 1 && columns_[0] == "campaign" && columns_[1] == "number") {
    return fmt::format("{} of campaign '{}'", cell_text(row[1]), cell_text(row[0]));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(columns_.size(), 3); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", columns_[i], cell_text(row[i]));
  }
  return text;
}

}  // namespace mapsim
