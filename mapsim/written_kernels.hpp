// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mapper/gpu/search.hpp"
#include "validate/kernels/source.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Which of the kernels that a search ranks mapsim can write as CUDA C++, and the best ones.
// Searches and exports use the same answer.

// Why mapsim cannot write this kernel of this form; nullopt: it can. `problem`: kernel_problem() of
// the layer.
std::optional<std::string> why_not_written(const Gpu& gpu,
                                           const std::variant<KernelSpec, std::string>& problem,
                                           const GemmForm& form, const KernelChoice& kernel);

struct WrittenRequest {
  const Gpu& gpu;
  const Workload& workload;
  GpuRequest request{};
  std::optional<GpuPath> path{};  // nullopt: those that a search considers, then wmma
  Epilogue epilogue{};
  std::size_t top = 1;
  bool run_time_sizes = false;  // only kernels whose sizes are arguments (excludes the path wmma)
};

struct WrittenKernels {
  std::vector<KernelSpec> best;  // `top` at most, of different tiles, in the order of a search
  std::size_t form = 0;          // the index in gemm_forms() of the form that they compute
  Seconds time{0};               // of the first, as a search predicts it
  // The kernel that the search ranks first, if it is another one, and why it is not written.
  struct Before {
    RankedKernel ranked;
    std::string why;
  };
  std::optional<Before> before;
};

// A string says why there are none.
std::variant<WrittenKernels, std::string> written_kernels(const WrittenRequest& request);

// "mma 128x64x32 ... is predicted to be faster (5.99 us, this one 8.20 us: +37.0 %), but mapsim
// does not write it: ..."; "" where no kernel is.
std::string before_text(const WrittenKernels& written);

// "+37.0 %"
std::string more_text(Seconds time, Seconds than);

}  // namespace mapsim
