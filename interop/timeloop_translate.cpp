// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "interop/timeloop_components.hpp"
#include "interop/timeloop_import.hpp"
#include "interop/timeloop_tiles.hpp"

namespace mapsim {

namespace {

// 1e-9 s is 1 GHz, though the quotient of the two doubles is a little less.
Hertz to_clock(double cycle_seconds) {
  const double whole = std::round(1 / cycle_seconds);
  return Hertz{1 / whole == cycle_seconds ? whole : 1 / cycle_seconds};
}

// Timeloop's leakage is energy per cycle: power at the clock that the architecture is written with.
Physical to_physical(const std::optional<double>& leak, const std::optional<double>& area,
                     Hertz clock) {
  constexpr double kPicojoulesPerMillijoule = 1e9;
  Physical physical;
  if (leak) {
    physical.leakage = Milliwatts{*leak * clock.count() / kPicojoulesPerMillijoule};
  }
  if (area) {
    physical.area = SquareMillimetres{*area};
  }
  return physical;
}

// `has_formats`: tensors are kept with words that say where their nonzeros are.
Storage to_storage(const TimeloopStorage& from, std::int64_t element_bits, bool has_formats) {
  Storage storage;
  storage.name = from.name;
  storage.word = Bits{from.block * element_bits};
  const double word = static_cast<double>(storage.word.count());
  storage.energy = {PicojoulesPerBit{from.energy.read / word},
                    PicojoulesPerBit{from.energy.write / word},
                    PicojoulesPerBit{from.energy.update / word}};
  storage.double_buffered = from.multiple_buffering == 2;
  if (from.words) {
    // Twice the capacity halves again; other divisors are applied here.
    const double divisor = storage.double_buffered ? 1 : from.multiple_buffering;
    const auto words =
        static_cast<std::int64_t>(std::floor(static_cast<double>(*from.words) / divisor));
    constexpr std::int64_t kMost = std::int64_t{1} << 53;  // bits; nothing fills as much
    storage.capacity.shared =
        Bits{std::clamp<std::int64_t>(words, 1, kMost / element_bits) * element_bits +
             (has_formats ? from.metadata_bits : 0)};
  }
  const bool off_chip = from.off_chip || storage.capacity.unlimited();
  storage.kind = off_chip ? StorageKind::kDram : StorageKind::kSram;
  const auto bandwidth = [&](const std::optional<double>& words) {
    return words ? std::optional{BitsPerCycle{*words * static_cast<double>(element_bits)}}
                 : std::nullopt;
  };
  storage.bandwidth = {bandwidth(from.read_bandwidth), bandwidth(from.write_bandwidth),
                       bandwidth(from.shared_bandwidth)};
  return storage;
}

// What cannot be said in Timeloop's blocks, and which search does not find it.
constexpr const char* kEvenSearch = "'mapsim search --even' leaves such mappings out";
constexpr const char* kPerfectSearch =
    "'mapsim search' without --imperfect leaves such mappings out";
constexpr const char* kSearchOfOneLoop =
    "'one_loop_per_dim: true' in the constraints of a search leaves such mappings out";
constexpr const char* kSearchOfRegions =
    "a rule for the loops of a region ('loops' in the constraints of a search) leaves such "
    "mappings out";

[[noreturn]] void refuse(const std::string& what, const char* without = nullptr) {
  throw std::invalid_argument(fmt::format("Timeloop has no word for {}{}{}", what,
                                          without == nullptr ? "" : "; ",
                                          without == nullptr ? "" : without));
}

class Exporter {
 public:
  Exporter(const Arch& arch, const Workload& workload)
      : arch_{arch}, workload_{workload}, blocks_(arch.levels.size()) {}

  std::vector<TimeloopBlock> run(const Mapping& mapping) {
    for (const DimId d : workload_.dims.ids()) {
      extents_.push_back(workload_.dims[d].bound);
    }
    const Mapping nest = canonical(workload_, mapping);
    for (const MappingNode& node : nest.nodes) {
      if (const auto* keep = std::get_if<Keep>(&node)) {
        kept_.insert(index_of(keep->level));
      }
    }
    for (const MappingNode& node : nest.nodes) {
      std::visit([this](const auto& each) { add(each); }, node);
    }
    set_residuals();
    return std::move(blocks_);
  }

 private:
  // The block that takes loops now is that of the last level kept.
  void add(const Keep& keep) {
    const std::size_t level = index_of(keep.level);
    if (level < current_ || !blocks_[level].keep.empty()) {
      refuse(fmt::format("tensors that {} keeps at different points (an uneven mapping)",
                         arch_.levels[keep.level].name),
             kEvenSearch);
    }
    blocks_[level].keep = keep.tensors;
    current_ = level;
    parallel_ = false;
  }

