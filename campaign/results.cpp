// SPDX-License-Identifier: Apache-2.0
#include "campaign/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "campaign/input_widths.hpp"
#include "campaign/joint.hpp"
#include "campaign/store.hpp"
#include "core/diagnostic.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/json_head.hpp"
#include "report/page.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

// A column of the table: of the database, or a path of its settings.
struct Shown {
  std::string name;
  std::size_t column = 0;
  bool is_setting = false;
};

Json cell_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return {};
        } else {
          return value;
        }
      },
      cell);
}

// The values of one row after the other; settings are parsed once, not once per path and row.
class RowValues {
 public:
  Json of(const Shown& shown, const Record& row) {
    const Cell& cell = row[shown.column];
    if (!shown.is_setting) {
      return cell_json(cell);
    }
    if (const std::string& text = std::get<std::string>(cell); text != text_) {
      text_ = text;
      settings_ = Json::parse(text);
    }
    const auto value = settings_.find(shown.name);
    return value == settings_.end() ? Json{} : *value;
  }

 private:
  std::string text_;
  Json settings_;
};

// Every digit of a number, text as it is.
std::string plain_text(const Json& value) {
  if (value.is_null()) {
    return "";
  }
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

// The columns of a view, with one per path in place of `settings`.
std::vector<Shown> shown_columns(Store& store, const ResultsOptions& options, const char* view) {
  std::vector<std::string> paths;
  store.read_settings(options.campaign, [&](const std::string& settings) {
    const Json parsed = Json::parse(settings);
    for (const auto& [path, value] : parsed.items()) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
        paths.push_back(path);
      }
    }
  });
  std::vector<Shown> shown;
  const std::vector<std::string> columns = store.columns(view);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] != "settings") {
      shown.push_back({columns[i], i, false});
      continue;
    }
    for (const std::string& path : paths) {
      shown.push_back({path, i, true});
    }
  }
  return shown;
}

std::string csv(const std::vector<Shown>& shown,
                const std::function<void(const std::function<void(const Record&)>&)>& read) {
  std::vector<std::string> fields;
  const auto line = [&fields] { return fmt::format("{}\n", fmt::join(fields, ",")); };
  for (const Shown& column : shown) {
    fields.push_back(csv_field(column.name));
  }
  std::string text = line();
  RowValues values;
  read([&](const Record& row) {
    fields.clear();
    for (const Shown& column : shown) {
      fields.push_back(csv_field(plain_text(values.of(column, row))));
    }
    text += line();
  });
  return text;
}

// What people want to see first; the rest is in CSV and JSON.
constexpr std::array<std::string_view, 19> kForPeople{
    "arch",           "network",         "layer",       "layers",      "objective",
    "latency",        "limits",          "constraints", "status",      "energy_pj",
    "latency_cycles", "latency_seconds", "area_mm2",    "utilization", "layers_missing",
    "unpriced",       "edp_pj_s",        "chosen",      "reason"};
// Nothing that need be said.
constexpr std::array<std::string_view, 4> kUsual{"", "none", "steady", "jointly"};

std::string short_text(const Shown& column, const Json& value) {
  if (value.is_null()) {
    return "";
  }
  if (!column.is_setting && column.name == "energy_pj") {
    return energy_text(Picojoules{value.get<double>()});
  }
  if (column.name == "latency_cycles") {
    return grouped(value.get<std::int64_t>());
  }
  if (column.name == "latency_seconds") {
    return scaled(value.get<double>(), "s");
  }
  if (!column.is_setting && column.name == "edp_pj_s") {
    return scaled(value.get<double>() * kPicojoule, "J s");
  }
  if (!column.is_setting && column.name == "area_mm2") {
    return fmt::format("{:.4g} mm2", value.get<double>());
  }
  if (column.name == "utilization") {
    return percent(value.get<double>());
  }
  const std::string text = plain_text(value);
  return text.substr(0, text.find('\n'));
}

