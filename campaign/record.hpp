// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mapsim {

// A value of the database. Doubles are finite; text is UTF-8.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
using Record = std::vector<Cell>;

struct Column {
  std::string_view name;
  std::string_view type;  // of SQLite
};

// What identifies a result: the contents of its inputs (campaign/point.hpp) and who computed it.
inline constexpr std::array kKeyColumns{Column{"design", "TEXT"}, Column{"workload", "TEXT"},
                                        Column{"question", "TEXT"}, Column{"tool", "TEXT"}};

// The figures of a result, explained in docs/results.md; NULL if there is no mapping. All but the
// last are reproducible to the last bit.
inline constexpr std::array kFigureColumns{Column{"status", "TEXT"},
                                           Column{"reason", "TEXT"},
                                           Column{"energy_pj", "REAL"},
                                           Column{"latency_cycles", "INTEGER"},
                                           Column{"latency_cycles_ramped", "INTEGER"},
                                           Column{"latency_seconds", "REAL"},
                                           Column{"edp", "REAL"},
                                           Column{"clock_hz", "REAL"},
                                           Column{"area_mm2", "REAL"},
                                           Column{"leakage_pj", "REAL"},
                                           Column{"macs", "INTEGER"},
                                           Column{"mac_units", "INTEGER"},
                                           Column{"utilization", "REAL"},
                                           Column{"bottleneck", "TEXT"},
                                           Column{"ops", "INTEGER"},
                                           Column{"bytes", "REAL"},
                                           Column{"peak_ops_per_second", "REAL"},
                                           Column{"peak_bytes_per_second", "REAL"},
                                           Column{"lower_bound", "REAL"},
                                           Column{"gap", "REAL"},
                                           Column{"mapspace_size", "TEXT"},
                                           Column{"breakdown", "TEXT"},
                                           Column{"mapping", "TEXT"},
                                           Column{"seconds", "REAL"}};

// The index of a figure in such a record; `column` is one of them.
inline Cell& figure(Record& record, std::string_view column) {
  const auto* const at =
      std::find_if(kFigureColumns.begin(), kFigureColumns.end(),
                   [column](const Column& candidate) { return candidate.name == column; });
  return record[static_cast<std::size_t>(at - kFigureColumns.begin())];
}

// One point of a campaign, by the names in its file.
inline constexpr std::array kPointColumns{
    Column{"campaign", "TEXT"}, Column{"number", "INTEGER"},   Column{"arch", "TEXT"},
    Column{"settings", "TEXT"}, Column{"network", "TEXT"},     Column{"layer", "TEXT"},
    Column{"count", "INTEGER"}, Column{"objective", "TEXT"},   Column{"latency", "TEXT"},
    Column{"limits", "TEXT"},   Column{"constraints", "TEXT"}, Column{"strategy", "TEXT"}};

// The parts of a point. A campaign is a grid: the point of design d, layer l and question q has the
// number (d * layers + l) * questions + q.
inline constexpr std::array kDesignColumns{Column{"arch", "TEXT"}, Column{"settings", "TEXT"},
                                           Column{"design", "TEXT"}};
inline constexpr std::array kLayerColumns{Column{"network", "TEXT"}, Column{"layer", "TEXT"},
                                          Column{"count", "INTEGER"}, Column{"workload", "TEXT"}};
inline constexpr std::array kQuestionColumns{
    Column{"objective", "TEXT"},   Column{"latency", "TEXT"},  Column{"limits", "TEXT"},
    Column{"constraints", "TEXT"}, Column{"strategy", "TEXT"}, Column{"question", "TEXT"}};

}  // namespace mapsim
