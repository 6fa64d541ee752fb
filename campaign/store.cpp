// SPDX-License-Identifier: Apache-2.0
#include "campaign/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <span>

#include "campaign/network.hpp"
#include "campaign/results_version.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kApplication = 0x6D617073;  // "maps": whose file this is, in its header
constexpr std::int64_t kStoreSchema = 4;

enum Prepared : std::size_t { kAddPoint, kAddInput, kFindInput, kHasResult, kAddResult };

using Columns = std::span<const Column>;

std::vector<std::string> names(Columns columns, const std::string& prefix = "") {
  std::vector<std::string> all;
  for (const Column& column : columns) {
    all.push_back(prefix + std::string{column.name});
  }
  return all;
}

std::string definitions(Columns columns, const char* suffix = "") {
  std::vector<std::string> all;
  for (const Column& column : columns) {
    all.push_back(fmt::format("{} {}{}", column.name, column.type, suffix));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string marks(std::size_t count) {
  return fmt::format("{}", fmt::join(std::vector<std::string>(count, "?"), ", "));
}

std::vector<std::string> answer_columns() {
  std::vector<std::string> all;
  for (const Columns columns :
       {Columns{kPointColumns}, Columns{kFigureColumns}, Columns{kKeyColumns}}) {
    for (const std::string& name : names(columns)) {
      all.push_back(name);
    }
  }
  return all;
}

// How many operators of a network without a price multiply: layers that are in no sum.
std::string unread_layers_sql() {
  std::vector<std::string> kinds;
  for (const char* op : kMultiplyingOps) {
    kinds.push_back(fmt::format("u.kind GLOB '{}*'", op));
  }
  return fmt::format(
      "(SELECT coalesce(sum(u.count), 0) FROM unpriced AS u WHERE u.campaign = answers.campaign"
      " AND u.network = answers.network AND ({}))",
      fmt::join(kinds, " OR "));
}

const std::string kNetworkColumns =
    "campaign, arch, settings, network, objective, latency, limits, constraints, strategy";

// A sum where no layer is missing: else what cannot run a network would look small.
std::string whole(const std::string& sum) {
  return fmt::format("CASE WHEN unmapped + unread = 0 THEN {0} END AS {0}", sum);
}

std::string networks_view() {
  const std::string sums = fmt::format(
      "SELECT {}, sum(count) AS layers,"
      " coalesce(sum(count) FILTER (WHERE energy_pj IS NULL), 0) AS unmapped, {} AS unread,"
      " sum(count * energy_pj) AS energy_pj, sum(count * latency_cycles) AS latency_cycles,"
      " sum(count * latency_cycles_ramped) AS latency_cycles_ramped,"
      " sum(count * latency_seconds) AS latency_seconds, sum(count * macs) AS macs,"
      " max(area_mm2) AS area_mm2, min(status IN ('optimal', 'fastest', 'priced')) AS all_proven,"
      " (SELECT group_concat(u.count || ' x ' || u.kind, ', ') FROM unpriced AS u"
      " WHERE u.campaign = answers.campaign AND u.network = answers.network) AS unpriced,"
      " min(number) AS first FROM answers WHERE network <> '' GROUP BY {}",
      kNetworkColumns, unread_layers_sql(), kNetworkColumns);
  return fmt::format(
      "CREATE VIEW networks AS SELECT {}, layers, unmapped + unread AS layers_missing, {}, {}, {},"
      " {}, macs, area_mm2, all_proven AND unread = 0 AS proven, unpriced FROM ({})"
      " ORDER BY campaign, first",
      kNetworkColumns, whole("energy_pj"), whole("latency_cycles"), whole("latency_cycles_ramped"),
      whole("latency_seconds"), sums);
}

void create(Database& database) {
  const std::string key = fmt::format("{}", fmt::join(names(kKeyColumns), ", "));
  database.execute(
      "CREATE TABLE inputs (id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL)"
      " WITHOUT ROWID");
  database.execute(fmt::format("CREATE TABLE results ({}, {}, PRIMARY KEY ({})) WITHOUT ROWID",
                               definitions(kKeyColumns, " NOT NULL"), definitions(kFigureColumns),
                               key));
  database.execute(
      fmt::format("CREATE TABLE points ({}, {}, PRIMARY KEY (campaign, number)) WITHOUT ROWID",
                  definitions(kPointColumns, " NOT NULL"), definitions(kKeyColumns, " NOT NULL")));
  database.execute(
      fmt::format("CREATE VIEW answers AS SELECT {} FROM points LEFT JOIN results USING ({})"
                  " ORDER BY campaign, number",
                  fmt::join(answer_columns(), ", "), key));
  database.execute(
      "CREATE TABLE unpriced (campaign TEXT NOT NULL, network TEXT NOT NULL, kind TEXT NOT NULL,"
      " count INTEGER NOT NULL, PRIMARY KEY (campaign, network, kind)) WITHOUT ROWID");
  database.execute(networks_view());
  database.execute(fmt::format("PRAGMA application_id = {}", kApplication));
  database.execute(fmt::format("PRAGMA user_version = {}", kStoreSchema));
}

std::int64_t number(Database& database, const std::string& sql) {
  Statement statement{database, sql};
  statement.step();
  return std::get<std::int64_t>(statement.cell(0));
}

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw ConfigError{{{path, 0, 0, "", message, ""}}};
}

void check_ours(Database& database) {
  if (number(database, "PRAGMA application_id") != kApplication) {
    refuse(database.path(), "is not a database of mapsim");
  }
  const std::int64_t version = number(database, "PRAGMA user_version");
  if (version != kStoreSchema) {
    refuse(database.path(),
           fmt::format("has schema {}; this mapsim reads and writes {}", version, kStoreSchema));
  }
}

// Rows of a table with equal keys that differ in other columns: the first such key.
void check_conflicts(Database& database, const std::string& table, Columns keys, Columns values,
                     const std::string& path) {
  std::vector<std::string> differences;
  for (const Column& column : values) {
    differences.push_back(fmt::format("a.{0} IS NOT b.{0}", column.name));
  }
  Statement statement{
      database, fmt::format("SELECT {} FROM main.{} AS a JOIN other.{} AS b USING ({}) WHERE {}"
                            " LIMIT 1",
                            fmt::join(names(keys, "a."), ", "), table, table,
                            fmt::join(names(keys), ", "), fmt::join(differences, " OR "))};
  if (statement.step()) {
    std::vector<std::string> which;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Cell cell = statement.cell(static_cast<int>(i));
      const auto* text = std::get_if<std::string>(&cell);
      which.push_back(
          fmt::format("{} {}", keys[i].name,
                      text != nullptr ? *text : fmt::to_string(std::get<std::int64_t>(cell))));
    }
    refuse(path, fmt::format("contradicts {}: the same of {} ({}) in both, but not equal;"
                             " nothing of it was merged",
                             database.path(), table, fmt::join(which, ", ")));
  }
}

