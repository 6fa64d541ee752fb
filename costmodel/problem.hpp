// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "core/units.hpp"
#include "costmodel/ports.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A rank of two dims and more. The strides of the first two, divided by their gcd.
struct WindowRank {
  std::size_t rank = 0;
  std::int64_t stride_p = 1;
  std::int64_t stride_r = 1;
};

class SparseModel;

// Properties of a tensor that counting uses often.
struct TensorShape {
  DimSet dims;                     // relevant ones
  DimSet single_dims;              // those alone in their rank
  DimSet window_dims;              // the others
  std::int64_t single_points = 1;  // product of the bounds of single_dims
  std::vector<WindowRank> windows;
  bool simple = true;  // windows, if any, of two dims and in an operand
};

// One architecture bound to one workload: widths, energies and capacities per tensor, resolved
// once. Cheap to copy, independent of what it was made from.
class Problem {
 public:
  Problem(Arch arch, Workload workload);
  const Arch& arch() const { return arch_; }
  const Workload& workload() const { return workload_; }
  std::int64_t macs() const { return macs_; }
  const TensorShape& shape(TensorId tensor) const { return shapes_[tensor]; }
  // Bits of one instance of `level` that tiles may use (half of a double-buffered level); nullopt =
  // unlimited. If the level is divided into partitions: those of the partition of `role`.
  std::optional<Bits> capacity(LevelId level, Role role) const;
  // May / must `tensor` be kept at `level`?
  bool may_keep(LevelId level, TensorId tensor) const;
  bool must_keep(LevelId level, TensorId tensor) const;
  bool is_merged(FanoutId fanout, TensorId tensor) const;  // multicast or spatially reduced there
  // Dims whose instances of `fanout` share every transfer of `tensor`: irrelevant ones, if merged.
  DimSet shared_dims(FanoutId fanout, TensorId tensor) const;
  // Does it matter which axis takes which instances? A hop costs something, or tensors move along
  // the axes of a systolic array.
  bool places_matter() const;
  // Does the time of the compute units depend on more than the number of steps?
  bool is_timed_by_model() const;
  // How the machine treats zeros; nullptr: zeros cost nothing anywhere.
  const SparseModel* sparse() const { return sparse_.get(); }
  // Mean bits moved per element of this width; zeros do not move. A lower bound if the machine has
  // formats or conditions.
  double moved_bits(TensorId tensor, Bits width) const {
    return static_cast<double>(width.count()) * moved_share_[tensor];
  }
  // A lower bound of the bits that an element of a tile takes of any capacity.
  double least_stored_bits(TensorId tensor, Bits width) const;
  double mac_density() const;     // share of the MACs that multiply no zero: only they cost energy
  double stepped() const;         // share of the MACs that take time
  Picojoules mac_energy() const;  // on average
  Picojoules addition_energy(FanoutId fanout) const;
  const Overlap& overlap(LevelId level) const { return overlaps_[level]; }
  Picojoules leakage(Cycles cycles) const;  // of all parts with stated leakage

 private:
  Arch arch_;
  Workload workload_;
  std::int64_t macs_ = 0;
  Picojoules leakage_per_cycle_{0};
  PerTensor<TensorShape> shapes_;
  PerLevel<Overlap> overlaps_;
  PerTensor<double> moved_share_;
  std::shared_ptr<const SparseModel> sparse_;
};

// Throws ConfigError if the machine exploits zeros, which `what` does not support.
void require_no_zeros(const Arch& arch, const std::string& what);

}  // namespace mapsim
