// SPDX-License-Identifier: Apache-2.0
#include "interop/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/diagnostic.hpp"

namespace mapsim {

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  int problem = file < 0 || fstat(file, &status) != 0 ? errno : 0;
  if (problem == 0 && !S_ISREG(status.st_mode)) {
    problem = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  }
  if (problem == 0 && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    problem = data_ == MAP_FAILED ? errno : 0;
  }
  if (file >= 0) {
    close(file);
  }
  if (problem != 0) {
    throw ConfigError({Diagnostic{path, 0, 0, "",
                                  fmt::format("cannot be read: {}", std::strerror(problem)), ""}});
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
}

}  // namespace mapsim
