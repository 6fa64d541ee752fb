// SPDX-License-Identifier: Apache-2.0
#include "app/places.hpp"

#include <filesystem>
#include <system_error>

namespace mapsim {

namespace {

namespace fs = std::filesystem;

// Linux says which file the process runs; empty where it does not.
fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

std::string mpi_module() {
  const fs::path folder = program_folder();
  for (const fs::path& module :
       {folder / "mapsim_mpi.so", folder / MAPSIM_MODULES / "mapsim_mpi.so"}) {
    if (is_there(module)) {
      return module.string();
    }
  }
  return "";
}

std::string shipped(const std::string& path) {
  const fs::path installed = program_folder() / MAPSIM_DATA / path;
  return !path.starts_with("configs/") || is_there(path) || !is_there(installed)
             ? path
             : installed.lexically_normal().string();
}

}  // namespace mapsim
