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

// A GPU and its libraries; all except the device may be absent.
struct DeviceTools {
  const CudaDevice* device = nullptr;
  const Nvml* nvml = nullptr;
  const Cublas* cublas = nullptr;
};

// The outcome of a kernel on the device: a timing, or why there is none.
struct MeasuredKernel {
  std::optional<KernelTiming> timing{};
  std::string refusal;  // why there is no timing, for example wrong results
  std::string detail;   // of a library: the algorithm
  bool lost = false;    // it made the device's context unusable, so that nothing after it ran
};

// The outcome of all kernels of a problem.
struct ProblemMeasurement {
  std::vector<MeasuredKernel> kernels;  // as given
  MeasuredKernel library;               // cuBLAS; neither timing nor refusal: it was not run
};

// What measure() runs, and whom it tells.
struct MeasureOptions {
  TimingProtocol protocol;
  bool library = true;      // time cuBLAS, too
  bool check_only = false;  // one launch each, for a profiler: results are checked, not timed
  std::string flush;        // the cubin of flush_source(), if the protocol is cold
  // Called with the next step, for people; may be empty.
  std::function<void(const std::string&)> progress;
  std::string library_label;  // begins the labels of the library's algorithms
  // Called with the label of a kernel or of a library's algorithm before its first run (true) and
  // after it (false); may be empty. A run that never ended has the first call only.
  std::function<void(const std::string&, bool)> attempt;
  // Whether a library's algorithm, by its label, must not run; empty: all may.
  std::function<bool(const std::string&)> barred;
};

// Checks and times all kernels of a problem. A kernel must compute the exact result of whole
// numbers, and that of random numbers within what rounding allows (RoundedCheck). Those that do are
// timed by the protocol on random numbers; the first of them is the anchor. `kernels` are of
// `problem`, and none is refused. Throws DeviceError if the device fails before a kernel could be
// the cause.
ProblemMeasurement measure(const DeviceTools& tools, const KernelSpec& problem,
                           std::span<const BuiltKernel> kernels, const MeasureOptions& options);

}  // namespace mapsim
