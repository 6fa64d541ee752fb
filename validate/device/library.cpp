// SPDX-License-Identifier: Apache-2.0
#include "validate/device/library.hpp"

#include <dlfcn.h>

namespace mapsim {

SharedLibrary SharedLibrary::open(const std::vector<std::string>& names, std::string& reasons) {
  SharedLibrary library;
  for (const std::string& name : names) {
    if (void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      // NVIDIA's libraries start threads and register exit handlers: they are never closed.
      library.handle_ = std::shared_ptr<void>{handle, [](void*) {}};
      library.name_ = name;
      return library;
    }
    const char* const why = dlerror();
    reasons += reasons.empty() ? "" : "; ";
    reasons += why != nullptr ? why : name;
  }
  return library;
}

void* SharedLibrary::symbol(const char* name) const {
  return handle_ ? dlsym(handle_.get(), name) : nullptr;
}

}  // namespace mapsim
