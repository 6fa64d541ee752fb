// SPDX-License-Identifier: Apache-2.0
#include "campaign/store_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "campaign/network.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kApplication = 0x6D617073;  // "maps": whose file this is, in its header

template <std::size_t kCount>
std::vector<Column> list(const std::array<Column, kCount>& columns) {
  return {columns.begin(), columns.end()};
}

constexpr Column kCampaign{"campaign", "TEXT"};
constexpr Column kNumber{"number", "INTEGER"};

std::vector<StoreTable> shared_tables() {
  return {{"inputs", {{"id", "TEXT"}}, {{"kind", "TEXT"}, {"text", "TEXT"}}},
          {"results", list(kKeyColumns), list(kFigureColumns)},
          {"unpriced", {kCampaign, {"network", "TEXT"}, {"kind", "TEXT"}}, {{"count", "INTEGER"}}}};
}

const StoreTable& networks_table() {
  static const StoreTable kTable{
      "joint_networks", {kCampaign, {"network", "TEXT"}}, {{"workload", "TEXT"}}};
  return kTable;
}

std::vector<StoreTable> tables_of_grids() {
  std::vector<StoreTable> tables = shared_tables();
  tables.push_back({"campaigns",
                    {kCampaign},
                    {{"id", "TEXT"},
                     {"designs", "INTEGER"},
                     {"layers", "INTEGER"},
                     {"questions", "INTEGER"},
                     {"tool", "TEXT"}}});
  tables.push_back({"designs", {kCampaign, kNumber}, list(kDesignColumns)});
  tables.push_back({"layers", {kCampaign, kNumber}, list(kLayerColumns)});
  tables.push_back({"questions", {kCampaign, kNumber}, list(kQuestionColumns)});
  return tables;
}

std::vector<StoreTable> tables_of_points() {
  std::vector<StoreTable> tables = shared_tables();
  std::vector<Column> values = list(kPointColumns);
  values.erase(values.begin(), values.begin() + 2);  // the key
  for (const Column& column : kKeyColumns) {
    values.push_back(column);
  }
  tables.push_back({"points", {kCampaign, kNumber}, values});
  return tables;
}

// Figures are NULL where there is no mapping, all other columns never.
std::string table_sql(const StoreTable& table) {
  std::vector<std::string> parts;
  for (const auto* columns : {&table.keys, &table.values}) {
    for (const Column& column : *columns) {
      const bool optional = table.name == "results" && columns == &table.values;
      parts.push_back(
          fmt::format("{} {}{}", column.name, column.type, optional ? "" : " NOT NULL"));
    }
  }
  return fmt::format("CREATE TABLE {} ({}, PRIMARY KEY ({})) WITHOUT ROWID", table.name,
                     fmt::join(parts, ", "), fmt::join(column_names(table.keys), ", "));
}

// The grid in the order of its numbers, which the loops have by themselves: nothing is sorted.
const std::string kGrid =
    " FROM campaigns AS c CROSS JOIN designs AS d ON d.campaign = c.campaign"
    " CROSS JOIN layers AS l ON l.campaign = c.campaign"
    " CROSS JOIN questions AS q ON q.campaign = c.campaign";

// Of a network whose mappings were chosen jointly the row of `results` that says which, and of each
// layer the answer that was chosen: that to its own question where there is no such row.
const std::string kChosen =
    " LEFT JOIN joint_networks AS j ON j.campaign = c.campaign AND j.network = l.network"
    " LEFT JOIN results AS n ON n.design = d.design AND n.workload = j.workload"
    " AND n.question = q.question AND n.tool = c.tool"
    " LEFT JOIN results AS r ON r.design = d.design AND r.workload = l.workload AND r.tool ="
    " c.tool AND r.question = coalesce(json_extract(n.mapping, '$.\"' || l.workload || '\"'),"
    " q.question)";

std::string grid_column(const std::string& name) {
  if (name == "number") {
    return "(d.number * c.layers + l.number) * c.questions + q.number AS number";
  }
  for (const auto& [prefix, table] :
       {std::pair{"d", list(kDesignColumns)}, std::pair{"l", list(kLayerColumns)},
        std::pair{"q", list(kQuestionColumns)}}) {
    for (const Column& column : table) {
      if (column.name == name) {
        return fmt::format("{}.{} AS {}", prefix, name, name);
      }
    }
  }
  return fmt::format("c.{} AS {}", name, name);
}

