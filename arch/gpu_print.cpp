// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

namespace mapsim {

namespace {

std::string fixed_text(const FixedKernel& kernel) {
  return fmt::format(
      "{{block: [{}], warp: [{}], fragment: [{}], stages: {}, split_k: {}, raster: {}, padding: "
      "{}, "
      "cluster: {}}}",
      fmt::join(kernel.block, ", "), fmt::join(kernel.warp, ", "), fmt::join(kernel.fragment, ", "),
      kernel.stages, kernel.split_k, kernel.raster, kernel.padding, kernel.cluster);
}

}  // namespace

std::string print_calibration(const GpuCalibration& calibration, int indent) {
  const GpuCalibration prior;
  std::vector<std::pair<std::string, std::string>> entries;
  if (calibration.precision) {
    entries.emplace_back("precision", to_string(*calibration.precision));
  }
  if (calibration.path) {
    entries.emplace_back("path", to_string(*calibration.path));
  }
  // What stands at its prior is not known of this chip: a better prior serves it, too.
  const auto number = [&](const char* key, double GpuCalibration::* member) {
    if (calibration.*member != prior.*member) {
      entries.emplace_back(key, fmt::format("{}", calibration.*member));
    }
  };
  // Seconds, so that no digit is lost in a product.
  const auto seconds = [&](const char* key, Seconds GpuCalibration::* member) {
    if (calibration.*member != prior.*member) {
      entries.emplace_back(key, fmt::format("{} s", (calibration.*member).count()));
    }
  };
  using C = GpuCalibration;
  number("mma", &C::mma);
  number("shared", &C::shared);
  number("issue", &C::issue);
  number("dram", &C::dram);
  number("l2", &C::l2);
  number("l2_capacity", &C::l2_capacity);
  number("overlap", &C::overlap);
  number("stall", &C::stall);
  number("power", &C::power);
  number("error", &C::error);
  number("resolution", &C::resolution);
  seconds("launch", &C::launch);
  seconds("block", &C::block);
  seconds("ramp", &C::ramp);
  seconds("reduction", &C::reduction);
  seconds("settle", &C::settle);
  seconds("shortest", &C::shortest);
  seconds("longest", &C::longest);
  if (calibration.best_fixed) {
    entries.emplace_back("best_fixed", fixed_text(*calibration.best_fixed));
  }
  if (!calibration.fitted_from.empty()) {
    entries.emplace_back("fitted_from", fmt::format("\"{}\"", calibration.fitted_from));
  }
  if (!calibration.fitted_on.empty()) {
    entries.emplace_back("fitted_on", calibration.fitted_on);
  }
  if (entries.empty()) {
    return fmt::format("{:{}}- {{}}\n", "", indent);
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
