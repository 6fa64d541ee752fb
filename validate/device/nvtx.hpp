// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// Marks a named range for profilers (ncu --nvtx, nsys) as long as it exists. It needs NVIDIA's NVTX
// headers at build time, which find the profiler, or libnvToolsExt.so.1 at run time; otherwise it
// does nothing.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace mapsim
