// SPDX-License-Identifier: Apache-2.0
// Tensor maps of the kernels that harness.cuh times. The runtime finds the driver's encoder, so that
// the program is linked with nothing else.
#include <cuda.h>

namespace mapsim_harness {

using Encoder = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                             const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                             const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

inline Encoder encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                        &result),
       "cuTensorMapEncodeTiled");
#else
  must(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result),
       "cuTensorMapEncodeTiled");
#endif
  if (result != cudaDriverEntryPointSuccess || found == nullptr) {
    std::fprintf(stderr, "the driver has no cuTensorMapEncodeTiled: it takes one of CUDA 12\n");
    std::exit(1);
  }
  return reinterpret_cast<Encoder>(found);
}

// Extents and box in elements, strides in bytes, innermost first.
inline Map encode(const void* matrix, CUtensorMapDataType type, const cuuint64_t (&extents)[3],
                  const cuuint64_t (&strides)[2], const cuuint32_t (&box)[3],
                  CUtensorMapSwizzle swizzle) {
  static_assert(sizeof(Map) == sizeof(CUtensorMap), "one is the other");
  const cuuint32_t steps[3] = {1, 1, 1};
  Map map{};
  const CUresult result =
      encoder()(reinterpret_cast<CUtensorMap*>(&map), type, 3, const_cast<void*>(matrix), extents,
                strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", static_cast<int>(result));
    std::exit(1);
  }
  return map;
}

}  // namespace mapsim_harness
