// SPDX-License-Identifier: Apache-2.0
#include "app/options.hpp"
#include "app/places.hpp"
#include "core/shipped.hpp"

namespace mapsim {

namespace {

// The index of a word that the option has taken, as an enumerator.
template <class Enum>
Choice choice_of(Enum& value, Words words) {
  return {[&value, words](const std::string& text) {
            for (std::size_t i = 0; i < words.size(); ++i) {
              if (words[i] == text) {
                value = static_cast<Enum>(i);
              }
            }
          },
          words};
}

// What is planned, and with what.
Options plan_options(PlanArguments& a) {
  const auto take_why = [&a](const std::string& name) {
    a.options.why = name;
    return std::optional<std::string>{};
  };
  return {{"--objective", "WORD",
           "What to plan for: latency (default) or energy of a frame, or throughput of a stream of "
           "frames",
           choice_of(a.options.objective, {"latency", "energy", "throughput"})},
          {"--fusion", "WORD",
           "Fuse no more than this: none, vertical, horizontal, elision (default: all)",
           choice_of(a.options.fusion, {"none", "vertical", "horizontal", "elision"})},
          {"--launch", "WORD", "How kernels are launched: graph (default) or stream",
           choice_of(a.options.launch, {"graph", "stream"})},
          {.names = "--engine-batch",
           .type = "NAME=N",
           .help = "Throughput: frames at a time on this engine; may be given several times "
                   "[--batch]",
           .value = &a.engine_batches,
           .repeats = true},
          {.names = "--engine",
           .type = "NAME",
           .help = "Use only this engine; may be given several times [all]",
           .value = &a.engines,
           .repeats = true},
          {"--front", "",
           "Also print plans for other exchanges of latency and energy: the corners of the convex "
           "front",
           &a.options.front},
          {"--why", "NODE", "Also explain a node: the groups it may be in, and their prices",
           Read{take_why}},
          threads_option(a.threads)};
}

}  // namespace

CommandOptions options_of(PlanArguments& a) {
  const auto take_width = [&a](const std::string& word) {
    a.width = word == "s8" ? 8 : word == "f16" ? 16 : 32;
  };
  const auto find_arch = [&a](const Given&) {  // a chip of one engine
    a.soc = find_shipped(a.soc, FileKind::kArch, shipped_configs());
  };
  const Option chip =
      input(required({"SOC", "",
                      "Chip (YAML, or the name of a shipped one), or an architecture: a chip of "
                      "one engine",
                      &a.soc}),
            FileKind::kSoc);
  const Option network =
      input(required({"NETWORK", "",
                      "Network that is a graph: YAML file, name of a shipped one, or ONNX model "
                      "(FILE.onnx)",
                      &a.network}),
            FileKind::kNetwork);
  const Option precision{"--precision", "WORD",
                         "Width of operands: s8, f16 or f32 [as the network has them]",
                         Choice{take_width, {"s8", "f16", "f32"}}};
  const Option trace{"--trace", "FILE",
                     "Write the plan in time to FILE, for https://ui.perfetto.dev", &a.trace};
  return {joined({{chip, network},
                  under("Networks", joined({onnx_options(a.onnx), {precision}})),
                  under("Plan", plan_options(a)),
                  under("Results", joined({{trace}, output_options(a.output)}))}),
          "", find_arch};
}

}  // namespace mapsim