void create_grid_views(Database& database) {
  std::vector<std::string> points;
  for (const auto& columns : {list(kPointColumns), list(kKeyColumns)}) {
    for (const std::string& name : column_names(columns)) {
      points.push_back(grid_column(name));
    }
  }
  database.execute(
      fmt::format("CREATE VIEW points AS SELECT {}{}", fmt::join(points, ", "), kGrid));
  std::vector<std::string> answers = points;
  const std::vector<std::string> figures = column_names(list(kFigureColumns), "r.");
  answers.insert(answers.begin() + kPointColumns.size(), figures.begin(), figures.end());
  database.execute(
      fmt::format("CREATE VIEW answers AS SELECT {}{} LEFT JOIN results AS r ON r.design = d.design"
                  " AND r.workload = l.workload AND r.question = q.question AND r.tool = c.tool"
                  " ORDER BY c.campaign, d.number, l.number, q.number",
                  fmt::join(answers, ", "), kGrid));
}

void create_chosen_view(Database& database) {
  std::vector<std::string> columns;
  for (const std::string& name : answer_columns()) {
    const auto is_figure = [&name](const Column& column) { return column.name == name; };
    columns.push_back(name == "question" ? "coalesce(r.question, q.question) AS question"
                      : std::any_of(kFigureColumns.begin(), kFigureColumns.end(), is_figure)
                          ? fmt::format("r.{0} AS {0}", name)
                          : grid_column(name));
  }
  database.execute(
      fmt::format("CREATE VIEW chosen_answers AS SELECT {}, n.status AS network_status,"
                  " n.energy_pj AS network_energy_pj, n.latency_cycles AS network_cycles,"
                  " n.lower_bound AS network_lower_bound{}{}"
                  " ORDER BY c.campaign, d.number, l.number, q.number",
                  fmt::join(columns, ", "), kGrid, kChosen));
}

// How many operators of a network without a price multiply: layers that are in no sum.
std::string unread_layers_sql() {
  std::vector<std::string> kinds;
  for (const char* op : kMultiplyingOps) {
    kinds.push_back(fmt::format("u.kind GLOB '{}*'", op));
  }
  return fmt::format(
      "(SELECT coalesce(sum(u.count), 0) FROM unpriced AS u WHERE u.campaign = a.campaign"
      " AND u.network = a.network AND ({}))",
      fmt::join(kinds, " OR "));
}

// A sum where no layer is missing: else what cannot run a network would look small.
std::string whole(const std::string& sum) {
  return fmt::format("CASE WHEN unmapped + unread = 0 THEN {0} END AS {0}", sum);
}

// The product of the sums is least over all choices of mappings where they were chosen jointly, and
// what it is by each layer's own least one elsewhere: then nothing is proven of it. A choice counts
// only where its rows are there: they add up to what it says.
std::string networks_view() {
  const std::string sums = fmt::format(
      "SELECT {}, sum(count) AS layers,"
      " coalesce(sum(count) FILTER (WHERE energy_pj IS NULL), 0) AS unmapped, {} AS unread,"
      " sum(count * energy_pj) AS energy_pj, sum(count * latency_cycles) AS latency_cycles,"
      " sum(count * latency_cycles_ramped) AS latency_cycles_ramped,"
      " sum(count * latency_seconds) AS latency_seconds, sum(count * macs) AS macs,"
      " max(area_mm2) AS area_mm2, min(status IN ('optimal', 'fastest', 'priced')) AS all_proven,"
      " max(objective = 'edp') AND NOT max(status = 'fastest') AS is_edp,"
      " CASE WHEN abs(sum(count * energy_pj) - max(network_energy_pj)) <= 1e-9 * "
      "max(network_energy_pj)"
      " AND sum(count * latency_cycles) = max(network_cycles) THEN max(network_status) END AS"
      " network_status,"
      " max(network_lower_bound) / max(clock_hz) AS network_lower_bound,"
      " (SELECT group_concat(u.count || ' x ' || u.kind, ', ') FROM unpriced AS u"
      " WHERE u.campaign = a.campaign AND u.network = a.network) AS unpriced,"
      " min(number) AS first FROM chosen_answers AS a WHERE network <> '' GROUP BY {}",
      kNetworkColumns, unread_layers_sql(), kNetworkColumns);
  return fmt::format(
      "CREATE VIEW networks AS SELECT {}, layers, unmapped + unread AS layers_missing, {}, {}, {},"
      " {}, macs, area_mm2, unread = 0 AND CASE WHEN is_edp THEN coalesce(network_status ="
      " 'optimal', 0) ELSE all_proven END AS proven,"
      " CASE WHEN is_edp AND unmapped + unread = 0 THEN energy_pj * latency_seconds END AS"
      " edp_pj_s, CASE WHEN is_edp AND unmapped + unread = 0 AND network_status IS NOT NULL THEN"
      " min(network_lower_bound, energy_pj * latency_seconds) END AS edp_lower_bound_pj_s,"
      " CASE WHEN is_edp AND unmapped + unread = 0 THEN iif(network_status IS NULL, 'by layer', "
      "'jointly') END AS chosen, unpriced FROM ({}) ORDER BY campaign, first",
      kNetworkColumns, whole("energy_pj"), whole("latency_cycles"), whole("latency_cycles_ramped"),
      whole("latency_seconds"), sums);
}

