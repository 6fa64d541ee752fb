// SPDX-License-Identifier: Apache-2.0
// How operands get into shared memory: the first half of every WMMA kernel that mapsim generates,
// templates over a Spec S, the constants that source.cpp writes from a mapping. Stands behind
// common.cuh. docs/kernels.md
namespace mapsim_kernel {

struct Arguments {  // KernelArguments of source.hpp
  const void* a;
  const void* b;
  const void* bias;
  void* c;
  void* workspace;
  long long batch_a, batch_b, batch_bias, batch_c;
};

template <class S>
struct Grid {
  static constexpr int kWarps = (S::kBlockM / S::kWarpM) * (S::kBlockN / S::kWarpN);
  static constexpr int kThreads = 32 * kWarps;
  static constexpr long long kRows = ceil_div(S::kM, S::kBlockM);
  static constexpr long long kColumns = ceil_div(S::kN, S::kBlockN);
  static constexpr long long kSteps = ceil_div(S::kK, S::kBlockK);
};

// Where a block works.
struct Place {
  int m, n;         // first row and column of its tile
  int step, steps;  // along K
  long long slice, batch;
};

// Blocks are numbered along M within groups of kRaster columns of blocks; slices and batches follow
// one after the other.
template <class S>
__device__ __forceinline__ Place place() {
  using G = Grid<S>;
  // All fits 31 bits, as a grid does; 64-bit divisions would cost a hundred instructions each.
  constexpr unsigned kRows = G::kRows, kColumns = G::kColumns;
  const auto index = static_cast<unsigned>(block_index());
  const unsigned in_batch = index % (kRows * kColumns);
  const unsigned rest = index / (kRows * kColumns);
  constexpr unsigned kGroup = S::kRaster == 0 || S::kRaster > kColumns ? kColumns : S::kRaster;
  const unsigned first = in_batch / (kGroup * kRows) * kGroup;
  const unsigned in_group = in_batch - first * kRows;
  Place result;
  if (first + kGroup <= kColumns) {  // divisions by a constant
    result.m = static_cast<int>(in_group / kGroup * S::kBlockM);
    result.n = static_cast<int>((first + in_group % kGroup) * S::kBlockN);
  } else {
    const unsigned width = kColumns - first;
    result.m = static_cast<int>(in_group / width * S::kBlockM);
    result.n = static_cast<int>((first + in_group % width) * S::kBlockN);
  }
  result.slice = rest % S::kSplit;
  result.batch = rest / S::kSplit;
  result.step = static_cast<int>(result.slice * G::kSteps / S::kSplit);
  result.steps = static_cast<int>((result.slice + 1) * G::kSteps / S::kSplit) - result.step;
  return result;
}

// The output pixel behind a row of A, as the input pixel under the filter's first tap.
template <class S>
struct Pixel {
  int h = 0, w = 0;
  long long offset = 0;  // of (n, h, w), in elements

  __device__ __forceinline__ void set(int m) {
    const int q = m % S::kQ, p = m / S::kQ % S::kP, n = m / (S::kQ * S::kP);
    h = p * S::kStrideH - S::kPadH;
    w = q * S::kStrideW - S::kPadW;
    offset = ((static_cast<long long>(n) * S::kH + h) * S::kW + w) * S::kRunA;
    if (m >= S::kM) {
      h = -(1 << 30);  // outside, whatever the tap
    }
  }
};

// One operand on its way to shared memory. A tile lies there in lines: along K where K is
// contiguous in memory, else across. Each thread has the same chunk (16 B where a line allows it)
// of every few lines. What lies beyond the edges of the problem, or in the halo, becomes zero.
template <class S, bool kIsA>
struct Loader {
  using T = typename S::Operand;
  static constexpr int kSize = sizeof(T);
  static constexpr bool kAlongK = kIsA ? S::kAlongA : S::kAlongB;
  static constexpr bool kConv = kIsA && S::kConv;
  static constexpr int kExtent = kIsA ? S::kM : S::kN;
  static constexpr long long kRow = kIsA ? S::kRunA : S::kRunB;  // elements between rows in memory
  static constexpr int kAcross = kIsA ? S::kBlockM : S::kBlockN;
  static constexpr int kLines = kAlongK ? kAcross : S::kBlockK;
  static constexpr int kLength = kAlongK ? S::kBlockK : kAcross;
  static constexpr int kLine = kLength + S::kPadding;  // elements between lines
  static constexpr int kTileBytes = kLines * kLine * kSize;
  static constexpr int kLengthBytes = kLength * kSize;
  static constexpr int kChunk = gcd(16, kLengthBytes);
  static_assert(kChunk >= 8, "the narrowest fragment row is 8 bytes");
  static constexpr int kChunks = kLengthBytes / kChunk;  // of a line
  static constexpr int kThreads = Grid<S>::kThreads;
  static constexpr int kPasses = static_cast<int>(ceil_div(kLines * kChunks, kThreads));
  static constexpr bool kEven = kThreads % kChunks == 0;  // a thread's chunks lie in one column
  static constexpr bool kWhole = kLines * kChunks % kThreads == 0;
  // What one copy takes: what lies together in memory, aligned.
  static constexpr int kPiece = gcd(kChunk, (kConv ? S::kC : kRow) * kSize);
  static constexpr int kPieces = kChunk / kPiece;
  static constexpr bool kAsync = S::kAsync && kPiece >= 4;
  static constexpr bool kTail = S::kK % S::kBlockK != 0;  // the last step is not full
  static constexpr bool kEdge = kExtent % kAcross != 0;   // the last tile is not full
  static constexpr bool kHalo =
      kConv && (S::kPadH > 0 || S::kPadW > 0 ||
                (S::kP - 1) * S::kStrideH + (S::kR - 1) * S::kDilationH - S::kPadH >= S::kH ||
                (S::kQ - 1) * S::kStrideW + (S::kS - 1) * S::kDilationW - S::kPadW >= S::kW);