constexpr std::array kInputKey{Column{"id", "TEXT"}};
constexpr std::array kUnpricedKeys{Column{"campaign", "TEXT"}, Column{"network", "TEXT"},
                                   Column{"kind", "TEXT"}};
constexpr std::array kUnpricedValues{Column{"count", "INTEGER"}};
constexpr std::array kInputValues{Column{"kind", "TEXT"}, Column{"text", "TEXT"}};

}  // namespace

Store::Store(const std::string& path, Open how)
    : database_{[&] {
        if (std::error_code error;
            how == Open::kExisting && !std::filesystem::is_regular_file(path, error)) {
          refuse(path, "no such file");
        }
        return path;
      }()} {
  // Killed processes leave whole rows behind either way; the log alone is not flushed to the disk
  // at each of them, so the last ones may be lost with the power.
  database_.execute("PRAGMA synchronous = NORMAL");
  if (how == Open::kOrNew) {
    Transaction making{database_};
    if (number(database_, "SELECT count(*) FROM sqlite_schema") == 0) {
      create(database_);
    }
    making.commit();
  }
  check_ours(database_);
  if (how == Open::kOrNew) {
    database_.execute("PRAGMA journal_mode = WAL");
  }
  statements_.emplace_back(database_,
                           fmt::format("INSERT INTO points VALUES ({})",
                                       marks(kPointColumns.size() + kKeyColumns.size())));
  statements_.emplace_back(database_, "INSERT OR IGNORE INTO inputs VALUES (?, ?, ?)");
  statements_.emplace_back(database_, "SELECT kind, text FROM inputs WHERE id = ?");
  statements_.emplace_back(
      database_,
      "SELECT 1 FROM results WHERE design = ? AND workload = ? AND question = ?"
      " AND tool = ?");
  statements_.emplace_back(database_,
                           fmt::format("INSERT OR IGNORE INTO results VALUES ({})",
                                       marks(kKeyColumns.size() + kFigureColumns.size())));
}

void Store::begin_points(const Campaign& campaign) {
  points_ = std::make_unique<Transaction>(database_);
  for (const char* table : {"points", "unpriced"}) {
    Statement{database_, fmt::format("DELETE FROM {} WHERE campaign = ?", table)}.run(
        {campaign.name});
  }
  Statement add{database_, "INSERT INTO unpriced VALUES (?, ?, ?, ?)"};
  for (const auto& [network, kind, count] : campaign.unpriced) {
    add.run({campaign.name, network, kind, count});
  }
}

void Store::add_point(const Record& point, const PointKey& key) {
  Record row = point;
  row.insert(row.end(), {key.design, key.workload, key.question, results_version()});
  statements_[kAddPoint].run(row);
}

void Store::end_points() {
  points_->commit();
  points_.reset();
}

