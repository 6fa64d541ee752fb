// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/candidates.hpp"
#include "validate/device/cublas.hpp"
#include "validate/device/cuda.hpp"
#include "validate/device/nvml.hpp"
#include "validate/timing.hpp"

namespace mapsim {

// A GPU and what belongs to it; all but the device may be absent.
struct DeviceTools {
  const CudaDevice* device = nullptr;
  const Nvml* nvml = nullptr;
  const Cublas* cublas = nullptr;
};

// What became of a kernel on the device: a timing, or why there is none.
struct MeasuredKernel {
  std::optional<KernelTiming> timing{};
  std::string refusal;  // wrong results above all
  bool lost = false;    // it took the device's context with it: nothing after it ran
};

struct ProblemMeasurement {
  std::vector<MeasuredKernel> kernels;  // as given
  MeasuredKernel library;               // cuBLAS; neither timing nor refusal: not asked for
};

struct MeasureOptions {
  TimingProtocol protocol;
  bool library = true;      // time cuBLAS, too
  bool check_only = false;  // one launch each, for a profiler: results are checked, not timed
  // What is about to happen, for people; may be empty.
  std::function<void(const std::string&)> progress;
};

// All kernels on one problem: each is run once on whole numbers and must give the exact result;
// those that do are timed by the protocol on random numbers. `kernels` are of `problem` and not
// refused; the first that is right is the anchor. Throws DeviceError where the device fails before
// any kernel could be blamed.
ProblemMeasurement measure(const DeviceTools& tools, const KernelSpec& problem,
                           std::span<const BuiltKernel> kernels, const MeasureOptions& options);

// Keeps the device busy with `kernel`'s problem for the protocol's device_warm_up.
void warm_up(const DeviceTools& tools, const BuiltKernel& kernel, const TimingProtocol& protocol);

}  // namespace mapsim
