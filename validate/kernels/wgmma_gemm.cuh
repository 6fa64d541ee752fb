// SPDX-License-Identifier: Apache-2.0
// Kernels of the path wgmma: one warpgroup has the TMA bring tiles to swizzled shared memory, the
// others multiply them. Behind epilogue.cuh. docs/kernels.md
namespace mapsim_kernel {

struct TmaArguments : RunArguments {  // KernelArguments of source.hpp
  TensorMap map_a, map_b;
};

// An operand's tile in shared memory: lines along K where K is contiguous in memory, else across,
// cut into columns of at most 128 B, which lie one behind the other. Within a line chunk c of 16 B
// lies at c xor (bits 7 to 9 of its address), which both the TMA and warpgroup MMA know.
template <class S, bool kIsA>
struct TmaTile {
  static constexpr int kSize = sizeof(typename S::Operand);
  static constexpr bool kAlongK = kIsA ? S::kAlongA : S::kAlongB;
  static constexpr int kAcross = kIsA ? S::kBlockM : S::kBlockN;
  static constexpr int kLines = kAlongK ? kAcross : S::kBlockK;
  static constexpr int kWidth = (kAlongK ? S::kBlockK : kAcross) * kSize;
  static constexpr int kLineBytes = kWidth < 128 ? kWidth : 128;
  static constexpr int kColumns = kWidth / kLineBytes;
  static constexpr int kColumnBytes = kLines * kLineBytes;
  static constexpr int kBytes = kColumns * kColumnBytes;
  static constexpr int kAtom = 8 * kLineBytes;           // bytes after which the swizzle repeats
  static constexpr int kParts = kIsA ? 1 : S::kCluster;  // blocks that bring a part of it each
  static_assert(kLines % (8 * kParts) == 0, "parts of whole atoms");

  // This block's part, from element (k, across) of the problem on.
  __device__ __forceinline__ static void load(char* tile, const TensorMap& map, Barrier* barrier,
                                              int k, int across, int batch, int rank) {
    constexpr int kPart = kLines / kParts;
    const int skipped = kParts > 1 ? rank * kPart : 0;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int along = i * (kLineBytes / kSize);
      copy_tile<S::kCluster, !kIsA>(tile + i * kColumnBytes + skipped * kLineBytes, map, barrier,
                                    kAlongK ? k + along : across + along,
                                    kAlongK ? across + skipped : k + skipped, batch);
    }
  }

  // What warpgroup MMA wants to know of `rows` on and step k of 32 B (PTX ISA, "Matrix
  // descriptor"): all in units of 16 B, bits 0-13 the address, 16-29 from a column to the next,
  // 32-45 from eight lines to the next, 62-63 the swizzle.
  __device__ __forceinline__ static unsigned long long descriptor(const char* tile, int rows,
                                                                  int k) {
    constexpr unsigned long long kSwizzle = kLineBytes == 128 ? 1 : kLineBytes == 64 ? 2 : 3;
    constexpr unsigned long long kFixed =
        kSwizzle << 62 | static_cast<unsigned long long>(kAtom / 16) << 32 |
        static_cast<unsigned long long>(kAlongK ? 1 : kColumnBytes / 16) << 16;
    constexpr int kStepsPerLine = kLineBytes / 32;
    const int at =
        kAlongK ? k / kStepsPerLine * kColumnBytes + k % kStepsPerLine * 32 + rows * kLineBytes
                : rows * kSize / kLineBytes * kColumnBytes + k * (32 / kSize) * kLineBytes;
    return kFixed | static_cast<unsigned long long>((shared_address(tile) + at & 0x3ffff) >> 4);
  }
};

template <class S>
struct Pipeline {
  using TileA = TmaTile<S, true>;
  using TileB = TmaTile<S, false>;
  static constexpr int kStageBytes = TileA::kBytes + TileB::kBytes;
  static_assert(TileA::kBytes % TileB::kAtom == 0 && kStageBytes % TileA::kAtom == 0 &&
                    kStageBytes % TileB::kAtom == 0,
                "tiles begin where the swizzle does");
  int buffer = 0;
  unsigned parity = 0;  // of the round that is under way

