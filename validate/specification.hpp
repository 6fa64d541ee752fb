// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "validate/observations.hpp"

namespace mapsim {

// What measurements say of the figures of an architecture file, without any fit.
struct SpecificationCheck {
  // Problems measured more than 5 % faster than the file allows: all operations at the peak of
  // their path, or what the L2 cache cannot hold from DRAM at its bandwidth. Chips clock a little
  // above the boost clock of their specification; nothing is faster than its own peak.
  std::int64_t impossible = 0;
  std::int64_t problems = 0;
  double most = 0;  // the largest of those times, over the measured one
  // Of an ideal kernel (every figure reached, no overhead, the power limit kept): its time over the
  // measured one, 90th percentile over the rows that launches do not dominate. 0: there are none.
  double reached = 0;
  // Impossible times of more than two problems and 0.2 % of them (two of two): no clock explains
  // it.
  bool contradicted() const {
    return impossible > 0 && impossible * 500 >= problems && (impossible > 2 || problems < 3);
  }
};

// Correct files: 0.84 to 1.03 on the recorded sets, but 0.61 of a T4 (f32), whose board of 70 W
// keeps less of its clock than the energies of the file say. SMs or clock of an L20 half too high:
// 0.63 to 0.66.
inline constexpr double kSuspiciousShare = 0.75;
inline constexpr double kWrongShare = 0.4;

// `rows` have their options. `start` gives what is no efficiency (energies).
SpecificationCheck check_specification(const Gpu& gpu, const GpuCalibration& start,
                                       std::optional<GpuPath> path,
                                       std::span<const Observation> rows);

// Why the file must be wrong, and why it may be.
std::optional<std::string> contradiction(const SpecificationCheck& check);
std::optional<std::string> suspicion(const SpecificationCheck& check);

}  // namespace mapsim
