// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/lower.hpp"

#include <utility>

#include "core/arithmetic.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

// Dims and tensors of gemm() with a batch.
constexpr DimId kH{0}, kM{1}, kN{2}, kK{3};
constexpr TensorId kA{0}, kB{1}, kC{2};
constexpr LevelId kDram{0}, kL2{1}, kShared{2}, kRegisters{3};
constexpr FanoutId kClusters{0}, kSms{1}, kWarps{2}, kMma{3};

Bits bits_of(Bytes bytes) { return Bits{8 * bytes.count()}; }

Storage storage(const char* name) {
  Storage level;
  level.name = name;
  return level;
}

Fanout fanout(const char* name, std::int64_t x, std::int64_t y) {
  Fanout result;
  result.name = name;
  result.x = x;
  result.y = y;
  return result;
}

Arch machine(const KernelChoice& kernel, const GpuWaves& waves) {
  Arch arch;
  arch.name = "gpu";
  for (const char* name : {"DRAM", "L2", "shared", "registers"}) {
    arch.levels.push_back(storage(name));
  }
  arch.levels[kDram].keep = kAllRoles;
  arch.fanouts.push_back(
      fanout("cluster", waves.wave_columns, ceil_div(waves.wave_rows, kernel.cluster)));
  Fanout cluster = fanout("SM", 1, kernel.cluster);
  cluster.multicast = RoleSet{Role::kWeight};
  arch.fanouts.push_back(cluster);
  arch.fanouts.push_back(
      fanout("warp", kernel.block.n / kernel.warp.n, kernel.block.m / kernel.warp.m));
  Fanout mma = fanout("MMA", kernel.fragment.n * kernel.fragment.m, kernel.fragment.k);
  mma.multicast = RoleSet{Role::kInput, Role::kWeight};
  mma.spatial_reduction = true;
  arch.fanouts.push_back(mma);
  arch.levels_above.push_back(2);
  arch.levels_above.push_back(2);
  arch.levels_above.push_back(3);
  arch.levels_above.push_back(4);
  arch.compute.name = "MAC";
  return arch;
}

// Builds the nest from outside in; extents never grow.
class NestBuilder {
 public:
  explicit NestBuilder(const Workload& workload) {
    for (const DimId d : workload.dims.ids()) {
      extents_.push_back(workload.dims[d].bound);
    }
  }
  void keep(LevelId level, TensorSet tensors) { mapping_.nodes.push_back(Keep{level, tensors}); }
  void loop(DimId dim, std::int64_t extent) {
    mapping_.nodes.push_back(Temporal{dim, shrink(dim, extent)});
  }
  void parallel(DimId dim, std::int64_t extent, FanoutId over, Axis axis) {
    mapping_.nodes.push_back(Parallel{dim, shrink(dim, extent), over, axis});
  }
  Mapping take() { return std::move(mapping_); }

 private:
  std::int64_t shrink(DimId dim, std::int64_t extent) {
    extents_[dim] = std::min(extents_[dim], extent);
    return extents_[dim];
  }
  PerDim<std::int64_t> extents_;
  Mapping mapping_;
};

// The loops over waves, and the places of A and B in L2 among them.
void place_waves(NestBuilder& nest, const KernelChoice& kernel, const GpuWaves& waves,
                 CacheHolds holds) {
  const std::int64_t wave_m = waves.wave_rows * kernel.block.m;
  const std::int64_t wave_n = waves.wave_columns * kernel.block.n;
  const bool by_columns = kernel.raster != 0;
  nest.loop(kH, 1);
  if (holds == CacheHolds::kAll) {
    nest.keep(kL2, {kA, kB});
  }
  nest.loop(by_columns ? kN : kM, by_columns ? wave_n : wave_m);
  if (holds == CacheHolds::kGroup) {
    nest.keep(kL2, {by_columns ? kB : kA});
  }
  nest.loop(by_columns ? kM : kN, by_columns ? wave_m : wave_n);
  nest.keep(kL2, {kC});
  if (holds == CacheHolds::kAll) {
    return;
  }
  nest.loop(kK, kernel.block.k);
  if (holds == CacheHolds::kStep) {
    nest.keep(kL2, {kA, kB});
  } else {
    nest.keep(kL2, {by_columns ? kA : kB});
  }
}

}  // namespace

GpuNest lower(const GemmProblem& problem, const KernelChoice& kernel, const GpuWaves& waves,
              CacheHolds holds, GpuExtent extent) {
  const bool tiles = extent == GpuExtent::kTiles;
  const std::int64_t slice = ceil_div(problem.k, kernel.split_k);
  GemmShape shape;
  shape.m = tiles ? waves.rows * kernel.block.m : problem.m;
  shape.n = tiles ? waves.columns * kernel.block.n : problem.n;
  shape.k = tiles ? ceil_div(slice, kernel.block.k) * kernel.block.k : slice;
  shape.batch = problem.batch * kernel.split_k;
  Precision precision;
  precision.roles[Role::kInput] = bits_of(operand_size(problem.precision));
  precision.roles[Role::kWeight] = precision.roles[Role::kInput];
  const Bytes sum = sum_size(problem.precision);
  const Bytes written = kernel.split_k > 1 ? sum : problem.output;
  precision.roles[Role::kOutput] = bits_of(written);
  precision.partial = bits_of(std::max(sum, written));

  GpuNest result{machine(kernel, waves), gemm("gemm", shape, precision), {}};
  NestBuilder nest{result.workload};
  nest.keep(kDram, {kA, kB, kC});
  place_waves(nest, kernel, waves, holds);
  nest.parallel(kN, kernel.block.n, kClusters, Axis::kX);
  nest.parallel(kM, kernel.cluster * kernel.block.m, kClusters, Axis::kY);
  nest.parallel(kM, kernel.block.m, kSms, Axis::kY);
  nest.loop(kK, kernel.block.k);
  nest.keep(kShared, {kA, kB});
  nest.parallel(kN, kernel.warp.n, kWarps, Axis::kX);
  nest.parallel(kM, kernel.warp.m, kWarps, Axis::kY);
  nest.loop(kK, kernel.fragment.k);
  const bool from_shared = kernel.path == GpuPath::kWgmma;  // operands pass no registers
  nest.keep(kRegisters, from_shared ? TensorSet{kC} : TensorSet{kA, kB, kC});
  nest.loop(kM, kernel.fragment.m);
  nest.loop(kN, kernel.fragment.n);
  nest.parallel(kM, 1, kMma, Axis::kX);
  nest.parallel(kN, 1, kMma, Axis::kX);
  nest.parallel(kK, 1, kMma, Axis::kY);
  result.mapping = nest.take();
  return result;
}

}  // namespace mapsim
