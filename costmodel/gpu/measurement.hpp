// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/units.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// The time of one kernel on a real GPU. Unknown members are empty, absent or zero.
struct GpuMeasurement {
  std::string gpu;  // the name of its architecture file's `gpu: name`
  std::string driver;
  Hertz clock{0};  // of the SMs while it ran
  Hertz memory_clock{0};
  GemmProblem problem;
  std::optional<KernelChoice> kernel;  // absent: a library chose it, and did not say which
  Bytes shared{0};                     // of the kernel, per block
  Seconds median{0};                   // the time; above zero
  Seconds first_quartile{0};
  Seconds third_quartile{0};
  std::int64_t runs = 0;  // that the quartiles are of
  std::string origin;     // who measured which kernel, in words
  Seconds least{0};
  bool naive = false;       // one warp per fragment, operands straight from memory: the floor that
                            // kernels are held against; `kernel` has its fragment only
  bool cold = false;        // the L2 cache held something else before each run
  bool hot = false;         // it held what the last run of the same kernel left
  std::string convolution;  // whose implicit GEMM `problem` is, in words; empty: none
  std::string throttle;     // what held the clock down, in words
  double watts = 0;         // of the board
  bool host_bound = false;  // the host took longer to launch it than it to run: these are its times
  friend bool operator==(const GpuMeasurement&, const GpuMeasurement&) = default;
};

}  // namespace mapsim
