// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mapsim {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// A test with a folder of its own, which goes when it ends.
class InFolder : public ::testing::Test {
 protected:
  InFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mapsim_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~InFolder() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::string file(const std::string& name) const { return contents(folder_ / name); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
  }
  // The exit status of a shell's command in that folder; its streams go to the files `stdout` and
  // `stderr`.
  int shell(const std::string& command) const {
    const std::string whole = "cd '" + folder_.string() + "' && " + command + " >stdout 2>stderr";
    return WEXITSTATUS(std::system(whole.c_str()));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace mapsim
