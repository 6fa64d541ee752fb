// SPDX-License-Identifier: Apache-2.0
#include "app/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/arguments.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/supported.hpp"
#include "report/figures.hpp"

namespace mapsim {

Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect,
                       std::vector<LackingRule>& lacking) {
  Constraints constraints =
      file.empty() ? Constraints{} : load_constraints(file, problem, &lacking, imperfect);
  constraints.even = constraints.even || even;
  constraints.factors.imperfect = constraints.factors.imperfect || imperfect;
  if (constraints.factors.imperfect && constraints.one_loop_per_dim) {
    throw UnsupportedSearch(fmt::format(
        "--imperfect: {} says 'one_loop_per_dim: true', which is a rule about perfect factors; "
        "without that line the space has imperfect ones",
        file));
  }
  return constraints;
}

Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect,
                       std::vector<std::string>* warnings) {
  std::vector<LackingRule> lacking;
  Constraints constraints = read_space(problem, file, even, imperfect, lacking);
  if (warnings != nullptr) {
    std::ranges::copy(warnings_of(problem, lacking), std::back_inserter(*warnings));
  }
  check_supported(problem, constraints, "exact");
  return constraints;
}

std::string walk_text(std::int64_t macs) {
  constexpr std::int64_t kStepsPerMinute = 30'000'000;
  const std::int64_t minutes = macs / kStepsPerMinute;
  return minutes == 0 ? "a walk of as many steps, less than a minute"
                      : fmt::format("a walk of as many steps, about {} minute{}", grouped(minutes),
                                    minutes == 1 ? "" : "s");
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
