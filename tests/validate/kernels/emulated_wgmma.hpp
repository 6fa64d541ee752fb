// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <vector>

#include "tests/validate/kernels/emulation.hpp"
#include "tests/validate/kernels/tma_units.hpp"

// What validate/kernels/device_wgmma.cuh is on a GPU, on a CPU.
namespace mapsim_kernel {

using mapsim::EmulatedMap;
using mapsim::TmaUnits;

struct alignas(64) TensorMap {
  unsigned long long words[16];
};
using Barrier = unsigned long long;

inline TmaUnits& units() { return *BlockMachine::now().units(); }
inline unsigned shared_address(const void* at) { return units().address(at); }
inline unsigned cluster_rank() { return static_cast<unsigned>(BlockMachine::now().rank()); }
inline void cluster_barrier() { BlockMachine::now().barrier(); }
template <int kThreads>
void consumer_barrier() {
  units().meet(kThreads);
}
inline void start_barrier(Barrier* barrier, int count) { units().start_barrier(barrier, count); }
inline void show_barriers() { units().show_barriers(); }
inline void expect_bytes(Barrier* barrier, int bytes) { units().expect(barrier, bytes); }
template <int kCluster>
void arrive(Barrier* barrier, int rank) {
  units().arrive(barrier, kCluster == 1 ? BlockMachine::now().rank() : rank);
}
inline void wait_for(Barrier* barrier, unsigned parity) { units().wait(barrier, parity); }
template <int kCluster, bool kShared>
void copy_tile(char* to, const TensorMap& map, Barrier* barrier, int x, int y, int z) {
  const EmulatedMap* of;
  std::memcpy(&of, map.words, sizeof of);
  units().copy(to, *of, barrier, {x, y, z}, kShared && kCluster > 1);
}
inline void prefetch_map(const TensorMap& /*map*/) {}
template <int kCount>
void take_registers() {}
template <int kCount>
void give_registers() {}

template <class Sum>
struct SumWord {
  using Type = Sum;
};
template <>
struct SumWord<half> {
  using Type = unsigned;
};

template <class Operand, class Sum, bool kRoundsToTf32, int kColumns, bool kAcrossA, bool kAcrossB>
struct WarpgroupMma {
  using Word = typename SumWord<Sum>::Type;
  static constexpr int kSize = sizeof(Operand);
  static constexpr int kDepth = 32 / kSize;

  static std::vector<double> dense(const TmaUnits& units, int warp, std::uint64_t descriptor,
                                   bool across, int first, int count) {
    std::vector<double> result;
    for (int row = first; row < first + count; ++row) {
      for (int k = 0; k < kDepth; ++k) {
        Operand element;
        std::memcpy(static_cast<void*>(&element),
                    units.at(units.place(descriptor, across, row, k, kSize), warp), kSize);
        result.push_back(static_cast<double>(element));
      }
    }
    return result;
  }
  static void execute(TmaUnits& units, const TmaUnits::Product& product) {
    const auto rows = dense(units, product.warp, product.rows, kAcrossA, product.warp % 4 * 16, 16);
    const auto columns = dense(units, product.warp, product.columns, kAcrossB, 0, kColumns);
    for (int lane = 0; lane < 32; ++lane) {
      auto* const sums = static_cast<Sum*>(product.sums[static_cast<std::size_t>(lane)]);
      for (int i = 0; i < kColumns / 2; ++i) {
        const int row = lane / 4 + 8 * (i % 4 / 2), column = i / 4 * 8 + 2 * (lane % 4) + i % 2;
        double sum = product.adds ? static_cast<double>(sums[i]) : 0;
        for (int k = 0; k < kDepth; ++k) {
          sum += rows[static_cast<std::size_t>(row * kDepth + k)] *
                 columns[static_cast<std::size_t>(column * kDepth + k)];
        }
        sums[i] = static_cast<Sum>(sum);
      }
    }
  }
  template <int kWords>
  static void run(Word (&sums)[kWords], unsigned long long rows, unsigned long long columns,
                  bool adds) {
    static_assert(kWords * sizeof(Word) == kColumns / 2 * sizeof(Sum));
    units().multiply(rows, columns, adds, {kColumns, kAcrossA, kAcrossB, kSize}, &execute, sums);
  }
};

inline void begin_products() { units().begin_products(); }
inline void end_products() { units().end_products(); }
template <int kPending>
void wait_products() {
  units().wait_products(kPending);
}
template <class Word>
void hold(Word& /*sum*/) {}

}  // namespace mapsim_kernel
