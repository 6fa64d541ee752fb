// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_print.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace mapsim {

std::string print_calibration(const GpuCalibration& calibration, int indent) {
  std::vector<std::pair<std::string, std::string>> entries;
  if (calibration.precision) {
    entries.emplace_back("precision", to_string(*calibration.precision));
  }
  if (calibration.path) {
    entries.emplace_back("path", to_string(*calibration.path));
  }
  for (const auto& [key, value] : {std::pair{"mma", calibration.mma},
                                   {"shared", calibration.shared},
                                   {"issue", calibration.issue},
                                   {"dram", calibration.dram},
                                   {"l2", calibration.l2},
                                   {"l2_capacity", calibration.l2_capacity},
                                   {"overlap", calibration.overlap},
                                   {"stall", calibration.stall},
                                   {"power", calibration.power},
                                   {"error", calibration.error},
                                   {"resolution", calibration.resolution}}) {
    entries.emplace_back(key, fmt::format("{}", value));
  }
  // Seconds, so that no digit is lost in a product.
  entries.emplace_back("launch", fmt::format("{} s", calibration.launch.count()));
  entries.emplace_back("block", fmt::format("{} s", calibration.block.count()));
  entries.emplace_back("ramp", fmt::format("{} s", calibration.ramp.count()));
  entries.emplace_back("reduction", fmt::format("{} s", calibration.reduction.count()));
  entries.emplace_back("settle", fmt::format("{} s", calibration.settle.count()));
  if (calibration.longest.count() > 0) {
    entries.emplace_back("shortest", fmt::format("{} s", calibration.shortest.count()));
    entries.emplace_back("longest", fmt::format("{} s", calibration.longest.count()));
  }
  if (!calibration.fitted_from.empty()) {
    entries.emplace_back("fitted_from", fmt::format("\"{}\"", calibration.fitted_from));
  }
  std::string text;
  for (const auto& [key, value] : entries) {
    text += fmt::format("{:{}}{} {}: {}\n", "", indent, text.empty() ? "-" : " ", key, value);
  }
  return text;
}

std::string print_gpu(const Gpu& gpu) {
  const auto per_cycle = [&gpu](BytesPerSecond bandwidth) {
    return fmt::format("{} B/cycle", bandwidth.count() / gpu.clock.count());
  };
  std::string text = fmt::format(
      "name: {}\ngpu:\n  sm: {}\n  sms: {}\n  clock: {} Hz\n  registers: {}\n  max_warps: {}\n"
      "  max_blocks: {}\n",
      gpu.name, gpu.compute_capability, gpu.sms, gpu.clock.count(), gpu.registers, gpu.max_warps,
      gpu.max_blocks);
  text += fmt::format("  shared: {{per_sm: {} B, per_block: {} B, latency: {}}}\n",
                      gpu.shared_per_sm.count(), gpu.shared_per_block.count(),
                      gpu.latency.shared.count());
  text += fmt::format("  l2: {{size: {} B, bandwidth: {}, per_sm: {} B/cycle, latency: {}}}\n",
                      gpu.l2_size.count(), per_cycle(gpu.l2_bandwidth), gpu.l2_per_sm.count(),
                      gpu.latency.l2.count());
  text +=
      fmt::format("  dram: {{size: {} B, bandwidth: {}, latency: {}}}\n  rates:\n",
                  gpu.dram_size.count(), per_cycle(gpu.dram_bandwidth), gpu.latency.dram.count());
  for (std::size_t i = 0; i < kGpuPrecisions; ++i) {
    const auto precision = static_cast<GpuPrecision>(i);
    const GpuRate& rate = gpu.rate(precision);
    if (!(rate == GpuRate{})) {
      text += fmt::format("    {}: {{chip: {}, wmma: {}, simt: {}}}\n", to_string(precision),
                          rate.chip, rate.wmma, rate.simt);
    }
  }
  const GpuEnergy& energy = gpu.energy;
  text += fmt::format(
      "  power: {} mW\n  energy: {{dram: {} pJ/b, l2: {} pJ/b, shared: {} pJ/b, registers: {} "
      "pJ/b, "
      "mac_f16: {} pJ, instruction: {} pJ, constant: {} mW}}\n",
      gpu.power.count(), energy.dram.count(), energy.l2.count(), energy.shared.count(),
      energy.registers.count(), energy.mac_f16.count(), energy.instruction.count(),
      energy.constant.count());
  text += gpu.calibrations.empty() ? "" : "  calibration:\n";
  for (const GpuCalibration& calibration : gpu.calibrations) {
    text += print_calibration(calibration);
  }
  return text;
}

}  // namespace mapsim
