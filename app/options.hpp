// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "app/arguments.hpp"
#include "app/option.hpp"

namespace mapsim {

inline constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Options that several commands take. Short ones mean the same everywhere: -h and -o.
Option arch_argument(std::string& arch,
                     const std::string& help = "Architecture (YAML, or the name of a shipped one)");
Option out_option(std::string& file);
Option json_option(Output& output);
Option threads_option(int& threads);  // all cores unless given
Option constraints_option(std::string& file);
// Of networks and layers, those that are shipped: their files in place of their names.
void find_work(std::vector<std::string>& paths);
Option budget_option(Budget& budget, const std::string& help);
Option labels_option(Budget& budget, const std::string& help);
// Of a GPU's kernels.
Option precision_option(std::string& precision, const std::string& help, const Words& words);
Option precision_option(std::string& precision);  // any
// Those that kernels are generated in.
Option generated_precision_option(std::string& precision, const std::string& help);
Option path_option(std::string& path);
// Of the paths that kernels are written for.
Option generated_path_option(std::string& path, const std::string& help);
Option layout_option(std::string& layout, const Words& words, const std::string& help);
Option any_layout_option(std::string& layout);  // of a GEMM or a convolution
Options output_options(Output& output);
Options input_arguments(std::string& arch, std::string& workload);
// The same where the layer may be given by options instead, and these.
Options layer_arguments(std::string& arch, std::string& workload);
// The same where the workload may be a chain.
Options chain_arguments(std::string& arch, std::string& workload);
Options layer_options(InlineLayer& layer);
// Puts the layer that was given by options into `workload`; the argument that was read as WORKLOAD
// is `mapping` then, if there is one. Throws UsageError unless there is one layer.
void take_layer(const InlineLayer& layer, std::string& workload, std::string* mapping = nullptr);
Options objective_options(ObjectiveArguments& a);
// `bytes`: the limit [B].
Option memory_option(std::size_t& bytes);
Option gap_option(Budget& budget);
Option cache_option(std::string& cache);
Options budget_options(Budget& budget);
Options onnx_options(OnnxArguments& a);

// The commands.
CommandOptions options_of(SearchArguments& a);
CommandOptions options_of(NetworkArguments& a);
CommandOptions options_of(ListArguments& a);
CommandOptions options_of(SweepArguments& a);
CommandOptions options_of(DesignArguments& a);
CommandOptions options_of(PlanArguments& a);
CommandOptions options_of(MergeArguments& a);
CommandOptions options_of(ResultsArguments& a);
CommandOptions options_of(ReportArguments& a);
CommandOptions options_of(CheckArguments& a);
CommandOptions options_of(EvalArguments& a);
CommandOptions options_of(SimulateArguments& a);
CommandOptions options_of(RooflineArguments& a);
CommandOptions options_of(ShowArguments& a);
CommandOptions options_of(HistogramArguments& a);
CommandOptions options_of(ImportArguments& a);
CommandOptions options_of(CompareArguments& a);
CommandOptions options_of(ExportArguments& a);
CommandOptions options_of(CalibrateArguments& a);
CommandOptions options_of(PredictArguments& a);
CommandOptions options_of(ValidateArguments& a);
CommandOptions options_of(MicrobenchArguments& a);

}  // namespace mapsim
