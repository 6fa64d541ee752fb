// SPDX-License-Identifier: Apache-2.0
#include "app/space.hpp"

#include <fmt/format.h>

#include "app/arguments.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/supported.hpp"

namespace mapsim {

Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect,
                       std::vector<std::string>* warnings) {
  std::vector<LackingRule> lacking;
  Constraints constraints =
      file.empty() ? Constraints{} : load_constraints(file, problem, &lacking);
  for (const LackingRule& rule : lacking) {
    if (warnings != nullptr) {
      warnings->push_back(warning_of(rule, problem.workload().name + " has"));
    }
  }
  constraints.even = constraints.even || even;
  constraints.factors.imperfect = constraints.factors.imperfect || imperfect;
  if (constraints.factors.imperfect && constraints.one_loop_per_dim) {
    throw UnsupportedSearch(fmt::format(
        "--imperfect: {} says 'one_loop_per_dim: true', which is a rule about perfect factors; "
        "without that line the space has imperfect ones",
        file));
  }
  check_supported(problem, constraints, "exact");
  return constraints;
}

std::string warning_lines(const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) {
    text += "warning: " + warning + "\n";
  }
  return text;
}

void remark_warnings(const std::vector<std::string>& warnings, Answer& answer) {
  for (const std::string& warning : warnings) {
    answer.remark += (answer.remark.empty() ? "warning: " : "\nmapsim: warning: ") + warning;
  }
}

Frames frames_of(const Arch& arch, bool batches) {
  if (batches && !timing_model(arch).is_engine) {
    throw UsageError("--batches: only for NVDLA-like engines (docs/nvdla.md)");
  }
  return batches ? Frames::kBatches : Frames::kOne;
}

}  // namespace mapsim
