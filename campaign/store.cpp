// SPDX-License-Identifier: Apache-2.0
#include "campaign/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "campaign/results_version.hpp"
#include "campaign/store_schema.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

enum Prepared : std::size_t { kAddDesign, kAddInput, kFindInput, kHasResult, kResult, kAddResult };

std::string marks(std::size_t count) {
  return fmt::format("{}", fmt::join(std::vector<std::string>(count, "?"), ", "));
}

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw ConfigError{{{path, 0, 0, "", message, ""}}};
}

// "no table" counts as none.
bool is_empty(Database& database) {
  Statement count{database, "SELECT count(*) FROM sqlite_schema"};
  count.step();
  return count.whole(0) == 0;
}

// Rows of a table with equal keys that differ in other columns: the first such key.
void check_conflicts(Database& database, const StoreTable& table, const std::string& path) {
  std::vector<std::string> differences;
  for (const Column& column : table.values) {
    if (column.name != "seconds") {
      differences.push_back(fmt::format("a.{0} IS NOT b.{0}", column.name));
    }
  }
  Statement statement{
      database,
      fmt::format("SELECT {} FROM main.{} AS a JOIN other.{} AS b USING ({}) WHERE {}"
                  " LIMIT 1",
                  fmt::join(column_names(table.keys, "a."), ", "), table.name, table.name,
                  fmt::join(column_names(table.keys), ", "), fmt::join(differences, " OR "))};
  if (statement.step()) {
    std::vector<std::string> which;
    for (int i = 0; i < statement.columns(); ++i) {
      const bool is_text = table.keys[static_cast<std::size_t>(i)].type == "TEXT";
      which.push_back(
          fmt::format("{} {}", statement.name(i),
                      is_text ? statement.text(i) : fmt::to_string(statement.whole(i))));
    }
    refuse(path, fmt::format("contradicts {}: the same of {} ({}) in both, but not equal;"
                             " nothing of it was merged",
                             database.path(), table.name, fmt::join(which, ", ")));
  }
}

}  // namespace

Store::Store(const std::string& path, Open how, DatabaseWait wait)
    : database_{[&] {
                  if (std::error_code error;
                      how == Open::kExisting && !std::filesystem::is_regular_file(path, error)) {
                    refuse(path, std::filesystem::exists(path, error)
                                     ? "is not a file; a database of 'mapsim sweep' is needed"
                                     : "no such file");
                  }
                  return path;
                }(),
                std::move(wait)} {
  // Killed processes leave whole rows behind either way; the log alone is not flushed to the disk
  // at each of them, so the last ones may be lost with the power.
  database_.execute("PRAGMA synchronous = NORMAL");
  if (how == Open::kOrNew) {
    Transaction making{database_};
    if (is_empty(database_)) {
      create_store(database_);
    }
    making.commit();
  }
  schema_ = check_store(database_);
  if (how == Open::kExisting) {
    return;
  }
  if (schema_ == kLayerByLayerSchema) {
    Transaction upgrading{database_};
    if (check_store(database_) == kLayerByLayerSchema) {  // nobody else was quicker
      upgrade_store(database_);
    }
    upgrading.commit();
    schema_ = kStoreSchema;
  }
  if (schema_ != kStoreSchema) {
    refuse(path, fmt::format("has schema {}, which this mapsim reads, but does not write: it "
                             "writes {}. Sweep into another database, or merge with the mapsim "
                             "that made it",
                             schema_, kStoreSchema));
  }
  database_.execute("PRAGMA journal_mode = WAL");
  create_leases(database_);
  statements_.emplace_back(database_, "INSERT OR REPLACE INTO designs VALUES (?, ?, ?, ?, ?)");
  statements_.emplace_back(database_, "INSERT OR IGNORE INTO inputs VALUES (?, ?, ?)");
  statements_.emplace_back(database_, "SELECT kind, text FROM inputs WHERE id = ?");
  statements_.emplace_back(
      database_,
      "SELECT 1 FROM results WHERE design = ? AND workload = ? AND question = ?"
      " AND tool = ?");
  statements_.emplace_back(
      database_,
      fmt::format("SELECT {} FROM results WHERE design = ? AND workload = ? AND question = ?"
                  " AND tool = ?",
                  fmt::join(column_names({kFigureColumns.begin(), kFigureColumns.end()}), ", ")));
  statements_.emplace_back(database_,
                           fmt::format("INSERT OR IGNORE INTO results VALUES ({})",
                                       marks(kKeyColumns.size() + kFigureColumns.size())));
}

