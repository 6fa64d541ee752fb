// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of mapsim/mapsim.hpp about GPUs. The rules of that header about lifetimes, errors and
// threads hold here, too.
#include <cstddef>
#include <string>
#include <vector>

#include "campaign/gpu_network.hpp"
#include "costmodel/gpu/request.hpp"
#include "interop/gpu_table.hpp"
#include "report/gpu.hpp"
#include "validate/predictions.hpp"

namespace mapsim {

// A choice of kernels, in the words of `mapsim search GPU`; empty: the default.
struct KernelWords {
  std::string precision;  // "f16", "bf16", "tf32", "s8", ...
  std::string path;       // "mma", "wmma", "wgmma", "simt"
  std::string layout;     // of a GEMM "tn", "nn", "nt", "tt"; of a convolution "nhwc", "nchw"
};

// Tensor-core kernels of a layer, the fastest first. Throws std::invalid_argument if the chip has
// none for it, and for unknown words.
KernelReport rank_kernels(const Gpu& gpu, const Workload& layer, const GpuRequest& request = {},
                          const GpuSearchOptions& options = {});
KernelReport rank_kernels(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                          GpuSearchOptions options = {});
std::string to_json(const KernelReport& report);
// The ranked kernels as Python, a list of triton.Config (interop/gpu_export.hpp). Throws
// std::invalid_argument if Triton has none of them, and for implicit GEMMs.
std::string to_triton(const KernelReport& report);

// The epilogue, applied to sums before they are written: add a bias or a residual, apply "relu",
// "gelu" or "silu", round to 8 bits.
struct EpilogueWords {
  bool bias = false, residual = false, quantise = false;
  std::string activation{};  // empty: none
};
// The best kernel that mapsim can write as CUDA C++, with its launch parameters as comments. Throws
// std::invalid_argument if there is none, and for unknown words.
std::string to_cuda(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                    const EpilogueWords& epilogue = {});
// A program that checks and times the `top` best kernels with different tiles, of the paths mma and
// wgmma; nvcc alone builds it. Throws std::invalid_argument as to_cuda() does.
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

// Predicted times compared with a table of measured ones; nothing is fitted.
struct TablePrediction {
  Gpu gpu;
  std::size_t rows = 0;  // of this GPU
  CacheEvidence cache;
  MeasuredPredictions predictions;  // without groups: no row can be predicted
  std::vector<std::string> notes;   // rows left out of the table, and assumptions
};
// `table`: the text of a measurements file, or of a table of others (interop/gpu_table.hpp). A name
// in `context.gpu` picks the rows; without one, all rows are taken if they are of one GPU. Throws
// std::invalid_argument if no row is left.
TablePrediction predict(const Gpu& gpu, const std::string& table, GpuTableContext context,
                        const std::string& name = "table");
std::string to_json(const TablePrediction& prediction);

}  // namespace mapsim
