// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tests/validate/kernels/emulation.hpp"

// nvcuda::wmma on a CPU: fragments are arrays, of which each lane has its share in an order that no
// kernel may rely on.
namespace mapsim_kernel::wmma {

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
    BlockMachine::now().fail("a fragment is not aligned");
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
  double* to = BlockMachine::now().operand(is_a);
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
  BlockMachine::now().multiply();
  const double* of_a = BlockMachine::now().multiplied(true);
  const double* of_b = BlockMachine::now().multiplied(false);
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
    BlockMachine::now().fail("a fragment of sums is not aligned");
  }
  for (int i = 0; i < F::num_elements; ++i) {
    const auto row = static_cast<std::size_t>(F::place(i) / n);
    store_global(to + row * stride + F::place(i) % n, from.x[i]);
  }
}

}  // namespace mapsim_kernel::wmma
