// SPDX-License-Identifier: Apache-2.0
// The instructions of the path mma, on a GPU: ldmatrix and mma.sync (PTX ISA 9.7.14, "Matrix
// fragments for mma"). Fragments are whole registers; which element lies where is known, so that
// sums need no help to leave. tests/validate/kernels/emulated_mma.hpp is the same on a CPU.
namespace mapsim_kernel {

// Four matrices of 8 rows of 16 B: lane l says where row l % 8 of matrix l / 8 lies. A lane gets
// word l % 4 of row l / 4 of each; transposed, of 16-bit elements, those of column l / 4 of rows 2
// (l % 4) and the next.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const char* row) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from)
                 : "memory");
  }
}

// c += a b, of 16 x 8 x 32 B: A in four words (f64: two pairs), B in two. In lane l, with g = l / 4
// and t = l % 4: word w of A has row g + 8 (w % 2), bytes 16 (w / 2) + 4 t of the row; word w of B
// column g, bytes 16 w + 4 t; sum v row g + 8 (v / 2), column 2 t + v % 2. f64: double d of A has
// row g + 8 d, k = t. Chips before sm_80 do it in halves along K, bytes in quarters.
template <class Operand, class Sum>
struct Mma;

template <>
struct Mma<half, float> {
  __device__ __forceinline__ static void run(float (&c)[4], const unsigned (&a)[4],
                                             const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, "
        "%9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
          "{%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
    }
#endif
  }
};
template <>
struct Mma<bfloat16, float> {
  __device__ __forceinline__ static void run(float (&c)[4], const unsigned (&a)[4],
                                             const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, "
        "%9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};
template <>
struct Mma<float, float> {  // operands in tf32
  __device__ __forceinline__ static void run(float (&c)[4], const unsigned (&a)[4],
                                             const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, "
        "%9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

template <>
struct Mma<half, half> {
  __device__ __forceinline__ static void run(half (&c)[4], const unsigned (&a)[4],
                                             const unsigned* b) {
    unsigned sum[2];
    memcpy(sum, c, sizeof sum);
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(sum[0]), "+r"(sum[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
          : "+r"(sum[0]), "+r"(sum[1])
          : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
    }
#endif
    memcpy(c, sum, sizeof sum);
  }
};

template <>
struct Mma<signed char, int> {
  __device__ __forceinline__ static void run(int (&c)[4], const unsigned (&a)[4],
                                             const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
        "%9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+r"(c[2 * (i % 2)]), "+r"(c[2 * (i % 2) + 1])
                   : "r"(a[i]), "r"(b[i / 2]));
    }
#endif
  }
};

template <>
struct Mma<double, double> {
  __device__ __forceinline__ static void run(double (&c)[4], const unsigned (&a)[4],
                                             const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    const double of_b = __hiloint2double(static_cast<int>(b[1]), static_cast<int>(b[0]));
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const double of_a =
          __hiloint2double(static_cast<int>(a[2 * i + 1]), static_cast<int>(a[2 * i]));
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(c[2 * i]), "+d"(c[2 * i + 1])
                   : "d"(of_a), "d"(of_b));
    }
#endif
  }
};

}  // namespace mapsim_kernel
