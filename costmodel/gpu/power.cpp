// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/power.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/gpu/shared_memory.hpp"

namespace mapsim {
namespace {

constexpr double kLeastBudget = 0.1;  // of the limit, whatever the constant power is said to be
constexpr int kRounds = 8;            // of the iteration; its error falls to a third in each

}  // namespace

double ClockedTime::total(double clock_share) const {
  const double run_time = run / clock_share;
  const double l2_time = l2 / clock_share;
  const double most = std::max({run_time, l2_time, dram});
  return most * std::pow(std::pow(run_time / most, overlap) + std::pow(l2_time / most, overlap) +
                             std::pow(dram / most, overlap),
                         1 / overlap) +
         fill / clock_share + fixed;
}

// docs/gpu.md, Energy. Tensor cores of another precision, and FMA units, in inverse ratio of rates.
GpuJoules dynamic_joules(const Gpu& gpu, const GpuCalibration& calibration,
                         const GemmProblem& problem, const KernelChoice& kernel,
                         const GpuWork& work, const GpuEstimate& estimate) {
  const double f16 = gpu.rate(GpuPrecision::kF16).chip;
  const double own = kernel.path == GpuPath::kSimt ? gpu.rate(problem.precision, GpuPath::kSimt)
                                                   : gpu.rate(problem.precision).chip;
  const auto moved = [](double bytes, PicojoulesPerBit energy) {
    return Picojoules{8 * bytes * energy.count()};
  };
  const double scale = calibration.power;
  GpuJoules result;
  result.mma = Picojoules{scale * work.padded_macs * gpu.energy.mac_f16.count() * f16 / own};
  result.instructions = Picojoules{scale * work.instructions * gpu.energy.instruction.count()};
  result.registers = moved(scale * (work.traffic.register_read + work.traffic.register_write),
                           gpu.energy.registers);
  result.shared =
      moved(scale * work.wavefronts * static_cast<double>(kWavefront), gpu.energy.shared);
  result.l2 = moved(scale * estimate.l2_bytes, gpu.energy.l2);
  result.dram = moved(estimate.dram_bytes, gpu.energy.dram);
  return result;
}

double clock_at_limit(const Gpu& gpu, const GpuJoules& joules, const ClockedTime& time) {
  const double limit = gpu.power.count() * 1e-3;
  const double budget = std::max(limit - gpu.energy.constant.count() * 1e-3, kLeastBudget * limit);
  const double chip =
      1e-12 *
      (joules.mma + joules.instructions + joules.registers + joules.shared + joules.l2).count();
  const double dram = 1e-12 * joules.dram.count();
  const auto power = [&](double share) {
    return (chip * share * share + dram) / time.total(share);
  };
  if (limit <= 0 || chip + dram <= budget * time.full) {
    return 1;
  }
  double share = 1;
  for (int i = 0; i < kRounds; ++i) {
    share = std::clamp(share * std::cbrt(budget / power(share)), kLeastClockShare, 1.0);
  }
  return share;
}

double clock_share(const Gpu& gpu, const GpuCalibration& calibration, const GpuJoules& joules,
                   const ClockedTime& time) {
  const double limit = clock_at_limit(gpu, joules, time);
  return 1 - time.full / (time.full + calibration.settle.count()) * (1 - limit);
}

void set_clock(const Gpu& gpu, double clock_share, Seconds total, GpuJoules& joules) {
  const double square = clock_share * clock_share;
  for (Picojoules* part :
       {&joules.mma, &joules.instructions, &joules.registers, &joules.shared, &joules.l2}) {
    *part = *part * square;
  }
  joules.constant = Picojoules{gpu.energy.constant.count() * total.count() * 1e9};  // mW s
  joules.total = joules.mma + joules.instructions + joules.registers + joules.shared + joules.l2 +
                 joules.dram + joules.constant;
}

}  // namespace mapsim
