// SPDX-License-Identifier: Apache-2.0
// The instructions of the path wgmma, on a GPU: copies of whole tiles by the TMA, barriers in
// shared memory that count them, warpgroup MMA (PTX ISA 9.7: cp.async.bulk.tensor, mbarrier,
// wgmma). tests/validate/kernels/emulated_wgmma.hpp is the same on a CPU.
namespace mapsim_kernel {

// A CUtensorMap: a matrix in memory and the box of it that one copy brings.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};
using Barrier = unsigned long long;  // in shared memory

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
// Of the first kThreads threads of a block.
template <int kThreads>
__device__ __forceinline__ void consumer_barrier() {
  asm volatile("bar.sync 1, %0;" ::"n"(kThreads) : "memory");
}

// A phase of a barrier ends when `count` have arrived and all bytes that they expect are there.
__device__ __forceinline__ void start_barrier(Barrier* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}
// Barriers that this thread has started, to the TMA and the cluster.
__device__ __forceinline__ void show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// This thread arrives, and expects so many bytes.
__device__ __forceinline__ void expect_bytes(Barrier* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Arrives at the barrier that block `rank` of the cluster has in this place.
template <int kCluster>
__device__ __forceinline__ void arrive(Barrier* barrier, int rank) {
  if constexpr (kCluster == 1) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
  } else {
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(barrier)),
        "r"(rank)
        : "memory");
  }
}
// Until the phase of this parity has ended; of a new barrier the one before the first has parity 1.
__device__ __forceinline__ void wait_for(Barrier* barrier, unsigned parity) {
  const unsigned at = shared_address(barrier);
  unsigned ended;
  do {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.b32 %0, 1, 0, p;\n}"
        : "=r"(ended)
        : "r"(at), "r"(parity)
        : "memory");
  } while (ended == 0);
}

// The box of a map whose first element is (x, y, z), to `to`; zeros where the matrix has none. With
// kShared also to the same place of all other blocks of the cluster, whose barriers count it, too.
template <int kCluster, bool kShared>
__device__ __forceinline__ void copy_tile(char* to, const TensorMap& map, Barrier* barrier, int x,
                                          int y, int z) {
  if constexpr (kShared && kCluster > 1) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z),
        "h"(static_cast<unsigned short>((1 << kCluster) - 1))
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
        : "memory");
  }
}
__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// A warpgroup's registers per thread, from here on.
template <int kCount>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

// Words of a thread's sums: each is one of fp32 or s32, or two of fp16.
template <class Sum>
struct SumWord {
  using Type = Sum;
};
template <>
struct SumWord<half> {
  using Type = unsigned;
};

// sums (+)= a b, of 64 x kColumns x 32 B, with operands in shared memory that 64-bit descriptors
// tell of. Warp w of the warpgroup has rows 16 w on; of them a lane has in words 4 j to 4 j + 3
// what mma.sync has for columns 8 j on (device_mma.cuh). The generator writes it for the sizes that
// a kernel has. kAcross: an operand that lies across K.
template <class Operand, class Sum, bool kRoundsToTf32, int kColumns, bool kAcrossA, bool kAcrossB>
struct WarpgroupMma;

// Before the first of a group; after the last; until at most kPending groups are under way.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// The compiler moves no use of a sum before this.
__device__ __forceinline__ void hold(float& sum) { asm volatile("" : "+f"(sum)::"memory"); }
__device__ __forceinline__ void hold(int& sum) { asm volatile("" : "+r"(sum)::"memory"); }
__device__ __forceinline__ void hold(unsigned& sum) { asm volatile("" : "+r"(sum)::"memory"); }

}  // namespace mapsim_kernel
