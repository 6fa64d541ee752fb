// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_energies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <set>

#include "arch/technology.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

struct Process {
  Technology technology;
  double nanometres;
};
constexpr std::array kProcesses{Process{Technology::k45nm, 45}, Process{Technology::k16nm, 16},
                                Process{Technology::k7nm, 7}};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The nearest of the tables, by the ratio of sizes; 45 nm where nothing is said.
Technology nearest(const std::string& text) {
  const double size = std::strtod(text.c_str(), nullptr);
  if (!(size > 0)) {
    return Technology::k45nm;
  }
  const auto distance = [size](const Process& each) {
    return std::abs(std::log(each.nanometres / size));
  };
  return std::min_element(
             kProcesses.begin(), kProcesses.end(),
             [&](const Process& a, const Process& b) { return distance(a) < distance(b); })
      ->technology;
}

// A word in the type of a DRAM; the first that fits. LPDDR4 has no table of its own.
struct DramType {
  std::string_view word;
  StorageKind kind;
};
constexpr std::array kDramTypes{
    DramType{"hbm3e", StorageKind::kHbm3e}, DramType{"hbm3", StorageKind::kHbm3},
    DramType{"hbm2e", StorageKind::kHbm2e}, DramType{"hbm", StorageKind::kHbm2},
    DramType{"gddr6", StorageKind::kGddr6}, DramType{"gddr", StorageKind::kGddr5},
    DramType{"lpddr", StorageKind::kLpddr5}};

StorageKind kind_of(const TimeloopStorage& storage, const TimeloopMaterial& material) {
  if (storage.off_chip) {
    const std::string type = lower(material.type);
    for (const DramType& each : kDramTypes) {
      if (type.find(each.word) != std::string::npos) {
        return each.kind;
      }
    }
    return StorageKind::kDram;
  }
  const std::string klass = lower(material.klass);
  const bool file = klass.find("regfile") != std::string::npos ||
                    klass.find("_rf") != std::string::npos ||
                    klass.find("register") != std::string::npos;
  return file ? StorageKind::kRegfile : StorageKind::kSram;
}

class OwnEnergies {
 public:
  OwnEnergies(const TimeloopArchSection& arch, TimeloopMachine& machine,
              std::map<std::string, std::string>& origins)
      : arch_{arch}, machine_{machine}, origins_{origins} {}

  void run(ImportNotes& notes) {
    for (TimeloopStorage& storage : machine_.storages) {
      if (!arch_.dummies.contains(storage.name) && !arch_.empty.contains(storage.name)) {
        add(storage);
      }
    }
    add_compute();
    std::string line =
        "no ERT: energies and areas are estimates by our own tables (docs/energy.md), not "
        "Accelergy's; "
        "--ert FILE takes Accelergy's, --counts-only leaves energies out";
    for (const std::string& each : substitutes_) {
      line += "; " + each;
    }
    notes.lines.insert(notes.lines.begin(), line);
  }

 private:
  const TimeloopMaterial& material(const std::string& name) const {
    return arch_.materials.at(name);
  }

  Technology technology_of(const TimeloopMaterial& material) {
    const Technology taken = nearest(material.technology);
    if (material.technology != to_string(taken)) {
      substitutes_.insert(
          fmt::format("technology {}: the table of {}",
                      material.technology.empty() ? "not said" : quoted(material.technology),
                      to_string(taken)));
    }
    return taken;
  }

  void add(TimeloopStorage& storage) {
    const TimeloopMaterial& made = material(storage.name);
    const StorageKind kind = kind_of(storage, made);
    if (is_on_chip(kind) && !storage.words) {
      substitutes_.insert(
          fmt::format("{} has no size, so that no table has an energy for it: its "
                      "accesses cost nothing",
                      storage.name));
      return;
    }
    const Technology technology = is_on_chip(kind) ? technology_of(made) : Technology::k45nm;
    const Bits capacity{storage.words.value_or(0) * storage.word_bits};
    const Figure energy = storage_energy(technology, kind, capacity);
    const double access = energy.value * static_cast<double>(storage.word_bits * storage.block);
    storage.energy = {access, access, access};
    if (storage.off_chip && lower(made.type).find("lpddr4") != std::string::npos) {
      substitutes_.insert("LPDDR4: the table of LPDDR5");
    }
    std::string origin =
        fmt::format("energies by our table, {}: {}", to_string(kind), energy.source);
    if (is_on_chip(kind)) {
      storage.area = storage_area(technology, kind, capacity).value;
      origin += "; area by our table";
    }
    origins_[storage.name] = origin;
  }

  void add_compute() {
    const TimeloopMaterial& made = material(machine_.compute_name);
    const Technology technology = technology_of(made);
    const std::string klass = lower(made.klass);
    const NumberFormat format =
        klass.find("fp") != std::string::npos ? NumberFormat::kFloat : NumberFormat::kInteger;
    const Bits width{made.multiplier_bits > 0 ? made.multiplier_bits : machine_.compute_bits};
    const Bits sum{made.adder_bits > 0 ? made.adder_bits : width.count()};
    const Figure multiply = multiply_energy(technology, format, width, width);
    const Figure add = add_energy(technology, format, sum);
    machine_.compute_energy = multiply.value + add.value;
    machine_.compute_area =
        mac_area(technology, format,
                 Picojoules{multiply_energy(Technology::k45nm, format, width, width).value},
                 Picojoules{add_energy(Technology::k45nm, format, sum).value})
            .value;
    origins_[machine_.compute_name] =
        fmt::format("energy by our table: {}; {}; area by our table", multiply.source, add.source);
  }

  const TimeloopArchSection& arch_;
  TimeloopMachine& machine_;
  std::map<std::string, std::string>& origins_;
  std::set<std::string> substitutes_;
};

}  // namespace

void take_own_energies(const TimeloopArchSection& arch, TimeloopMachine& machine,
                       std::map<std::string, std::string>& origins, ImportNotes& notes) {
  if (!machine.storages.empty() && !machine.compute_name.empty()) {
    OwnEnergies{arch, machine, origins}.run(notes);
  }
}

}  // namespace mapsim
