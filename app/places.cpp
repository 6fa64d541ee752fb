// SPDX-License-Identifier: Apache-2.0
#include "app/places.hpp"

#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

#include "core/shipped.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

// Of the file that the process runs. Where /proc is not mounted, by the path that it was started
// by; empty where neither is known.
fs::path program_folder() {
  std::error_code error;
  const fs::path running = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    return running.parent_path();
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel passes the address as a number
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started == nullptr ? fs::path{} : fs::canonical(started, error).parent_path();
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

std::vector<std::string> shipped_configs() {
  std::vector<std::string> folders = configs_above(program_folder().string());
  if (is_there("configs/arch")) {
    folders.insert(folders.begin(), "configs");  // of the working directory
  }
  return folders;
}

}  // namespace mapsim
