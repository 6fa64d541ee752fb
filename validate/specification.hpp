// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "validate/observations.hpp"

namespace mapsim {

// Whether measurements contradict the figures of an architecture file; needs no fit.
struct SpecificationCheck {
  // Problems measured more than 5 % faster than the file allows: all operations at the peak of the
  // path, or the bytes that the L2 cache cannot hold at DRAM's bandwidth. The 5 % are for chips
  // that clock a little above their specified boost clock.
  std::int64_t impossible = 0;
  std::int64_t problems = 0;
  double most = 0;  // the largest of those times, over the measured one
  // Time of an ideal kernel (all figures of the file reached, no overhead, the power limit kept)
  // over the measured time: 90th percentile over the rows that launches do not dominate. 0: there
  // are none.
  double reached = 0;
  // Are so many times impossible (more than two problems and 0.2 %, or two of two) that no clock
  // explains them?
  bool contradicted() const {
    return impossible > 0 && impossible * 500 >= problems && (impossible > 2 || problems < 3);
  }
};

// Limits of `reached`. Correct files have 0.84 to 1.03 on the recorded sets, except 0.61 for f32 on
// a T4, whose board of 70 W lowers its clock further than the energies of the file predict. With
// SMs or clock of an L20 half too high it is 0.63 to 0.66.
inline constexpr double kSuspiciousShare = 0.75;
inline constexpr double kWrongShare = 0.4;

// `rows` must have their options. `start` gives the parameters that are no efficiencies (energies).
SpecificationCheck check_specification(const Gpu& gpu, const GpuCalibration& start,
                                       std::optional<GpuPath> path,
                                       std::span<const Observation> rows);

// Why the file must be wrong, and why it may be; nothing: no reason.
std::optional<std::string> contradiction(const SpecificationCheck& check);
std::optional<std::string> suspicion(const SpecificationCheck& check);

}  // namespace mapsim
