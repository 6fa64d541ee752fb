// SPDX-License-Identifier: Apache-2.0
#include "app/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "arch/gpu_words.hpp"
#include "core/diagnostic.hpp"
#include "mapper/objective.hpp"

namespace mapsim {

Options joined(std::initializer_list<Options> parts) {
  Options all;
  for (const Options& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Option arch_argument(std::string& arch, const std::string& help) {
  return input(required({"ARCH", "", help, &arch}), FileKind::kArch);
}

Options input_arguments(std::string& arch, std::string& workload) {
  return {
      arch_argument(arch),
      input(required({"WORKLOAD", "", "Workload (YAML, or the name of a shipped one)", &workload}),
            FileKind::kWorkload)};
}

Options layer_arguments(std::string& arch, std::string& workload) {
  Options arguments = input_arguments(arch, workload);
  arguments.back().required = false;
  return arguments;
}

Options layer_options(InlineLayer& layer) {
  return {{.names = "--gemm",
           .type = "MxNxK",
           .help = "In place of WORKLOAD: a matrix product, 4096x4096x4096; BxMxNxK: B of them",
           .value = &layer.gemm,
           .excludes = {"--conv", "--einsum"}},
          {.names = "--conv",
           .type = "C,H,W,K,R,S",
           .help = "In place of WORKLOAD: a convolution, 64,56,56,64,3,3: input channels and size, "
                   "output channels, kernel; then stride=2, padding=same, dilation, groups, batch",
           .value = &layer.conv,
           .excludes = {"--einsum"}},
          {.names = "--einsum",
           .type = "EQUATION",
           .help = "In place of WORKLOAD: 'O[m][n] += A[m][k] * B[k][n]'",
           .value = &layer.einsum,
           .needs = {"--dims"}},
          {.names = "--dims",
           .type = "NAME=N,...",
           .help = "The extents of its dims: m=64,n=64,k=32",
           .value = &layer.dims,
           .needs = {"--einsum"}}};
}

void take_layer(const InlineLayer& layer, std::string& workload, std::string* mapping) {
  const auto [option, text] =
      !layer.gemm.empty()   ? std::pair{"--gemm", "gemm:" + layer.gemm}
      : !layer.conv.empty() ? std::pair{"--conv", "conv:" + layer.conv}
                            : std::pair{"--einsum", "einsum:" + layer.einsum + "; " + layer.dims};
  const bool given = !(layer.gemm + layer.conv + layer.einsum).empty();
  if (!given && workload.empty()) {
    throw UsageError(
        "WORKLOAD is required: a file, a name (mapsim list), --gemm, --conv or --einsum");
  }
  if (!given) {
    return;
  }
  if (!workload.empty() && (mapping == nullptr || !mapping->empty())) {
    throw UsageError(fmt::format("'{}': the layer is given by {} already", workload, option));
  }
  if (mapping != nullptr) {
    *mapping = workload;
  }
  workload = text;
}

Option out_option(std::string& file) {
  return {"-o,--out", "FILE", "Write to FILE, whole or not at all", &file};
}

Options output_options(Output& output) {
  return {{"--json", "", "JSON for programs instead of text", &output.json},
          out_option(output.file)};
}

Option threads_option(int& threads) {
  constexpr int kMaxThreads = 1024;
  threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return {"--threads", "N", "Threads; the answer does not depend on it [all]",
          whole(threads, 1, kMaxThreads)};
}

Option constraints_option(std::string& file) {
  return input({"--constraints", "FILE", "What mappings must look like (YAML)", &file},
               FileKind::kConstraints);
}

Options objective_options(ObjectiveArguments& a) {
  const auto take = [&a](const Objective& parsed) {
    a.chosen = true;
    a.objective.function = parsed.function;
    a.objective.exact_ties = parsed.exact_ties;
  };
  const auto take_mode = [&a](const std::string& word) {
    a.objective.mode = word == "ramped" ? LatencyMode::kRamped : LatencyMode::kSteady;
  };
  return {{"--objective", "FORMULA",
           "energy (default), latency, edp, a product like 'energy^2*latency', a sum like "
           "'energy + 12.5*latency' (pJ per cycle), or 'energy,latency': minimise energy, break "
           "ties by latency; 'latency,energy'",
           reads(parse_objective, take)},
          {"--latency", "NAME",
           "Which latency counts: steady (default), or ramped, with first fills and last drains",
           Choice{take_mode, {"steady", "ramped"}}},
          {"--max-energy", "ENERGY", "Only mappings that need at most this: 800 uJ",
           reads(parse_energy, [&a](Picojoules energy) { a.objective.max_energy = energy; })},
          {"--max-latency", "TIME", "Only mappings that take at most this: 1.2e6 cycles, 6 ms",
           Read{[&a](const std::string& text) {
             a.max_latency = text;  // the clock is not known yet
             return taken(parse_duration(text, Hertz{1e9}), [](Cycles) {});
           }}}};
}

Objective complete(const ObjectiveArguments& arguments, Hertz clock) {
  Objective objective = arguments.objective;
  if (!arguments.max_latency.empty()) {
    const auto problem = taken(parse_duration(arguments.max_latency, clock),
                               [&objective](Cycles latency) { objective.max_latency = latency; });
    if (problem) {
      throw UsageError("--max-latency: " + *problem);
    }
  }
  return objective;
}

Option budget_option(Budget& budget, const std::string& help) {
  return {"--budget", "TIME", help,
          reads(parse_seconds, [&budget](Seconds limit) { budget.seconds = limit.count(); })};
}

Option labels_option(Budget& budget, const std::string& help) {
  return {"--budget-labels", "N", help, whole(budget.labels, 1, kMost)};
}

Option memory_option(Budget& budget) {
  return {"--memory", "SIZE",
          "Tables and labels of a search take no more than this (8 GiB) [3/4 of the machine]",
          reads(parse_size, [&budget](Bits limit) {
            budget.bytes = static_cast<std::size_t>(limit.count() / 8);
          })};
}

Option gap_option(Budget& budget) {
  return {"--gap", "SHARE",
          "Stop where the best is proven to be within this of the optimum: 1%, 0.001 [0]",
          reads(parse_share, [&budget](double share) { budget.gap = share; })};
}

Options budget_options(Budget& budget) {
  return {budget_option(budget,
                        "Stop after this long (10 s, 2 min) with the best so far; exact: and its "
                        "true gap"),
          labels_option(budget, "Stop after about N labels: the same result on any machine"),
          gap_option(budget), memory_option(budget)};
}

Option precision_option(std::string& precision, const std::string& help, const Words& words) {
  return {"--precision", "NAME", help,
          Read{[&precision, words](const std::string& text) -> std::optional<std::string> {
            const auto named = precision_named(text);
            if (!named || std::find(words.begin(), words.end(), to_string(*named)) == words.end()) {
              return fmt::format("no precision {}{}", quoted(text), suggestion(text, words));
            }
            precision = to_string(*named);
            return std::nullopt;
          }}};
}

Option precision_option(std::string& precision) {
  return precision_option(precision, "GPU: of the operands, whatever their width in the workload",
                          precision_names());
}

Option generated_precision_option(std::string& precision, const std::string& help) {
  return precision_option(precision, help, {"f64", "tf32", "f16", "f16_acc16", "bf16", "s8"});
}

Option path_option(std::string& path) {
  return {"--path", "NAME", "GPU: wmma, mma, wgmma or simt; default the chip's fastest",
          choice(path, {"wmma", "mma", "wgmma", "simt"})};
}

Option layout_option(std::string& layout, const Words& words, const std::string& help) {
  return {"--layout", "NAME", help, choice(layout, words)};
}

Option any_layout_option(std::string& layout) {
  return layout_option(
      layout, {"tn", "nn", "nt", "tt", "nhwc", "nchw"},
      "GPU: tn (default), nn, nt or tt of a GEMM; nhwc (default) or nchw of a convolution");
}

Options onnx_options(OnnxArguments& a) {
  return {
      {"--dim", "NAME=N", "ONNX: the value of a symbolic dim of the inputs", &a.dims},
      {"--batch", "N", "ONNX: inputs at a time, where the first dim is symbolic [1]",
       whole(a.batch, 1, std::int64_t{1} << 20)},
      {"--operand-bits", "N", "ONNX: operands of N bits and sums of 32, whatever the model says",
       whole(a.operand_bits, 1, 64)}};
}

}  // namespace mapsim
