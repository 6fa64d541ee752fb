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

}  // namespace mapsim
