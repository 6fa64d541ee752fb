// SPDX-License-Identifier: Apache-2.0
// Our declarations of CUDA's driver and of cuBLAS beside NVIDIA's own.
#include <gtest/gtest.h>

#ifdef MAPSIM_HAVE_CUDA_HEADERS
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>

#include <type_traits>

#include "validate/device/cublas_api.hpp"
#include "validate/device/cuda_api.hpp"

namespace mapsim::headers_test {
namespace {

// Whether an argument of one type may be passed as the other: pointers to handles of any name,
// enumerations as integers of their size.
template <class Ours, class Theirs>
constexpr bool passes_as() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using O = std::remove_cv_t<std::remove_pointer_t<Ours>>;
    using T = std::remove_cv_t<std::remove_pointer_t<Theirs>>;
    if constexpr (std::is_class_v<O> || std::is_class_v<T> || std::is_void_v<O> ||
                  std::is_void_v<T>) {
      return (std::is_class_v<O> && std::is_class_v<T>) || (std::is_void_v<O> == std::is_void_v<T>);
    } else {
      return passes_as<O, T>();
    }
  } else if constexpr (std::is_enum_v<Theirs>) {
    return std::is_integral_v<Ours> && sizeof(Ours) == sizeof(Theirs);
  } else if constexpr (std::is_integral_v<Ours> && std::is_integral_v<Theirs>) {
    return sizeof(Ours) == sizeof(Theirs) && std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
  } else {
    return std::is_same_v<Ours, Theirs>;
  }
}

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class R, class... A, class S, class... B>
struct SameCall<R (*)(A...), S (*)(B...)> {
  static constexpr bool kValue = [] {
    if constexpr (sizeof...(A) == sizeof...(B)) {
      return passes_as<R, S>() && (passes_as<A, B>() && ...);
    } else {
      return false;
    }
  }();
};
#define EXPECT_SAME_CALL(ours, theirs) \
  static_assert(SameCall<decltype(ours), decltype(&theirs)>::kValue, #theirs)

TEST(DriverDeclarations, AreThoseOfCudaH) {
  using A = CudaApi;
  EXPECT_SAME_CALL(A::init, cuInit);
  EXPECT_SAME_CALL(A::driver_version, cuDriverGetVersion);
  EXPECT_SAME_CALL(A::error_name, cuGetErrorName);
  EXPECT_SAME_CALL(A::error_string, cuGetErrorString);
  EXPECT_SAME_CALL(A::device_count, cuDeviceGetCount);
  EXPECT_SAME_CALL(A::device_get, cuDeviceGet);
  EXPECT_SAME_CALL(A::device_name, cuDeviceGetName);
  EXPECT_SAME_CALL(A::device_attribute, cuDeviceGetAttribute);
  EXPECT_SAME_CALL(A::device_bus, cuDeviceGetPCIBusId);
  EXPECT_SAME_CALL(A::device_memory, cuDeviceTotalMem_v2);
  EXPECT_SAME_CALL(A::context_retain, cuDevicePrimaryCtxRetain);
  EXPECT_SAME_CALL(A::context_release, cuDevicePrimaryCtxRelease_v2);
  EXPECT_SAME_CALL(A::context_set, cuCtxSetCurrent);
  EXPECT_SAME_CALL(A::synchronize, cuCtxSynchronize);
  EXPECT_SAME_CALL(A::module_load, cuModuleLoadData);
  EXPECT_SAME_CALL(A::module_unload, cuModuleUnload);
  EXPECT_SAME_CALL(A::module_function, cuModuleGetFunction);
  EXPECT_SAME_CALL(A::function_get, cuFuncGetAttribute);
  EXPECT_SAME_CALL(A::launch, cuLaunchKernel);
  EXPECT_SAME_CALL(A::allocate, cuMemAlloc_v2);
  EXPECT_SAME_CALL(A::free, cuMemFree_v2);
  EXPECT_SAME_CALL(A::upload, cuMemcpyHtoD_v2);
  EXPECT_SAME_CALL(A::download, cuMemcpyDtoH_v2);
  EXPECT_SAME_CALL(A::fill, cuMemsetD8Async);
  EXPECT_SAME_CALL(A::event_create, cuEventCreate);
  EXPECT_SAME_CALL(A::event_record, cuEventRecord);
  EXPECT_SAME_CALL(A::event_query, cuEventQuery);
  EXPECT_SAME_CALL(A::event_synchronize, cuEventSynchronize);
  EXPECT_SAME_CALL(A::event_elapsed, cuEventElapsedTime);
  EXPECT_SAME_CALL(A::event_destroy, cuEventDestroy_v2);
#if CUDA_VERSION >= 12000
  EXPECT_SAME_CALL(A::encode_map, cuTensorMapEncodeTiled);
#endif
  // Of the two arguments after the function, the attribute is an enumeration.
  EXPECT_SAME_CALL(A::function_set, cuFuncSetAttribute);
}

TEST(DriverDeclarations, HaveTheValuesOfCudaH) {
  EXPECT_EQ(cuda::kSuccess, CUDA_SUCCESS);
  EXPECT_EQ(cuda::kClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  EXPECT_EQ(cuda::kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(cuda::kMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  EXPECT_EQ(cuda::kL2Size, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_EQ(cuda::kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(cuda::kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(cuda::kSharedPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(cuda::kLocalSize, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(cuda::kRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(cuda::kMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(cuda::kPreferredCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  EXPECT_EQ(cuda::kCarveoutMaxShared, CU_SHAREDMEM_CARVEOUT_MAX_SHARED);
#if CUDA_VERSION >= 12000
  EXPECT_EQ(cuda::kMapBytes, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_EQ(cuda::kMapHalf, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_EQ(cuda::kMapBrain, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(cuda::kMapTf32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
  EXPECT_EQ(cuda::kSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B);
  EXPECT_EQ(cuda::kSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
  EXPECT_EQ(cuda::kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_EQ(cuda::kPromoteTo256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
#endif
  EXPECT_EQ(CU_EVENT_DEFAULT, 0);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, 700);
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, 719);
}

TEST(CublasDeclarations, AreThoseOfItsHeader) {
  using A = CublasApi;
  EXPECT_SAME_CALL(A::create, cublasCreate_v2);
  EXPECT_SAME_CALL(A::destroy, cublasDestroy_v2);
  EXPECT_SAME_CALL(A::version, cublasGetVersion_v2);
  EXPECT_SAME_CALL(A::status_words, cublasGetStatusString);
  using Gemm = cublasStatus_t (*)(
      cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
      cudaDataType, int, long long int, const void*, cudaDataType, int, long long int, const void*,
      void*, cudaDataType, int, long long int, int, cublasComputeType_t, cublasGemmAlgo_t);
  // The casts choose among overloads.
  static_assert(
      SameCall<decltype(A::gemm), decltype(static_cast<Gemm>(cublasGemmStridedBatchedEx))>::kValue);
  using Single = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                    int, const void*, const void*, cudaDataType, int, const void*,
                                    cudaDataType, int, const void*, void*, cudaDataType, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);
  static_assert(
      SameCall<decltype(A::gemm_single), decltype(static_cast<Single>(cublasGemmEx))>::kValue);
  EXPECT_EQ(cublas::kSuccess, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublas::kAsIs, CUBLAS_OP_N);
  EXPECT_EQ(cublas::kTransposed, CUBLAS_OP_T);
  EXPECT_EQ(cublas::kDefaultAlgorithm, CUBLAS_GEMM_DEFAULT);
  EXPECT_EQ(cublas::kReal16, CUDA_R_16F);
  EXPECT_EQ(cublas::kReal32, CUDA_R_32F);
  EXPECT_EQ(cublas::kReal64, CUDA_R_64F);
  EXPECT_EQ(cublas::kBrain16, CUDA_R_16BF);
  EXPECT_EQ(cublas::kInteger8, CUDA_R_8I);
  EXPECT_EQ(cublas::kInteger32, CUDA_R_32I);
  EXPECT_EQ(cublas::kCompute16, CUBLAS_COMPUTE_16F);
  EXPECT_EQ(cublas::kCompute32, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(cublas::kCompute64, CUBLAS_COMPUTE_64F);
  EXPECT_EQ(cublas::kComputeInteger, CUBLAS_COMPUTE_32I);
  EXPECT_EQ(cublas::kComputeTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
}

TEST(CublasLtDeclarations, AreThoseOfItsHeader) {
  using A = CublasLtApi;
  EXPECT_SAME_CALL(A::create, cublasLtCreate);
  EXPECT_SAME_CALL(A::destroy, cublasLtDestroy);
  EXPECT_SAME_CALL(A::operation_create, cublasLtMatmulDescCreate);
  EXPECT_SAME_CALL(A::operation_destroy, cublasLtMatmulDescDestroy);
  EXPECT_SAME_CALL(A::operation_set, cublasLtMatmulDescSetAttribute);
  EXPECT_SAME_CALL(A::layout_create, cublasLtMatrixLayoutCreate);
  EXPECT_SAME_CALL(A::layout_destroy, cublasLtMatrixLayoutDestroy);
  EXPECT_SAME_CALL(A::layout_set, cublasLtMatrixLayoutSetAttribute);
  EXPECT_SAME_CALL(A::preference_create, cublasLtMatmulPreferenceCreate);
  EXPECT_SAME_CALL(A::preference_destroy, cublasLtMatmulPreferenceDestroy);
  EXPECT_SAME_CALL(A::preference_set, cublasLtMatmulPreferenceSetAttribute);
  EXPECT_SAME_CALL(A::choose, cublasLtMatmulAlgoGetHeuristic);
  EXPECT_SAME_CALL(A::multiply, cublasLtMatmul);
  EXPECT_EQ(cublas_lt::kOperationA, CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_EQ(cublas_lt::kOperationB, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_EQ(cublas_lt::kBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_EQ(cublas_lt::kBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_EQ(cublas_lt::kMostWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_EQ(sizeof(cublas_lt::Algorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(cublas_lt::Choice), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(cublas_lt::Choice, workspace),
            offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(cublas_lt::Choice, state), offsetof(cublasLtMatmulHeuristicResult_t, state));
}

}  // namespace
}  // namespace mapsim::headers_test

#else

TEST(DriverDeclarations, AreThoseOfCudaH) { GTEST_SKIP() << "no cuda.h here"; }

#endif
