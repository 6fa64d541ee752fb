// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdlib.h>  // mkdtemp

#include <filesystem>
#include <string>

namespace mapsim {

// A folder of this process, which goes when it ends: for readers that only take files. In memory
// where that is possible, as databases wait for the disk.
inline const std::string& temporary_folder() {
  static const struct Folder {
    Folder() {
      namespace fs = std::filesystem;
      const fs::path memory = "/dev/shm";
      path =
          ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "mapsim_fuzz_XXXXXX")
              .string();
      path = mkdtemp(path.data());
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string path;
  } folder;
  return folder.path;
}

}  // namespace mapsim
