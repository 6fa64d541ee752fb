// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace mapsim {

struct TensorMap;  // validate/kernels/source.hpp

// The part of the CUDA driver API that is used, by the symbols of libcuda.so.1 (cuda.h maps the
// plain names to them). It is declared here so that the build needs no toolkit. A test compares
// every type and value with cuda.h where it is installed.
namespace cuda {

using Result = int;                    // CUresult
using Device = int;                    // CUdevice
using Pointer = unsigned long long;    // CUdeviceptr
using Context = struct ContextTag*;    // CUcontext
using Module = struct ModuleTag*;      // CUmodule
using Function = struct FunctionTag*;  // CUfunction
using Event = struct EventTag*;        // CUevent
using Stream = struct StreamTag*;      // CUstream; null: the default stream

inline constexpr Result kSuccess = 0;

// CUdevice_attribute
inline constexpr int kClockRate = 13;  // kHz
inline constexpr int kMultiprocessors = 16;
inline constexpr int kMemoryClockRate = 36;  // kHz
inline constexpr int kL2Size = 38;           // bytes
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kSharedPerBlockOptin = 97;  // bytes

// CUfunction_attribute
inline constexpr int kLocalSize = 3;  // bytes per thread: spills and stack
inline constexpr int kRegisters = 4;  // per thread
inline constexpr int kMaxDynamicShared = 8;
inline constexpr int kPreferredCarveout = 9;    // shared memory's part of it and the L1
inline constexpr int kCarveoutMaxShared = 100;  // percent; CUshared_carveout

// CUtensorMapDataType, of operands; tf32: fp32 that the TMA rounds to nearest
inline constexpr int kMapBytes = 0;
inline constexpr int kMapHalf = 6;
inline constexpr int kMapBrain = 9;
inline constexpr int kMapTf32 = 11;
// CUtensorMapSwizzle
inline constexpr int kSwizzle32 = 1;
inline constexpr int kSwizzle64 = 2;
inline constexpr int kSwizzle128 = 3;
inline constexpr int kPromoteTo256 = 3;  // CU_TENSOR_MAP_L2_PROMOTION_L2_256B

}  // namespace cuda

// Functions of the driver; null until the library is open.
struct CudaApi {
  cuda::Result (*init)(unsigned int flags) = nullptr;
  cuda::Result (*driver_version)(int* version) = nullptr;
  cuda::Result (*error_name)(cuda::Result error, const char** text) = nullptr;
  cuda::Result (*error_string)(cuda::Result error, const char** text) = nullptr;
  cuda::Result (*device_count)(int* count) = nullptr;
  cuda::Result (*device_get)(cuda::Device* device, int ordinal) = nullptr;
  cuda::Result (*device_name)(char* name, int size, cuda::Device device) = nullptr;
  cuda::Result (*device_attribute)(int* value, int attribute, cuda::Device device) = nullptr;
  cuda::Result (*device_bus)(char* id, int size, cuda::Device device) = nullptr;
  cuda::Result (*device_memory)(std::size_t* bytes, cuda::Device device) = nullptr;
  cuda::Result (*context_retain)(cuda::Context* context, cuda::Device device) = nullptr;
  cuda::Result (*context_release)(cuda::Device device) = nullptr;
  cuda::Result (*context_set)(cuda::Context context) = nullptr;
  cuda::Result (*synchronize)() = nullptr;
  cuda::Result (*module_load)(cuda::Module* module, const void* image) = nullptr;
  cuda::Result (*module_unload)(cuda::Module module) = nullptr;
  cuda::Result (*module_function)(cuda::Function* function, cuda::Module module,
                                  const char* name) = nullptr;
  cuda::Result (*function_get)(int* value, int attribute, cuda::Function function) = nullptr;
  cuda::Result (*function_set)(cuda::Function function, int attribute, int value) = nullptr;
  cuda::Result (*launch)(cuda::Function function, unsigned int grid_x, unsigned int grid_y,
                         unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                         unsigned int block_z, unsigned int shared, cuda::Stream stream,
                         void** parameters, void** extra) = nullptr;
  cuda::Result (*allocate)(cuda::Pointer* pointer, std::size_t bytes) = nullptr;
  cuda::Result (*free)(cuda::Pointer pointer) = nullptr;
  cuda::Result (*upload)(cuda::Pointer to, const void* from, std::size_t bytes) = nullptr;
  cuda::Result (*download)(void* to, cuda::Pointer from, std::size_t bytes) = nullptr;
  cuda::Result (*fill)(cuda::Pointer to, unsigned char byte, std::size_t count,
                       cuda::Stream stream) = nullptr;
  cuda::Result (*event_create)(cuda::Event* event, unsigned int flags) = nullptr;
  cuda::Result (*event_record)(cuda::Event event, cuda::Stream stream) = nullptr;
  cuda::Result (*event_query)(cuda::Event event) = nullptr;
  cuda::Result (*event_synchronize)(cuda::Event event) = nullptr;
  cuda::Result (*event_elapsed)(float* milliseconds, cuda::Event from, cuda::Event to) = nullptr;
  cuda::Result (*event_destroy)(cuda::Event event) = nullptr;
  // cuTensorMapEncodeTiled; null in drivers before CUDA 12
  cuda::Result (*encode_map)(TensorMap* map, int type, unsigned int rank, void* matrix,
                             const unsigned long long* extents, const unsigned long long* strides,
                             const unsigned int* box, const unsigned int* steps, int interleave,
                             int swizzle, int promotion, int fill) = nullptr;
};

}  // namespace mapsim
