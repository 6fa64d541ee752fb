// SPDX-License-Identifier: Apache-2.0
// Kernels of the path mma: ldmatrix from swizzled shared memory, mma.sync, sums out through
// epilogue.cuh. docs/kernels.md
namespace mapsim_kernel {

// One operand of a warp's step of 32 B along K: kTiles of 16 rows of A, or of 16 columns of B.
template <class S, bool kIsA>
struct Reader {
  using Load = TileLoader<S, kIsA>;
  static constexpr int kSize = Load::kSize;
  static constexpr int kTiles = (kIsA ? S::kWarpM : S::kWarpN) / 16;
  static constexpr int kStep = 32 / kSize;  // elements of K
  // Along K the swizzle differs by step, across by tile; the rest of an address is constant.
  static constexpr int kOffsets = Load::kAlongK ? S::kBlockK / kStep : kTiles;
  unsigned offsets[Load::kWords ? 1 : kOffsets];
  int origin;  // of the warp's tile in the block's

  __device__ __forceinline__ void start(int first) {
    origin = first;
    if constexpr (!Load::kWords) {
      const int lane = thread_index() % 32;
      // Matrices are in the order of the registers: A: rows first; B: K first.
      const int low = lane & 7, eighth = lane >> 3 & 1, half = lane >> 4;
#pragma unroll
      for (int i = 0; i < kOffsets; ++i) {
        const int line = Load::kAlongK ? origin + low + 8 * (kIsA ? eighth : half)
                                       : low + 8 * (kIsA ? half : eighth);
        const int chunk = Load::kAlongK ? 2 * i + (kIsA ? half : eighth)
                                        : origin / 8 + 2 * i + (kIsA ? eighth : half);
        offsets[i] = static_cast<unsigned>(line * Load::kLineBytes +
                                           swizzled<Load::kChunks, false>(line, chunk) * 16);
      }
    }
  }

  // An element that is read by itself.
  template <class Word>
  __device__ __forceinline__ static Word word(const char* tile, int across, int k) {
    const int line = Load::kAlongK ? across : k;
    const int at = (Load::kAlongK ? k : across) * kSize;
    return load_shared<Word>(tile + line * Load::kLineBytes +
                             swizzled<Load::kChunks, true>(line, at / 16) * 16 + at % 16);
  }

  // tf32: fp32 from memory, rounded to 10 bits of mantissa.
  __device__ __forceinline__ static void round(unsigned (&to)[4]) {
    if constexpr (S::kRoundsToTf32) {
#pragma unroll
      for (unsigned& one : to) {
        float value;
        memcpy(&value, &one, sizeof value);
        value = to_tf32(value);
        memcpy(&one, &value, sizeof value);
      }
    }
  }

  __device__ __forceinline__ void load(unsigned (&to)[kTiles][4], const char* tile,
                                       int step) const {
    const int lane = thread_index() % 32;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      if constexpr (!Load::kWords) {
        load_matrices<!Load::kAlongK>(
            to[i], tile + offsets[Load::kAlongK ? step : i] +
                       (Load::kAlongK ? i * 16 : step * kStep) * Load::kLineBytes);
      } else if constexpr (kSize == 8) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const auto pair =
              word<Words<8>>(tile, origin + i * 16 + 8 * half + lane / 4, step * kStep + lane % 4);
          to[i][2 * half] = pair.word[0];
          to[i][2 * half + 1] = pair.word[1];
        }
      } else {
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          const int eighth = kIsA ? w % 2 : w / 2, half = kIsA ? w / 2 : w % 2;
          to[i][w] = word<unsigned>(tile, origin + i * 16 + 8 * eighth + lane / 4,
                                    step * kStep + 4 * half + lane % 4);
        }
      }
      round(to[i]);
    }
  }
};

// The main loop. Tile t lies in buffer t % kStages; while the registers of step k are multiplied,
// those of k + 1 are loaded, and the tile kStages - 1 ahead is under way. The next tile must have
// landed before the last step of a tile: one barrier per tile, which at once says that all warps
// are done with the buffer that the next load overwrites.
template <class S>
struct MmaLoop {
  using Sum = typename S::Sum;
  using LoadA = TileLoader<S, true>;
  using LoadB = TileLoader<S, false>;
  static constexpr int kStageBytes = LoadA::kTileBytes + LoadB::kTileBytes;
  static constexpr int kRows = S::kWarpM / 16, kPairs = S::kWarpN / 16;
  static constexpr int kSteps = S::kBlockK * LoadA::kSize / 32;  // of 32 B in a tile
  static_assert(S::kStages > 1 && kSteps % 2 == 0, "two buffers, and registers that take turns");

