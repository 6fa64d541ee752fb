// SPDX-License-Identifier: Apache-2.0
// GPUs: kernels of layers and networks, predictions beside a table of measured times.
#include <optional>
#include <tuple>
#include <utility>

#include "arch/gpu_words.hpp"
#include "python/bind.hpp"

namespace py = pybind11;

namespace mapsim {

namespace {

KernelWords words_of(const py::dict& asked) {
  const auto text = [&asked](const char* key) { return asked[key].cast<std::string>(); };
  return {text("precision"), text("path"), text("layout")};
}

// Kernels for other programs.
void bind_kernel_texts(py::module_& m) {
  m.def("triton",
        [](const ArchFile& file, const Workload& layer, std::size_t top, const py::dict& asked) {
          const Gpu gpu = file.gpu();
          const KernelWords words = words_of(asked);
          return interruptible([&](const std::atomic<bool>& stop) {
            return to_triton(rank_kernels(gpu, layer, words, {.top = top, .stop = &stop}));
          });
        });
  m.def("cuda", [](const ArchFile& file, const Workload& layer, const py::dict& asked, bool bias,
                   bool residual, bool quantise, const std::string& activation) {
    const Gpu gpu = file.gpu();
    const KernelWords words = words_of(asked);
    return interruptible([&](const std::atomic<bool>&) {
      return to_cuda(gpu, layer, words, {bias, residual, quantise, activation});
    });
  });
  m.def("cuda_program",
        [](const ArchFile& file, const Workload& layer, const py::dict& asked, std::size_t top) {
          const Gpu gpu = file.gpu();
          const KernelWords words = words_of(asked);
          return interruptible(
              [&](const std::atomic<bool>&) { return to_cuda_program(gpu, layer, words, top); });
        });
}

}  // namespace

void bind_gpus(py::module_& m) {
  bind_kernel_texts(m);
  m.def("kernels", [](const ArchFile& file, const Workload& layer, std::size_t top,
                      const py::dict& asked) {
    const Gpu gpu = file.gpu();
    const KernelWords words = words_of(asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      const KernelReport report = rank_kernels(gpu, layer, words, {.top = top, .stop = &stop});
      return std::pair{to_json(report), kernels_text(report)};
    });
  });
  m.def("gpu_network", [](const ArchFile& file, const std::string& path, const py::dict& asked,
                          const std::map<std::string, std::int64_t>& dims, std::int64_t batch,
                          const Words& configs) {
    const Gpu gpu = file.gpu();
    const KernelWords words = words_of(asked);
    return interruptible([&](const std::atomic<bool>& stop) {
      GpuNetworkOptions options;
      options.stop = &stop;
      const GpuNetworkSolution solution = search_network(
          gpu, read_network(path, model_options(dims, batch), configs), words, options);
      return std::pair{to_json(solution), to_text(solution)};
    });
  });
  // `problem`: M, N and K, or nothing.
  m.def("predict", [](const ArchFile& file, const std::string& table, const std::string& name,
                      const py::dict& asked, const std::vector<std::int64_t>& problem) {
    const Gpu gpu = file.gpu();
    const auto text = [&asked](const char* key) { return asked[key].cast<std::string>(); };
    const auto precision = precision_named(text("precision"));
    if (!precision && !text("precision").empty()) {
      throw std::invalid_argument{"precision: '" + text("precision") + "' is unknown"};
    }
    GpuTableContext context{text("gpu"), precision, std::nullopt, name};
    if (problem.size() == 3) {
      context.problem = {problem[0], problem[1], problem[2]};
    }
    if (!text("cache").empty()) {
      context.hot = text("cache") == "hot";
    }
    return interruptible([&](const std::atomic<bool>&) {
      const TablePrediction prediction = predict(gpu, table, context, name);
      return std::tuple{to_json(prediction), prediction.rows, prediction.notes};
    });
  });
}

}  // namespace mapsim