void Store::add_input(const std::string& kind, const Content& input) {
  statements_[kAddInput].run({input.id, kind, input.text});
  Statement& find = statements_[kFindInput].bind({input.id});
  find.step();
  if (find.cell(0) != Cell{kind} || find.cell(1) != Cell{input.text}) {
    refuse(database_.path(),
           fmt::format("two inputs have the hash {}; use another database", input.id));
  }
  find.step();
}

bool Store::has_result(const PointKey& key) {
  Statement& find =
      statements_[kHasResult].bind({key.design, key.workload, key.question, results_version()});
  const bool found = find.step();
  while (found && find.step()) {
  }
  return found;
}

void Store::add_result(const PointKey& key, const Record& figures) {
  Record row{key.design, key.workload, key.question, results_version()};
  row.insert(row.end(), figures.begin(), figures.end());
  statements_[kAddResult].run(row);
}

Store::Tally Store::tally(const Campaign& campaign, const Shard& shard) {
  const auto count = [](const Statement& row, int column) {
    return static_cast<std::size_t>(std::get<std::int64_t>(row.cell(column)));
  };
  const std::string those =
      " FROM answers WHERE campaign = ?1 AND (number % ?2 + number / ?2) % ?3 = ?4";
  const Record which{campaign.name, static_cast<std::int64_t>(campaign.points_per_design()),
                     static_cast<std::int64_t>(shard.count),
                     static_cast<std::int64_t>(shard.index)};
  Statement counts{database_,
                   "SELECT count(energy_pj), count(status) - count(energy_pj),"
                   " count(*) - count(status)" +
                       those};
  counts.bind(which).step();
  Tally tally{count(counts, 0), count(counts, 1), count(counts, 2), {}};
  Statement reasons{database_, "SELECT reason, count(*)" + those +
                                   " AND reason IS NOT NULL"
                                   " GROUP BY reason ORDER BY count(*) DESC, reason LIMIT 5"};
  reasons.bind(which);
  while (reasons.step()) {
    tally.reasons.emplace_back(std::get<std::string>(reasons.cell(0)), count(reasons, 1));
  }
  return tally;
}

void Store::merge(const std::string& path) {
  if (std::error_code error; std::filesystem::equivalent(path, database_.path(), error)) {
    refuse(path, "cannot be merged with itself");
  }
  Store{path, Open::kExisting};  // is it a database of ours?
  Statement{database_, "ATTACH ? AS other"}.run({Database::name_to_attach(path)});
  {
    Transaction merging{database_};
    constexpr Columns kFigures{kFigureColumns};
    constexpr Columns kPoints{kPointColumns};
    std::vector<Column> asked(kPoints.begin() + 2, kPoints.end());
    asked.insert(asked.end(), kKeyColumns.begin(), kKeyColumns.end());
    check_conflicts(database_, "inputs", kInputKey, kInputValues, path);
    check_conflicts(database_, "results", kKeyColumns, kFigures.first(kFigures.size() - 1), path);
    check_conflicts(database_, "points", kPoints.first(2), asked, path);
    check_conflicts(database_, "unpriced", kUnpricedKeys, kUnpricedValues, path);
    for (const char* table : {"inputs", "results", "points", "unpriced"}) {
      database_.execute(
          fmt::format("INSERT OR IGNORE INTO main.{} SELECT * FROM other.{}", table, table));
    }
    merging.commit();
  }
  database_.execute("DETACH other");
}

void Store::read(const std::string& view, const std::string& campaign,
                 const std::function<void(const Record&)>& visit) {
  Statement statement{database_,
                      fmt::format("SELECT * FROM {} WHERE ?1 = '' OR campaign = ?1", view)};
  statement.bind({campaign});
  Record row(static_cast<std::size_t>(statement.columns()));
  while (statement.step()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = statement.cell(static_cast<int>(i));
    }
    visit(row);
  }
}

std::vector<std::string> Store::columns(const std::string& view) {
  const Statement statement{database_, "SELECT * FROM " + view};
  std::vector<std::string> all;
  for (int i = 0; i < statement.columns(); ++i) {
    all.push_back(statement.name(i));
  }
  return all;
}

std::vector<std::string> Store::unpriced(const std::string& campaign, const std::string& network) {
  Statement statement{database_,
                      "SELECT count || ' x ' || kind FROM unpriced WHERE campaign = ? AND"
                      " network = ? ORDER BY kind"};
  statement.bind({campaign, network});
  std::vector<std::string> all;
  while (statement.step()) {
    all.push_back(std::get<std::string>(statement.cell(0)));
  }
  return all;
}

void Store::read_settings(const std::string& campaign,
                          const std::function<void(const std::string&)>& visit) {
  Statement statement{database_,
                      "SELECT settings FROM points WHERE ?1 = '' OR campaign = ?1"
                      " GROUP BY settings ORDER BY min(campaign), min(number)"};
  statement.bind({campaign});
  while (statement.step()) {
    visit(std::get<std::string>(statement.cell(0)));
  }
}

}  // namespace mapsim
