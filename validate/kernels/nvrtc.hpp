// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/bytes.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

// The result of a compilation.
struct CompiledKernel {
  std::string image;               // a cubin, for cuModuleLoadData
  std::int64_t registers = 0;      // per thread, of the entry
  std::int64_t spilled_bytes = 0;  // per thread, stores and loads
  Bytes static_shared{0};
  std::string log;              // of the compiler
  bool from_cache = false;      // nothing was compiled
  std::string cache_problem{};  // why it is not in the cache; empty: it is, or there is no cache
};

// NVRTC, the CUDA run-time compiler, loaded by dlopen: the program builds and runs without it.
class Nvrtc {
 public:
  // Where to look; empty: libnvrtc.so.13, .12, .11.2 and libnvrtc.so by the loader's rules, then in
  // lib64 of `toolkit` and of /usr/local/cuda; headers in include of these two.
  struct Options {
    std::filesystem::path library{};
    std::filesystem::path include{};  // the folder of mma.h
    std::filesystem::path cache{};    // of cubins; empty: none
    std::filesystem::path toolkit{};  // a CUDA toolkit, such as $CUDA_HOME; empty: none
  };
  // The text: why there is none, and the places where it was looked for.
  static std::variant<Nvrtc, std::string> load(const Options& options);

  std::pair<int, int> version() const;
  // Compiles for sm_`sm` (80: 8.0). The text: the compiler's errors. The key of a cached cubin is a
  // 64-bit hash of text, options, version and architecture; files are written under another name
  // and renamed. Thread-safe.
  std::variant<CompiledKernel, std::string> compile(const KernelSource& source, int sm) const;

 private:
  struct Library;
  explicit Nvrtc(std::shared_ptr<const Library> library) : library_{std::move(library)} {}
  std::shared_ptr<const Library> library_;  // shared: copies use the same open library
};

}  // namespace mapsim
