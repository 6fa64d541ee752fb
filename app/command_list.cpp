// SPDX-License-Identifier: Apache-2.0
#include "app/command_list.hpp"

#include <memory>

#include "app/options.hpp"

namespace mapsim {

namespace {

template <class Arguments>
ReadableCommand make() {
  const auto arguments = std::make_shared<Arguments>();  // of both members
  return {options_of(*arguments), [arguments] { return Command{*arguments}; }};
}

}  // namespace

const std::vector<CommandEntry>& command_list() {
  static const std::vector<CommandEntry> kCommands{
      {"search", "Find the best mapping of a layer, and prove that it is the best",
       make<SearchArguments>},
      {"network", "Search every layer of a network, and add up the totals", make<NetworkArguments>},
      {"plan", "Plan a network on a chip with several engines: what is fused, and what runs where",
       make<PlanArguments>},
      {"sweep", "Search every point of a campaign that its database lacks", make<SweepArguments>},
      {"design", "Find the best machine of a design space, and prove that it is the best",
       make<DesignArguments>},
      {"merge", "Merge databases of results", make<MergeArguments>},
      {"results", "Print a database of results", make<ResultsArguments>},
      {"report", "Write results as one HTML page of figures and tables", make<ReportArguments>},
      {"check", "Verify a certificate by another algorithm than the search's",
       make<CheckArguments>},
      {"eval", "Compute the cost of one mapping, or of one GPU kernel", make<EvalArguments>},
      {"simulate", "Simulate a mapping step by step, and compare its counts with those of eval",
       make<SimulateArguments>},
      {"roofline", "Compute bounds that no mapping can beat", make<RooflineArguments>},
      {"show", "Draw a machine, or a mapping on it (SVG, HTML)", make<ShowArguments>},
      {"histogram", "Show how energy is distributed over mappings that keep the machine busy",
       make<HistogramArguments>},
      {"list", "List the shipped machines, GPUs, layers and networks by name", make<ListArguments>},
      {"import", "Convert files of another tool to ours", make<ImportArguments>},
      {"compare", "Compare our figures of a mapping with those of another tool",
       make<CompareArguments>},
      {"export", "Write a mapping for Timeloop, or a GPU kernel as CUDA C++",
       make<ExportArguments>},
      {"calibrate", "Fit the timing model of a GPU to measured kernels", make<CalibrateArguments>},
      {"predict", "Compare predicted with measured times of kernels, without fitting",
       make<PredictArguments>},
      {"validate", "Build, check and time kernels on a GPU, and compare with the model",
       make<ValidateArguments>},
      {"microbench", "Measure the rates and bandwidths of a GPU, and compare with its file (CSV)",
       make<MicrobenchArguments>}};
  return kCommands;
}

}  // namespace mapsim