  __device__ __forceinline__ void advance() {
    if (++buffer == S::kStages) {
      buffer = 0;
      parity ^= 1;
    }
  }
  __device__ __forceinline__ char* tile() const { return shared_memory() + buffer * kStageBytes; }
  __device__ __forceinline__ static Barrier* full(int buffer) {
    return reinterpret_cast<Barrier*>(shared_memory() + S::kStages * kStageBytes) + buffer;
  }
  __device__ __forceinline__ static Barrier* empty(int buffer) { return full(buffer) + S::kStages; }
  // By one thread of the block. A buffer is full when the TMA has brought all its bytes, and empty
  // when each warp that multiplies, of the whole cluster, is done with it.
  __device__ __forceinline__ static void start() {
#pragma unroll
    for (int i = 0; i < S::kStages; ++i) {
      start_barrier(full(i), 1);
      start_barrier(empty(i), S::kWarps * S::kCluster);
    }
    show_barriers();
  }
  __device__ __forceinline__ static void meet() {
    if constexpr (S::kCluster > 1) {
      cluster_barrier();
    } else {
      barrier();
    }
  }
};

// One thread keeps kStages tiles under way.
template <class S>
__device__ __forceinline__ void produce(const TmaArguments& p, const Work& at, int rank) {
  using Line = Pipeline<S>;
  Line line;
  for (int step = 0; step < at.steps; ++step) {
    wait_for(Line::empty(line.buffer), line.parity ^ 1);  // buffer free
    Barrier* const full = Line::full(line.buffer);
    expect_bytes(full, Line::kStageBytes);
    const int k = (at.step + step) * S::kBlockK;
    Line::TileA::load(line.tile(), p.map_a, full, k, at.m, at.batch, rank);
    Line::TileB::load(line.tile() + Line::TileA::kBytes, p.map_b, full, k, at.n, at.batch, rank);
    line.advance();
  }
}

// A warpgroup's part of the tile: kTiles times 64 rows of the instruction, which are rows of C, or
// with kTurned columns: then a narrow side of C is the instruction's free one.
template <class S>
struct Consumer {
  using Line = Pipeline<S>;
  using Sum = typename S::Sum;
  using Word = typename SumWord<Sum>::Type;
  static constexpr int kRows = S::kTurned ? S::kWarpN : S::kWarpM;
  static constexpr int kColumns = S::kTurned ? S::kWarpM : S::kWarpN;
  static constexpr int kTiles = kRows / 64;
  static constexpr int kWords = kColumns / 2 * sizeof(Sum) / 4;
  static constexpr int kSteps = S::kBlockK * Line::TileA::kSize / 32;
  using Mma = WarpgroupMma<typename S::Operand, Sum, S::kRoundsToTf32, kColumns,
                           !(S::kTurned ? S::kAlongB : S::kAlongA),
                           !(S::kTurned ? S::kAlongA : S::kAlongB)>;
  int warp_m, warp_n;  // of its part in the block's tile
  Word sums[kTiles][kWords];

