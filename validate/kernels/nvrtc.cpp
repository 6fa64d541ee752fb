// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "core/hash.hpp"
#include "core/text_stream.hpp"

namespace mapsim {

// What is used of nvrtc.h, whose results are ints with 0 for success; unchanged since CUDA 11.2.
struct Nvrtc::Library {
  using Program = void*;
  int (*version)(int*, int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*image_size)(Program, std::size_t*) = nullptr;
  int (*image)(Program, char*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  const char* (*error)(int) = nullptr;
  void* handle = nullptr;  // open until the program ends: unloading it is not supported
  int major = 0;
  int minor = 0;
  std::filesystem::path include;
  std::filesystem::path cache;
};

namespace {

namespace fs = std::filesystem;

constexpr std::array kNames{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
constexpr const char* kMagic = "mapsim cubin 1";

std::vector<fs::path> toolkits(const Nvrtc::Options& options) {
  std::vector<fs::path> folders;
  if (!options.toolkit.empty()) {
    folders.push_back(options.toolkit);
  }
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

std::vector<std::string> libraries(const Nvrtc::Options& options) {
  if (!options.library.empty()) {
    return {options.library.string()};
  }
  std::vector<std::string> names{kNames.begin(), kNames.end()};
  for (const fs::path& folder : toolkits(options)) {
    for (const char* name : kNames) {
      names.push_back((folder / "lib64" / name).string());
    }
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

template <class F>
bool resolve(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

// The number in front of `unit`, searched from `from` on; 0: not there.
std::int64_t number_before(const std::string& text, const std::string& unit, std::size_t from) {
  const std::size_t end = text.find(unit, from);
  if (end == std::string::npos) {
    return 0;
  }
  std::size_t begin = end;
  while (begin > from && text[begin - 1] >= '0' && text[begin - 1] <= '9') {
    --begin;
  }
  return begin == end ? 0 : std::stoll(text.substr(begin, end - begin));
}

// Resources of `entry` in what `ptxas -v` says:
//   ptxas info : Function properties for mapsim_gemm
//     0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
//   ptxas info : Used 232 registers, used 1 barriers, 1024 bytes smem
void read_resources(const std::string& entry, CompiledKernel& kernel) {
  const std::size_t at = kernel.log.find("Function properties for " + entry);
  if (at == std::string::npos) {
    return;
  }
  const std::size_t used = kernel.log.find("Used ", at);
  const std::string line = used == std::string::npos
                               ? std::string{}
                               : kernel.log.substr(used, kernel.log.find('\n', used) - used);
  kernel.registers = number_before(line, " registers", 0);
  kernel.static_shared = Bytes{number_before(line, " bytes smem", 0)};
  kernel.spilled_bytes = number_before(kernel.log, " bytes spill stores", at) +
                         number_before(kernel.log, " bytes spill loads", at);
}

// A file of the cache: magic, registers, spilled bytes, static shared bytes, length of log, length
// and hash of the image; the log; the image. Nothing if it is not whole.
std::optional<CompiledKernel> read_cached(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::string line;
  if (!file || !std::getline(file, line) || line.rfind(kMagic, 0) != 0) {
    return std::nullopt;
  }
  std::istringstream numbers = stream_of(line.substr(std::string{kMagic}.size()));
  CompiledKernel kernel;
  std::int64_t shared = 0;
  std::size_t log = 0;
  std::size_t image = 0;
  std::uint64_t hash = 0;
  numbers >> kernel.registers >> kernel.spilled_bytes >> shared >> log >> image >> hash;
  const std::string rest{std::istreambuf_iterator<char>{file}, {}};
  if (!numbers || rest.size() != log + image || fnv1a(rest) != hash) {
    return std::nullopt;
  }
  kernel.static_shared = Bytes{shared};
  kernel.log = rest.substr(0, log);
  kernel.image = rest.substr(log);
  kernel.from_cache = true;
  return kernel;
}

// Under another name first: whoever reads sees a whole file or none.
std::optional<std::string> write_cached(const fs::path& path, const CompiledKernel& kernel) {
  static std::atomic<int> number{0};  // several threads of one process
  fs::path other = path;
  other += fmt::format(".{}.{}", getpid(), number++);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  {
    std::ofstream file{other, std::ios::binary};
    const std::string rest = kernel.log + kernel.image;
    file << fmt::format("{} {} {} {} {} {} {}\n", kMagic, kernel.registers, kernel.spilled_bytes,
                        kernel.static_shared.count(), kernel.log.size(), kernel.image.size(),
                        fnv1a(rest))
         << rest;
    if (!file.flush()) {
      return fmt::format("{}: cannot write the compiled kernel", other.string());
    }
  }
  fs::rename(other, path, error);
  return error ? std::optional{fmt::format("{}: {}", path.string(), error.message())}
               : std::nullopt;
}

}  // namespace

std::variant<Nvrtc, std::string> Nvrtc::load(const Options& options) {
  auto library = std::make_shared<Library>();
  const std::vector<std::string> names = libraries(options);
  for (const std::string& name : names) {
    library->handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library->handle != nullptr) {
      break;
    }
  }
  if (library->handle == nullptr) {
    return "no NVRTC, CUDA's run-time compiler: looked for " + joined(names);
  }
  void* handle = library->handle;
  if (!resolve(handle, "nvrtcVersion", library->version) ||
      !resolve(handle, "nvrtcCreateProgram", library->create) ||
      !resolve(handle, "nvrtcCompileProgram", library->compile) ||
      !resolve(handle, "nvrtcGetCUBINSize", library->image_size) ||
      !resolve(handle, "nvrtcGetCUBIN", library->image) ||
      !resolve(handle, "nvrtcGetProgramLogSize", library->log_size) ||
      !resolve(handle, "nvrtcGetProgramLog", library->log) ||
      !resolve(handle, "nvrtcDestroyProgram", library->destroy) ||
      !resolve(handle, "nvrtcGetErrorString", library->error) ||
      library->version(&library->major, &library->minor) != 0) {
    return std::string{"this NVRTC lacks functions of 11.2, the oldest that makes cubins"};
  }
  std::vector<std::string> looked;
  std::vector<fs::path> folders{options.include};
  if (options.include.empty()) {
    folders.clear();
    for (const fs::path& folder : toolkits(options)) {
      folders.push_back(folder / "include");
    }
  }
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (library->include.empty() && fs::exists(folder / "mma.h", error)) {
      library->include = folder;
    }
    looked.push_back(folder.string());
  }
  if (library->include.empty()) {
    return "NVRTC is there, but not CUDA's header mma.h: looked in " + joined(looked) +
           "; set CUDA_HOME";
  }
  library->cache = options.cache;
  return Nvrtc{std::move(library)};
}

std::pair<int, int> Nvrtc::version() const { return {library_->major, library_->minor}; }

std::variant<CompiledKernel, std::string> Nvrtc::compile(const KernelSource& source, int sm) const {
  const Library& library = *library_;
  const std::string include = "-I" + library.include.string();
  const std::string target =
      fmt::format("--gpu-architecture=sm_{}{}", sm, source.is_for_one_chip ? "a" : "");
  const std::array options{target.c_str(), include.c_str(), "--std=c++17", "--ptxas-options=-v"};
  std::string key = fmt::format("{}.{}", library.major, library.minor);
  for (const char* option : options) {
    key += std::string{"\n"} + option;
  }
  key += "\n" + source.entry + "\n" + source.text;
  const fs::path path =
      library.cache.empty()
          ? fs::path{}
          : library.cache / fmt::format("{}-sm_{}-{:016x}.cubin", source.entry, sm, fnv1a(key));
  if (!path.empty()) {
    if (auto cached = read_cached(path)) {
      return *std::move(cached);
    }
  }
  Library::Program program = nullptr;
  if (const int error =
          library.create(&program, source.text.c_str(), "kernel.cu", 0, nullptr, nullptr)) {
    return std::string{library.error(error)};
  }
  const int error = library.compile(program, static_cast<int>(options.size()), options.data());
  CompiledKernel kernel;
  std::size_t size = 0;
  if (library.log_size(program, &size) == 0 && size > 1) {
    kernel.log.resize(size);
    library.log(program, kernel.log.data());
    kernel.log.pop_back();  // the final zero
  }
  size = 0;
  if (error == 0 && library.image_size(program, &size) == 0) {
    kernel.image.resize(size);
    library.image(program, kernel.image.data());
  }
  library.destroy(&program);
  if (error != 0 || kernel.image.empty()) {
    return fmt::format("{}\n{}", library.error(error), kernel.log);
  }
  read_resources(source.entry, kernel);
  if (!path.empty()) {
    kernel.cache_problem = write_cached(path, kernel).value_or("");
  }
  return kernel;
}

}  // namespace mapsim
