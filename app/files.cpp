// SPDX-License-Identifier: Apache-2.0
#include "app/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "app/arguments.hpp"
#include "core/hash.hpp"
#include "workloads/inline_layer.hpp"
#include "workloads/masks.hpp"

namespace mapsim {

namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw UsageError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
}

// A device or a pipe cannot be replaced by a rename; it is written in place.
bool is_special(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

// Where symbolic links lead, be it there or not.
struct Target {
  std::string file;
  std::optional<int> descriptor;  // an open file of this process, as of /dev/stdout
};

Target behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as of the kernel
  std::filesystem::path file{path};
  std::error_code error;
  const std::filesystem::path open_files = std::filesystem::canonical("/proc/self/fd", error);
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(file, error); ++i) {
    if (!open_files.empty() &&
        std::filesystem::canonical(file.parent_path(), error) == open_files) {
      return {path, std::atoi(file.filename().c_str())};
    }
    file = file.parent_path() / std::filesystem::read_symlink(file, error);
  }
  return {file.string(), {}};
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_{behind_links(path).file} {
  if (path.empty()) {
    return;
  }
  if (path == "-") {
    throw UsageError(
        "'-' names no file (./- does); what a command prints goes to standard output without -o");
  }
  // What is open already goes on where it is: a link to it stays, and what it names is written.
  if (const auto open_file = behind_links(path).descriptor; open_file || is_special(path)) {
    descriptor_ = open_file ? fcntl(*open_file, F_DUPFD_CLOEXEC, 0)
                            : open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      refuse(path);
    }
    return;
  }
  open_beside();  // can it be written?
  drop();
}

void OutputFile::open_beside() {
  temporary_ = fmt::format("{}.{}.tmp", path_, getpid());
  whole_.emplace();
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    temporary_.clear();
    whole_.reset();
    refuse(path_);
  }
}

void OutputFile::drop() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    descriptor_ = -1;
  }
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    temporary_.clear();
  }
  whole_.reset();
}

void OutputFile::remove() const {
  if (!path_.empty() && !is_special(path_) && !behind_links(path_).descriptor) {
    unlink(path_.c_str());
  }
}

OutputFile::~OutputFile() { drop(); }

void OutputFile::write(const std::string& text) {
  append(text);
  finish();
}

void OutputFile::append(std::string_view text) {
  if (path_.empty()) {
    return;
  }
  if (descriptor_ < 0) {
    open_beside();
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      refuse(path_);
    }
    done += count < 0 ? 0 : static_cast<std::size_t>(count);
  }
}

void OutputFile::finish() {
  if (path_.empty()) {
    return;
  }
  const bool closed = close(descriptor_) == 0;
  descriptor_ = -1;
  if (!closed) {
    refuse(path_);
  }
  if (!temporary_.empty()) {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
      refuse(path_);
    }
    temporary_.clear();
    whole_.reset();
  }
}

void refuse_same_file(const std::string& output, const std::string& other) {
  if (output.empty() || other.empty()) {
    return;
  }
  struct stat a{};
  struct stat b{};
  const bool same = stat(output.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 &&
                    S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  // Of what is not there yet, the paths tell.
  const auto path = [](const std::string& file) {
    return std::filesystem::absolute(behind_links(file).file).lexically_normal();
  };
  if (same || path(output) == path(other)) {
    throw UsageError(
        fmt::format("'{}' would be written over '{}'; name another file", output, other));
  }
}

void refuse_terminal(const std::string& file, const std::string& what) {
  if (file.empty() && isatty(STDOUT_FILENO) != 0) {
    throw UsageError(what + ", which no terminal shows; write it to a file with -o FILE");
  }
}

std::string read_text(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file) {
    throw UsageError(fmt::format("cannot read '{}'", path));
  }
  return text;
}

InputFile input_file(const std::string& role, const std::string& path) {
  if (is_inline_layer(path)) {
    return {role, path, fnv1a(path)};
  }
  std::ifstream file{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  return {role, path, fnv1a(bytes)};
}

std::vector<InputFile> input_files(const std::string& role, const std::vector<std::string>& paths) {
  std::vector<InputFile> files;
  for (const std::string& path : paths) {
    files.push_back(
        input_file(files.empty() ? role : fmt::format("{} {}", role, files.size() + 1), path));
  }
  return files;
}

std::vector<InputFile> input_files(const std::string& arch_path, const Arch& arch,
                                   const std::string& workload_path) {
  std::vector<InputFile> files{input_file("arch", arch_path)};
  for (const auto& [role, table] : {std::pair{"ert", arch.ert_file}, {"art", arch.art_file}}) {
    if (!table.empty()) {
      files.push_back(input_file(role, table));
    }
  }
  files.push_back(input_file("workload", workload_path));
  return files;
}

std::vector<InputFile> input_files(const std::string& arch_path, const Problem& problem,
                                   const std::string& workload_path) {
  std::vector<InputFile> files = input_files(arch_path, problem.arch(), workload_path);
  add_masks(problem.workload(), "", files);
  return files;
}

void add_masks(const Workload& workload, const std::string& layer, std::vector<InputFile>& files) {
  for (const MaskFile& mask : masks_of(workload)) {
    files.push_back(input_file("mask " + layer + mask.tensor, mask.path));
  }
}

}  // namespace mapsim
