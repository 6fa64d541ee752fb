// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <benchmark/benchmark.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mapsim::bench {

// The usual report and, at the end, the median and the worst over the layers of each group of
// benchmarks: those whose names, GROUP:LAYER, differ in the layer only. Of a rate that is a counter
// (more is better) or, without one, of the time: real, and of all processors together.
class SummaryReporter : public benchmark::ConsoleReporter {
 public:
  explicit SummaryReporter(std::string rate = "", std::string unit = "/s")
      : ConsoleReporter{OO_Tabular}, rate_{std::move(rate)}, unit_{std::move(unit)} {}
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  struct Entry {
    double value = 0;
    std::string layer;
  };
  void summarise(const std::string& name, std::vector<Entry> entries);

  std::string rate_;
  std::string unit_;  // of the rate
  std::map<std::string, std::vector<Entry>> groups_;
};

// main() of a program of benchmarks that `add` registers, with memory kept as mapsim keeps it.
// Returns the exit code: 2 for arguments that are unknown.
int run(int argc, char** argv, const std::function<void()>& add,
        SummaryReporter reporter = SummaryReporter{});

}  // namespace mapsim::bench
