// SPDX-License-Identifier: Apache-2.0
#pragma once
// Of mapsim/mapsim.hpp the part about GPUs. What that header says of lifetimes, errors and threads
// holds here as well.
#include <cstddef>
#include <string>
#include <vector>

#include "campaign/gpu_network.hpp"
#include "costmodel/gpu/request.hpp"
#include "interop/gpu_table.hpp"
#include "report/gpu.hpp"
#include "validate/predictions.hpp"

namespace mapsim {

// Which kernels, in the words of `mapsim search GPU`; empty: the usual ones.
struct KernelWords {
  std::string precision;  // "f16", "bf16", "tf32", "s8", ...
  std::string path;       // "mma", "wmma", "wgmma", "simt"
  std::string layout;     // of a GEMM "tn", "nn", "nt", "tt"; of a convolution "nhwc", "nchw"
};

// Tensor-core kernels of a layer, the fastest first. Throws std::invalid_argument where the chip
// has none for it, and for unknown words.
KernelReport rank_kernels(const Gpu& gpu, const Workload& layer, const GpuRequest& request = {},
                          const GpuSearchOptions& options = {});
KernelReport rank_kernels(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                          GpuSearchOptions options = {});
std::string to_json(const KernelReport& report);
// The ranked kernels as Python, a list of triton.Config (interop/gpu_export.hpp). Throws
// std::invalid_argument where Triton has none of them, and for implicit GEMMs.
std::string to_triton(const KernelReport& report);

// What a kernel does with its sums before it writes them: adds a bias, a residual; applies
// "relu", "gelu" or "silu"; rounds to 8 bits.
struct EpilogueWords {
  bool bias = false, residual = false, quantise = false;
  std::string activation{};  // empty: none
};
// The best kernel that mapsim writes as CUDA C++, with what it takes to launch it. Throws
// std::invalid_argument where there is none, and for unknown words.
std::string to_cuda(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                    const EpilogueWords& epilogue = {});
// The `top` best of different tiles in a program that checks and times them; nvcc builds it alone.
// Of the paths mma and wgmma. Throws std::invalid_argument as to_cuda() does.
std::string to_cuda_program(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                            std::size_t top = 5);

// A network, each distinct layer by its fastest kernel.
struct GpuNetworkSolution {
  Gpu gpu;
  Network network;
  GpuNetworkResult result;
};
GpuNetworkSolution search_network(const Gpu& gpu, const Network& network, const KernelWords& words,
                                  GpuNetworkOptions options = {});
std::string to_json(const GpuNetworkSolution& solution);
std::string to_text(const GpuNetworkSolution& solution);

// Predicted times beside the measured ones of a table; nothing is fitted.
struct TablePrediction {
  Gpu gpu;
  std::size_t rows = 0;  // of this GPU
  CacheEvidence cache;
  MeasuredPredictions predictions;  // without groups: no row can be predicted
  std::vector<std::string> notes;   // what was left out of the table, or assumed
};
// `table`: the text of a measurements file, or of a table of others (interop/gpu_table.hpp). A name
// in `context.gpu` picks the rows; without one a table of a single GPU is taken whole. Throws
// std::invalid_argument where there are no rows of it.
TablePrediction predict(const Gpu& gpu, const std::string& table, GpuTableContext context,
                        const std::string& name = "table");
std::string to_json(const TablePrediction& prediction);

}  // namespace mapsim
