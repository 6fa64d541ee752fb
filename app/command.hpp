// SPDX-License-Identifier: Apache-2.0
#pragma once
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

Answer run(const SearchArguments& arguments);
// The same where the architecture is a GPU: kernels, ranked.
Answer run_on_gpu(const SearchArguments& arguments, const Document& machine);
Answer run_on_gpu(const NetworkArguments& arguments, const Document& machine);
Answer run_on_gpu(const EvalArguments& arguments, const Document& machine);
Answer run(const NetworkArguments& arguments);
Answer run(const SweepArguments& arguments);
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
Answer run(const ExportArguments& arguments);
Answer run(const CalibrateArguments& arguments);
Answer run(const ValidateArguments& arguments);
Answer run(const MicrobenchArguments& arguments);

}  // namespace mapsim
