// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mapsim {

// The part of cuBLAS that is used, as its headers cublas_api.h and library_types.h have it (CUDA 11
// to 13). A test compares every type and value with them where they are.
namespace cublas {

using Handle = struct CublasHandleTag*;

inline constexpr int kSuccess = 0;
inline constexpr int kAsIs = 0;        // CUBLAS_OP_N
inline constexpr int kTransposed = 1;  // CUBLAS_OP_T
inline constexpr int kDefaultAlgorithm = -1;

// cudaDataType
inline constexpr int kReal32 = 0;
inline constexpr int kReal64 = 1;
inline constexpr int kReal16 = 2;
inline constexpr int kInteger8 = 3;
inline constexpr int kInteger32 = 10;
inline constexpr int kBrain16 = 14;

// cublasComputeType_t
inline constexpr int kCompute16 = 64;
inline constexpr int kCompute32 = 68;
inline constexpr int kCompute64 = 70;
inline constexpr int kComputeInteger = 72;
inline constexpr int kComputeTf32 = 77;

}  // namespace cublas

struct CublasApi {
  int (*create)(cublas::Handle* handle) = nullptr;
  int (*destroy)(cublas::Handle handle) = nullptr;
  int (*version)(cublas::Handle handle, int* version) = nullptr;
  const char* (*status_words)(int status) = nullptr;
  // cublasGemmStridedBatchedEx
  int (*gemm)(cublas::Handle handle, int a_operation, int b_operation, int m, int n, int k,
              const void* alpha, const void* a, int a_type, int a_run, long long a_stride,
              const void* b, int b_type, int b_run, long long b_stride, const void* beta, void* c,
              int c_type, int c_run, long long c_stride, int batch, int compute,
              int algorithm) = nullptr;
};

}  // namespace mapsim
