// SPDX-License-Identifier: Apache-2.0
#include "app/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "arch/gpu_words.hpp"
#include "core/diagnostic.hpp"
#include "core/memory.hpp"
#include "mapper/objective.hpp"

namespace mapsim {

Words names_in(const std::string& list) {
  Words names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string name_of(const Option& option) {
  const Words names = names_in(option.names);
  const auto named =
      std::ranges::find_if(names, [](const std::string& name) { return name.starts_with("--"); });
  return named == names.end() ? names.front() : *named;
}

Options joined(std::initializer_list<Options> parts) {
  Options all;
  for (const Options& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Options under(const std::string& heading, Options options) {
  for (Option& option : options) {
    option.group = heading;
  }
  return options;
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

Options chain_arguments(std::string& arch, std::string& workload) {
  Options arguments = layer_arguments(arch, workload);
  arguments.back().help = "Workload, or chain of layers (YAML, or the name of a shipped one)";
  arguments.back().also = {FileKind::kChain};
  return arguments;
}

Options layer_arguments(std::string& arch, std::string& workload) {
  Options arguments = input_arguments(arch, workload);
  arguments.back().required = false;
  return arguments;
}

Options layer_options(InlineLayer& layer) {
  return {
      {.names = "--gemm",
       .type = "MxNxK",
       .help = "Instead of WORKLOAD, a matrix product: 4096x4096x4096, or a batch of B: BxMxNxK. "
               "Operands and outputs have 8 b, sums 32 b, as with --conv and --einsum",
       .value = &layer.gemm,
       .excludes = {"--conv", "--einsum"}},
      {.names = "--conv",
       .type = "C,H,W,K,R,S",
       .help =
           "Instead of WORKLOAD, a convolution: input channels, height, width, output channels, "
           "kernel height and width, as in 64,56,56,64,3,3. Optional keys may follow: stride=2, "
           "padding=same, dilation=, groups=, batch=",
       .value = &layer.conv,
       .excludes = {"--einsum"}},
      {.names = "--einsum",
       .type = "EQUATION",
       .help = "Instead of WORKLOAD, an einsum: 'O[m][n] += A[m][k] * B[k][n]', or as in numpy: "
               "'mk,kn->mn'",
       .value = &layer.einsum,
       .needs = {"--dims"}},
      {.names = "--dims",
       .type = "NAME=N,...",
       .help = "Bounds of the dims of --einsum: m=64,n=64,k=32",
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
  return {"-o,--out", "FILE", "Write the output to FILE (atomically)", &file};
}

Option json_option(Output& output) {
  return {"--json", "", "Print JSON instead of text", &output.json};
}

Options output_options(Output& output) { return {json_option(output), out_option(output.file)}; }

Option threads_option(int& threads) {
  constexpr int kMaxThreads = 1024;
  threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return {"--threads", "N", "Number of threads; results do not depend on it [all cores]",
          whole(threads, 1, kMaxThreads)};
}

Option constraints_option(std::string& file) {
  return input(
      {"--constraints", "FILE", "Mapping constraints (YAML, or the name of a shipped file)", &file},
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
  return {
      usual(
          {"--objective", "FORMULA",
           "What to minimise: energy (default), latency, edp, a product 'energy^2*latency', a sum "
           "'energy + 12.5*latency' (pJ per cycle), or 'energy,latency': minimise energy, break "
           "ties by latency (or 'latency,energy')",
           reads(parse_objective, take)},
          {"energy", "latency", "edp", "energy,latency"}),
      {"--latency", "NAME",
       "Latency to minimise and limit: steady (default), in which every transfer overlaps with "
       "computing, or ramped: transfers of single-buffered levels, first fill and last drain do "
       "not",
       Choice{take_mode, {"steady", "ramped"}}},
      {"--max-energy", "ENERGY",
       "Consider only mappings with at most this energy: 800 uJ; with network --fuse limit the "
       "energy "
       "of the whole network",
       reads(parse_energy, [&a](Picojoules energy) { a.objective.max_energy = energy; })},
      {"--max-latency", "TIME",
       "Consider only mappings with at most this latency: 1.2e6 cycles, 6 ms; with network --fuse "
       "limit the latency of the whole network",
       Read{[&a](const std::string& text) {
         a.max_latency = text;  // the clock is not known yet
         return wrong_duration(text);
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

Option memory_option(std::size_t& bytes) {
  return {"--memory", "SIZE", "Memory limit of a search, such as 8 GiB [3/4 of the machine's]",
          reads(parse_size, [&bytes](Bits limit) {
            bytes = static_cast<std::size_t>(limit.count() / 8);
            keep_freed_memory(bytes);
          })};
}

Option gap_option(Budget& budget) {
  return {"--gap", "SHARE",
          "Stop when the best mapping is proven to be within this share of the optimum: 1% [0]",
          reads(parse_share, [&budget](double share) { budget.gap = share; })};
}

Options budget_options(Budget& budget) {
  return {budget_option(budget,
                        "Stop after this time (10 s, 2 min); print the best mapping so far and its "
                        "true gap"),
          labels_option(budget,
                        "Stop after about N labels (partial mappings): repeatable on any machine"),
          gap_option(budget), memory_option(budget.bytes)};
}

Option precision_option(std::string& precision, const std::string& help, const Words& words) {
  const Read read{[&precision, words](const std::string& text) -> std::optional<std::string> {
    const auto named = precision_named(text);
    if (!named || std::find(words.begin(), words.end(), to_string(*named)) == words.end()) {
      return fmt::format("no precision {}{}", quoted(text), suggestion(text, words));
    }
    precision = to_string(*named);
    return std::nullopt;
  }};
  return usual({"--precision", "NAME", help, read}, words);
}

Option precision_option(std::string& precision) {
  return precision_option(
      precision, "GPU: precision of the operands, such as f16, bf16, s8 [from the workload]",
      precision_names());
}

Option generated_precision_option(std::string& precision, const std::string& help) {
  return precision_option(precision, help, {"f64", "tf32", "f16", "f16_acc16", "bf16", "s8"});
}

Option path_option(std::string& path) {
  return {"--path", "NAME",
          "GPU: instructions of the kernel: wmma, mma, wgmma or simt [the fastest]",
          choice(path, {"wmma", "mma", "wgmma", "simt"})};
}

Option generated_path_option(std::string& path, const std::string& help) {
  return {"--path", "NAME", help, choice(path, {"wmma", "mma", "wgmma"})};
}

Option layout_option(std::string& layout, const Words& words, const std::string& help) {
  return {"--layout", "NAME", help, choice(layout, words)};
}

Option any_layout_option(std::string& layout) {
  return layout_option(layout, {"tn", "nn", "nt", "tt", "nhwc", "nchw"},
                       "GPU: layout of the operands: for a GEMM tn (default), nn, nt or tt; for a "
                       "convolution nhwc (default) or nchw");
}

Options onnx_options(OnnxArguments& a) {
  return {
      {"--dim", "NAME=N", "ONNX: value of a symbolic dim of the model's inputs", &a.dims},
      {"--input", "NAME=N", "ONNX: value of an input of one element, which branches ask for",
       &a.inputs},
      {"--batch", "N", "ONNX: batch size, where the first dim of the inputs is symbolic [1]",
       whole(a.batch, 1, std::int64_t{1} << 20)},
      {"--operand-bits", "N", "ONNX: use operands of N bits and sums of 32 [widths of the model]",
       whole(a.operand_bits, 1, 64)}};
}

}  // namespace mapsim
