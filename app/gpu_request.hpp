// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/arguments.hpp"
#include "costmodel/gpu/request.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Of --precision and --layout; empty: not given.
GpuRequest request_of(const KernelListArguments& arguments);
std::optional<GpuPath> path_of(const KernelListArguments& arguments);

// Throws UsageError for a layout that says nothing of this layer.
void refuse_layout(const std::string& layout, const Workload& workload);

// Options that do not apply, each with whether it was given.
using GivenOptions = std::vector<std::pair<bool, const char*>>;
// Throws UsageError for the first option that is given: "--top: only for a GPU".
void refuse(const GivenOptions& given, const char* why);
// Options of kernels, on a machine that has none.
void refuse_kernel_options(const KernelListArguments& arguments);
void refuse_kernel_options(const OneKernelArguments& arguments);
// Throws UsageError for the first of the options that are for mapspaces only: by `given` those of
// one command, and what all commands that search have. Threads, seeds and budgets are taken:
// kernels need none.
void refuse_mapspace_options(GivenOptions given, const ObjectiveArguments& objective,
                             const std::string& strategy);

// gemm_forms(); throws UsageError where there is none.
std::vector<GemmForm> forms_of(const Gpu& gpu, const Workload& workload, const GpuRequest& request);

}  // namespace mapsim
