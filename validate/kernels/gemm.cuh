// SPDX-License-Identifier: Apache-2.0
// From shared memory to C: the second half of every WMMA kernel, behind operand.cuh.
// docs/kernels.md
namespace mapsim_kernel {

// What a warp holds in registers: its sums, and the operands of one MMA step and of the next.
template <class S>
struct Fragments {
  using A = wmma::fragment<wmma::matrix_a, S::kFragM, S::kFragN, S::kFragK, typename S::Fragment,
                           typename S::LayoutA>;
  using B = wmma::fragment<wmma::matrix_b, S::kFragM, S::kFragN, S::kFragK, typename S::Fragment,
                           typename S::LayoutB>;
  using C = wmma::fragment<wmma::accumulator, S::kFragM, S::kFragN, S::kFragK, typename S::Sum>;
  static constexpr int kRows = S::kWarpM / S::kFragM;
  static constexpr int kColumns = S::kWarpN / S::kFragN;
  A a[2][kRows];
  B b[2][kColumns];
  C c[kRows][kColumns];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        wmma::fill_fragment(c[i][j], typename S::Sum(0));
      }
    }
  }

  // tf32: fp32 from memory, rounded to 10 bits of mantissa.
  template <class F>
  __device__ __forceinline__ static void round(F& fragment) {
    if constexpr (S::kRoundsToTf32) {
#pragma unroll
      for (int i = 0; i < fragment.num_elements; ++i) {
        fragment.x[i] = to_tf32(fragment.x[i]);
      }
    }
  }

  // Operands `lda`, `ldb` elements between lines; from_a, from_b: of the warp's tile at this K.
  template <class T>
  __device__ __forceinline__ void load(int buffer, const T* from_a, const T* from_b, unsigned lda,
                                       unsigned ldb) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      wmma::load_matrix_sync(a[buffer][i], from_a + i * S::kFragM * (S::kAlongA ? lda : 1u), lda);
      round(a[buffer][i]);
    }
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      wmma::load_matrix_sync(b[buffer][j], from_b + j * S::kFragN * (S::kAlongB ? ldb : 1u), ldb);
      round(b[buffer][j]);
    }
  }

  __device__ __forceinline__ void multiply(int buffer) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const int column = i % 2 == 0 ? j : kColumns - 1 - j;  // b stays where the row turns
        wmma::mma_sync(c[i][column], a[buffer][i], b[buffer][column], c[i][column]);
      }
    }
  }
};

// The main loop. Tile t lies in buffer t % kStages; while the fragments of step k are multiplied,
// those of k + 1 are loaded, and the tile kStages - 1 ahead is under way. The next tile must have
// landed before the last MMA step of a tile: one barrier per tile, which at once says that all
// warps are done with the buffer that the next load overwrites.
template <class S>
struct MainLoop {
  using LoadA = Loader<S, true>;
  using LoadB = Loader<S, false>;
  using T = typename S::Operand;
  static constexpr int kStageBytes = LoadA::kTileBytes + LoadB::kTileBytes;
  static constexpr int kSharedBytes = S::kStages * kStageBytes;
  static constexpr int kAhead = S::kStages > 1 ? S::kStages - 1 : 1;  // tiles
  static constexpr int kPending = S::kStages > 1 ? S::kStages - 2 : 0;
  static constexpr bool kAsync = LoadA::kAsync || LoadB::kAsync;
  static constexpr int kGroups = S::kBlockK / S::kFragK;

  LoadA a;
  LoadB b;
  int warp_m, warp_n;  // of the warp's tile in the block's
  int steps;

  __device__ __forceinline__ static char* tile(int buffer) {
    return shared_memory() + buffer * kStageBytes;
  }
  __device__ __forceinline__ void load(int buffer) {
    a.load(tile(buffer));
    b.load(tile(buffer) + LoadA::kTileBytes);
  }
  __device__ __forceinline__ void store(int buffer) {
    a.store(tile(buffer));
    b.store(tile(buffer) + LoadA::kTileBytes);
  }
  __device__ __forceinline__ void read(Fragments<S>& fragments, int into, int buffer, int group) {
    const T* from_a = reinterpret_cast<const T*>(tile(buffer));
    const T* from_b = reinterpret_cast<const T*>(tile(buffer) + LoadA::kTileBytes);
    const int k = group * S::kFragK;
    fragments.load(into,
                   from_a + (S::kAlongA ? warp_m * LoadA::kLine + k : k * LoadA::kLine + warp_m),
                   from_b + (S::kAlongB ? warp_n * LoadB::kLine + k : k * LoadB::kLine + warp_n),
                   LoadA::kLine, LoadB::kLine);
  }

