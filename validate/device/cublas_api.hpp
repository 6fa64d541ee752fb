// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "validate/device/cuda_api.hpp"

namespace mapsim {

// The part of cuBLAS that is used, declared as in its headers cublas_api.h and library_types.h
// (CUDA 11 to 13). A test compares every type and value with these headers where they are
// installed.
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

// Functions of cuBLAS; null until the library is open.
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
  // cublasGemmEx
  int (*gemm_single)(cublas::Handle handle, int a_operation, int b_operation, int m, int n, int k,
                     const void* alpha, const void* a, int a_type, int a_run, const void* b,
                     int b_type, int b_run, const void* beta, void* c, int c_type, int c_run,
                     int compute, int algorithm) = nullptr;
};

// The part of cuBLASLt that is used, declared as in cublasLt.h.
namespace cublas_lt {

using Handle = struct LtHandleTag*;
using Operation = struct LtOperationTag*;    // cublasLtMatmulDesc_t
using Layout = struct LtLayoutTag*;          // cublasLtMatrixLayout_t
using Preference = struct LtPreferenceTag*;  // cublasLtMatmulPreference_t

inline constexpr int kOperationA = 3;  // CUBLASLT_MATMUL_DESC_TRANSA
inline constexpr int kOperationB = 4;
inline constexpr int kBatchCount = 5;     // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
inline constexpr int kBatchStride = 6;    // ..._STRIDED_BATCH_OFFSET
inline constexpr int kMostWorkspace = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

// cublasLtMatmulAlgo_t
struct Algorithm {
  std::array<std::uint64_t, 8> data{};
};
// cublasLtMatmulHeuristicResult_t
struct Choice {
  Algorithm algorithm;
  std::size_t workspace = 0;
  int state = 0;
  float waves = 0;
  std::array<int, 4> reserved{};
};

}  // namespace cublas_lt

// Functions of cuBLASLt; null until the library is open.
struct CublasLtApi {
  int (*create)(cublas_lt::Handle* handle) = nullptr;
  int (*destroy)(cublas_lt::Handle handle) = nullptr;
  int (*operation_create)(cublas_lt::Operation* operation, int compute, int scale) = nullptr;
  int (*operation_destroy)(cublas_lt::Operation operation) = nullptr;
  int (*operation_set)(cublas_lt::Operation operation, int attribute, const void* value,
                       std::size_t bytes) = nullptr;
  int (*layout_create)(cublas_lt::Layout* layout, int type, std::uint64_t rows,
                       std::uint64_t columns, std::int64_t run) = nullptr;
  int (*layout_destroy)(cublas_lt::Layout layout) = nullptr;
  int (*layout_set)(cublas_lt::Layout layout, int attribute, const void* value,
                    std::size_t bytes) = nullptr;
  int (*preference_create)(cublas_lt::Preference* preference) = nullptr;
  int (*preference_destroy)(cublas_lt::Preference preference) = nullptr;
  int (*preference_set)(cublas_lt::Preference preference, int attribute, const void* value,
                        std::size_t bytes) = nullptr;
  int (*choose)(cublas_lt::Handle handle, cublas_lt::Operation operation, cublas_lt::Layout a,
                cublas_lt::Layout b, cublas_lt::Layout c, cublas_lt::Layout d,
                cublas_lt::Preference preference, int most, cublas_lt::Choice* choices,
                int* found) = nullptr;
  int (*multiply)(cublas_lt::Handle handle, cublas_lt::Operation operation, const void* alpha,
                  const void* a, cublas_lt::Layout a_layout, const void* b,
                  cublas_lt::Layout b_layout, const void* beta, const void* c,
                  cublas_lt::Layout c_layout, void* d, cublas_lt::Layout d_layout,
                  const cublas_lt::Algorithm* algorithm, void* workspace, std::size_t bytes,
                  cuda::Stream stream) = nullptr;
};

}  // namespace mapsim
