// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "core/units.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A Timeloop design by Timeloop's own terms, which the importer, the exporter and the comparison of
// counts share.

// Energies of one vector access (of `block` words), pJ.
struct TimeloopEnergy {
  double read = 0;
  double write = 0;
  double update = 0;
  friend bool operator==(const TimeloopEnergy&, const TimeloopEnergy&) = default;
};

// One storage level. A word holds one element, whatever its width.
struct TimeloopStorage {
  std::string name;
  std::optional<std::int64_t> words;  // of one instance, for all tensors; nullopt: unlimited
  bool off_chip = false;              // a DRAM
  bool holds_nothing = false;         // a point between two fanouts, or a storage without entries
  std::int64_t word_bits = 8;
  std::int64_t block = 1;                // words of one vector access
  std::int64_t cluster = 1;              // instances that share an access, and its energy
  double multiple_buffering = 1;         // divides the capacity
  std::optional<double> read_bandwidth;  // words/cycle of one instance; nullopt: unlimited
  std::optional<double> write_bandwidth;
  std::optional<double> shared_bandwidth;
  std::int64_t mesh_x = 1;  // instances along X and Y of the whole machine
  std::int64_t mesh_y = 1;
  TimeloopEnergy energy;  // of an access by one instance: its share if a cluster shares it
  std::optional<double> energy_per_hop;  // pJ per word and hop of the network below
  std::optional<double> leak;            // pJ per cycle of one instance
  std::optional<double> area;            // mm^2 of one instance
  // Metadata, which tell where nonzeros are: the width of a word, and the bits of storage for them.
  std::int64_t metadata_word_bits = 0;
  std::int64_t metadata_width = 0;  // b of a row; 0: not given
  std::int64_t metadata_bits = 0;
  DimSet packed;  // over these dims the lanes below it take the next nonzeros
  // Further names of the fanout below it (containers, or points that keep nothing), and of nodes
  // with one instance below each of its own.
  std::vector<std::string> fanout_names;
  std::vector<std::string> unit_names;
  friend bool operator==(const TimeloopStorage&, const TimeloopStorage&) = default;
};

// A machine.
struct TimeloopMachine {
  std::string name;
  std::optional<double> cycle_seconds;    // of the one clock; nullopt: not given
  std::vector<TimeloopStorage> storages;  // outermost first
  std::string compute_name;
  double compute_energy = 0;           // pJ per MAC
  std::optional<double> compute_leak;  // pJ per cycle of one instance
  std::optional<double> compute_area;  // mm^2 of one instance
  std::int64_t compute_bits = 8;
  NumberFormat compute_format = NumberFormat::kInteger;
  Shared<Sparsity> sparsity{};  // none: dense
  std::int64_t mesh_x = 1;
  std::int64_t mesh_y = 1;
  // Children along an axis below one instance of level `level`: the mesh of the next storage, or of
  // the compute units, over its own.
  std::int64_t fanout(std::size_t level, Axis axis) const;
  bool has_fanout(std::size_t level) const;  // more than one child
  // The node below a storage (the next storage, or the compute units), and the fanout to it, by the
  // front end's name if there is one.
  const std::string& child_name(std::size_t level) const;
  std::string fanout_name(std::size_t level) const;
  friend bool operator==(const TimeloopMachine&, const TimeloopMachine&) = default;
};

// A loop of `bound` iterations, or of `residual` in the last iteration of all outer loops over the
// same dim.
struct TimeloopLoop {
  DimId dim{};
  std::int64_t bound = 1;
  std::int64_t residual = 1;
  Axis axis = Axis::kX;  // of a spatial loop
  friend bool operator==(const TimeloopLoop&, const TimeloopLoop&) = default;
};

// The part of a mapping at one level. Loops with bound 1 are left out.
struct TimeloopBlock {
  TensorSet keep;
  std::vector<TimeloopLoop> temporal;  // outermost first
  std::vector<TimeloopLoop> spatial;   // outermost first: Y, then X
  friend bool operator==(const TimeloopBlock&, const TimeloopBlock&) = default;
};

// Machine, workload and mapping.
struct TimeloopDesign {
  TimeloopMachine machine;
  Workload workload;                  // the output last
  std::vector<TimeloopBlock> blocks;  // one per storage, outermost first
};

// A rule for the factor of a dim: none, a factor, or an upper limit.
struct TimeloopFactorRule {
  std::optional<std::int64_t> factor;
  bool at_most = false;
  bool forbids() const { return factor == 1; }
  friend bool operator==(const TimeloopFactorRule&, const TimeloopFactorRule&) = default;
};
using TimeloopFactorRules = PerDim<TimeloopFactorRule>;

// The dims that may be unrolled along an axis below a storage, and their factors.
struct TimeloopAxisRule {
  DimSet dims;
  TimeloopFactorRules factors;
};

// Rules for the temporal loops of a storage.
struct TimeloopLoopRule {
  std::vector<DimId> innermost;  // dims whose loops are inside of all others, outermost first
  TimeloopFactorRules factors;
};

// Rules of a mapspace for one storage.
struct TimeloopConstraint {
  std::size_t level = 0;
  TensorSet keep;
  TensorSet bypass;
  std::optional<TimeloopAxisRule> along_x;  // nullopt: any
  std::optional<TimeloopAxisRule> along_y;
  std::optional<TimeloopLoopRule> temporal;
};

}  // namespace mapsim
