// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// A named range for profilers (ncu --nvtx, nsys), as long as it lives. Where the program was built
// beside NVIDIA's NVTX headers (they find the profiler by themselves), or a libnvToolsExt.so.1 is
// there; else nothing happens.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace mapsim
