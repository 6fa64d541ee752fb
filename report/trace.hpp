// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "costmodel/timeline/timeline.hpp"
#include "report/json.hpp"

namespace mapsim {

// A mapping in time as Chrome's trace events (JSON), which Perfetto shows: docs/trace.md. The
// compute units and each level have a group of rows; a level has a row for each port and for each
// tensor that it keeps. One cycle is shown as a microsecond. WriteText takes the next piece of the
// file.

using WriteText = std::function<void(std::string_view text)>;

// Writes event after event; returns which steps were written, and the sums of the ports.
TimelineSummary write_trace(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const Cost& cost,
                            const TimelineOptions& options, const WriteText& write);

// The steps that were written: "all 3,528 tile steps", or which of them.
std::string coverage_text(const TimelineSummary& summary);

// What the trace in `file` has, and its ports compared with the cost model, for people.
std::string trace_text(const Problem& problem, const Mapping& mapping, const Cost& cost,
                       const TimelineSummary& summary, const std::string& file);

}  // namespace mapsim
