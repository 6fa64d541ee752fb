// SPDX-License-Identifier: Apache-2.0
#include "mapsim/gpu.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "arch/gpu_words.hpp"
#include "costmodel/gpu/library.hpp"
#include "interop/gpu_export.hpp"
#include "mapper/gpu/plain_kernels.hpp"
#include "mapsim/cuda_text.hpp"
#include "validate/measurements.hpp"

namespace mapsim {

namespace {

void refuse(const std::string& option, const std::string& word, const Words& known) {
  throw std::invalid_argument{option + ": '" + word + "' is unknown" + suggestion(word, known)};
}

GpuLayerOptions layer_options(const KernelWords& words) {
  const Words layouts{"tn", "nn", "nt", "tt", "nhwc", "nchw"};
  if (!words.precision.empty() && !precision_named(words.precision)) {
    refuse("precision", words.precision, precision_names());
  }
  if (!words.path.empty() && !path_named(words.path)) {
    refuse("path", words.path, {"wmma", "mma", "wgmma", "simt"});
  }
  if (!words.layout.empty() &&
      std::find(layouts.begin(), layouts.end(), words.layout) == layouts.end()) {
    refuse("layout", words.layout, layouts);
  }
  return {request_of(words.precision, words.layout), path_named(words.path)};
}

// The same for one layer, whose operands must have that layout.
GpuLayerOptions layer_options(const KernelWords& words, const Workload& layer) {
  GpuLayerOptions options = layer_options(words);
  if (const auto wrong = wrong_layout(words.layout, layer)) {
    throw std::invalid_argument{"layout " + *wrong};
  }
  return options;
}

}  // namespace

KernelReport rank_kernels(const Gpu& gpu, const Workload& layer, const GpuRequest& request,
                          const GpuSearchOptions& options) {
  auto forms = gemm_forms(gpu, layer, request);
  if (const auto* reason = std::get_if<std::string>(&forms)) {
    throw std::invalid_argument{*reason};
  }
  return {gpu, layer, search_kernels(gpu, std::get<0>(forms), options)};
}

KernelReport rank_kernels(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                          GpuSearchOptions options) {
  const GpuLayerOptions asked = layer_options(words, layer);
  options.path = asked.path;
  return rank_kernels(gpu, layer, asked.request, options);
}

std::string to_json(const KernelReport& report) { return kernels_json({"search", {}}, report); }

std::string to_triton(const KernelReport& report) {
  if (report.result.ranked.empty()) {
    throw std::invalid_argument{"no kernel computes this layer"};
  }
  const GemmProblem& problem = report.result.forms[report.result.ranked.front().form].problem;
  const std::vector<KernelChoice> kernels = plain_kernels(report.result);
  if (kernels.empty()) {
    throw std::invalid_argument{std::string{why_not_plain(problem)} + ": no plain GEMM"};
  }
  std::string text = triton_configs(report.gpu, problem, kernels);
  if (text.find("triton.Config(") == std::string::npos) {
    throw std::invalid_argument{
        "tl.dot takes the tensor cores: kernels without them are no Triton's"};
  }
  return text;
}

namespace {

WrittenKernels written_for(const WrittenRequest& request) {
  const auto written = written_kernels(request);
  if (const auto* reason = std::get_if<std::string>(&written)) {
    throw std::invalid_argument{request.workload.name + ": " + *reason};
  }
  return std::get<WrittenKernels>(written);
}

Epilogue epilogue_of(const EpilogueWords& words) {
  Epilogue epilogue{words.bias, words.activation == "relu", words.residual};
  epilogue.quantise = words.quantise;
  if (words.activation == "gelu") {
    epilogue.activation = Activation::kGelu;
  } else if (words.activation == "silu") {
    epilogue.activation = Activation::kSilu;
  } else if (!words.activation.empty() && !epilogue.relu) {
    refuse("activation", words.activation, {"relu", "gelu", "silu"});
  }
  return epilogue;
}

WrittenRequest written_request(const Gpu& gpu, const Workload& layer, const KernelWords& words) {
  const GpuLayerOptions asked = layer_options(words, layer);
  return {gpu, layer, asked.request, asked.path};
}

}  // namespace

std::string to_cuda(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                    const EpilogueWords& epilogue) {
  WrittenRequest request = written_request(gpu, layer, words);
  request.epilogue = epilogue_of(epilogue);
  const WrittenKernels written = written_for(request);
  return cuda_text(gpu, layer, written.best.front(), before_text(written));
}

std::string to_cuda_program(const Gpu& gpu, const Workload& layer, const KernelWords& words,
                            std::size_t top) {
  WrittenRequest request = written_request(gpu, layer, words);
  if (request.path && request.path != GpuPath::kMma && request.path != GpuPath::kWgmma) {
    throw std::invalid_argument{"path: kernels of mma and wgmma are timed, not " + words.path};
  }
  request.top = top;
  request.run_time_sizes = true;
  return cuda_program(gpu, written_for(request));
}

GpuNetworkSolution search_network(const Gpu& gpu, const Network& network, const KernelWords& words,
                                  GpuNetworkOptions options) {
  options.layer = layer_options(words);
  return {gpu, network, search_network(gpu, network, options)};
}

std::string to_json(const GpuNetworkSolution& solution) {
  return gpu_network_json({"network", {}}, solution.gpu, solution.network, solution.result);
}

std::string to_text(const GpuNetworkSolution& solution) {
  return gpu_network_text(solution.gpu, solution.network, solution.result);
}

TablePrediction predict(const Gpu& gpu, const std::string& table, GpuTableContext context,
                        const std::string& name) {
  const std::string wanted = context.gpu;
  context.gpu = wanted.empty() ? gpu.name : wanted;
  TablePrediction prediction{gpu, 0, {}, {}, {}};
  std::vector<GpuMeasurement> rows;
  if (table.starts_with("# mapsim measurements")) {
    rows = parse_measurements(table, name);
  } else {
    GpuTableImport imported = import_gpu_table(table, name, context);
    rows = std::move(imported.measurements);
    prediction.notes = std::move(imported.notes);
  }
  const bool is_of_one = std::all_of(rows.begin(), rows.end(), [&](const GpuMeasurement& row) {
    return row.gpu == rows.front().gpu;
  });
  if (!wanted.empty() || !is_of_one || rows.empty()) {
    Parsed<std::vector<GpuMeasurement>> own = rows_of_gpu(std::move(rows), context.gpu);
    if (const auto* wrong = std::get_if<std::string>(&own)) {
      throw std::invalid_argument{name + ": " + *wrong};
    }
    rows = std::get<0>(std::move(own));
  }
  prediction.rows = rows.size();
  prediction.cache = infer_cache(gpu, rows);
  prediction.predictions = predict_measurements(gpu, rows, library_kernels);
  return prediction;
}

std::string to_json(const TablePrediction& prediction) {
  return predictions_json(provenance_text({"predict", {}}), prediction.gpu, prediction.cache,
                          prediction.predictions);
}

}  // namespace mapsim
