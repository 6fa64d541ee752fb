// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/goal.hpp"
#include "check/rules.hpp"
#include "check/sealed_file.hpp"
#include "check/spatial.hpp"
#include "costmodel/mapping.hpp"
#include "workloads/form.hpp"

namespace mapsim::check {

// The argument that a file names for a bound. The checker may use another one.
enum class Argument : std::uint8_t { kUnrollingBound, kRelaxation, kSearch };

// A claim: no mapping with this spatial unrolling is better than `bound` (infinite: none fits).
// `is_of_others`: the claim is about all unrollings that have no claim of their own.
struct Claim {
  Unrolling unrolling;
  Argument by = Argument::kUnrollingBound;
  double bound = 0;
  int line = 0;  // in the file
  bool is_of_others = false;
};

// A mapping, and the figures that are claimed for it.
struct Point {
  Mapping mapping;
  Figures figures;  // as defined by the goal
  int line = 0;     // in the file
  Form form{};      // of the layer that it is a mapping of
};

// Stands in place of the size of an imperfect mapspace.
inline constexpr const char* kNotCounted = "not counted";

// A certificate as written (docs/certificates.md). The checker trusts none of it.
struct Certificate {
  std::string file;
  std::string tool;
  Problem problem;
  Goal goal;
  Rules rules;
  std::string size;           // number of mappings, decimal, or kNotCounted
  std::vector<Point> points;  // one mapping; of a front or curve several; none: nothing fits
  double value = 0;           // of the best mapping; infinite if there is none
  double lower_bound = 0;     // of the whole space
  // Per unrolling, or one for all others; empty for fronts, curves and schedules
  std::vector<Claim> claims;
  double gap = 0;  // of a front: how much better a mapping may be, as a share of both figures
  std::string rules_text{};     // as written in the file
  bool records_inputs = false;  // has hashes, which the checker does not compare

  bool is_front() const { return goal.kind == Goal::Kind::kFront || is_curve(); }
  bool is_curve() const { return goal.kind == Goal::Kind::kCurve; }
  // The points of a front or curve; else the lower bound as the only point.
  ClaimedFront claimed_front() const;
};

// Throws a ConfigError that lists all faults: not a certificate, damaged, or beyond the checker.
Certificate load_certificate(const std::string& path);
Certificate parse_certificate(const std::string& text, const std::string& filename);

// "756 pJ", or "nothing fits"
std::string value_text(double value, const Goal& goal);

// "5 cycles", "64 b": the second figure of a point.
std::string measure_text(double measure, const Goal& goal);

// "energy*latency, ramped, at most 5 cycles": the objective and its limits.
std::string goal_text(const Goal& goal);

// "pJ", "cycles", "pJ*cycles", "pJ^2*cycles"
std::string unit_of(const Goal& goal);

}  // namespace mapsim::check
