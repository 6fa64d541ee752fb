// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "interop/foreign_yaml.hpp"
#include "interop/zigzag.hpp"

namespace mapsim {

namespace {

using Dims = std::set<std::size_t>;

Dims common(const Dims& a, const Dims& b) {
  Dims both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

// Those first that the fewest share. The outermost one is the whole array's, whatever it says.
std::vector<ZigzagMemory> by_sharing(const ZigzagMachine& machine) {
  std::vector<ZigzagMemory> memories = machine.memories;
  for (std::size_t d = 0; d < machine.dims.size(); ++d) {
    memories.back().shared.insert(d);
  }
  std::stable_sort(memories.begin(), memories.end(),
                   [](const ZigzagMemory& a, const ZigzagMemory& b) {
                     return a.shared.size() < b.shared.size();
                   });
  return memories;
}

// A copy for each of `sharers` units, which share the energy of an access.
Storage storage_of(const ZigzagMemory& memory, double sharers) {
  Storage storage;
  storage.name = memory.name;
  storage.word = memory.width;
  storage.capacity.shared = memory.size;
  storage.bandwidth = memory.bandwidth;
  storage.double_buffered = memory.double_buffered;
  const auto per_bit = [sharers](double energy, Bits width) {
    return PicojoulesPerBit{energy / (static_cast<double>(width.count()) * sharers)};
  };
  storage.energy = {per_bit(memory.read_energy, memory.read_width),
                    per_bit(memory.write_energy, memory.write_width),
                    per_bit(memory.write_energy, memory.update_width)};
  for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
    (memory.roles.contains(role) ? storage.keep : storage.bypass).insert(role);
  }
  return storage;
}

// The dims that do not index the operands of these roles.
AxisConstraint dims_beside(RoleSet roles) {
  AxisConstraint allowed;
  const auto add = [&](GemmAxis axis, RoleSet indexed) {
    if ((indexed.bits() & roles.bits()) == 0) {
      allowed.gemm_axes.push_back(axis);
    }
  };
  add(GemmAxis::kM, {Role::kInput, Role::kOutput});
  add(GemmAxis::kN, {Role::kWeight, Role::kOutput});
  add(GemmAxis::kK, {Role::kInput, Role::kWeight});
  if (allowed.unconstrained()) {
    allowed.dims.emplace_back("no_dim");  // which no layer has: the dim of the array stays unused
  }
  return allowed;
}

// ZigZag's broadcasts and adder trees cost nothing. A memory that became a copy for each unit holds
// and costs the same as the shared one as long as the units hold the same data.
Fanout fanout_of(const ZigzagMachine& machine, std::size_t dim, RoleSet copied) {
  Fanout fanout;
  fanout.name = machine.dims[dim];
  fanout.x = machine.sizes[dim];
  fanout.multicast = {Role::kInput, Role::kWeight};
  fanout.spatial_reduction = true;
  if (!copied.empty()) {
    fanout.x_dims = dims_beside(copied);
  }
  return fanout;
}

std::string note_of_copies(const ZigzagMachine& machine, const std::vector<std::string>& copies,
                           const std::vector<RoleSet>& copied) {
  std::vector<std::string> dims;
  for (std::size_t d = 0; d < copied.size(); ++d) {
    if (!copied[d].empty()) {
      dims.push_back(machine.dims[d]);
    }
  }
  return fmt::format(
      "{}: {}: shared along dims of the array that do not nest with those of other memories; "
      "written as a copy for each unit, at its share of the energy; so along {} only dims are "
      "unrolled that do not index what it holds (`dims` of the architecture)",
      machine.name, joined(copies, ", "), joined(dims, ", "));
}

}  // namespace

std::int64_t ZigzagUnrolling::used() const {
  return std::accumulate(
      factors.begin(), factors.end(), std::int64_t{1},
      [](std::int64_t product, const auto& each) { return product * each.second; });
}

ZigzagArch zigzag_arch(const ZigzagMachine& machine,
                       const std::vector<ZigzagUnrolling>& unrollings) {
  const std::vector<ZigzagMemory> memories = by_sharing(machine);
  ZigzagArch out{{}, std::vector<RoleSet>(machine.dims.size()), ""};
  std::vector<std::string> copies;
  std::vector<Storage> levels;                               // innermost first
  std::vector<std::pair<std::size_t, std::size_t>> fanouts;  // dim, levels inside of it
  Dims below;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    const ZigzagMemory& memory = memories[m];
    Dims nested = memory.shared;
    for (std::size_t outer = m + 1; outer < memories.size(); ++outer) {
      nested = common(nested, memories[outer].shared);
    }
    double sharers = 1;
    for (const std::size_t d : memory.shared) {
      if (nested.contains(d) && !below.contains(d)) {
        fanouts.emplace_back(d, levels.size());
      } else if (!nested.contains(d)) {
        sharers *=
            static_cast<double>(unrollings[d].given ? unrollings[d].used() : machine.sizes[d]);
        out.copied[d] = RoleSet::from_bits(out.copied[d].bits() | memory.roles.bits());
      }
    }
    if (sharers > 1) {
      copies.push_back(memory.name);
    }
    below.insert(nested.begin(), nested.end());
    levels.push_back(storage_of(memory, sharers));
  }
  if (!machine.on_chip) {
    levels.back().capacity = {};
    levels.back().kind = StorageKind::kDram;
  }
  if (!copies.empty()) {
    out.note = note_of_copies(machine, copies, out.copied);
  }
  out.arch.name = machine.name;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    out.arch.levels.push_back(*level);
  }
  for (auto at = fanouts.rbegin(); at != fanouts.rend(); ++at) {
    out.arch.fanouts.push_back(fanout_of(machine, at->first, out.copied[at->first]));
    out.arch.levels_above.push_back(levels.size() - at->second);
  }
  out.arch.compute.name = "MAC";
  out.arch.compute.energy = Picojoules{machine.mac_energy};
  out.arch.compute.register_reuse = {Role::kInput, Role::kWeight};
  return out;
}

}  // namespace mapsim
