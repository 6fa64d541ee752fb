// SPDX-License-Identifier: Apache-2.0
#include "app/gpu_device.hpp"

#include <fmt/format.h>

#include <variant>

#include "app/arguments.hpp"

namespace mapsim {

namespace {

void refuse_other_gpu(const DeviceInfo& info, const Gpu& gpu) {
  if (info.compute_capability != gpu.compute_capability || info.sms != gpu.sms) {
    throw UsageError(fmt::format(
        "the GPU here, {}, has compute capability {}.{} and {} SMs; {} has {}.{} and {}: take its "
        "own architecture file",
        info.name, info.compute_capability / 10, info.compute_capability % 10, info.sms, gpu.name,
        gpu.compute_capability / 10, gpu.compute_capability % 10, gpu.sms));
  }
}

Nvrtc load_compiler(const DeviceArguments& arguments) {
  Nvrtc::Options options;
  options.library = arguments.nvrtc;
  options.include = arguments.include;
  options.cache = arguments.cubins;
  options.toolkit = arguments.toolkit;
  auto loaded = Nvrtc::load(options);
  if (const auto* reason = std::get_if<std::string>(&loaded)) {
    throw UsageError(*reason);
  }
  return std::get<Nvrtc>(std::move(loaded));
}

void open_optional(const DeviceArguments& arguments, const Gpu& gpu, bool library,
                   OpenDevice& open) {
  std::string why;
  open.nvml = Nvml::open(open.device->info().bus, arguments.nvml, why);
  if (open.nvml) {
    open.driver = open.nvml->driver();
  } else {
    open.notes.push_back(
        fmt::format("no NVML, so clocks are not known and not watched; {} is "
                    "taken to run at {} MHz ({})",
                    gpu.name, gpu.clock.count() / 1e6, why));
  }
  why.clear();
  if (library) {
    open.cublas = Cublas::open(arguments.cublas, why);
    if (open.cublas) {
      open.origin += ", " + open.cublas->version();
    } else {
      open.notes.push_back(fmt::format("no cuBLAS, so no ceiling ({})", why));
    }
  }
}

}  // namespace

OpenDevice open_device(const DeviceArguments& arguments, const Gpu& gpu, bool library) {
  OpenDevice open;
  try {
    open.device = std::make_unique<CudaDevice>(arguments.cuda, static_cast<int>(arguments.ordinal));
  } catch (const DeviceError& error) {
    throw UsageError(error.what());
  }
  const DeviceInfo& info = open.device->info();
  refuse_other_gpu(info, gpu);
  if (info.l2 != gpu.l2_size) {
    open.notes.push_back(fmt::format("{} says that its L2 has {} B; {} has {}", info.name,
                                     info.l2.count(), gpu.name, gpu.l2_size.count()));
  }
  const Nvrtc compiler = load_compiler(arguments);
  const auto [major, minor] = compiler.version();
  open.driver = fmt::format("CUDA {}.{}", info.cuda_version / 1000, info.cuda_version % 1000 / 10);
  open.origin = fmt::format("mapsim validate on {}, NVRTC {}.{}", info.name, major, minor);
  open.compile = [compiler, sm = static_cast<int>(gpu.compute_capability)](
                     const KernelSource& source) { return compiler.compile(source, sm); };
  open_optional(arguments, gpu, library, open);
  return open;
}

}  // namespace mapsim