  void add(const Temporal& loop) {
    if (parallel_ && current_ + 1 < blocks_.size() && kept_.count(current_ + 1) == 0) {
      ++current_;  // a level that keeps nothing has loops, too
      parallel_ = false;
    }
    const std::vector<TimeloopLoop>& spatial = blocks_[current_].spatial;
    const bool unrolled =
        std::any_of(spatial.begin(), spatial.end(),
                    [&](const TimeloopLoop& each) { return each.dim == loop.dim; });
    if (parallel_ && unrolled) {
      refuse(fmt::format("a loop over {} between a fanout that unrolls it and the next level kept",
                         workload_.dims[loop.dim].name),
             kSearchOfRegions);
    }
    // Over another dim it may as well stand above the fanout: all instances go through it together.
    append(blocks_[current_].temporal, loop.dim, loop.extent, Axis::kX);
  }

  void add(const Parallel& loop) {
    const std::size_t above = arch_.levels_above[loop.fanout] - 1;
    if (above < current_) {
      refuse(
          fmt::format("loops over {} inside of levels below it", arch_.fanouts[loop.fanout].name));
    }
    current_ = above;
    parallel_ = true;
    std::vector<TimeloopLoop>& loops = blocks_[above].spatial;
    append(loops, loop.dim, loop.extent, loop.axis);
    // Timeloop has loops along Y outside of those along X; over different dims they commute.
    std::stable_partition(loops.begin(), loops.end(),
                          [](const TimeloopLoop& each) { return each.axis == Axis::kY; });
  }

  // The bound must be what tiles of fixed sizes need: extents that divide each other.
  void append(std::vector<TimeloopLoop>& loops, DimId dim, std::int64_t extent, Axis axis) {
    std::int64_t& outer = extents_[dim];
    const bool outermost = outer == workload_.dims[dim].bound;
    if (!outermost && outer % extent != 0) {
      refuse(fmt::format("tiles of {} of {} in tiles of {}: they do not divide", extent,
                         workload_.dims[dim].name, outer),
             kPerfectSearch);
    }
    if (std::any_of(loops.begin(), loops.end(),
                    [dim](const TimeloopLoop& loop) { return loop.dim == dim; })) {
      refuse(fmt::format("two loops over {} in one level", workload_.dims[dim].name),
             kSearchOfOneLoop);
    }
    const std::int64_t bound = (outer + extent - 1) / extent;
    loops.push_back({dim, bound, bound, axis});
    outer = extent;
  }

  // Digits of the last index in the mixed radix of the bounds.
  void set_residuals() {
    for (const DimId d : workload_.dims.ids()) {
      std::int64_t rest = workload_.dims[d].bound - 1;
      for (std::size_t b = blocks_.size(); b-- > 0;) {
        for (auto* loops : {&blocks_[b].spatial, &blocks_[b].temporal}) {
          for (TimeloopLoop& loop : *loops) {
            if (loop.dim == d) {
              loop.residual = rest % loop.bound + 1;
              rest /= loop.bound;
            }
          }
        }
      }
    }
  }