  const char* base;  // conv: of the input; else of this thread's first chunk of the next tile
  int line0, column0;
  int first;  // row (column) of the tile in the problem
  int k;      // of the next tile
  Pixel<S> pixels[kConv ? kPasses : 1];
  Words<16> staged[kAsync ? 1 : kPasses];

  __device__ __forceinline__ int line(int pass) const {
    return kEven ? line0 + pass * (kThreads / kChunks)
                 : (thread_index() + pass * kThreads) / kChunks;
  }
  __device__ __forceinline__ int column(int pass) const {
    return (kEven ? column0 : (thread_index() + pass * kThreads) % kChunks) * (kChunk / kSize);
  }
  __device__ __forceinline__ bool has(int pass) const {
    return kWhole || thread_index() + pass * kThreads < kLines * kChunks;
  }

  __device__ __forceinline__ void start(const void* memory, long long batch, int first_index,
                                        int first_k) {
    line0 = thread_index() / kChunks;
    column0 = thread_index() % kChunks;
    first = first_index;
    k = first_k;
    const long long row = kAlongK ? first : k;
    base = static_cast<const char*>(memory) + batch * kSize;
    if constexpr (kConv) {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        pixels[pass].set(first + line(pass));
      }
    } else {
      base += (row * kRow + (kAlongK ? k : first)) * kSize;
    }
  }

  __device__ __forceinline__ void advance() {
    k += S::kBlockK;
    if constexpr (!kConv) {
      base += (kAlongK ? 1 : kRow) * S::kBlockK * kSize;
    }
  }

  // The address of a piece of the next tile, and how many of its bytes are inside.
  __device__ __forceinline__ auto piece(int pass, int index, int& valid) const -> const char* {
    const int along = column(pass) + index * (kPiece / kSize);
    valid = kPiece;
    if constexpr (kConv) {
      const int at = k + along;
      const int tap = at / S::kC;
      const int r = tap / S::kS, s = tap % S::kS;
      const int h = r * S::kDilationH;
      const int w = s * S::kDilationW;
      const Pixel<S>& pixel = pixels[pass];
      bool inside = !kTail || at < S::kK;
      if constexpr (kHalo || kEdge) {
        inside = inside && static_cast<unsigned>(pixel.h + h) < static_cast<unsigned>(S::kH) &&
                 static_cast<unsigned>(pixel.w + w) < static_cast<unsigned>(S::kW);
      }
      valid = inside ? kPiece : 0;
      const long long step = (static_cast<long long>(h) * S::kW + w) * S::kRunA + at % S::kC;
      return base + (pixel.offset + step) * kSize;
    } else {
      const char* at = base + (static_cast<long long>(line(pass)) * kRow + along) * kSize;
      if constexpr (kAlongK ? kTail : kEdge) {
        const int left = kAlongK ? S::kK - k - along : kExtent - first - along;
        valid = clamp(left, kPiece / kSize) * kSize;
      }
      if constexpr (kAlongK ? kEdge : kTail) {
        const bool inside = kAlongK ? first + line(pass) < kExtent : k + line(pass) < S::kK;
        valid = inside ? valid : 0;
      }
      return at;
    }
  }

  __device__ __forceinline__ char* target(char* tile, int pass) const {
    return tile + (line(pass) * kLine + column(pass)) * kSize;
  }

  // Asynchronous operands are under way to `tile` after this, the others in registers.
  __device__ __forceinline__ void load(char* tile) {
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      if (!has(pass)) {
        continue;
      }
      if constexpr (!kAsync) {
        staged[pass] = {};
      }
#pragma unroll
      for (int index = 0; index < kPieces; ++index) {
        int valid;
        const char* from = piece(pass, index, valid);
        if constexpr (kAsync) {
          copy_async<kPiece, kEdge || kTail || kHalo>(target(tile, pass) + index * kPiece, from,
                                                      valid);
        } else {
          take_piece<kPiece>(staged[pass], index * kPiece, from, valid);
        }
      }
    }
    advance();
  }
  // What load() left in registers.
  __device__ __forceinline__ void store(char* tile) const {
    if constexpr (!kAsync) {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (has(pass)) {
          put_chunk<kChunk>(target(tile, pass), staged[pass]);
        }
      }
    }
  }
};

}  // namespace mapsim_kernel
