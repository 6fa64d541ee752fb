// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/options.hpp"
#include "app/places.hpp"
#include "core/quantity_text.hpp"
#include "core/shipped.hpp"
#include "plan/places.hpp"

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
  return {
      {"--objective", "WORD",
       "What to plan for: latency (default) or energy of a frame, or throughput of a stream of "
       "frames",
       choice_of(a.options.objective, {"latency", "energy", "throughput"})},
      {"--fusion", "WORD",
       "Which nodes may become one kernel: none; vertical: a node and those that follow it; "
       "horizontal: also siblings; elision: also concats (default)",
       choice_of(a.options.fusion, {"none", "vertical", "horizontal", "elision"})},
      {"--sparse", "", "Weights are pruned 2:4: use sparse tensor cores where that is faster",
       &a.options.sparse},
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
      {"--at-once", "",
       "Let engines work at the same time on a frame: a schedule, with a bound and the gap",
       &a.options.at_once},
      {"--max-latency", "TIME", "Energy: consider only plans of at most this latency: 2 ms",
       reads(parse_seconds, [&a](Seconds time) { a.options.max_latency = time.count(); })},
      {"--max-power", "POWER",
       "Consider only plans of at most this mean power: 15 W; the chip's limit holds as well",
       reads(parse_power, [&a](Milliwatts power) { a.options.max_power = power.count() / 1000; })},
      {"--max-memory", "SIZE", "Consider only plans whose tensors need no more than this: 1 MiB",
       reads(parse_size,
             [&a](Bits size) { a.options.max_memory = static_cast<double>(size.count()) / 8; })},
      {.names = "--with",
       .type = "NETWORK",
       .help = "Another network, at the same time; may be given several times",
       .value = &a.with,
       .repeats = true},
      {"--what-if", "",
       "Also plan for chips with faster transitions, free launches, twice the bandwidth",
       &a.options.what_if},
      {"--front", "",
       "Also print the plans that trade latency for energy: the corners of the convex Pareto front",
       &a.options.front},
      {"--why", "NODE", "Also explain a node: the groups it may be in, and their prices",
       Read{take_why}},
      {"--budget", "TIME",
       "Stop all searches, of layers and for plans, after this time (10 s, 2 min)",
       reads(parse_seconds, [&a](Seconds time) { a.options.seconds = time.count(); })},
      memory_option(a.options.bytes),
      threads_option(a.threads)};
}

}  // namespace

CommandOptions options_of(PlanArguments& a) {
  const auto take_widths = [&a](const std::string& list) -> std::optional<std::string> {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const auto width = width_named(list.substr(begin, end - begin));
      if (!width) {
        return "s8, f16 or f32, or several of them: s8,f16";
      }
      a.options.widths.push_back(*width);
      begin = end + 1;
    }
    return std::nullopt;
  };
  const auto find_arch = [&a](const Given&) {  // a chip of one engine
    a.soc = find_shipped(a.soc, FileKind::kArch, shipped_configs());
  };
  Option chip =
      input(required({"SOC", "",
                      "Chip (YAML, or the name of a shipped one), or an architecture: a chip of "
                      "one engine",
                      &a.soc}),
            FileKind::kSoc);
  chip.also = {FileKind::kArch};
  const Option network =
      input(required({"NETWORK", "",
                      "Network that is a graph: YAML file, name of a shipped one, or ONNX model "
                      "(FILE.onnx)",
                      &a.network}),
            FileKind::kNetwork);
  const Option precision =
      usual({"--precision", "WORD",
             "Width of operands: s8, f16 or f32; of several (s8,f16) each group has the "
             "best one, and conversions are charged [as the network has them]",
             Read{take_widths}},
            {"s8", "f16", "f32", "s8,f16"});
  const Option node_precision{
      .names = "--node-precision",
      .type = "NODE=WORD",
      .help = "Width of one node's operands, one of those in --precision; can be repeated",
      .value = &a.node_precisions,
      .repeats = true};
  const Option trace{"--trace", "FILE",
                     "Write the plan in time to FILE, for https://ui.perfetto.dev", &a.trace};
  const Options files{
      {"--save-plan", "FILE", "Write the plan to FILE (YAML), for mapsim eval", &a.plan_file},
      {"--certificate", "FILE", "Write a proof of the plan to FILE, for mapsim check",
       &a.certificate_file},
      {"--report", "FILE", "Write a page with the timeline and the memory map to FILE (HTML)",
       &a.page_file},
      {"--given", "FILE", "Also cost a plan that was made elsewhere (YAML)", &a.given}};
  return {joined({{chip, network},
                  under("Networks", joined({onnx_options(a.onnx), {precision, node_precision}})),
                  under("Plan", plan_options(a)),
                  under("Results", joined({{trace}, files, output_options(a.output)}))}),
          "", find_arch};
}

}  // namespace mapsim
