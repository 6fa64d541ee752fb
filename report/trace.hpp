// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "costmodel/timeline/timeline.hpp"
#include "report/json.hpp"

namespace mapsim {

// A mapping in time as the trace events of Chrome (JSON), which Perfetto shows: docs/trace.md. A
// group of rows for the compute units and for each level, a row for each port and each tensor that
// the level keeps. One cycle is shown as a microsecond.

using WriteText = std::function<void(std::string_view text)>;

// Writes event after event; in the end what was walked and what the ports add up to.
TimelineSummary write_trace(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const Cost& cost,
                            const TimelineOptions& options, const WriteText& write);

// "all 3,528 tile steps", or which of them: the same in the file and for people.
std::string coverage_text(const TimelineSummary& summary);

// The content of the trace in `file`, and its ports compared with the cost model.
std::string trace_text(const Problem& problem, const Mapping& mapping, const Cost& cost,
                       const TimelineSummary& summary, const std::string& file);

}  // namespace mapsim
