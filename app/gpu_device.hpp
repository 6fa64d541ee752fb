// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gpu_arguments.hpp"
#include "arch/gpu.hpp"
#include "validate/candidates.hpp"
#include "validate/measure.hpp"

namespace mapsim {

// The GPU of this machine with all its libraries, held against the architecture file.
struct OpenDevice {
  std::unique_ptr<CudaDevice> device;
  std::optional<Nvml> nvml;
  std::optional<Cublas> cublas;
  Compile compile;
  std::string driver;              // its version, as far as it is known
  std::string origin;              // "NVIDIA H200, NVRTC 13.0, cuBLAS 13.1.0"
  std::vector<std::string> notes;  // what is missing, and what that means

  DeviceTools tools() const {
    return {device.get(), nvml ? &*nvml : nullptr, cublas ? &*cublas : nullptr};
  }
};

// Throws UsageError, with what is missing: a driver, a GPU, NVRTC; or what differs: another
// compute capability or number of SMs than the file's.
OpenDevice open_device(const DeviceArguments& arguments, const Gpu& gpu, bool library);

}  // namespace mapsim