  __device__ __forceinline__ void multiply(const char* tile, bool adds) {
    begin_products();
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      const auto columns = S::kTurned
                               ? Line::TileA::descriptor(tile, warp_m, k)
                               : Line::TileB::descriptor(tile + Line::TileA::kBytes, warp_n, k);
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        const auto rows =
            S::kTurned ? Line::TileB::descriptor(tile + Line::TileA::kBytes, warp_n + 64 * i, k)
                       : Line::TileA::descriptor(tile, warp_m + 64 * i, k);
        Mma::run(sums[i], rows, columns, adds || k > 0);
      }
    }
    end_products();
  }

  // The products of a tile are under way while those of the tile before end.
  __device__ __forceinline__ void run(const Work& at) {
    const int warpgroup = thread_index() / 128, lane = thread_index() % 32;
    constexpr int kDown = S::kBlockM / S::kWarpM;
    warp_m = warpgroup % kDown * S::kWarpM, warp_n = warpgroup / kDown * S::kWarpN;
    Line line;
    int before = 0;
#pragma unroll 1
    for (int step = 0; step < at.steps; ++step) {
      wait_for(Line::full(line.buffer), line.parity);  // tile landed
      multiply(line.tile(), step > 0);
      wait_products<1>();
      if (step > 0 && lane < S::kCluster) {
        arrive<S::kCluster>(Line::empty(before), lane);  // buffer read
      }
      before = line.buffer;
      line.advance();
    }
    wait_products<0>();
#pragma unroll
    for (auto& tile : sums) {
#pragma unroll
      for (Word& word : tile) {
        hold(word);
      }
    }
  }

  // Four sums, as mma.sync has them.
  __device__ __forceinline__ void fragment(Sum (&to)[4], int tile, int j) const {
    memcpy(to, &sums[tile][j * 4 * sizeof(Sum) / 4], sizeof to);
  }

  __device__ __forceinline__ void finish_all(const RunArguments& p, const Work& at) const {
    constexpr int kWide = S::kTurned ? 16 : S::kWarpN;
    using Out = Patch<S, kWide>;
    constexpr int kAtOnce = S::kTurned ? (kColumns < 16 ? 1 : 2) : Out::kColumns / 8;
    const int rows = thread_index() / 32 % 4 * 16;  // of the instruction
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns / 8; j += kAtOnce) {
#pragma unroll
        for (int side = 0; side < kAtOnce; ++side) {
          Sum c[4];
          fragment(c, i, j + side);
          if constexpr (S::kTurned) {
            Out::put_turned(c, side * 8);
          } else {
            Out::put(c, side * 8);
          }
        }
        warp_barrier();  // patch written
        const int along = 64 * i + rows;
        const int m = at.m + warp_m + (S::kTurned ? j * 8 : along);
        const int n = at.n + warp_n + (S::kTurned ? along : j * 8);
        const int last = S::kTurned ? m + 8 * kAtOnce : m + 16;
        Out::emit(p, at, m, n, last < p.m ? last : p.m);
        warp_barrier();  // patch read
      }
    }
  }
};

// Clusters are numbered as blocks are elsewhere; the blocks of one lie below each other.
template <class S>
struct ClusterTiles {
  static constexpr int kBlockM = S::kBlockM * S::kCluster, kBlockN = S::kBlockN;
  static constexpr int kBlockK = S::kBlockK;
};

template <class S>
__device__ __forceinline__ void wgmma_gemm(const TmaArguments& p) {
  constexpr int kConsumers = 32 * S::kWarps;  // threads; behind them the warpgroup that loads
  const int rank = S::kCluster > 1 ? static_cast<int>(cluster_rank()) : 0;
  Work at = work_of<ClusterTiles<S>>(p, static_cast<unsigned>(block_index()) / S::kCluster);
  at.m += rank * S::kBlockM;
  if (thread_index() == kConsumers) {
    prefetch_map(p.map_a);
    prefetch_map(p.map_b);
    Pipeline<S>::start();
  }
  Pipeline<S>::meet();  // barriers started
  if (thread_index() >= kConsumers) {
    if constexpr (S::kConsumerRegisters > 0) {
      give_registers<S::kProducerRegisters>();
    }
    if (thread_index() == kConsumers) {
      produce<S>(p, at, rank);
    }
  } else {
    if constexpr (S::kConsumerRegisters > 0) {
      take_registers<S::kConsumerRegisters>();
    }
    Consumer<S> consumer;
    consumer.run(at);
    consumer_barrier<kConsumers>();  // all tiles read
    consumer.finish_all(p, at);
  }
  if constexpr (S::kCluster > 1) {
    cluster_barrier();  // nobody arrives at a block that has left
  }
}

}  // namespace mapsim_kernel
