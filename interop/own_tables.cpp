// SPDX-License-Identifier: Apache-2.0
#include "interop/own_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/ascii.hpp"

namespace mapsim {

namespace {

struct Process {
  Technology technology;
  double nanometres;
};
constexpr std::array kProcesses{Process{Technology::k45nm, 45}, Process{Technology::k16nm, 16},
                                Process{Technology::k7nm, 7}};

// A word in the type of a DRAM; the first that fits.
struct DramType {
  std::string_view word;
  StorageKind kind;
};
constexpr std::array kDramTypes{
    DramType{"hbm3e", StorageKind::kHbm3e}, DramType{"hbm3", StorageKind::kHbm3},
    DramType{"hbm2e", StorageKind::kHbm2e}, DramType{"hbm", StorageKind::kHbm2},
    DramType{"gddr6", StorageKind::kGddr6}, DramType{"gddr", StorageKind::kGddr5},
    DramType{"lpddr", StorageKind::kLpddr5}};

}  // namespace

Technology nearest_technology(double nanometres) {
  if (!(nanometres > 0)) {
    return Technology::k45nm;
  }
  const auto distance = [nanometres](const Process& each) {
    return std::abs(std::log(each.nanometres / nanometres));
  };
  return std::min_element(
             kProcesses.begin(), kProcesses.end(),
             [&](const Process& a, const Process& b) { return distance(a) < distance(b); })
      ->technology;
}

StorageKind own_storage_kind(const std::string& klass, bool off_chip, const std::string& type) {
  if (off_chip) {
    const std::string word = lower_case(type);
    for (const DramType& each : kDramTypes) {
      if (word.find(each.word) != std::string::npos) {
        return each.kind;
      }
    }
    return StorageKind::kDram;
  }
  const std::string word = lower_case(klass);
  const bool file = word.find("regfile") != std::string::npos ||
                    word.find("_rf") != std::string::npos ||
                    word.find("register") != std::string::npos;
  return file ? StorageKind::kRegfile : StorageKind::kSram;
}

Figure own_wire_energy(Technology technology) {
  constexpr double kHop = 0.25;  // mm, of hop_energy()
  Figure wire = hop_energy(technology);
  wire.value /= kHop;
  wire.source = "Keckler IEEE Micro 2011 (estimate)";
  return wire;
}

OwnMac own_mac(Technology technology, const std::string& klass, Bits operand, Bits sum) {
  const NumberFormat format = lower_case(klass).find("fp") != std::string::npos
                                  ? NumberFormat::kFloat
                                  : NumberFormat::kInteger;
  const Figure multiply = multiply_energy(technology, format, operand, operand);
  const Figure add = add_energy(technology, format, sum);
  const Picojoules at_45nm{multiply_energy(Technology::k45nm, format, operand, operand).value};
  const Picojoules sum_at_45nm{add_energy(Technology::k45nm, format, sum).value};
  return {multiply.value + add.value, mac_area(technology, format, at_45nm, sum_at_45nm).value,
          fmt::format("{}; {}", multiply.source, add.source), format};
}

}  // namespace mapsim
