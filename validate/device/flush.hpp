// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "validate/device/cuda.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

// Reads 16 B pieces past the L1, all of a buffer once: the kernel of a CacheFlush.
KernelSource flush_source();

// Puts something else into the L2 cache: twice its size is read. What a kernel wrote is written
// back on the way; nothing that is dirty is left behind, as it would be by filling memory, to be
// written back within the time of the next kernel.
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
