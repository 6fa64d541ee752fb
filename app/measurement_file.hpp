// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "costmodel/gpu/measurement.hpp"
#include "validate/predictions.hpp"

namespace mapsim {

// The rows of a measurements file that are of a GPU, by the letters and digits of its name: tables
// say "RTX 4090" where an architecture is called rtx4090. Throws UsageError, which names the
// others, if there are none, and ConfigError.
std::vector<GpuMeasurement> measurements_of(const std::string& path, const std::string& gpu);

// The same of rows that were read already, from `path`.
std::vector<GpuMeasurement> rows_of_gpu(std::vector<GpuMeasurement> all, const std::string& path,
                                        const std::string& gpu);

// Lines on how many rows were measured with a hot or cold L2 cache, and what the others are taken
// as.
std::string cache_text(const CacheEvidence& cache);

// A measurements file that grows while measuring: every problem's rows are in it before the next
// begins. A row that a killed process left unfinished is dropped, the rest stays as it is.
class MeasurementFile {
 public:
  // Reads what is there, or begins a file. "": none, rows are kept in memory. Throws UsageError,
  // ConfigError.
  explicit MeasurementFile(std::string path);

  const std::vector<GpuMeasurement>& rows() const { return rows_; }
  // Whether there is a row of this, by measured_what().
  bool has(const std::string& what) const { return known_.contains(what); }
  // Why this must not be tried again: it ended the process that did. Nothing: it may be.
  const std::string* lost(const std::string& what) const;

  void add(const std::vector<GpuMeasurement>& rows);
  // The last line is "# trying: what" from begin() to end(): a process that never ended it was
  // killed, as a kernel that hangs has it be, and who reads the file next makes it a lost one.
  void begin(const std::string& what);
  void end();
  // Comment lines "# refused: ..." and "# lost: ...".
  void note_refused(const std::string& what, const std::string& reason);
  void note_lost(const std::string& what, const std::string& reason);

 private:
  void append(const std::string& text);
  std::string path_;
  std::uintmax_t size_ = 0;  // of the file, without the line of begin()
  std::vector<GpuMeasurement> rows_;
  std::map<std::string, std::size_t> known_;
  std::map<std::string, std::string> lost_;
};

}  // namespace mapsim
