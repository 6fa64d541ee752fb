// SPDX-License-Identifier: Apache-2.0
#include "validate/specification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace mapsim {
namespace {

constexpr double kFaster = 1.05;
constexpr double kLong = 50e-6;  // seconds; twenty launches

// No loss anywhere, launches and starts as good as none.
GpuCalibration ideal(GpuCalibration calibration) {
  calibration.mma = calibration.shared = calibration.issue = 1;
  calibration.dram = calibration.l2 = calibration.l2_capacity = 1;
  calibration.overlap = 20;
  calibration.stall = 0;
  calibration.launch = calibration.block = calibration.ramp = calibration.reduction = Seconds{1e-9};
  return calibration;
}

}  // namespace

SpecificationCheck check_specification(const Gpu& gpu, const GpuCalibration& start,
                                       std::optional<GpuPath> path,
                                       std::span<const Observation> rows) {
  const GpuCalibration best = ideal(start);
  SpecificationCheck result;
  std::set<std::int64_t> problems;
  std::set<std::int64_t> impossible;
  std::vector<double> reached;
  for (const Observation& row : rows) {
    problems.insert(row.problem_number);
    const double faster = least_time(gpu, row, path) / row.measured;
    result.most = std::max(result.most, faster);
    if (faster > kFaster) {
      impossible.insert(row.problem_number);
    }
    if (row.measured > kLong && !row.options.empty()) {
      reached.push_back(predict(gpu, best, row) / row.measured);
    }
  }
  result.problems = std::ssize(problems);
  result.impossible = std::ssize(impossible);
  if (!reached.empty()) {
    std::sort(reached.begin(), reached.end());
    result.reached = reached[reached.size() * 9 / 10];
  }
  return result;
}

std::optional<std::string> contradiction(const SpecificationCheck& check) {
  if (check.contradicted()) {
    return fmt::format(
        "{} of {} problems were measured faster than the file allows, by up to a factor of {:.2f}: "
        "these are measurements of another GPU, or its SMs, clock, rates or bandwidth are too low",
        check.impossible, check.problems, check.most);
  }
  if (check.reached > 0 && check.reached < kWrongShare) {
    return fmt::format(
        "the best of the measurements reach {:.0f} % of what the file's figures allow: these are "
        "measurements of another GPU, or its SMs, clock, rates or bandwidth are too high",
        100 * check.reached);
  }
  return std::nullopt;
}

std::optional<std::string> suspicion(const SpecificationCheck& check) {
  if (check.reached >= kSuspiciousShare || check.reached <= 0) {
    return std::nullopt;
  }
  return fmt::format(
      "spec suspicious: the best of the measurements reach {:.0f} % of what the file's figures "
      "allow (tuned kernels reach more than {:.0f} %): check its SMs, clock, rates and bandwidth, "
      "whether the board's power limit keeps that clock, and whether these are tuned kernels",
      100 * check.reached, 100 * kSuspiciousShare);
}

}  // namespace mapsim
