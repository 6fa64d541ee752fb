// SPDX-License-Identifier: Apache-2.0
#include "mapper/supported.hpp"

#include <fmt/format.h>

#include <string>

#include "costmodel/objective_range.hpp"
#include "costmodel/sparse/model.hpp"
#include "costmodel/sparse/separable.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

[[noreturn]] void refuse_zeros(const std::string& why) {
  throw UnsupportedSearch("a machine with formats or conditions on zeros: " + why +
                          " (docs/sparsity.md#search)");
}

void check_zeros(const Problem& problem, const Constraints& constraints) {
  if (constraints.factors.imperfect) {
    refuse_zeros("perfect factors only");
  }
  if (!problem.sparse()->has_conditions()) {
    return;
  }
  if (constraints.even || !constraints.extents.empty()) {
    refuse_zeros("with conditions, neither even mappings nor rules for extents");
  }
  if (const std::string why = why_not_separable(problem); !why.empty()) {
    refuse_zeros(why);
  }
}

}  // namespace

void check_supported(const Problem& problem, const Constraints& constraints,
                     std::string_view strategy) {
  if (strategy != "exact" && timing_model(problem.arch()).is_engine) {
    throw UnsupportedSearch(
        fmt::format("{}: an NVDLA-like engine has schedules of its own, which the strategy exact "
                    "evaluates one "
                    "and all (docs/nvdla.md)",
                    strategy));
  }
  if (problem.sparse() != nullptr) {
    check_zeros(problem, constraints);
  }
  if (!constraints.factors.imperfect) {
    return;
  }
  if (strategy == "annealing" || strategy == "genetic") {
    throw UnsupportedSearch(fmt::format("{}: perfect factors only", strategy));
  }
  if (constraints.one_loop_per_dim) {
    throw UnsupportedSearch(
        "imperfect factors: the constraints say 'one_loop_per_dim: true', which is a rule about "
        "perfect ones; without that line the space has imperfect ones");
  }
  const std::size_t count = extents(problem.workload(), constraints.factors);
  if (count > kMostExtents) {
    throw UnsupportedSearch(
        fmt::format("imperfect factors: {} extents are too many ({} at most); a constraints file "
                    "can limit their pieces",
                    count, kMostExtents));
  }
}

void check_range(const Problem& problem, const Objective& objective) {
  if (const std::string obstacle =
          range_obstacle(objective.function, problem.arch(), {problem.workload()});
      !obstacle.empty()) {
    throw UnsupportedSearch(obstacle);
  }
}

}  // namespace mapsim
