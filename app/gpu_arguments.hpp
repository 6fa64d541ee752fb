// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/layer_arguments.hpp"
#include "app/output.hpp"
#include "core/units.hpp"

namespace mapsim {

// Of a search of kernels, on a GPU; what is empty was not given.
struct KernelListArguments {
  std::optional<std::int64_t> top;  // how many to print
  std::string precision, path;      // by their to_string()
  std::string layout, format;       // format: of --export
};

// mapsim eval on a GPU: one kernel, beside what a file says of it.
struct OneKernelArguments {
  std::string precision, path, layout;  // by their to_string()
  std::string block, warp, fragment;    // 128x128x32, 64x64, 16x16x16
  std::optional<std::int64_t> stages, split_k, raster, padding, cluster, registers;
};

// mapsim calibrate.
struct CalibrateArguments {
  std::string measurements;
  std::string arch;
  std::string gpu;         // whose rows; empty: the architecture's name
  std::string calibrated;  // the architecture with its calibration goes here, unless empty
  std::int64_t folds = 5;
  std::int64_t fit_rows = 1500;
  std::int64_t seed = 1;
  Output output;
};

// mapsim predict.
struct PredictArguments {
  std::string table;
  std::string arch;
  std::string gpu;                        // whose rows; empty: the architecture's name
  std::string precision, problem, cache;  // what the table does not say itself; empty: it does
  Output output;
};

// mapsim validate and mapsim microbench: where the GPU and its libraries are. Empty: by the rules
// of the loader, and where toolkits lie.
struct DeviceArguments {
  std::string cuda, nvml, cublas, nvrtc;  // from MAPSIM_CUDA_LIBRARY, MAPSIM_NVML_LIBRARY, ...
  std::string include;                    // CUDA's headers: MAPSIM_CUDA_INCLUDE
  std::string toolkit;                    // a CUDA toolkit: CUDA_HOME, as for NVIDIA's tools
  std::string cubins;                     // folder of compiled kernels; empty: none are kept
  std::int64_t ordinal = 0;
};

struct ValidateArguments {
  std::string arch;
  std::vector<std::string> workloads;
  InlineLayer layer;
  std::string device = "cuda";    // or replay=FILE
  std::string precision, layout;  // as of KernelListArguments
  std::string path;               // wmma, mma or wgmma; empty: wmma, or all that a file has
  std::int64_t top = 16;
  std::int64_t sample = 16;
  std::int64_t seed = 1;
  std::int64_t rounds = 9;
  Seconds per_kernel{0.1};
  Seconds warm_up{20};
  std::optional<Seconds> budget{};
  bool cold = false;
  bool once = false;         // results only, one launch each
  bool no_library = false;   // without cuBLAS
  std::string measurements;  // rows are added to this file
  std::string report;        // .html or text
  std::string svg;
  std::string counters;  // of ncu --csv
  int threads = 1;       // that compile
  DeviceArguments tools;
  Output output;
};

// mapsim export: a mapping, or a kernel.
struct ExportArguments {
  std::string format = "timeloop";      // or cuda
  std::string arch, workload, mapping;  // cuda: kernels; empty: the best
  InlineLayer layer;
  // Of a kernel.
  std::string precision, layout;
  std::string path;         // wmma, mma or wgmma; empty: the file's, or the fastest with a text
  std::int64_t kernel = 1;  // which of the file's
  bool bias = false;
  bool relu = false;
  bool gelu = false;
  bool silu = false;
  bool residual = false;
  bool quantise = false;
  Output output;
};

struct MicrobenchArguments {
  std::string arch;
  DeviceArguments tools;
  Output output;
};

}  // namespace mapsim