// Over values with units of their own the quantity alone: CSV and JSON are in the unit of the key.
std::string head_of(const Shown& column) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kHeads{
      {{"energy_pj", "energy"},
       {"area_mm2", "area"},
       {"latency", "latency_mode"},
       {"latency_seconds", "latency"},
       {"edp_pj_s", "edp"}}};
  const auto* const head = std::find_if(kHeads.begin(), kHeads.end(), [&column](const auto& entry) {
    return !column.is_setting && entry.first == column.name;
  });
  return head == kHeads.end() ? column.name : std::string{head->second};
}

// The column itself; of latencies the one that was asked for.
Shown asked(const std::vector<Shown>& all, const Shown& column, const Record& row) {
  const auto named = [&all](const char* name) {
    return std::find_if(all.begin(), all.end(), [name](const Shown& shown) {
      return !shown.is_setting && shown.name == name;
    });
  };
  const auto mode = named("latency");
  const auto ramped = named("latency_cycles_ramped");
  return !column.is_setting && column.name == "latency_cycles" && mode != all.end() &&
                 ramped != all.end() && row[mode->column] == Cell{"ramped"}
             ? Shown{"latency_cycles", ramped->column, false}
             : column;
}

std::string text_table(const std::vector<Shown>& all,
                       const std::function<void(const std::function<void(const Record&)>&)>& read) {
  std::vector<Shown> shown;
  for (const Shown& column : all) {
    if (column.is_setting ||
        std::find(kForPeople.begin(), kForPeople.end(), column.name) != kForPeople.end()) {
      shown.push_back(column);
    }
  }
  std::vector<Row> rows(1);
  for (const Shown& column : shown) {
    rows.front().push_back(head_of(column));
  }
  RowValues values;
  read([&](const Record& record) {
    rows.emplace_back();
    for (const Shown& column : shown) {
      rows.back().push_back(short_text(column, values.of(asked(all, column, record), record)));
    }
  });
  if (rows.size() == 1) {
    // Of points there is always one.
    return "no point is of a network; without --networks all points are printed\n";
  }
  // Columns that say nothing are left out.
  for (std::size_t column = shown.size(); column-- > 0;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(), [column](const Row& row) {
      return std::find(kUsual.begin(), kUsual.end(), row[column]) != kUsual.end();
    });
    for (Row& row : rows) {
      if (empty) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
      }
    }
  }
  return table(rows);
}

// "operands 8 b, outputs 8 b, sums 32 b" above a table; nothing without a mapping.
std::string widths_line(const std::vector<Widths>& layers) {
  std::vector<std::string> texts;
  for (const Widths& widths : layers) {
    texts.push_back(widths_text(widths));
  }
  return texts.empty() ? "" : counted_widths(texts) + '\n';
}

// Provenance and widths. Entries follow.
Json head_json(const Provenance& origin, const std::vector<Widths>& layers) {
  Json head = provenance_json(origin);
  WidthSets sets;
  for (const Widths& widths : layers) {
    sets.add(widths);
  }
  head["widths"] = widths_json(sets);
  return head;
}

// One entry after the other: a tree of all of them takes ten times the memory of their text.
std::string json_text(Json head, const char* list, const std::vector<Shown>& shown,
                      const std::function<void(const std::function<void(const Record&)>&)>& read) {
  head[list] = Json::array();
  std::string text = head.dump(1);
  const std::string end = "]\n}";
  text.resize(text.size() - end.size());
  RowValues values;
  bool first = true;
  read([&](const Record& row) {
    Json entry = Json::object();
    for (const Shown& column : shown) {
      const Json value = values.of(column, row);
      (column.is_setting ? entry["settings"][column.name] : entry[column.name]) = value;
    }
    if (entry.contains("breakdown") && entry["breakdown"].is_string()) {
      entry["breakdown"] = Json::parse(entry["breakdown"].get<std::string>());
    }
    text += first ? "\n  " : ",\n  ";
    for (const char c : entry.dump(1)) {
      text += c;
      text += c == '\n' ? "  " : "";
    }
    first = false;
  });
  return text + (first ? "" : "\n ") + end + '\n';
}