void create_chosen_views(Database& database) {
  create_chosen_view(database);
  database.execute(networks_view());
  database.execute(fmt::format("PRAGMA user_version = {}", kStoreSchema));
}

std::int64_t pragma(Database& database, const std::string& name) {
  Statement statement{database, "PRAGMA " + name};
  statement.step();
  return statement.whole(0);
}

}  // namespace

std::vector<std::string> column_names(const std::vector<Column>& columns,
                                      const std::string& prefix) {
  std::vector<std::string> all;
  for (const Column& column : columns) {
    all.push_back(prefix + std::string{column.name});
  }
  return all;
}

const std::vector<StoreTable>& store_tables(std::int64_t schema) {
  static const std::vector<StoreTable> kGrids = tables_of_grids();
  static const std::vector<StoreTable> kPoints = tables_of_points();
  static const std::vector<StoreTable> kAll = [] {
    std::vector<StoreTable> tables = kGrids;
    tables.push_back(networks_table());
    return tables;
  }();
  return schema == kStoreSchema ? kAll : schema == kLayerByLayerSchema ? kGrids : kPoints;
}

std::vector<std::string> answer_columns() {
  std::vector<std::string> all = column_names(list(kPointColumns));
  for (const auto& columns : {list(kFigureColumns), list(kKeyColumns)}) {
    const std::vector<std::string> names = column_names(columns);
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

void create_store(Database& database) {
  for (const StoreTable& table : store_tables(kStoreSchema)) {
    database.execute(table_sql(table));
  }
  create_grid_views(database);
  create_chosen_views(database);
  database.execute(fmt::format("PRAGMA application_id = {}", kApplication));
}

void upgrade_store(Database& database) {
  database.execute(table_sql(networks_table()));
  database.execute("DROP VIEW networks");
  create_chosen_views(database);
}

void create_leases(Database& database) {
  database.execute(
      "CREATE TABLE IF NOT EXISTS leases (design TEXT NOT NULL, workload TEXT NOT NULL, question"
      " TEXT NOT NULL, tool TEXT NOT NULL, holder TEXT NOT NULL, until REAL NOT NULL,"
      " PRIMARY KEY (design, workload, question, tool)) WITHOUT ROWID");
}

std::int64_t check_store(Database& database) {
  if (pragma(database, "application_id") != kApplication) {
    if (std::error_code error; std::filesystem::file_size(database.path(), error) == 0) {
      database.refuse("is empty: a sweep that could not begin left it; 'mapsim sweep' fills it");
    }
    database.refuse("is not a database of mapsim");
  }
  const std::int64_t schema = pragma(database, "user_version");
  if (schema < kOldestReadSchema || schema > kStoreSchema) {
    database.refuse(fmt::format("has schema {}; this mapsim reads {} to {}, and writes {}", schema,
                                kOldestReadSchema, kStoreSchema, kStoreSchema));
  }
  Statement check{database, "PRAGMA quick_check(1)"};
  if (!check.step() || check.text(0) != "ok") {
    const std::string found = check.text(0);  // "*** in database main ***", then what is wrong
    database.refuse_damaged(found.substr(found.find('\n') + 1));
  }
  while (check.step()) {
  }
  for (const StoreTable& table : store_tables(schema)) {
    std::vector<std::string> names = column_names(table.keys);
    const std::vector<std::string> values = column_names(table.values);
    names.insert(names.end(), values.begin(), values.end());
    const Statement columns{database, "SELECT * FROM " + table.name};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const int at = static_cast<int>(i);
      if (at >= columns.columns() || columns.name(at) != names[i]) {
        database.refuse_damaged(fmt::format("{} has no column {}", table.name, names[i]));
      }
    }
  }
  const std::vector<std::string> names = answer_columns();
  Statement{database, fmt::format("SELECT {} FROM answers", fmt::join(names, ", "))};
  if (schema == kStoreSchema) {
    Statement{database, fmt::format("SELECT {} FROM chosen_answers", fmt::join(names, ", "))};
  }
  Statement{database, fmt::format("SELECT {} FROM networks", kNetworkColumns)};
  return schema;
}

}  // namespace mapsim
