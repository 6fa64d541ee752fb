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
  std::string detail;   // which of the library's ways it is, or, where lost, was
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
  std::string flush;        // the cubin of flush_source(), where the protocol is cold
  // What is about to happen, for people; may be empty.
  std::function<void(const std::string&)> progress;
  std::string library_label;  // begins the labels of the library's ways: "... cuBLASLt 2 of 8"
  // Called with the label of a kernel or of one of the library's ways before it runs for the first
  // time (true) and when it has ended (false); may be empty. Who is called with true alone knows
  // what never ended.
  std::function<void(const std::string&, bool)> attempt;
  // Whether one of the library's ways, by its label, must not run; may be empty: all may.
  std::function<bool(const std::string&)> barred;
};

// All kernels on one problem: each is run once on whole numbers and must give the exact result, and
// on random numbers the result within what rounding allows (RoundedCheck); those that do are timed
// by the protocol on random numbers. `kernels` are of `problem` and not refused; the first that is
// right is the anchor. Throws DeviceError where the device fails before any kernel could be blamed.
ProblemMeasurement measure(const DeviceTools& tools, const KernelSpec& problem,
                           std::span<const BuiltKernel> kernels, const MeasureOptions& options);

}  // namespace mapsim