  LoadA a;
  LoadB b;
  Reader<S, true> read_a;
  Reader<S, false> read_b;
  int steps;
  unsigned words_a[2][kRows][4], words_b[2][kPairs][4];

  __device__ __forceinline__ static char* tile(int buffer) {
    return shared_memory() + buffer * kStageBytes;
  }
  __device__ __forceinline__ void load(const RunArguments& p, int buffer) {
    a.load(p, tile(buffer));
    b.load(p, tile(buffer) + LoadA::kTileBytes);
  }
  __device__ __forceinline__ void store(int buffer) {
    a.store(tile(buffer));
    b.store(tile(buffer) + LoadA::kTileBytes);
  }
  __device__ __forceinline__ void read(int into, int buffer, int step) {
    read_a.load(words_a[into], tile(buffer), step);
    read_b.load(words_b[into], tile(buffer) + LoadA::kTileBytes, step);
  }

  __device__ __forceinline__ void fill(const RunArguments& p) {
#pragma unroll
    for (int ahead = 0; ahead < S::kStages - 1; ++ahead) {
      if (ahead < steps) {
        load(p, ahead);
        store(ahead);
      }
      commit_copies();
    }
    wait_copies<S::kStages - 2>();
    barrier();  // first tile landed
  }

  __device__ __forceinline__ void multiply(Sum (&c)[kRows][2 * kPairs][4], int from) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * kPairs; ++j) {
        const int column = i % 2 == 0 ? j : 2 * kPairs - 1 - j;  // b stays where the row turns
        Mma<typename S::Operand, Sum>::run(c[i][column], words_a[from][i],
                                           words_b[from][column / 2] + column % 2 * 2);
      }
    }
  }

  __device__ __forceinline__ void run(const RunArguments& p, Sum (&c)[kRows][2 * kPairs][4]) {
    fill(p);
    read(0, 0, 0);
    int now = 0, free = S::kStages - 1;  // buffers: of this tile; of the one that is loaded
#pragma unroll 1
    for (int at = 0; at < steps; ++at) {
      const int next = now + 1 == S::kStages ? 0 : now + 1;
      const bool more = at + S::kStages - 1 < steps;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        const bool last = step + 1 == kSteps;
        if (step == 0) {
          if (more) {
            load(p, free);
          }
          commit_copies();
        }
        if (last) {
          if (more) {
            store(free);
          }
          wait_copies<S::kStages - 2>();
          barrier();  // next tile landed
        }
        read((step + 1) % 2, last ? next : now, last ? 0 : step + 1);
        multiply(c, step % 2);
      }
      free = now;
      now = next;
    }
    barrier();  // all tiles read
  }
};

template <class S>
__device__ __forceinline__ void mma_gemm(const RunArguments& p) {
  using Loop = MmaLoop<S>;
  using Sum = typename S::Sum;
  const Work at = work_of<S>(p, static_cast<unsigned>(block_index()));
  const int warp = thread_index() / 32;
  constexpr int kWarpRows = S::kBlockM / S::kWarpM;
  const int warp_m = warp % kWarpRows * S::kWarpM, warp_n = warp / kWarpRows * S::kWarpN;
  Sum c[Loop::kRows][2 * Loop::kPairs][4];
#pragma unroll
  for (int i = 0; i < Loop::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * Loop::kPairs; ++j) {
#pragma unroll
      for (Sum& sum : c[i][j]) {
        sum = Sum(0);
      }
    }
  }
  Loop loop;
  loop.steps = at.steps;
  loop.a.start(p, at);
  loop.b.start(p, at);
  loop.read_a.start(warp_m);
  loop.read_b.start(warp_n);
  loop.run(p, c);
  using Out = Patch<S>;
  constexpr int kAtOnce = Out::kColumns / 8;
#pragma unroll
  for (int i = 0; i < Loop::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * Loop::kPairs; j += kAtOnce) {
#pragma unroll
      for (int side = 0; side < kAtOnce; ++side) {
        Out::put(c[i][j + side], side * 8);
      }
      warp_barrier();  // patch written
      Out::emit(p, at, at.m + warp_m + i * 16, at.n + warp_n + j * 8, p.m);
      warp_barrier();  // patch read
    }
  }
}

}  // namespace mapsim_kernel
