// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <string>

#include "app/command.hpp"
#include "app/files.hpp"
#include "costmodel/evaluate.hpp"
#include "report/json.hpp"

namespace mapsim {

// Where the trace of a mapping goes. Nothing is left there unless it is whole.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : path_{path}, file_{path} {}
  // What the trace shows, for people. "": there is to be none, or it was stopped. Throws UsageError
  // for a mapping without one.
  std::string write(const Provenance& origin, const Problem& problem, const Mapping& mapping,
                    const Cost& cost, const std::atomic<bool>& stop);
  bool wanted() const { return !path_.empty(); }
  void remove() const { file_.remove(); }  // of an earlier run

 private:
  std::string path_;
  OutputFile file_;
};

// Adds what the trace shows to an answer: `shown` of TraceFile::write(), "" where it was stopped.
void add_trace(const TraceFile& trace, const std::string& path, bool json, const std::string& shown,
               Answer& answer);

}  // namespace mapsim
