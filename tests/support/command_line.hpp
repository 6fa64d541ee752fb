// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim {

using Json = nlohmann::ordered_json;

inline const std::string kRoot = kSource;
inline const std::string kData = kRoot + "/tests/app/data";
inline const std::string kTeaching = kRoot + "/configs/arch/teaching.yaml";
inline const std::string kLayer = kRoot + "/configs/workloads/teaching/conv.yaml";

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

// The program as users start it, in a folder of its own for what it writes.
class CommandLine : public InFolder {
 protected:
  Outcome run(const std::string& arguments, const std::string& prefix = "") const {
    const int code = shell(fmt::format("{} '{}' {}", prefix, kProgram, arguments));
    Outcome result{code, file("stdout"), file("stderr")};
    std::filesystem::remove(folder() / "stdout");
    std::filesystem::remove(folder() / "stderr");
    return result;
  }
  bool is_empty() const { return std::filesystem::is_empty(folder()); }
};

}  // namespace mapsim
