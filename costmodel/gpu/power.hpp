// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/gpu/estimate.hpp"

namespace mapsim {

// The parts of a kernel's time that depend on the clock of SMs and L2, and those that do not;
// seconds at the clock for which the rates hold.
struct ClockedTime {
  double run = 0;   // K loops and their stalls, of the busiest SM
  double l2 = 0;    // transfers between L2 and SMs
  double fill = 0;  // first tiles and last results, which overlap with nothing
  double dram = 0;
  double fixed = 0;    // launches, sums of a split K
  double overlap = 4;  // GpuCalibration::overlap
  double full = 0;     // total(1)
  double total(double clock_share) const;
};

// Joules of a kernel at the full clock, without the constant power: it depends on the time.
GpuJoules dynamic_joules(const Gpu& gpu, const GpuCalibration& calibration,
                         const GemmProblem& problem, const KernelChoice& kernel,
                         const GpuWork& work, const GpuEstimate& estimate);

// Share s of the clock at which the board draws its limit, in the long run: constant + (chip s^2 +
// DRAM) / time(s) = limit, as the voltage falls with the clock and energy with its square. 1: the
// full clock draws no more, or the limit is unknown (0). Not below kLeastClockShare.
double clock_at_limit(const Gpu& gpu, const GpuJoules& joules, const ClockedTime& time);

// The same for a kernel that is measured a few times in a row: the limit holds for an average, so
// the clock falls half as far for a kernel that takes `settle`.
double clock_share(const Gpu& gpu, const GpuCalibration& calibration, const GpuJoules& joules,
                   const ClockedTime& time);

// The chip's energies at that share of the clock, and the constant power over `total`.
void set_clock(const Gpu& gpu, double clock_share, Seconds total, GpuJoules& joules);

}  // namespace mapsim
