// SPDX-License-Identifier: Apache-2.0
// From sums in registers to C, in kernels whose problem is a run-time argument: through a patch of
// shared memory per warp into rows, of which a thread takes up to 16 B of C at once. Behind
// tile_loader.cuh. docs/kernels.md
namespace mapsim_kernel {

enum Activation { kNoActivation, kRelu, kGelu, kSilu };

template <class S>
__device__ __forceinline__ typename S::Scalar activated(typename S::Scalar x) {
  using Scalar = typename S::Scalar;
  if constexpr (S::kActivation == kRelu) {
    return x > Scalar(0) ? x : Scalar(0);
  } else if constexpr (S::kActivation == kGelu) {
    return 0.5f * x * (1.0f + error_function(0.70710678f * x));
  } else if constexpr (S::kActivation == kSilu) {
    return x / (1.0f + exponential(-x));
  } else {
    return x;
  }
}

// kCount finished sums that lie beside each other in a row of C: activation(alpha sum + bias[n] +
// beta residual), quantised to whole numbers of `scale` where S says so.
template <class S, int kCount>
__device__ __forceinline__ void finish(const RunArguments& p,
                                       const Values<typename S::Sum, kCount>& sums, int batch,
                                       int m, int n) {
  using Sum = typename S::Sum;
  using Scalar = typename S::Scalar;
  using Output = typename S::Output;
  const Scalar alpha = static_cast<Scalar>(p.alpha), beta = static_cast<Scalar>(p.beta);
  constexpr int kPart = gcd(kCount, 16 / sizeof(Sum));
  Values<Output, kCount> old, result;
  if constexpr (S::kResidual) {
    old = load_global<Values<Output, kCount>>(static_cast<const Output*>(p.residual) +
                                              batch * p.batch_residual + m * p.row_residual + n);
  }
  Values<Sum, kPart> bias;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    Scalar x = alpha * static_cast<Scalar>(sums.value[i]);
    if constexpr (S::kBias) {
      if (i % kPart == 0) {
        bias = load_global<Values<Sum, kPart>>(static_cast<const Sum*>(p.bias) +
                                               batch * p.batch_bias + n + i);
      }
      x += static_cast<Scalar>(bias.value[i % kPart]);
    }
    if constexpr (S::kResidual) {
      x += beta * static_cast<Scalar>(old.value[i]);
    }
    x = activated<S>(x);
    if constexpr (S::kQuantise) {
      x = to_whole(x * static_cast<Scalar>(p.scale));
    }
    result.value[i] = convert<Output>(x);
  }
  store_global(static_cast<Output*>(p.c) + batch * p.batch_c + m * p.row_c + n, result);
}

// Elements between rows of the workspace of a split K.
template <class S>
__device__ __forceinline__ int workspace_row(const RunArguments& p) {
  constexpr int kUnit = 16 / sizeof(typename S::Sum);
  return (p.n + kUnit - 1) / kUnit * kUnit;
}

// The sums of a warp are 16 rows of kColumns at a time, of kWide that it has, of which lane l has
// in words of the MMA instructions columns 2 (l % 4) and the next of rows l / 4 and l / 4 + 8
// (device_mma.cuh).
template <class S, int kWide = S::kWarpN>
struct Patch {
  using Sum = typename S::Sum;
  static constexpr int kSize = sizeof(Sum);
  __host__ __device__ static constexpr int pad(int columns) { return columns == 8 ? 0 : 8; }
  __host__ __device__ static constexpr int bytes(int columns) {
    return 16 * (columns + pad(columns)) * kSize;
  }
  __host__ __device__ static constexpr int widest() {
    int columns = kWide < 64 ? kWide : 64;
    while (columns > 16 &&
           (kWide % columns != 0 || bytes(columns) * S::kWarps > S::kPatchesBytes)) {
      columns /= 2;
    }
    return columns;
  }
  static constexpr int kColumns = widest();
  static_assert(kWide % kColumns == 0 && bytes(kColumns) * S::kWarps <= S::kPatchesBytes,
                "shared memory holds no 16 rows of sums of each warp");
  static constexpr int kLine = kColumns + pad(kColumns);
  // Neighbours that a thread stores at once.
  static constexpr int kWidest = S::kSplit ? 16 / kSize : S::kPieceC / sizeof(typename S::Output);
  static constexpr int kCount = kWidest < kColumns ? kWidest : kColumns;
  static constexpr int kPartBytes = kCount * kSize < 16 ? kCount * kSize : 16;
  static constexpr int kParts = kCount * kSize / kPartBytes;