void Store::begin_points(const Campaign& campaign, const std::vector<Content>& layers,
                         const std::vector<Content>& questions, Designs designs) {
  points_ = std::make_unique<Transaction>(database_);
  const Record row{campaign.name,
                   campaign_id(campaign),
                   static_cast<std::int64_t>(campaign.designs()),
                   static_cast<std::int64_t>(layers.size()),
                   static_cast<std::int64_t>(questions.size()),
                   results_version()};
  Statement same{database_,
                 "SELECT 1 FROM campaigns WHERE campaign = ? AND id = ? AND designs = ?"
                 " AND layers = ? AND questions = ? AND tool = ?"};
  const bool known = same.bind(row).step();
  while (known && same.step()) {
  }
  for (const char* table :
       {"campaigns", "designs", "layers", "questions", "unpriced", "joint_networks"}) {
    if (table != std::string{"designs"} || !known || designs == Designs::kAnew) {
      Statement{database_, fmt::format("DELETE FROM {} WHERE campaign = ?", table)}.run(
          {campaign.name});
    }
  }
  Statement{database_, "INSERT INTO campaigns VALUES (?, ?, ?, ?, ?, ?)"}.run(row);
  const auto add = [&](const char* table, std::size_t number, Record record, const Content& input) {
    record.insert(record.begin(), {campaign.name, static_cast<std::int64_t>(number)});
    record.emplace_back(input.id);
    Statement{database_, fmt::format("INSERT INTO {} VALUES ({})", table, marks(record.size()))}
        .run(record);
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    add("layers", i, layer_record(campaign.layers[i]), layers[i]);
    add_input("layer", layers[i]);
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    add("questions", i, question_record(campaign, campaign.questions[i]), questions[i]);
    add_input("question", questions[i]);
  }
  Statement unpriced{database_, "INSERT INTO unpriced VALUES (?, ?, ?, ?)"};
  for (const auto& [network, kind, count] : campaign.unpriced) {
    unpriced.run({campaign.name, network, kind, count});
  }
  Statement joint{database_, "INSERT OR IGNORE INTO joint_networks VALUES (?, ?, ?)"};
  for (const NetworkPoint& point : network_points(campaign)) {  // the same for each question
    joint.run({campaign.name, point.network, point.content.id});
    add_input("network", point.content);
  }
}

void Store::add_design(const Campaign& campaign, std::size_t number, const Design& design,
                       const Content& content) {
  Record row = design_record(design);
  row.insert(row.begin(), {campaign.name, static_cast<std::int64_t>(number)});
  row.emplace_back(content.id);
  statements_[kAddDesign].run(row);
  add_input("design", content);
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
    if (content(find.text(1)).id != input.id) {
      database_.refuse_damaged(fmt::format("input {}: its text has another hash", input.id));
    }
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

std::optional<Record> Store::result(const PointKey& key) {
  Statement& find =
      statements_[kResult].bind({key.design, key.workload, key.question, results_version()});
  std::optional<Record> row;
  while (find.step()) {
    row.emplace();
    for (int i = 0; i < find.columns(); ++i) {
      row->push_back(find.cell(i));
    }
  }
  return row;
}

void Store::add_result(const PointKey& key, const Record& figures) {
  Record row{key.design, key.workload, key.question, results_version()};
  row.insert(row.end(), figures.begin(), figures.end());
  statements_[kAddResult].run(row);
}

Store::SampleStatistics Store::statistics(const Campaign& campaign, const Shard& shard) {
  const std::string those =
      " FROM answers WHERE campaign = ?1 AND (number % ?2 + number / ?2) % ?3 = ?4";
  const Record which{campaign.name, static_cast<std::int64_t>(campaign.points_per_design()),
                     static_cast<std::int64_t>(shard.count),
                     static_cast<std::int64_t>(shard.index)};
  Statement counts{database_, "SELECT count(energy_pj), count(status) - count(energy_pj)" + those};
  counts.bind(which).step();
  SampleStatistics statistics{
      static_cast<std::size_t>(counts.whole(0)), static_cast<std::size_t>(counts.whole(1)), 0, {}};
  std::size_t own = 0;  // some designs may be in no row
  for (std::size_t i = 0; i < campaign.points(); ++i) {
    own += shard.has(campaign, i) ? 1U : 0U;
  }
  statistics.missing = own - statistics.mapped - statistics.unmapped;
  Statement reasons{database_, "SELECT reason, count(*)" + those +
                                   " AND reason IS NOT NULL"
                                   " GROUP BY reason ORDER BY count(*) DESC, reason LIMIT 5"};
  reasons.bind(which);
  while (reasons.step()) {
    statistics.reasons.emplace_back(reasons.text(0), static_cast<std::size_t>(reasons.whole(1)));
  }
  return statistics;
}

std::vector<Store::Listed> Store::campaigns() {
  Statement statement{
      database_,
      schema_ >= kLayerByLayerSchema
          ? "SELECT campaign, designs, designs - (SELECT count(*) FROM designs AS d WHERE"
            " d.campaign = c.campaign), (SELECT count(*) FROM layers AS l WHERE l.campaign ="
            " c.campaign) * (SELECT count(*) FROM questions AS q WHERE q.campaign = c.campaign)"
            " FROM campaigns AS c ORDER BY campaign"
          : "SELECT campaign, count(DISTINCT design), 0, count(*) / count(DISTINCT design) FROM"
            " points GROUP BY campaign"
            " ORDER BY campaign"};
  std::vector<Listed> all;
  while (statement.step()) {
    all.push_back({statement.text(0), statement.whole(1), statement.whole(2),
                   std::max<std::int64_t>(1, statement.whole(3))});
  }
  return all;
}

void Store::merge(const std::string& path, const std::atomic<bool>* stop) {
  if (std::error_code error; std::filesystem::equivalent(path, database_.path(), error)) {
    refuse(path, "cannot be merged with itself");
  }
  {
    Store source{path, Open::kExisting};  // is it a database of ours?
    source.check(stop);
    if (source.schema_ != kStoreSchema) {
      refuse(path, fmt::format("has schema {}, which this mapsim reads; it merges {}",
                               source.schema_, kStoreSchema));
    }
  }
  Statement{database_, "ATTACH ? AS other"}.run({Database::name_to_attach(path)});
  database_.heed(stop);
  {
    Transaction merging{database_};
    for (const StoreTable& table : store_tables(kStoreSchema)) {
      check_conflicts(database_, table, path);
    }
    for (const StoreTable& table : store_tables(kStoreSchema)) {
      database_.execute(
          fmt::format("INSERT OR IGNORE INTO main.{0} SELECT * FROM other.{0}", table.name));
    }
    database_.heed(nullptr);
    merging.commit();
  }
  database_.execute("DETACH other");
}

void Store::read(Statement& statement, const std::string& what,
                 const std::function<void(const Record&)>& visit) {
  std::vector<std::string> names;
  for (int i = 0; i < statement.columns(); ++i) {
    names.push_back(statement.name(i));
  }
  RowCheck check{names};
  Record row(names.size());
  while (statement.step()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = statement.cell(static_cast<int>(i));
    }
    if (const std::string problem = check.problem(row); !problem.empty()) {
      database_.refuse_damaged(fmt::format("{} {}: {}", what, check.name(row), problem));
    }
    visit(row);
  }
}

