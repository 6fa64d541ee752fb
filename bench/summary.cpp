// SPDX-License-Identifier: Apache-2.0
#include "bench/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/memory.hpp"

namespace mapsim::bench {

void SummaryReporter::ReportRuns(const std::vector<Run>& runs) {
  ConsoleReporter::ReportRuns(runs);
  for (const Run& run : runs) {
    const std::string& name = run.run_name.function_name;
    const std::size_t colon = name.find(':');
    if (run.error_occurred || colon == std::string::npos) {
      continue;
    }
    const std::string group = name.substr(0, colon);
    const std::string layer = name.substr(colon + 1);
    if (const auto rate = run.counters.find(rate_); rate != run.counters.end()) {
      groups_[group].push_back({rate->second.value, layer});
    } else if (rate_.empty()) {
      const auto iterations = static_cast<double>(run.iterations);
      groups_[group + ", real time"].push_back({run.real_accumulated_time / iterations, layer});
      groups_[group + ", CPU time"].push_back({run.cpu_accumulated_time / iterations, layer});
    }
  }
}

void SummaryReporter::Finalize() {
  ConsoleReporter::Finalize();
  GetOutputStream() << fmt::format("\n{:<44} {:>6} {:>13} {:>13}  worst layer\n", "", "layers",
                                   "median", "worst");
  for (const auto& [name, entries] : groups_) {
    summarise(name, entries);
  }
}

void SummaryReporter::summarise(const std::string& name, std::vector<Entry> entries) {
  const bool more_is_better = !rate_.empty();
  std::sort(entries.begin(), entries.end(), [more_is_better](const Entry& a, const Entry& b) {
    return more_is_better ? a.value > b.value : a.value < b.value;
  });
  const double median =
      (entries[entries.size() / 2].value + entries[(entries.size() - 1) / 2].value) / 2;
  const Entry& worst = entries.back();
  const double scale = more_is_better ? 1 : 1e3;
  const std::string unit = more_is_better ? unit_ : "ms";
  GetOutputStream() << fmt::format("{:<44} {:>6} {:>10.4g} {} {:>10.4g} {}  {}\n", name,
                                   entries.size(), scale * median, unit, scale * worst.value, unit,
                                   worst.layer);
}

int run(int argc, char** argv, const std::function<void()>& add, SummaryReporter reporter) {
  keep_freed_memory();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  add();
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}

}  // namespace mapsim::bench
