// SPDX-License-Identifier: Apache-2.0
// How operands get into swizzled shared memory in kernels whose problem is a run-time argument.
// Templates over a Spec S, the constants that source_mma.cpp writes from a mapping. Stands behind
// common.cuh. docs/kernels.md
namespace mapsim_kernel {

struct RunArguments {  // KernelArguments of source.hpp
  const void* a;
  const void* b;
  const void* bias;
  void* c;
  void* workspace;
  long long batch_a, batch_b, batch_bias, batch_c;
  const void* residual;  // what beta multiplies
  long long batch_residual;
  long long row_a, row_b, row_c, row_residual;  // elements from a row in memory to the next
  double alpha, beta, scale;
  int m, n, k, batch, slices, raster;
  int h, w, channels, taps_h, taps_w, outputs_h, outputs_w;  // of a convolution; so are:
  int stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
};

// Where a block works: blocks are numbered along M within groups of `raster` columns of blocks;
// slices and batches follow one after the other.
struct Work {
  int m, n;         // first row and column of its tile
  int step, steps;  // along K
  int slice, batch;
};
template <class S>
__device__ __forceinline__ Work work_of(const RunArguments& p, unsigned index) {
  const unsigned rows = static_cast<unsigned>((p.m + S::kBlockM - 1) / S::kBlockM);
  const unsigned columns = static_cast<unsigned>((p.n + S::kBlockN - 1) / S::kBlockN);
  const unsigned in_batch = index % (rows * columns);
  const unsigned rest = index / (rows * columns);
  const unsigned raster = static_cast<unsigned>(p.raster);
  const unsigned group = raster == 0 || raster > columns ? columns : raster;
  const unsigned first = in_batch / (group * rows) * group;
  const unsigned in_group = in_batch - first * rows;
  const unsigned width = first + group <= columns ? group : columns - first;
  const long long steps = (p.k + S::kBlockK - 1) / S::kBlockK;
  Work result;
  result.m = static_cast<int>(in_group / width * S::kBlockM);
  result.n = static_cast<int>((first + in_group % width) * S::kBlockN);
  result.slice = static_cast<int>(rest % static_cast<unsigned>(p.slices));
  result.batch = static_cast<int>(rest / static_cast<unsigned>(p.slices));
  result.step = static_cast<int>(result.slice * steps / p.slices);
  result.steps = static_cast<int>((result.slice + 1) * steps / p.slices) - result.step;
  return result;
}

// Which chunk of 16 B of its line a chunk lies at, so that what a warp reads at once lies in 32
// different banks. kWords: elements of 4 or 8 B that are read one by one, four lines at once;
// else rows of ldmatrix, eight lines at once. Lines of less than 128 B lie side by side in a row of
// the banks.
template <int kChunks, bool kWords>
__device__ __forceinline__ int swizzled(int line, int chunk) {
  constexpr int kBeside = kChunks >= 8 ? 1 : 8 / kChunks;  // lines in a row of the banks
  constexpr int kMask = kChunks >= 8 ? 7 : kChunks - 1;
  if constexpr (kWords) {
    return chunk ^ (line / kBeside * 2 & kMask & 6);
  } else {
    return chunk ^ (line / kBeside & kMask);
  }
}

// The taps of a convolution's window, along which a thread's part of K goes.
template <class S>
struct Tap {
  int c, r, s;
  __device__ __forceinline__ void start(const RunArguments& p, int k) {
    const int tap = k / p.channels;
    c = k % p.channels;
    r = tap / p.taps_w;
    s = tap % p.taps_w;
  }
  __device__ __forceinline__ void advance(const RunArguments& p) {
    c += S::kBlockK;
    while (c >= p.channels) {
      c -= p.channels;
      if (++s == p.taps_w) {
        s = 0;
        ++r;
      }
    }
  }
};

// One operand on its way to shared memory: lines along K where K is contiguous in memory, else
// across; each thread has the same chunk of every few lines. What lies beyond the problem, or in
// the halo of a convolution, becomes zero.
template <class S, bool kIsA>
struct TileLoader {
  using T = typename S::Operand;
  static constexpr int kSize = sizeof(T);
  static constexpr bool kAlongK = kIsA ? S::kAlongA : S::kAlongB;
  static constexpr bool kConv = kIsA && S::kConv;
  static constexpr int kAcross = kIsA ? S::kBlockM : S::kBlockN;
  static constexpr int kLines = kAlongK ? kAcross : S::kBlockK;
  static constexpr int kLineBytes = (kAlongK ? S::kBlockK : kAcross) * kSize;
  static constexpr int kChunks = kLineBytes / 16;
  static constexpr bool kWords = kSize == 8 || (kSize == 4 && !kAlongK);
  static constexpr int kTileBytes = kLines * kLineBytes;
  static constexpr int kPiece = kIsA ? S::kPieceA : S::kPieceB;
  static constexpr int kPieces = 16 / kPiece;
  static constexpr bool kAsync = S::kAsync && kPiece >= 4;
  static constexpr int kPasses = static_cast<int>(ceil_div(kLines * kChunks, S::kThreads));
  static constexpr bool kEven = S::kThreads % kChunks == 0;  // a thread's chunks lie in one column
  static constexpr bool kWhole = kLines * kChunks % S::kThreads == 0;
  static_assert(!kConv || (kEven && kPiece == 16), "a chunk of a convolution lies in one tap");

