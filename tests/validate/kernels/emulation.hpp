// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/validate/kernels/machine.hpp"

// What validate/kernels/device.cuh is on a GPU, on a CPU: memory is that of a BlockMachine.
// nvcuda::wmma: emulated_wmma.hpp.
#define __device__
#define __host__
#define __forceinline__ inline

namespace mapsim_kernel {

using mapsim::BlockMachine;
using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;
using std::memcpy;

inline int thread_index() { return BlockMachine::now().thread(); }
inline long long block_index() { return BlockMachine::now().block(); }
inline char* shared_memory() { return BlockMachine::now().shared(); }
inline void barrier() { BlockMachine::now().barrier(); }
inline void warp_barrier() { BlockMachine::now().warp_barrier(); }

template <class T>
T load_global(const void* from) {
  BlockMachine::now().read(from, sizeof(T), sizeof(T));
  T value;
  std::memcpy(static_cast<void*>(&value), from, sizeof(T));
  return value;
}
template <class T>
void store_global(void* to, const T& value) {
  BlockMachine::now().write(to, sizeof(T), sizeof(T));
  std::memcpy(to, static_cast<const void*>(&value), sizeof(T));
}
template <class T>
T load_shared(const void* from) {
  return load_global<T>(from);
}
template <class T>
void store_shared(void* to, const T& value) {
  store_global(to, value);
}

template <int kBytes, bool kGuarded>
void copy_async(char* to, const char* from, int valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if (!kGuarded && valid != kBytes) {
    BlockMachine::now().fail("a partial copy that is not guarded");
  }
  BlockMachine::now().copy_async(to, from, kBytes, valid);
}
inline void commit_copies() { BlockMachine::now().commit(); }
template <int kPending>
void wait_copies() {
  BlockMachine::now().wait(kPending);
}

inline float exponential(float x) { return std::exp(x); }
inline float error_function(float x) { return std::erf(x); }
inline float to_whole(float x) { return std::nearbyint(x); }

// Rounded to 10 bits of mantissa, ties away from zero (PTX ISA, cvt.rna.tf32.f32).
inline float to_tf32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

}  // namespace mapsim_kernel