  __device__ __forceinline__ void fill() {
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead) {
      if (ahead < steps) {
        load(ahead);
        store(ahead);
      }
      commit_copies();
    }
    wait_copies<kPending>();
    barrier();  // first tile landed
  }

  // Makes the tile after this one visible.
  __device__ __forceinline__ void land(int step, int free) {
    const bool more = step + kAhead < steps;
    if constexpr (S::kStages == 1) {
      barrier();  // only buffer read
      if (more) {
        if constexpr (kAsync) {
          load(0);
          commit_copies();
        }
        store(0);
      }
    } else if (more) {
      store(free);
    }
    wait_copies<kPending>();
    barrier();  // next tile landed
  }

  __device__ __forceinline__ void run(Fragments<S>& fragments) {
    fill();
    read(fragments, 0, 0, 0);
    int now = 0, free = S::kStages - 1;  // buffers: of this tile; of the one that is loaded
    for (int step = 0; step < steps; ++step) {
      const int next = now + 1 == S::kStages ? 0 : now + 1;
#pragma unroll
      for (int group = 0; group < kGroups; ++group) {
        const bool last = group + 1 == kGroups;
        if (group == 0 && (S::kStages > 1 || !kAsync)) {
          if (step + kAhead < steps) {
            load(free);
          }
          commit_copies();
        }
        if (last) {
          land(step, free);
        }
        read(fragments, (group + 1) % 2, last ? next : now, last ? 0 : group + 1);
        fragments.multiply(group % 2);
      }
      if constexpr (kGroups % 2 == 1) {
        turn(fragments);
      }
      free = now;
      now = next;
    }
    barrier();  // all tiles read
  }

  __device__ __forceinline__ static void turn(Fragments<S>& fragments) {
#pragma unroll
    for (int i = 0; i < Fragments<S>::kRows; ++i) {
      fragments.a[0][i] = fragments.a[1][i];
    }
#pragma unroll
    for (int j = 0; j < Fragments<S>::kColumns; ++j) {
      fragments.b[0][j] = fragments.b[1][j];
    }
  }
};

// Finished sums of kCount neighbours in a row: bias, old output, ReLU, conversion.
template <class S, int kCount>
__device__ __forceinline__ void finish(const Arguments& arguments,
                                       const Values<typename S::Sum, kCount>& sums, long long batch,
                                       long long m, long long n) {
  using Sum = typename S::Sum;
  using Output = typename S::Output;
  Output* c = static_cast<Output*>(arguments.c) + batch * arguments.batch_c + m * S::kRowC + n;
  Values<Output, kCount> result;
  if constexpr (S::kAdds) {
    result = load_global<Values<Output, kCount>>(c);
  }
  // Bias in pieces of at most 16 B, as C is aligned.
  constexpr int kPart = gcd(kCount, 16 / sizeof(Sum));
  Values<Sum, kPart> bias;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    Sum sum = sums.value[i];
    if constexpr (S::kBias) {
      if (i % kPart == 0) {
        bias = load_global<Values<Sum, kPart>>(static_cast<const Sum*>(arguments.bias) +
                                               batch * arguments.batch_bias + n + i);
      }
      sum += bias.value[i % kPart];
    }
    if constexpr (S::kAdds) {
      sum += convert<Sum>(result.value[i]);
    }
    if constexpr (S::kRelu) {
      sum = sum > Sum(0) ? sum : Sum(0);
    }
    result.value[i] = convert<Output>(sum);
  }
  store_global(c, result);
}

