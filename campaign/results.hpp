// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "report/json.hpp"

namespace mapsim {

enum class ResultsFormat : std::uint8_t { kText, kCsv, kJson };

struct ResultsOptions {
  std::string database;
  std::string campaign;   // empty: all of them
  bool networks = false;  // totals of networks instead of points
  ResultsFormat format = ResultsFormat::kText;
};

// The answers of a database: one row per point, one column per setting, named by its path. CSV as
// in RFC 4180; numbers with all digits; empty if there is no value. Throws ConfigError.
std::string results_table(const Provenance& origin, const ResultsOptions& options);

// Designs of the campaigns that have no row because a shard is missing, in words; or "".
std::string unlisted_designs(const ResultsOptions& options);

}  // namespace mapsim
