// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "campaign/record.hpp"
#include "campaign/sqlite.hpp"

namespace mapsim {

// The tables of the database of campaigns (docs/results.md), and conditions on their rows.

inline constexpr std::int64_t kStoreSchema = 6;
// Without choices of all mappings of a network; a sweep adds their tables before it writes.
inline constexpr std::int64_t kLayerByLayerSchema = 5;
// The schema that stored every point of a campaign; its views have the same columns.
inline constexpr std::int64_t kOldestReadSchema = 4;

struct StoreTable {
  std::string name;
  std::vector<Column> keys, values;
};
const std::vector<StoreTable>& store_tables(std::int64_t schema);
std::vector<std::string> column_names(const std::vector<Column>& columns,
                                      const std::string& prefix = "");
std::vector<std::string> answer_columns();
// The columns that make a question: `networks` has a row for each.
inline const std::string kNetworkColumns =
    "campaign, arch, settings, network, objective, latency, limits, constraints, strategy";

void create_store(Database& database);
// From kLayerByLayerSchema.
void upgrade_store(Database& database);
// The leases of running sweeps (campaign/leases.hpp). They are no part of a database's content: a
// database without the table is whole, and leases are not merged.
void create_leases(Database& database);
// The schema of a file. Throws ConfigError if it is damaged, not mapsim's, or unknown.
std::int64_t check_store(Database& database);

// Finds faults in the values of rows with these columns: wrong types, invalid UTF-8 or JSON,
// numbers that no campaign writes.
class RowCheck {
 public:
  explicit RowCheck(std::vector<std::string> columns);
  // The fault, or "". If consecutive rows have equal settings, these are checked once.
  std::string problem(const Record& row);
  // "point 3 of campaign 'small'", or the row by its first columns.
  std::string name(const Record& row) const;

 private:
  std::vector<std::string> columns_;
  std::vector<const Column*> known_;  // nullptr: of no table
  std::vector<bool> optional_;
  std::string settings_;  // of the previous row
};

}  // namespace mapsim
