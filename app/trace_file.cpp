// SPDX-License-Identifier: Apache-2.0
#include "app/trace_file.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "app/arguments.hpp"
#include "report/trace.hpp"

namespace mapsim {

std::string TraceFile::write(const Provenance& origin, const Problem& problem,
                             const Mapping& mapping, const Cost& cost,
                             const std::atomic<bool>& stop) {
  if (path_.empty()) {
    return {};
  }
  TimelineOptions options;
  options.stop = &stop;
  try {
    const TimelineSummary summary =
        write_trace(origin, problem, mapping, cost, options,
                    [this](std::string_view text) { file_.append(text); });
    if (summary.stopped) {
      return {};
    }
    file_.finish();
    return trace_text(problem, mapping, cost, summary, path_);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string{"--trace: "} + error.what());
  }
}

void add_trace(const TraceFile& trace, const std::string& path, bool json, const std::string& shown,
               Answer& answer) {
  if (shown.empty()) {
    trace.remove();
    answer.code = kInterrupted;
    answer.remark = fmt::format("interrupted: no trace in {}", path);
  } else if (json) {
    answer.remark += (answer.remark.empty() ? "" : "\n") + shown.substr(0, shown.find('\n'));
  } else {
    answer.text += '\n' + shown;
  }
}

}  // namespace mapsim