// What the EDP of networks is the least of.
std::string edp_note(Store& store, const ResultsOptions& options) {
  std::size_t by_layer = 0;
  std::size_t jointly = 0;
  double gap = 0;
  store.read(
      {"networks",
       options.campaign,
       store.has_choices() ? std::vector<std::string>{"chosen", "edp_pj_s", "edp_lower_bound_pj_s"}
                           : std::vector<std::string>{"objective"},
       {}},
      [&](const Record& row) {
        by_layer += row[0] == Cell{"by layer"} || row[0] == Cell{"edp"} ? 1 : 0;
        if (row[0] == Cell{"jointly"}) {
          ++jointly;
          const auto* const edp = std::get_if<double>(&row[1]);
          const auto* const lower = std::get_if<double>(&row[2]);
          gap = edp != nullptr && lower != nullptr ? std::max(gap, *edp / *lower - 1) : gap;
        }
      });
  std::string note;
  if (jointly > 0) {
    note = fmt::format("edp: the mappings of all layers are chosen jointly; {}\n",
                       least_choice_text(gap));
  }
  if (by_layer > 0) {
    note += fmt::format(
        "edp{}: each layer has the mapping with the least EDP of that layer alone; mappings chosen "
        "jointly, as 'mapsim sweep' does with strategies that prove, may have a lower EDP in "
        "total\n",
        jointly > 0 ? " by layer" : "");
  }
  return note;
}

// Networks of databases without choices: these call an EDP proven where those of its layers are.
void read_older_networks(Store& store, const std::string& campaign,
                         const std::function<void(const Record&)>& visit) {
  const std::vector<std::string> columns = store.columns("networks");
  const auto at = [&columns](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) - columns.begin();
  };
  store.read({"networks", campaign}, [&](Record row) {
    if (row.at(static_cast<std::size_t>(at("objective"))) == Cell{"edp"}) {
      row.at(static_cast<std::size_t>(at("proven"))) = std::int64_t{0};
    }
    visit(row);
  });
}

}  // namespace

std::string results_table(const Provenance& origin, const ResultsOptions& options) {
  Store store{options.database, Store::Open::kExisting};
  const char* const view = options.networks ? "networks" : "answers";
  const std::vector<Store::Listed> campaigns = store.campaigns();
  const bool any = options.campaign.empty() ||
                   std::any_of(campaigns.begin(), campaigns.end(), [&](const Store::Listed& one) {
                     return one.campaign == options.campaign;
                   });
  if (!any) {
    throw ConfigError{{{options.database, 0, 0, "",
                        fmt::format("has no points of a campaign '{}'", options.campaign), ""}}};
  }
  const std::vector<Shown> shown = shown_columns(store, options, view);
  if (options.networks) {
    store.read({"answers", options.campaign}, [](const Record&) {});  // sums do not show damage
  }
  const auto read = [&](const std::function<void(const Record&)>& visit) {
    if (options.networks && !store.has_choices()) {
      read_older_networks(store, options.campaign, visit);
    } else {
      store.read({view, options.campaign}, visit);
    }
  };
  switch (options.format) {
    case ResultsFormat::kText:
      return widths_line(input_widths(store, options.campaign)) + text_table(shown, read) +
             (options.networks ? edp_note(store, options) : "");
    case ResultsFormat::kCsv:
      return csv(shown, read);
    case ResultsFormat::kJson:
      break;
  }
  return json_text(head_json(origin, input_widths(store, options.campaign)),
                   options.networks ? "networks" : "points", shown, read);
}

std::string unlisted_designs(const ResultsOptions& options) {
  std::string text;
  Store store{options.database, Store::Open::kExisting};
  for (const Store::Listed& one : store.campaigns()) {
    if (one.unlisted > 0 && (options.campaign.empty() || options.campaign == one.campaign)) {
      text +=
          fmt::format("{}{} of {} designs of campaign '{}' are not in {}", text.empty() ? "" : "; ",
                      one.unlisted, one.designs, one.campaign, options.database);
    }
  }
  return text;
}

}  // namespace mapsim
