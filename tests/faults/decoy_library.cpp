// SPDX-License-Identifier: Apache-2.0
// A library that says where it was loaded from, in the file that MAPSIM_DECOYS names.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

[[gnu::constructor]] void say_loaded() {
  const char* const path = std::getenv("MAPSIM_DECOYS");
  Dl_info info{};
  if (path == nullptr || dladdr(reinterpret_cast<void*>(&say_loaded), &info) == 0) {
    return;
  }
  if (std::FILE* const file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", info.dli_fname);
    std::fclose(file);
  }
}

}  // namespace
