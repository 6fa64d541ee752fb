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
      {"search", "The best mapping, and the proof that it is", make<SearchArguments>},
      {"network", "The best mapping of every layer of a network, and totals",
       make<NetworkArguments>},
      {"sweep", "Every point of a campaign that is not in its database yet; docs/formats.md",
       make<SweepArguments>},
      {"merge", "Put databases of results into one", make<MergeArguments>},
      {"results", "The rows of a database as a table", make<ResultsArguments>},
      {"report", "Results as one page of figures (HTML)", make<ReportArguments>},
      {"check", "Does a certificate prove what it claims? Without the search",
       make<CheckArguments>},
      {"eval", "The cost of one mapping, or of a GPU's kernel", make<EvalArguments>},
      {"simulate", "Walk a mapping step by step; compare counts and results with eval's",
       make<SimulateArguments>},
      {"roofline", "Bounds that no mapping can beat", make<RooflineArguments>},
      {"show", "Draw a machine, and a mapping on it (SVG)", make<ShowArguments>},
      {"histogram", "Energy over the mappings that keep the machine busy",
       make<HistogramArguments>},
      {"list",
       "The machines, layers and networks that are shipped, by the names that commands take",
       make<ListArguments>},
      {"import", "Read the design of another tool", make<ImportArguments>},
      {"compare", "Our figures of a mapping beside those that another tool printed",
       make<CompareArguments>},
      {"export", "Write a mapping for another tool, or as the kernel that it is",
       make<ExportArguments>},
      {"calibrate", "Fit a GPU's calibration to measured kernels", make<CalibrateArguments>},
      {"validate", "Kernels built, checked and timed on a GPU, beside what the model says",
       make<ValidateArguments>},
      {"microbench", "Rates and bandwidths of a GPU, measured, beside its file's (CSV)",
       make<MicrobenchArguments>}};
  return kCommands;
}

}  // namespace mapsim