  __device__ __forceinline__ static Sum* of_warp() {
    return reinterpret_cast<Sum*>(shared_memory() + thread_index() / 32 * bytes(kColumns));
  }
  // Two sums beside each other, twice.
  __device__ __forceinline__ static void put(const Sum (&c)[4], int column) {
    const int lane = thread_index() % 32;
    Sum* to = of_warp() + lane / 4 * kLine + column + 2 * (lane % 4);
    store_shared(to, Values<Sum, 2>{{c[0], c[1]}});
    store_shared(to + 8 * kLine, Values<Sum, 2>{{c[2], c[3]}});
  }
  // The same of a product that is turned: what are rows there are columns of C.
  __device__ __forceinline__ static void put_turned(const Sum (&c)[4], int row) {
    const int lane = thread_index() % 32;
    Sum* to = of_warp() + (row + 2 * (lane % 4)) * kLine + lane / 4;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      store_shared(to + v % 2 * kLine + v / 2 * 8, c[v]);
    }
  }
  // Lanes begin with different parts, that eight of them read from 32 banks.
  __device__ __forceinline__ static Values<Sum, kCount> take(const Sum* from) {
    using Part = Words<kPartBytes>;
    const int turn = kParts > 1 ? thread_index() % 8 * kParts / 8 : 0;
    Part parts[kParts];
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      parts[i] =
          load_shared<Part>(reinterpret_cast<const char*>(from) + (i + turn) % kParts * kPartBytes);
    }
#pragma unroll
    for (int step = 1; step < kParts; step *= 2) {
      Part turned[kParts];
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        turned[i] = (turn & step) != 0 ? parts[(i + kParts - step) % kParts] : parts[i];
      }
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        parts[i] = turned[i];
      }
    }
    Values<Sum, kCount> result;
    memcpy(static_cast<void*>(&result), parts, sizeof result);
    return result;
  }
  // 16 rows from row m and column n of C on, those before row `end_m`.
  __device__ __forceinline__ static void emit(const RunArguments& p, const Work& at, int m, int n,
                                              int end_m) {
    constexpr int kPerRow = kColumns / kCount;
    const int end = S::kSplit ? workspace_row<S>(p) : p.n;
#pragma unroll
    for (int pass = 0; pass < static_cast<int>(ceil_div(16 * kPerRow, 32)); ++pass) {
      const int index = pass * 32 + thread_index() % 32;
      const int row = index / kPerRow, column = index % kPerRow * kCount;
      if ((16 * kPerRow % 32 != 0 && index >= 16 * kPerRow) || m + row >= end_m ||
          n + column >= end) {
        continue;
      }
      const Values<Sum, kCount> sums = take(of_warp() + row * kLine + column);
      if constexpr (S::kSplit) {
        const long long plane = static_cast<long long>(at.slice) * p.batch + at.batch;
        store_global(static_cast<Sum*>(p.workspace) + (plane * p.m + m + row) * end + n + column,
                     sums);
      } else {
        finish<S, kCount>(p, sums, at.batch, m + row, n + column);
      }
    }
  }
};

// The second kernel of a split K: adds up the slices.
template <class S>
__device__ __forceinline__ void reduce_slices(const RunArguments& p) {
  using Sum = typename S::Sum;
  constexpr int kWidest = S::kPieceC / sizeof(typename S::Output);
  constexpr int kCount = gcd(kWidest, 16 / sizeof(Sum));
  const long long at = block_index() * S::kReduceThreads + thread_index();
  const long long per_row = p.n / kCount;
  const long long row = at / per_row;
  const int n = static_cast<int>(at % per_row) * kCount;
  if (row >= static_cast<long long>(p.batch) * p.m) {
    return;
  }
  const long long stride = workspace_row<S>(p);
  const Sum* from = static_cast<const Sum*>(p.workspace) + row * stride + n;
  Values<Sum, kCount> sums = load_global<Values<Sum, kCount>>(from);
#pragma unroll 4
  for (int slice = 1; slice < p.slices; ++slice) {
    const auto more = load_global<Values<Sum, kCount>>(from + static_cast<long long>(slice) *
                                                                  p.batch * p.m * stride);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      sums.value[i] += more.value[i];
    }
  }
  finish<S, kCount>(p, sums, static_cast<int>(row / p.m), static_cast<int>(row % p.m), n);
}

}  // namespace mapsim_kernel
