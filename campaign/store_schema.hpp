// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "campaign/record.hpp"
#include "campaign/sqlite.hpp"

namespace mapsim {

// The tables of the database of campaigns (docs/results.md) and what must hold of their rows.

inline constexpr std::int64_t kStoreSchema = 6;
// Without choices of all mappings of a network; whoever writes to it adds what they need.
inline constexpr std::int64_t kLayerByLayerSchema = 5;
// The last one that stored every point of a campaign; its views have the same columns.
inline constexpr std::int64_t kOldestReadSchema = 4;

struct StoreTable {
  std::string name;
  std::vector<Column> keys, values;
};
const std::vector<StoreTable>& store_tables(std::int64_t schema);
std::vector<std::string> column_names(const std::vector<Column>& columns,
                                      const std::string& prefix = "");
std::vector<std::string> answer_columns();
// What makes points one question: `networks` has a row of each.
inline const std::string kNetworkColumns =
    "campaign, arch, settings, network, objective, latency, limits, constraints, strategy";

void create_store(Database& database);
// From kLayerByLayerSchema.
void upgrade_store(Database& database);
// Of whoever computes points now (campaign/leases.hpp): no part of what a database says, so that
// one without it is whole, and none is merged.
void create_leases(Database& database);
// Refuses (ConfigError) a file that is not whole, not of mapsim, or of another schema; its schema.
std::int64_t check_store(Database& database);

// What is wrong with the values of rows with these columns: types, text that is none, numbers that
// no campaign writes, JSON that is none.
class RowCheck {
 public:
  explicit RowCheck(std::vector<std::string> columns);
  // "" where nothing is. Of equal settings in rows one behind the other only the first are read.
  std::string problem(const Record& row);
  // "point 3 of campaign 'small'", or the row by its first columns.
  std::string name(const Record& row) const;

 private:
  std::vector<std::string> columns_;
  std::vector<const Column*> known_;  // nullptr: of no table
  std::vector<bool> optional_;
  std::string settings_;  // of the row before
};

}  // namespace mapsim
