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

// How a bound is said to follow; the checker may find it another way.
enum class Argument : std::uint8_t { kUnrollingBound, kRelaxation, kSearch };

// No mapping with this spatial unrolling is better than `bound`; infinite: none fits. Of
// others: no mapping with any unrolling that has no claim of its own.
struct Claim {
  Unrolling unrolling;
  Argument by = Argument::kUnrollingBound;
  double bound = 0;
  int line = 0;  // in the file
  bool is_of_others = false;
};

// A mapping and what it is claimed to come to.
struct Point {
  Mapping mapping;
  Figures figures;  // as the goal has them
  int line = 0;     // in the file
  Form form{};      // of the layer that it is a mapping of; one that the layer has
};

// In place of the size of an imperfect mapspace.
inline constexpr const char* kNotCounted = "not counted";

// A certificate as it is claimed (docs/certificates.md): nothing of it is believed.
struct Certificate {
  std::string file;
  std::string tool;
  Problem problem;
  Goal goal;
  Rules rules;
  std::string size;           // mappings in the space, decimal, or kNotCounted
  std::vector<Point> points;  // the best; of a front or a curve several. None: nothing fits
  double value = 0;           // of the best; infinite without one
  double lower_bound = 0;     // of the whole space
  std::vector<Claim> claims;  // of each unrolling or all others; of fronts, curves, schedules none
  double gap = 0;  // of a front: what a mapping may be better by, as a share of both figures
  std::string rules_text{};     // as they stand in the file
  bool records_inputs = false;  // hashes of files that nobody compares

  bool is_front() const { return goal.kind == Goal::Kind::kFront || is_curve(); }
  bool is_curve() const { return goal.kind == Goal::Kind::kCurve; }
};

// Throws a ConfigError with all that is wrong: not a certificate, damaged, or beyond the checker.
Certificate load_certificate(const std::string& path);
Certificate parse_certificate(const std::string& text, const std::string& filename);

// "756 pJ", or "nothing fits"
std::string value_text(double value, const Goal& goal);

// "5 cycles", "64 b": what is weighed against it.
std::string measure_text(double measure, const Goal& goal);

// "energy*latency, ramped, at most 5 cycles": what is minimised, of which mappings.
std::string goal_text(const Goal& goal);

// "pJ", "cycles", "pJ*cycles", "pJ^2*cycles"
std::string unit_of(const Goal& goal);

}  // namespace mapsim::check
