// SPDX-License-Identifier: Apache-2.0
// What all kernels need of the machine, on a GPU. tests/validate/kernels/emulation.hpp
// is the same on a CPU, with every access checked. docs/kernels.md
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace mapsim_kernel {

namespace wmma = nvcuda::wmma;
using bfloat16 = __nv_bfloat16;

__device__ __forceinline__ int thread_index() { return static_cast<int>(threadIdx.x); }
__device__ __forceinline__ long long block_index() { return blockIdx.x; }
__device__ __forceinline__ char* shared_memory() {
  extern __shared__ __align__(128) char memory[];
  return memory;
}
__device__ __forceinline__ void barrier() { __syncthreads(); }
__device__ __forceinline__ void warp_barrier() { __syncwarp(); }

// One instruction per load or store: T is aligned to its size, which a struct's member-wise copy
// does not tell the compiler, so that it would be split into words.
template <int kBytes>
struct Register;
template <>
struct Register<1> {
  using Type = unsigned char;
};
template <>
struct Register<2> {
  using Type = unsigned short;
};
template <>
struct Register<4> {
  using Type = unsigned;
};
template <>
struct Register<8> {
  using Type = uint2;
};
template <>
struct Register<16> {
  using Type = uint4;
};
template <class T>
__device__ __forceinline__ T load_global(const void* from) {
  using Raw = typename Register<sizeof(T)>::Type;
  const Raw raw = *static_cast<const Raw*>(from);
  T value;
  memcpy(static_cast<void*>(&value), &raw, sizeof(T));
  return value;
}
template <class T>
__device__ __forceinline__ void store_global(void* to, const T& value) {
  using Raw = typename Register<sizeof(T)>::Type;
  Raw raw;
  memcpy(&raw, static_cast<const void*>(&value), sizeof(T));
  if constexpr (sizeof(T) == 16) {  // the compiler splits it where it can
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "r"(raw.x), "r"(raw.y), "r"(raw.z), "r"(raw.w)
                 : "memory");
  } else {
    *static_cast<Raw*>(to) = raw;
  }
}
template <class T>
__device__ __forceinline__ T load_shared(const void* from) {
  return load_global<T>(from);
}
template <class T>
__device__ __forceinline__ void store_shared(void* to, const T& value) {
  using Raw = typename Register<sizeof(T)>::Type;
  Raw raw;
  memcpy(&raw, static_cast<const void*>(&value), sizeof(T));
  *static_cast<Raw*>(to) = raw;
}

__device__ __forceinline__ float to_tf32(float value) {
#if __CUDA_ARCH__ >= 800
  return wmma::__float_to_tf32(value);
#else
  return value;
#endif
}
__device__ __forceinline__ float exponential(float x) { return __expf(x); }
__device__ __forceinline__ float error_function(float x) { return erff(x); }
__device__ __forceinline__ float to_whole(float x) { return rintf(x); }

// From global to shared memory in the background: kBytes of 4, 8 or 16, of which the first `valid`
// are read and the others become zero (PTX ISA 7.4, cp.async; 16 B bypass L1). From sm_80 on. It
// clobbers no "memory" for the compiler, which would tie up the loads around it: it stays behind
// the barrier before it and before the wait after it as volatile instructions keep their order.
template <int kBytes, bool kGuarded>
__device__ __forceinline__ void copy_async(char* to, const char* from, int valid) {
#if __CUDA_ARCH__ >= 800
  const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16 && kGuarded) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(target), "l"(from),
                 "r"(valid));
  } else if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(target), "l"(from));
  } else if constexpr (kGuarded) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from),
                 "n"(kBytes), "r"(valid));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(target), "l"(from), "n"(kBytes));
  }
#endif
}
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::);
#endif
}
// Until at most kPending of this thread's commits are under way.
template <int kPending>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace mapsim_kernel
