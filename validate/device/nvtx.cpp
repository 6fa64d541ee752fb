// SPDX-License-Identifier: Apache-2.0
#include "validate/device/nvtx.hpp"

#ifdef MAPSIM_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "validate/device/library.hpp"
#endif

namespace mapsim {

#ifdef MAPSIM_HAVE_NVTX

// Version 3 is headers alone: they load what NVTX_INJECTION64_PATH names, which profilers set.
NvtxRange::NvtxRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
NvtxRange::~NvtxRange() { nvtxRangePop(); }

#else

namespace {

// nvToolsExt.h, version 2: both return the depth of nesting.
struct Nvtx {
  SharedLibrary library;
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;
};

const Nvtx& nvtx() {
  static const Nvtx kNvtx = [] {
    Nvtx loaded;
    std::string reasons;
    loaded.library = SharedLibrary::open({"libnvToolsExt.so.1"}, reasons);
    if (!loaded.library.find(loaded.push, "nvtxRangePushA") ||
        !loaded.library.find(loaded.pop, "nvtxRangePop")) {
      loaded.push = nullptr;
    }
    return loaded;
  }();
  return kNvtx;
}

}  // namespace

NvtxRange::NvtxRange(const std::string& name) {
  if (nvtx().push != nullptr) {
    nvtx().push(name.c_str());
  }
}
NvtxRange::~NvtxRange() {
  if (nvtx().push != nullptr) {
    nvtx().pop();
  }
}

#endif

}  // namespace mapsim