  const char* base;  // of this thread's first chunk of the next tile; convolution: of the input
  long long row;     // bytes between lines in memory
  int extent;        // of the operand across K
  int first;         // row (column) of the tile in the problem
  int left;          // of K, from the next tile on
  Tap<S> tap;
  int pixel_h[kConv ? kPasses : 1], pixel_w[kConv ? kPasses : 1], pixel[kConv ? kPasses : 1];
  Words<16> staged[kAsync ? 1 : kPasses];

  __device__ __forceinline__ static int line(int pass) {
    return kEven ? thread_index() / kChunks + pass * (S::kThreads / kChunks)
                 : (thread_index() + pass * S::kThreads) / kChunks;
  }
  __device__ __forceinline__ static int chunk(int pass) {
    return kEven ? thread_index() % kChunks : (thread_index() + pass * S::kThreads) % kChunks;
  }
  __device__ __forceinline__ static bool has(int pass) {
    return kWhole || thread_index() + pass * S::kThreads < kLines * kChunks;
  }

  __device__ __forceinline__ void start(const RunArguments& p, const Work& at) {
    const int k = at.step * S::kBlockK;
    first = kIsA ? at.m : at.n;
    extent = kIsA ? p.m : p.n;
    left = p.k - k;
    row = (kIsA ? p.row_a : p.row_b) * kSize;
    base = static_cast<const char*>(kIsA ? p.a : p.b) +
           at.batch * (kIsA ? p.batch_a : p.batch_b) * kSize;
    if constexpr (kConv) {
      tap.start(p, k + chunk(0) * (16 / kSize));
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        start_pixel(p, pass);
      }
    } else {
      base += (kAlongK ? first : k) * row + (kAlongK ? k : first) * kSize;
      if constexpr (kEven) {
        base += line(0) * row + chunk(0) * 16;
      }
    }
  }
  // The input pixel under the window's first tap, of a row's output pixel.
  __device__ __forceinline__ void start_pixel(const RunArguments& p, int pass) {
    const int m = first + line(pass);
    const int q = m % p.outputs_w, rest = m / p.outputs_w;
    const int image = rest / p.outputs_h;
    pixel_h[pass] = rest % p.outputs_h * p.stride_h - p.pad_h;
    pixel_w[pass] = q * p.stride_w - p.pad_w;
    pixel[pass] = (image * p.h + pixel_h[pass]) * p.w + pixel_w[pass];
    if (m >= extent) {
      pixel_h[pass] = -(1 << 30);  // outside, whatever the tap
    }
  }

  __device__ __forceinline__ void advance(const RunArguments& p) {
    left -= S::kBlockK;
    if constexpr (kConv) {
      tap.advance(p);
    } else {
      base += kAlongK ? S::kBlockK * kSize : S::kBlockK * row;
    }
  }

  // The address of a piece of the next tile, and how many of its bytes are inside.
  __device__ const __forceinline__ char* piece(const RunArguments& p, int pass, int index,
                                               int& valid) const {
    const int along = chunk(pass) * (16 / kSize) + index * (kPiece / kSize);
    if constexpr (kConv) {
      const int h = tap.r * p.dilation_h, w = tap.s * p.dilation_w;
      const bool inside = along < left &&
                          static_cast<unsigned>(pixel_h[pass] + h) < static_cast<unsigned>(p.h) &&
                          static_cast<unsigned>(pixel_w[pass] + w) < static_cast<unsigned>(p.w);
      valid = inside ? kPiece : 0;
      return base + (pixel[pass] + h * p.w + w) * row + tap.c * kSize;
    } else {
      const int inside = kAlongK ? left - along : extent - first - along;
      const bool has_line = kAlongK ? first + line(pass) < extent : line(pass) < left;
      valid = has_line ? clamp(inside, kPiece / kSize) * kSize : 0;
      return kEven ? base + pass * (S::kThreads / kChunks) * row + index * kPiece
                   : base + line(pass) * row + chunk(pass) * 16 + index * kPiece;
    }
  }
  __device__ __forceinline__ static char* target(char* tile, int pass) {
    return tile + line(pass) * kLineBytes + swizzled<kChunks, kWords>(line(pass), chunk(pass)) * 16;
  }

  // Asynchronous operands are under way to `tile` after this, the others in registers.
  __device__ __forceinline__ void load(const RunArguments& p, char* tile) {
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
        const char* from = piece(p, pass, index, valid);
        if constexpr (kAsync) {
          copy_async<kPiece, true>(target(tile, pass) + index * kPiece, from, valid);
        } else {
          take_piece<kPiece>(staged[pass], index * kPiece, from, valid);
        }
      }
    }
    advance(p);
  }
  // What load() left in registers.
  __device__ __forceinline__ void store(char* tile) const {
    if constexpr (!kAsync) {
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        if (has(pass)) {
          put_chunk<16>(target(tile, pass), staged[pass]);
        }
      }
    }
  }
};

}  // namespace mapsim_kernel