// Sums leave through shared memory, where their places in the fragments, which WMMA does not tell,
// become rows: a patch of fragments side by side per warp, as many as fit, in turns if need be.
template <class S>
struct Writer {
  using Sum = typename S::Sum;
  using F = Fragments<S>;
  static constexpr int kShared = S::kNaive ? S::kPatchBytes : MainLoop<S>::kSharedBytes;
  static constexpr int kPad = 32 / sizeof(Sum);  // neighbouring rows in other banks
  __host__ __device__ static constexpr int bytes(int fragments, int pad) {
    return S::kFragM * (fragments * S::kFragN + pad) * static_cast<int>(sizeof(Sum));
  }
  __host__ __device__ static constexpr int widest() {
    if (S::kFragN * sizeof(Sum) % 32 != 0) {
      return 1;  // store_matrix_sync wants its first address at a multiple of 32 B
    }
    for (int count = F::kColumns; count > 1; --count) {
      if (F::kColumns % count == 0 && bytes(count, kPad) * Grid<S>::kWarps <= kShared) {
        return count;
      }
    }
    return 1;
  }
  static constexpr int kSide = widest();  // fragments
  static constexpr bool kPads = bytes(kSide, kPad) * Grid<S>::kWarps <= kShared;
  static constexpr int kLine = kSide * S::kFragN + (kPads ? kPad : 0);
  static constexpr int kPatch = bytes(kSide, kPads ? kPad : 0);
  static constexpr int kAtOnce =
      kShared / kPatch < Grid<S>::kWarps ? kShared / kPatch : Grid<S>::kWarps;
  static constexpr int kTurns = static_cast<int>(ceil_div(Grid<S>::kWarps, kAtOnce));
  // Neighbours that one thread stores at once.
  static constexpr int kStored = S::kSplit > 1 ? sizeof(Sum) : sizeof(typename S::Output);
  static constexpr int kCount = gcd(gcd(16 / kStored, S::kN), S::kFragN);
  static_assert(kAtOnce > 0, "shared memory holds no fragment of sums");

  __device__ __forceinline__ static void emit(const Arguments& arguments, const Sum* patch,
                                              const Place& place, long long m, long long n) {
    const int lane = thread_index() % 32;
    constexpr int kPerRow = kSide * S::kFragN / kCount;
#pragma unroll
    for (int first = 0; first < S::kFragM * kPerRow; first += 32) {
      const int at = first + lane;
      const int row = at / kPerRow, column = at % kPerRow * kCount;
      if ((S::kFragM * kPerRow % 32 != 0 && at >= S::kFragM * kPerRow) ||
          (S::kM % S::kBlockM != 0 && m + row >= S::kM) ||
          (S::kN % S::kBlockN != 0 && n + column >= S::kN)) {
        continue;
      }
      Values<Sum, kCount> sums;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        sums.value[i] = load_shared<Sum>(patch + row * kLine + column + i);
      }
      if constexpr (S::kSplit > 1) {
        const long long plane = place.slice * S::kBatch + place.batch;
        store_global(
            static_cast<Sum*>(arguments.workspace) + (plane * S::kM + m + row) * S::kN + n + column,
            sums);
      } else {
        finish<S, kCount>(arguments, sums, place.batch, m + row, n + column);
      }
    }
  }

  __device__ __forceinline__ static void write(const Arguments& arguments, F& fragments,
                                               const Place& place, int warp_m, int warp_n) {
    const int warp = thread_index() / 32;
    Sum* patch = reinterpret_cast<Sum*>(shared_memory() + warp % kAtOnce * kPatch);
#pragma unroll 1
    for (int now = 0; now < kTurns; ++now) {
      if (kTurns > 1 && now > 0) {
        barrier();  // patches free
      }
      if (kTurns > 1 && warp / kAtOnce != now) {
        continue;
      }
#pragma unroll
      for (int i = 0; i < F::kRows; ++i) {
#pragma unroll
        for (int j = 0; j < F::kColumns; j += kSide) {
#pragma unroll
          for (int side = 0; side < kSide; ++side) {
            wmma::store_matrix_sync(patch + side * S::kFragN, fragments.c[i][j + side], kLine,
                                    wmma::mem_row_major);
          }
          warp_barrier();  // patch written
          emit(arguments, patch, place, place.m + warp_m + i * S::kFragM,
               place.n + warp_n + j * S::kFragN);
          warp_barrier();  // patch read
        }
      }
    }
  }
};

