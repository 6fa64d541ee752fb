// SPDX-License-Identifier: Apache-2.0
// What all kernels share. Stands behind device.cuh or its emulation. docs/kernels.md
namespace mapsim_kernel {

__host__ __device__ constexpr int gcd(long long a, long long b) {
  return static_cast<int>(b == 0 ? a : gcd(b, a % b));
}
__host__ __device__ constexpr long long ceil_div(long long a, long long b) {
  return (a + b - 1) / b;
}

__device__ __forceinline__ int clamp(int value, int most) {
  return value < 0 ? 0 : value < most ? value : most;
}

template <int kBytes>
struct alignas(kBytes) Words {
  unsigned word[kBytes / 4];
};
template <class T, int kCount>
struct alignas(kCount * sizeof(T)) Values {
  T value[kCount];
};

template <class To, class From>
__device__ __forceinline__ To convert(From value) {
  if constexpr (sizeof(To) == 1) {
    return static_cast<To>(value < -128 ? -128 : value > 127 ? 127 : value);
  } else if constexpr (sizeof(From) < sizeof(float)) {
    return static_cast<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Bytes of a chunk from memory to registers, a piece at a time; beyond `valid` they stay zero.
template <int kPiece>
__device__ __forceinline__ void take_piece(Words<16>& chunk, int at, const char* from, int valid) {
  if (valid <= 0) {
    return;
  }
  if constexpr (kPiece >= 4) {
    const Words<kPiece> words = load_global<Words<kPiece>>(from);
#pragma unroll
    for (int i = 0; i < kPiece / 4; ++i) {
      const int bytes = valid - 4 * i;  // of this word
      const unsigned mask = bytes >= 4 ? ~0u : bytes <= 0 ? 0u : (1u << (8 * bytes)) - 1u;
      chunk.word[at / 4 + i] = words.word[i] & mask;
    }
  } else if constexpr (kPiece == 2) {
    chunk.word[at / 4] |= static_cast<unsigned>(load_global<unsigned short>(from))
                          << (8 * (at % 4));
  } else {
    chunk.word[at / 4] |= static_cast<unsigned>(load_global<unsigned char>(from)) << (8 * (at % 4));
  }
}
template <int kBytes>
__device__ __forceinline__ void put_chunk(char* to, const Words<16>& chunk) {
  if constexpr (kBytes == 16) {
    store_shared(to, chunk);
  } else {
    store_shared(to, Words<8>{{chunk.word[0], chunk.word[1]}});
  }
}

}  // namespace mapsim_kernel