  const Arch& arch_;
  const Workload& workload_;
  std::vector<TimeloopBlock> blocks_;
  PerDim<std::int64_t> extents_;
  std::set<std::size_t> kept_;  // levels that keep something
  std::size_t current_ = 0;
  bool parallel_ = false;
};

}  // namespace

std::int64_t TimeloopMachine::fanout(std::size_t level, Axis axis) const {
  const auto mesh = [axis](const auto& part) {
    return axis == Axis::kX ? part.mesh_x : part.mesh_y;
  };
  const std::int64_t below = level + 1 < storages.size() ? mesh(storages[level + 1]) : mesh(*this);
  return below / mesh(storages[level]);
}

bool TimeloopMachine::has_fanout(std::size_t level) const {
  return fanout(level, Axis::kX) * fanout(level, Axis::kY) > 1;
}

const std::string& TimeloopMachine::child_name(std::size_t level) const {
  return level + 1 < storages.size() ? storages[level + 1].name : compute_name;
}

std::string TimeloopMachine::fanout_name(std::size_t level) const {
  for (const std::string& each : storages[level].fanout_names) {
    if (is_timeloop_point(each) && each != storages[level].name) {
      return each;
    }
  }
  return timeloop_fanout_name(storages[level].name, child_name(level));
}

Arch to_arch(const TimeloopMachine& machine) {
  if (machine.storages.size() > kMaxLevels) {
    throw std::invalid_argument(
        fmt::format("{} storages; at most {} are known here", machine.storages.size(), kMaxLevels));
  }
  const std::int64_t bits = machine.storages.front().word_bits;
  Arch arch;
  arch.name = machine.name;
  arch.sparsity = machine.sparsity;
  if (machine.cycle_seconds) {
    arch.clock = to_clock(*machine.cycle_seconds);
  }
  for (std::size_t l = 0; l < machine.storages.size(); ++l) {
    const bool has_formats =
        machine.sparsity && !machine.sparsity->levels[static_cast<LevelId>(l)].formats.empty();
    arch.levels.push_back(to_storage(machine.storages[l], bits, has_formats));
    if (machine.storages[l].holds_nothing && l > 0) {  // the outermost one keeps everything
      arch.levels[static_cast<LevelId>(l)].bypass = kAllRoles;
    }
    arch.levels[static_cast<LevelId>(l)].physical =
        to_physical(machine.storages[l].leak, machine.storages[l].area, arch.clock);
    if (!machine.has_fanout(l)) {
      continue;
    }
    if (arch.fanouts.size() == kMaxFanouts) {
      throw std::invalid_argument(fmt::format("more than {} fanouts", kMaxFanouts));
    }
    Fanout fanout;
    fanout.name = machine.fanout_name(l);
    fanout.x = machine.fanout(l, Axis::kX);
    fanout.y = machine.fanout(l, Axis::kY);
    fanout.multicast = {Role::kInput, Role::kWeight};
    fanout.spatial_reduction = true;
    fanout.balance = machine.storages[l].packed.empty() ? fanout.balance : Balance::kPacked;
    if (const auto& per_hop = machine.storages[l].energy_per_hop) {
      fanout.energy_per_hop = PicojoulesPerBit{*per_hop / static_cast<double>(bits)};
    }
    arch.fanouts.push_back(fanout);
    arch.levels_above.push_back(l + 1);
  }
  arch.levels[LevelId{0}].keep = kAllRoles;
  arch.compute.name = machine.compute_name;
  arch.compute.energy = Picojoules{machine.compute_energy};
  arch.compute.format = machine.compute_format;
  arch.compute.physical = to_physical(machine.compute_leak, machine.compute_area, arch.clock);
  return arch;
}

Mapping to_mapping(const TimeloopDesign& design) {
  Mapping mapping;
  Offsets extents = extents_from(design, 0);
  std::size_t fanout = 0;
  for (std::size_t b = 0; b < design.blocks.size(); ++b) {
    const TimeloopBlock& block = design.blocks[b];
    if (!block.keep.empty()) {
      mapping.nodes.emplace_back(Keep{static_cast<LevelId>(b), block.keep});
    }
    for (const TimeloopLoop& loop : block.temporal) {
      extents[loop.dim] /= loop.bound;
      mapping.nodes.emplace_back(Temporal{loop.dim, extents[loop.dim]});
    }
    for (const TimeloopLoop& loop : block.spatial) {
      extents[loop.dim] /= loop.bound;
      mapping.nodes.emplace_back(
          Parallel{loop.dim, extents[loop.dim], static_cast<FanoutId>(fanout), loop.axis});
    }
    fanout += design.machine.has_fanout(b) ? 1 : 0;
  }
  return mapping;
}

std::vector<TimeloopBlock> to_timeloop_blocks(const Arch& arch, const Workload& workload,
                                              const Mapping& mapping) {
  return Exporter{arch, workload}.run(mapping);
}

TimeloopMachine to_timeloop_machine(const Arch& arch) {
  TimeloopMachine machine;
  machine.name = arch.name;
  for (const LevelId l : arch.levels.ids()) {
    TimeloopStorage storage;
    storage.name = arch.levels[l].name;
    machine.storages.push_back(storage);
  }
  for (const FanoutId f : arch.fanouts.ids()) {
    const std::size_t below = arch.levels_above[f];
    const std::string& child = below < arch.levels.size()
                                   ? arch.levels[static_cast<LevelId>(below)].name
                                   : arch.compute.name;
    TimeloopStorage& above = machine.storages[below - 1];
    const std::string& name = arch.fanouts[f].name;
    // A fanout from point to point is named after both; Timeloop knows it by the point above it.
    if (is_timeloop_point(name) && name != timeloop_fanout_name(above.name, child)) {
      above.fanout_names = {name};
    }
  }
  machine.compute_name = arch.compute.name;
  return machine;
}

}  // namespace mapsim
