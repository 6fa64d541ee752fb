// SPDX-License-Identifier: Apache-2.0
#pragma once
// Designs of Timeloop in this library's words, as `mapsim import timeloop` writes them.
#include <string>
#include <vector>

#include "interop/timeloop_compare.hpp"
#include "interop/timeloop_import.hpp"

namespace mapsim {

// A design and its files; a text is empty where the design has no such part.
struct ImportedTimeloop {
  TimeloopImport import;
  std::string arch, workload, mapping, constraints;  // YAML
};
// Reads an architecture, a problem, a mapping, a mapspace and an ERT together. A folder stands for
// its files if it has one of each kind; the notes name them. Throws ConfigError, and
// std::invalid_argument for folders with several files of a kind (with calls that read some of
// them) and for machines that have no counterpart.
ImportedTimeloop import_timeloop(const std::vector<std::string>& paths,
                                 const TimeloopOptions& options = {});
// Its figures beside those in the statistics of timeloop-model or timeloop-mapper. `version` wrote
// them: "current", "2024", "2021" or "2020". Energies are left out where they are by our own
// tables. Throws std::invalid_argument without a machine, a problem and a mapping, for sparse
// designs and for unknown versions.
std::vector<ComparedFigure> compare_timeloop(const TimeloopImport& import,
                                             const std::string& statistics,
                                             const std::string& version = "current");

}  // namespace mapsim