template <class S>
__device__ __forceinline__ void gemm(const Arguments& arguments) {
  const Place at = place<S>();
  const int warp = thread_index() / 32;
  constexpr int kWarpRows = S::kBlockM / S::kWarpM;
  MainLoop<S> loop;
  loop.warp_m = warp % kWarpRows * S::kWarpM;
  loop.warp_n = warp / kWarpRows * S::kWarpN;
  loop.steps = at.steps;
  loop.a.start(arguments.a, at.batch * arguments.batch_a, at.m, at.step * S::kBlockK);
  loop.b.start(arguments.b, at.batch * arguments.batch_b, at.n, at.step * S::kBlockK);
  Fragments<S> fragments;
  fragments.clear();
  loop.run(fragments);
  Writer<S>::write(arguments, fragments, at, loop.warp_m, loop.warp_n);
}

// The floor: a warp per fragment of C, operands straight from memory; where they are no whole
// fragments, or those of a convolution, through a tile of one fragment each in shared memory.
template <class S>
__device__ __forceinline__ void naive(const Arguments& arguments) {
  using T = typename S::Operand;
  const Place at = place<S>();
  Fragments<S> fragments;
  fragments.clear();
  if constexpr (S::kGuarded) {
    using LoadA = Loader<S, true>;
    using LoadB = Loader<S, false>;
    char* const tile_a = shared_memory();
    char* const tile_b = tile_a + LoadA::kTileBytes;
    LoadA a;
    LoadB b;
    a.start(arguments.a, at.batch * arguments.batch_a, at.m, 0);
    b.start(arguments.b, at.batch * arguments.batch_b, at.n, 0);
#pragma unroll 1
    for (int step = 0; step < at.steps; ++step) {
      a.load(tile_a);
      b.load(tile_b);
      commit_copies();
      a.store(tile_a);
      b.store(tile_b);
      wait_copies<0>();
      warp_barrier();  // naive: tile there
      fragments.load(0, reinterpret_cast<const T*>(tile_a), reinterpret_cast<const T*>(tile_b),
                     LoadA::kLine, LoadB::kLine);
      fragments.multiply(0);
      warp_barrier();  // naive: tile read
    }
  } else {
    const T* a = static_cast<const T*>(arguments.a) + at.batch * arguments.batch_a;
    const T* b = static_cast<const T*>(arguments.b) + at.batch * arguments.batch_b;
    a += at.m * (S::kAlongA ? S::kRunA : 1);
    b += at.n * (S::kAlongB ? S::kRunB : 1);
    for (int k = 0; k < S::kK; k += S::kFragK) {
      fragments.load(0, a + k * (S::kAlongA ? 1 : S::kRunA), b + k * (S::kAlongB ? 1 : S::kRunB),
                     S::kRunA, S::kRunB);
      fragments.multiply(0);
    }
  }
  Writer<S>::write(arguments, fragments, at, 0, 0);
}

// The second kernel of a split K: adds up the slices.
template <class S>
__device__ __forceinline__ void reduce(const Arguments& arguments) {
  using Sum = typename S::Sum;
  constexpr int kCount = gcd(16 / sizeof(Sum), S::kN);
  constexpr long long kAll = S::kBatch * S::kM * S::kN;
  const long long at = (block_index() * S::kReduceThreads + thread_index()) * kCount;
  if (at >= kAll) {
    return;
  }
  const Sum* from = static_cast<const Sum*>(arguments.workspace) + at;
  Values<Sum, kCount> sums = load_global<Values<Sum, kCount>>(from);
#pragma unroll 4
  for (int slice = 1; slice < S::kSplit; ++slice) {
    const auto more = load_global<Values<Sum, kCount>>(from + slice * kAll);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sums.value[i] += more.value[i];
    }
  }
  const long long row = at / S::kN;
  finish<S, kCount>(arguments, sums, row / S::kM, row % S::kM, at % S::kN);
}

}  // namespace mapsim_kernel
