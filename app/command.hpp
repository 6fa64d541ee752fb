// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "app/arguments.hpp"
#include "core/document.hpp"

namespace mapsim {

enum ExitCode : int {
  kDone = 0,
  kNegative = 1,  // nothing fits, the simulation differs, or a proof does not hold
  kBadInput = 2,
  kInternal = 4,
  kInterrupted = 130,
};

// What a command has to say, where, and how the process ends.
struct Answer {
  ExitCode code = kDone;
  std::string text;
  std::string remark{};  // to standard error
};

// Gives the result to whoever asked, once.
using Say = std::function<void(const std::string&)>;

// With a certificate the result is said first: working out what is proven can take longer, and may
// be stopped.
Answer run(const SearchArguments& arguments, const Say& say);
// The same where the architecture is a GPU: kernels, ranked.
Answer run_on_gpu(const SearchArguments& arguments, const Document& machine);
Answer run_on_gpu(const NetworkArguments& arguments, const Document& machine);
Answer run_on_gpu(const EvalArguments& arguments, const Document& machine);
// The same of a chain and a mapping tree. `is_chain`: the file that stands where a workload may.
bool is_chain(const std::string& path);
Answer run_on_chain(const SearchArguments& arguments);
Answer run_on_chain(const EvalArguments& arguments);
// Of a check that was stopped.
inline constexpr const char* kNoVerdict = "interrupted: the proof was neither verified nor refuted";
Answer run_on_chain(const CheckArguments& arguments);
Answer run_on_network(const CheckArguments& arguments);
Answer run_on_plan(const CheckArguments& arguments);
Answer run_on_design(const CheckArguments& arguments);
Answer run_on_chain(const SimulateArguments& arguments);
Answer run_on_chain(const ShowArguments& arguments);
Answer run(const NetworkArguments& arguments);
Answer run(const ListArguments& arguments);
Answer run(const SweepArguments& arguments);
Answer run(const DesignArguments& arguments);
Answer run(const PlanArguments& arguments);
Answer run(const MergeArguments& arguments);
Answer run(const ResultsArguments& arguments);
Answer run(const ReportArguments& arguments);
Answer run(const CheckArguments& arguments);
Answer run(const EvalArguments& arguments);
Answer run(const SimulateArguments& arguments);
Answer run(const RooflineArguments& arguments);
Answer run(const ShowArguments& arguments);
Answer run(const HistogramArguments& arguments);
Answer run(const ImportArguments& arguments);
Answer run(const CompareArguments& arguments);
Answer run(const ExportArguments& arguments);
Answer run(const CalibrateArguments& arguments);
Answer run(const PredictArguments& arguments);
Answer run(const ValidateArguments& arguments);
Answer run(const MicrobenchArguments& arguments);

}  // namespace mapsim
