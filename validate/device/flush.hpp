// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "validate/device/cuda.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

// The kernel of a CacheFlush: it reads a whole buffer once in pieces of 16 B, bypassing L1.
KernelSource flush_source();

// Evicts the operands from the L2 cache by reading twice its size. Dirty lines of earlier kernels
// are written back meanwhile. Filling memory instead would leave dirty lines, whose write-back
// would fall into the time of the next kernel.
class CacheFlush {
 public:
  // `image`: the cubin of flush_source().
  CacheFlush(const CudaDevice& device, const std::string& image);
  void operator()() const;  // asynchronous

 private:
  const CudaDevice* device_;
  DeviceModule module_;
  DeviceMemory memory_;
  DeviceKernel kernel_;
};

}  // namespace mapsim
