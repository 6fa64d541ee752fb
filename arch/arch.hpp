// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/physical.hpp"
#include "arch/sparsity.hpp"
#include "arch/technology.hpp"
#include "arch/timing.hpp"
#include "core/index.hpp"
#include "core/roles.hpp"
#include "core/shared.hpp"
#include "core/units.hpp"

namespace mapsim {

// Capacity of one instance of a storage level.
struct Capacity {
  // Exactly one of: unlimited (both empty), one pool shared by all tensors, or a partition per
  // role.
  std::optional<Bits> shared;
  std::map<Role, Bits> per_role;  // a role that is not named bypasses the level
  bool unlimited() const { return !shared && per_role.empty(); }
  Bits total() const;  // of all partitions; 0 when unlimited
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

// Ports of one instance. An absent bandwidth is infinite.
struct Bandwidth {
  std::optional<BitsPerCycle> read;    // reads + read-backs + drains
  std::optional<BitsPerCycle> write;   // fills + updates
  std::optional<BitsPerCycle> shared;  // all of them through one port; excludes read and write
  std::optional<BitsPerCycle> link{};  // towards the parent: fills + drains, before the other ports
  friend bool operator==(const Bandwidth&, const Bandwidth&) = default;
};

// Energies per bit moved. Reads, read-backs and drains pay read; fills pay write; updates pay
// update.
struct StorageEnergy {
  PicojoulesPerBit read{0};
  PicojoulesPerBit write{0};
  PicojoulesPerBit update{0};  // the file's `update`, or `write` where it names none
  friend bool operator==(const StorageEnergy&, const StorageEnergy&) = default;
};

// The sources of a storage's energies; empty: the architecture file.
struct StorageSources {
  std::string read, write, update;
  friend bool operator==(const StorageSources&, const StorageSources&) = default;
};

struct Storage {  // a memory level; the figures are of one instance
  std::string name;
  Capacity capacity;
  Bits word{1};  // width of one access; energies and bandwidths may be given per word
  Bandwidth bandwidth;
  StorageEnergy energy;
  bool double_buffered = false;  // half of the capacity for tiles; fills hide behind compute
  bool streamed = false;  // fills hide behind compute word by word: the whole capacity for tiles
  bool sliding = true;    // a moving window fetches only its new points into this level
  RoleSet keep;           // must be kept here
  RoleSet bypass;         // must not be kept here; what is in neither is free
  StorageKind kind = StorageKind::kSram;  // its entry in the tables of the technology
  StorageSources sources{};
  Physical physical{};
  // Do its transfers overlap with computing?
  bool hides() const { return double_buffered || streamed; }
  friend bool operator==(const Storage&, const Storage&) = default;
};

// Which dims may be unrolled along an axis: by GEMM axis or by name. Empty = all.
struct AxisConstraint {
  std::vector<GemmAxis> gemm_axes;
  std::vector<std::string> dims;
  bool unconstrained() const { return gemm_axes.empty() && dims.empty(); }
  friend bool operator==(const AxisConstraint&, const AxisConstraint&) = default;
};

enum class Axis : std::uint8_t { kX, kY };

// A spatial array: x * y instances of everything below it.
struct Fanout {
  std::string name;
  std::int64_t x = 1;
  std::int64_t y = 1;
  RoleSet multicast;               // operands that one read serves to many instances
  bool spatial_reduction = false;  // outputs of instances are summed on the way up
  bool forwarding = true;          // a sliding union tile moves as one (neighbours pass halos on)
  Picojoules reduction_energy{0};  // per addition in the reduction network
  AxisConstraint x_dims;
  AxisConstraint y_dims;
  bool reduction_by_width = false;  // its energy depends on the sums: bind_widths()
  std::string reduction_source{};
  // Energy of a bit's hop to a neighbour, or from outside into the first column; absent: none.
  std::optional<PicojoulesPerBit> energy_per_hop{};
  std::string hop_source{};
  Balance balance = Balance::kEnd;  // matters if instances skip zeros
  std::int64_t size(Axis axis) const { return axis == Axis::kX ? x : y; }
  const AxisConstraint& dims(Axis axis) const { return axis == Axis::kX ? x_dims : y_dims; }
  friend bool operator==(const Fanout&, const Fanout&) = default;
};

struct Compute {  // the compute units; the figures are of one unit
  std::string name;
  Picojoules energy{0};                    // per MAC
  std::int64_t issue_interval = 1;         // cycles between two MACs of one instance
  std::vector<WidthInterval> intervals{};  // if it depends on the operands: bind_widths()
  RoleSet register_reuse;  // operands (and sums) latched at the MAC: no access while they stay
  NumberFormat format = NumberFormat::kInteger;
  bool energy_by_width = false;  // its energy depends on the operands: bind_widths()
  std::string source{};
  Physical physical{};
  Timing timing{};
  friend bool operator==(const Compute&, const Compute&) = default;
};

// A machine, outermost node first. Invariants of every loaded value: at least one level; the
// outermost level keeps everything and is above every fanout; sizes positive; names distinct.
struct Arch {
  std::string name;
  Hertz clock{1e9};
  PerLevel<Storage> levels;
  PerFanout<Fanout> fanouts;
  // Number of storage levels above each fanout (1..levels): fanout f lies between level
  // levels_above[f]-1 and level levels_above[f] (or the compute units). Never decreasing.
  PerFanout<std::size_t> levels_above;
  Compute compute;
  std::optional<Technology> technology;  // gives the numbers that the file leaves out
  bool leaks = true;                     // false: leakage is left out of the energy
  // The Accelergy tables that were read with the file; empty: none.
  std::string ert_file{};
  std::string art_file{};
  Shared<Sparsity> sparsity{};  // none: the machine does not exploit zeros

  bool is_above(LevelId level, FanoutId fanout) const {
    return index_of(level) < levels_above[fanout];
  }
  std::int64_t instances(LevelId level) const;  // product of the fanouts above it
  std::int64_t mac_units() const;               // product of all fanouts
  std::optional<LevelId> find_level(const std::string& level_name) const;
  std::optional<FanoutId> find_fanout(const std::string& fanout_name) const;
  friend bool operator==(const Arch&, const Arch&) = default;
};

const char* to_string(Axis axis);  // "X", "Y"

}  // namespace mapsim
