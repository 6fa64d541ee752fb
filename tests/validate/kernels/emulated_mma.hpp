// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <type_traits>

#include "tests/validate/kernels/emulation.hpp"

// What validate/kernels/device_mma.cuh is on a GPU, on a CPU: the lanes of a warp show each other
// their registers, which are read as the PTX ISA lays them out.
namespace mapsim_kernel {

inline int lane_index() { return thread_index() % 32; }

template <bool kTransposed>
void load_matrices(unsigned (&to)[4], const char* row) {
  BlockMachine& machine = BlockMachine::now();
  machine.check_row(row);
  machine.operand(true)[lane_index()] = static_cast<double>(row - machine.shared());
  machine.multiply();
  const double* rows = machine.multiplied(true);
  const int lane = lane_index();
  for (int matrix = 0; matrix < 4; ++matrix) {
    machine.count_rows(rows + 8 * matrix);
    const auto at = [&](int line) {
      return machine.shared() + static_cast<std::size_t>(rows[8 * matrix + line]);
    };
    if (!kTransposed) {
      const char* from = at(lane / 4) + lane % 4 * 4;
      machine.read_uncounted(from, 4);
      std::memcpy(&to[matrix], from, 4);
    } else {
      for (int half = 0; half < 2; ++half) {
        const char* from = at(lane % 4 * 2 + half) + lane / 4 * 2;
        machine.read_uncounted(from, 2);
        std::memcpy(reinterpret_cast<char*>(&to[matrix]) + 2 * half, from, 2);
      }
    }
  }
}

// The elements of a lane's registers, put where they belong in a dense matrix.
template <class T>
void publish_words(const unsigned* words, int count, bool is_a, double* dense) {
  constexpr int kDepth = 32 / static_cast<int>(sizeof(T));  // along K
  constexpr int kWords = sizeof(T) > 4 ? sizeof(T) / 4 : 1;
  constexpr int kElements = sizeof(T) > 4 ? 1 : 4 / sizeof(T);
  const int lane = lane_index();
  for (int w = 0; w < count; w += kWords) {
    T elements[kElements];
    std::memcpy(static_cast<void*>(elements), words + w, sizeof elements);
    const int piece = w / kWords;
    // fp64 has one element along K per lane, and eight more rows in the next.
    const int across = lane / 4 + (is_a ? 8 * (piece % 2) : 0);
    const int depth =
        sizeof(T) > 4 ? 0 : (is_a ? piece / 2 : piece) * 16 / static_cast<int>(sizeof(T));
    for (int i = 0; i < kElements; ++i) {
      const int k = depth + lane % 4 * kElements + i;
      double value = static_cast<double>(elements[i]);
      dense[is_a ? across * kDepth + k : k * 8 + across] = value;
    }
  }
}

template <class Operand, class Sum>
struct Mma {
  static void run(Sum (&c)[4], const unsigned (&a)[4], const unsigned* b) {
    constexpr int kDepth = 32 / static_cast<int>(sizeof(Operand));
    BlockMachine& machine = BlockMachine::now();
    publish_words<Operand>(a, 4, true, machine.operand(true));
    publish_words<Operand>(b, 2, false, machine.operand(false));
    machine.multiply();
    const double* of_a = machine.multiplied(true);
    const double* of_b = machine.multiplied(false);
    for (int v = 0; v < 4; ++v) {
      const int row = lane_index() / 4 + 8 * (v / 2), column = 2 * (lane_index() % 4) + v % 2;
      double sum = static_cast<double>(c[v]);
      for (int k = 0; k < kDepth; ++k) {
        sum += of_a[row * kDepth + k] * of_b[k * 8 + column];
      }
      c[v] = static_cast<Sum>(sum);
    }
  }
};

}  // namespace mapsim_kernel