void Store::check(const std::atomic<bool>* stop) {
  database_.heed(stop);
  for (const StoreTable& table : store_tables(schema_)) {
    const bool has_texts = table.name == "inputs";
    Statement rows{database_, "SELECT * FROM " + table.name};
    read(rows, "a row of " + table.name + ":", [&](const Record& row) {
      if (has_texts && Cell{content(std::get<std::string>(row[2])).id} != row[0]) {
        database_.refuse_damaged(
            fmt::format("input {}: its text has another hash", std::get<std::string>(row[0])));
      }
    });
  }
  database_.heed(nullptr);
}

// Points are chosen before their results are looked for, as the view computes numbers from keys.
void Store::read(const Query& query, const std::function<void(const Record&)>& visit) {
  std::vector<std::string> terms;
  if (!query.campaign.empty()) {
    terms.emplace_back("campaign = ?1");
  }
  if (!query.numbers.empty()) {
    terms.emplace_back("number IN (SELECT value FROM json_each(?2))");
  }
  Statement statement{
      database_,
      fmt::format("SELECT {} FROM {}{}{}",
                  query.columns.empty() ? "*" : fmt::format("{}", fmt::join(query.columns, ", ")),
                  query.view, terms.empty() ? "" : " WHERE ", fmt::join(terms, " AND "))};
  Record values{query.campaign, fmt::format("[{}]", fmt::join(query.numbers, ","))};
  values.resize(query.numbers.empty() ? (query.campaign.empty() ? 0 : 1) : 2);
  statement.bind(values);
  read(statement, query.view.ends_with("answers") ? "point" : "a row of " + query.view + ":",
       visit);
}

bool Store::has_choices() const { return schema_ == kStoreSchema; }

std::vector<std::string> Store::columns(const std::string& view) {
  const Statement statement{database_, "SELECT * FROM " + view};
  std::vector<std::string> all;
  for (int i = 0; i < statement.columns(); ++i) {
    all.push_back(statement.name(i));
  }
  return all;
}

std::string Store::input_text(const std::string& id) {
  Statement find{database_, "SELECT text FROM inputs WHERE id = ?"};
  find.bind({id});
  return find.step() ? find.text(0) : std::string{};
}

std::vector<std::string> Store::unpriced(const std::string& campaign, const std::string& network) {
  Statement statement{database_,
                      "SELECT count || ' x ' || kind FROM unpriced WHERE campaign = ? AND"
                      " network = ? ORDER BY kind"};
  statement.bind({campaign, network});
  std::vector<std::string> all;
  while (statement.step()) {
    all.push_back(statement.text(0));
  }
  return all;
}

void Store::read_settings(const std::string& campaign,
                          const std::function<void(const std::string&)>& visit) {
  const std::string of = schema_ >= kLayerByLayerSchema ? "design" : "point";
  Statement statement{database_,
                      fmt::format("SELECT min(campaign) AS campaign, min(number) AS number,"
                                  " settings FROM {}s WHERE ?1 = '' OR campaign = ?1"
                                  " GROUP BY settings ORDER BY 1, 2",
                                  of)};
  statement.bind({campaign});
  read(statement, of, [&visit](const Record& row) { visit(std::get<std::string>(row[2])); });
}

}  // namespace mapsim
