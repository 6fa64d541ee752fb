// SPDX-License-Identifier: Apache-2.0
#include "arch/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "arch/timing_text.hpp"

namespace mapsim {
namespace {

// The largest unit that leaves a whole number.
std::string size_text(Bits size) {
  struct Unit {
    std::int64_t bits;
    const char* name;
  };
  constexpr std::array kUnits{Unit{std::int64_t{8} << 30, "GiB"},
                              Unit{std::int64_t{8} << 20, "MiB"},
                              Unit{std::int64_t{8} << 10, "KiB"}, Unit{8, "B"}};
  for (const Unit& unit : kUnits) {
    if (size.count() % unit.bits == 0) {
      return fmt::format("{} {}", size.count() / unit.bits, unit.name);
    }
  }
  return fmt::format("{} b", size.count());
}

// Shortest of several ways to write a number, each as exact as the first.
std::string shortest(const std::vector<std::string>& texts) {
  std::string best = texts.front();
  for (const std::string& text : texts) {
    best = text.size() < best.size() ? text : best;
  }
  return best;
}

std::string frequency_text(Hertz clock) {
  std::vector<std::string> texts{fmt::format("{} Hz", clock.count())};
  for (const auto& [unit, name] : {std::pair{1e6, "MHz"}, std::pair{1e9, "GHz"}}) {
    if (const double number = clock.count() / unit; number * unit == clock.count()) {
      texts.push_back(fmt::format("{} {}", number, name));
    }
  }
  return shortest(texts);
}

std::string access_text(PicojoulesPerBit energy, Bits word) {
  std::vector<std::string> texts{fmt::format("{} pJ/b", energy.count())};
  const auto bits = static_cast<double>(word.count());
  if (const double number = energy.count() * bits; number / bits == energy.count()) {
    texts.push_back(fmt::format("{} pJ/word", number));
  }
  if (const double number = energy.count() * 8; number / 8 == energy.count()) {
    texts.push_back(fmt::format("{} pJ/B", number));
  }
  return shortest(texts);
}

std::string bandwidth_text(BitsPerCycle bandwidth) {
  std::vector<std::string> texts{fmt::format("{} b/cycle", bandwidth.count())};
  if (const double bytes = bandwidth.count() / 8; bytes * 8 == bandwidth.count()) {
    texts.push_back(fmt::format("{} B/cycle", bytes));
  }
  return shortest(texts);
}

std::vector<std::string> role_names(RoleSet roles) {
  std::vector<std::string> names;
  for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
    if (roles.contains(role)) {
      names.emplace_back(to_string(role));
    }
  }
  return names;
}

std::string role_list(RoleSet roles) {
  return fmt::format("[{}]", fmt::join(role_names(roles), ", "));
}

std::string capacity_text(const Capacity& capacity) {
  if (capacity.unlimited()) {
    return "unlimited";
  }
  if (capacity.shared) {
    return size_text(*capacity.shared);
  }
  std::vector<std::string> parts;
  for (const auto& [role, size] : capacity.per_role) {
    parts.push_back(fmt::format("{}: {}", to_string(role), size_text(size)));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

void print_bandwidth(const Bandwidth& bandwidth, std::string& text) {
  std::vector<std::string> parts;
  const auto add = [&parts](const char* name, const std::optional<BitsPerCycle>& port) {
    if (port) {
      parts.push_back(fmt::format("{}: {}", name, bandwidth_text(*port)));
    }
  };
  add("read", bandwidth.read);
  add("write", bandwidth.write);
  add("shared", bandwidth.shared);
  add("link", bandwidth.link);
  if (!parts.empty()) {
    text += fmt::format("    bandwidth: {{{}}}\n", fmt::join(parts, ", "));
  }
}

void print_physical(const Physical& physical, std::string& text) {
  if (physical.leakage) {
    text += fmt::format("    leakage: {} mW\n", physical.leakage->count());
  }
  if (physical.area) {
    text += fmt::format("    area: {} mm2\n", physical.area->count());
  }
}

void print_sparsity(const StorageSparsity& zeros, std::string& text) {
  std::vector<std::string> formats;
  for (const auto& [role, format] : zeros.formats) {
    formats.push_back(fmt::format("{}: {}", to_string(role), to_string(format)));
  }
  if (!formats.empty()) {
    text += fmt::format("    format: {{{}}}\n", fmt::join(formats, ", "));
  }
  if (zeros.fits != Fits{}) {
    text += fmt::format("    fits: {}\n", to_string(zeros.fits));
  }
  if (!zeros.when_empty.empty()) {
    text += "    when_empty:\n";
  }
  for (const Condition& condition : zeros.when_empty) {
    text += fmt::format("      - {{{}: {}, on: {}}}\n", to_string(condition.act),
                        to_string(condition.target), role_list(condition.leaders));
  }
}

void print_storage(const Storage& storage, const StorageSparsity& zeros, bool outermost,
                   std::string& text) {
  text += fmt::format("  - storage: {}\n    word: {}\n    capacity: {}\n", storage.name,
                      size_text(storage.word), capacity_text(storage.capacity));
  print_bandwidth(storage.bandwidth, text);
  const auto more = [&](const char* key, PicojoulesPerBit energy) {
    return energy > PicojoulesPerBit{0}
               ? fmt::format(", {}: {}", key, access_text(energy, storage.word))
               : "";
  };
  text += fmt::format("    energy: {{read: {}, write: {}, update: {}{}{}}}\n",
                      access_text(storage.energy.read, storage.word),
                      access_text(storage.energy.write, storage.word),
                      access_text(storage.energy.update, storage.word), more("gated", zeros.gated),
                      more("skipped", zeros.skipped));
  text += fmt::format("    kind: {}\n", to_string(storage.kind));
  print_physical(storage.physical, text);
  if (storage.double_buffered) {
    text += "    double_buffered: true\n";
  }
  if (storage.streamed) {
    text += "    streamed: true\n";
  }
  if (!storage.sliding) {
    text += "    sliding: false\n";
  }
  if (!outermost && !storage.keep.empty()) {
    text += fmt::format("    keep: {}\n", role_list(storage.keep));
  }
  if (!storage.bypass.empty()) {
    text += fmt::format("    bypass: {}\n", role_list(storage.bypass));
  }
  print_sparsity(zeros, text);
}

std::string axis_text(std::int64_t size, const AxisConstraint& constraint) {
  if (constraint.unconstrained()) {
    return fmt::format("{}", size);
  }
  return fmt::format("{{size: {}, dims: [{}]}}", size, dims_text(constraint));
}

void print_fanout(const Fanout& fanout, std::string& text) {
  text += fmt::format("  - fanout: {}\n    x: {}\n    y: {}\n", fanout.name,
                      axis_text(fanout.x, fanout.x_dims), axis_text(fanout.y, fanout.y_dims));
  text += fmt::format("    multicast: {}\n    spatial_reduction: {}\n    forwarding: {}\n",
                      fanout.multicast.empty() ? "false" : role_list(fanout.multicast),
                      fanout.spatial_reduction, fanout.forwarding);
  if (!fanout.reduction_by_width) {
    text += fmt::format("    reduction_energy: {} pJ\n", fanout.reduction_energy.count());
  }
  if (fanout.energy_per_hop) {
    text += fmt::format("    energy_per_hop: {} pJ/b\n", fanout.energy_per_hop->count());
  }
  if (fanout.balance != Balance::kEnd) {
    text += fmt::format("    balance: {}\n", to_string(fanout.balance));
  }
}

std::string interval_text(const Compute& compute) {
  if (compute.intervals.empty()) {
    return fmt::format("{}", compute.issue_interval);
  }
  std::vector<std::string> parts;
  for (const WidthInterval& at : compute.intervals) {
    parts.push_back(fmt::format("{}x{}: {}", at.narrow.count(), at.wide.count(), at.cycles));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

void print_compute(const Arch& arch, std::string& text) {
  const Compute& compute = arch.compute;
  text += fmt::format("  - compute: {}\n", compute.name);
  if (!compute.energy_by_width) {
    text += fmt::format("    energy: {} pJ\n", compute.energy.count());
  }
  text += fmt::format("    issue_interval: {}\n", interval_text(compute));
  if (!compute.register_reuse.empty()) {
    text += fmt::format("    register_reuse: {}\n", role_list(compute.register_reuse));
  }
  text += fmt::format("    format: {}\n", to_string(compute.format));
  if (arch.sparsity) {
    const Sparsity& zeros = *arch.sparsity;
    const auto [kept, block] = zeros.structure;
    text += zeros.zeros_of == RoleSet{Role::kInput, Role::kWeight} && block == 0
                ? fmt::format("    when_zero: {}\n", to_string(zeros.when_zero))
                : fmt::format("    when_zero: {{{}: {}{}}}\n", to_string(zeros.when_zero),
                              role_list(zeros.zeros_of),
                              block == 0 ? "" : fmt::format(", structure: \"{}:{}\"", kept, block));
    text += fmt::format("    gated_energy: {} pJ\n    skipped_energy: {} pJ\n", zeros.gated.count(),
                        zeros.skipped.count());
  }
  print_physical(compute.physical, text);
  if (const std::string timing = print_timing(compute.timing, arch); !timing.empty()) {
    text += fmt::format("    timing: {}\n", timing);
  }
}

}  // namespace

std::string dims_text(const AxisConstraint& constraint) {
  std::vector<std::string> dims;
  for (const GemmAxis axis : constraint.gemm_axes) {
    dims.emplace_back(to_string(axis));
  }
  dims.insert(dims.end(), constraint.dims.begin(), constraint.dims.end());
  return constraint.unconstrained() ? "any dim" : fmt::format("{}", fmt::join(dims, ", "));
}

std::string print_arch(const Arch& arch) {
  std::string text = fmt::format("name: {}\nclock: {}\n", arch.name, frequency_text(arch.clock));
  if (arch.technology) {
    text += fmt::format("technology: {}\n", to_string(*arch.technology));
  }
  if (!arch.leaks) {
    text += "leakage: false\n";
  }
  text += "nodes:\n";
  std::size_t fanout = 0;
  for (const LevelId l : arch.levels.ids()) {
    print_storage(arch.levels[l], arch.sparsity ? arch.sparsity->levels[l] : StorageSparsity{},
                  l == LevelId{0}, text);
    for (; fanout < arch.fanouts.size(); ++fanout) {
      const auto f = static_cast<FanoutId>(fanout);
      if (arch.levels_above[f] != index_of(l) + 1) {
        break;
      }
      print_fanout(arch.fanouts[f], text);
    }
  }
  print_compute(arch, text);
  return text;
}

}  // namespace mapsim
