// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/validate/kernels/machine.hpp"

// What validate/kernels/device.cuh is on a GPU, on a CPU: fragments are arrays, of which each lane
// has its share in an order that no kernel may rely on; memory is that of a Machine.
#define __device__
#define __host__
#define __forceinline__ inline

namespace mapsim_kernel {

using mapsim::Machine;
using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;

inline int thread_index() { return Machine::now().thread(); }
inline long long block_index() { return Machine::now().block(); }
inline char* shared_memory() { return Machine::now().shared(); }
inline void barrier() { Machine::now().barrier(); }
inline void warp_barrier() { Machine::now().warp_barrier(); }

template <class T>
T load_global(const void* from) {
  Machine::now().read(from, sizeof(T), sizeof(T));
  T value;
  std::memcpy(static_cast<void*>(&value), from, sizeof(T));
  return value;
}
template <class T>
void store_global(void* to, const T& value) {
  Machine::now().write(to, sizeof(T), sizeof(T));
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
    Machine::now().fail("a partial copy that is not guarded");
  }
  Machine::now().copy_async(to, from, kBytes, valid);
}
inline void commit_copies() { Machine::now().commit(); }
template <int kPending>
void wait_copies() {
  Machine::now().wait(kPending);
}

// Rounded to 10 bits of mantissa, ties away from zero (PTX ISA, cvt.rna.tf32.f32).
inline float to_tf32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major };
namespace precision {
struct tf32 {};
}  // namespace precision

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  static constexpr bool kA = std::is_same_v<Use, matrix_a>;
  static constexpr bool kB = std::is_same_v<Use, matrix_b>;
  static constexpr int kRows = kB ? k : m;
  static constexpr int kColumns = kA ? k : n;
  static constexpr int num_elements = kRows * kColumns / 32;
  using Element = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;
  Element x[num_elements];

  // Which element of the matrix, row by row, is a lane's i-th.
  static int place(int i) {
    const int lane = thread_index() % 32;
    return kA   ? i * 32 + lane
           : kB ? lane * num_elements + i
                : num_elements * 32 - 1 - i * 32 - lane;
  }
};

template <class F, class V>
void fill_fragment(F& into, V value) {
  for (auto& x : into.x) {
    x = value;
  }
}

template <class Use, int m, int n, int k, class T, class Layout, class P>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& into, const P* from, unsigned stride) {
  using F = fragment<Use, m, n, k, T, Layout>;
  constexpr bool kByRows = std::is_same_v<Layout, row_major>;
  constexpr std::size_t kRow = sizeof(P) * (kByRows ? F::kColumns : F::kRows);
  if (stride * sizeof(P) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(from) % (kRow < 32 ? kRow : 32) != 0) {
    Machine::now().fail("a fragment is not aligned");
  }
  for (int i = 0; i < F::num_elements; ++i) {
    const int row = F::place(i) / F::kColumns;
    const int column = F::place(i) % F::kColumns;
    const std::size_t at = kByRows ? static_cast<std::size_t>(row) * stride + column
                                   : static_cast<std::size_t>(column) * stride + row;
    into.x[i] = load_global<P>(from + at);
  }
}

template <class F>
void publish(const F& from, bool is_a) {
  double* to = Machine::now().operand(is_a);
  for (int i = 0; i < F::num_elements; ++i) {
    to[F::place(i)] = static_cast<double>(from.x[i]);
  }
}

// Sums are exact in double as long as they are whole.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class S>
void mma_sync(fragment<accumulator, m, n, k, S>& d,
              const fragment<matrix_a, m, n, k, T, LayoutA>& a,
              const fragment<matrix_b, m, n, k, T, LayoutB>& b,
              const fragment<accumulator, m, n, k, S>& c) {
  publish(a, true);
  publish(b, false);
  Machine::now().multiply();
  const double* of_a = Machine::now().multiplied(true);
  const double* of_b = Machine::now().multiplied(false);
  using F = fragment<accumulator, m, n, k, S>;
  for (int i = 0; i < F::num_elements; ++i) {
    const int row = F::place(i) / n;
    const int column = F::place(i) % n;
    double sum = static_cast<double>(c.x[i]);
    for (int l = 0; l < k; ++l) {
      sum += of_a[row * k + l] * of_b[l * n + column];
    }
    d.x[i] = static_cast<S>(sum);
  }
}

template <class P, int m, int n, int k>
void store_matrix_sync(P* to, const fragment<accumulator, m, n, k, P>& from, unsigned stride,
                       layout_t) {
  using F = fragment<accumulator, m, n, k, P>;
  if (stride * sizeof(P) % 16 != 0 || reinterpret_cast<std::uintptr_t>(to) % 32 != 0) {
    Machine::now().fail("a fragment of sums is not aligned");
  }
  for (int i = 0; i < F::num_elements; ++i) {
    const auto row = static_cast<std::size_t>(F::place(i) / n);
    store_global(to + row * stride + F::place(i) % n, from.x[i]);
  }
}

}  // namespace wmma
}  // namespace mapsim_kernel
