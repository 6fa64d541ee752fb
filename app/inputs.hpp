// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "app/arguments.hpp"
#include "core/file_kind.hpp"

namespace mapsim {

// A file that a command reads: its name in the usage, its path (empty: not given), and what it may
// be. A database that is made where there is none is no input.
struct Input {
  std::string name;
  std::string path;
  FileKinds wanted;
};
std::vector<Input> inputs_of(const SearchArguments& a);
std::vector<Input> inputs_of(const NetworkArguments& a);
std::vector<Input> inputs_of(const SweepArguments& a);
std::vector<Input> inputs_of(const DesignArguments& a);
std::vector<Input> inputs_of(const PlanArguments& a);
std::vector<Input> inputs_of(const ListArguments& a);
std::vector<Input> inputs_of(const MergeArguments& a);
std::vector<Input> inputs_of(const ResultsArguments& a);
std::vector<Input> inputs_of(const ReportArguments& a);
std::vector<Input> inputs_of(const CheckArguments& a);
std::vector<Input> inputs_of(const EvalArguments& a);
std::vector<Input> inputs_of(const SimulateArguments& a);
std::vector<Input> inputs_of(const RooflineArguments& a);
std::vector<Input> inputs_of(const ShowArguments& a);
std::vector<Input> inputs_of(const HistogramArguments& a);
std::vector<Input> inputs_of(const ImportArguments& a);
std::vector<Input> inputs_of(const CompareArguments& a);
std::vector<Input> inputs_of(const ExportArguments& a);
std::vector<Input> inputs_of(const CalibrateArguments& a);
std::vector<Input> inputs_of(const PredictArguments& a);
std::vector<Input> inputs_of(const ValidateArguments& a);
std::vector<Input> inputs_of(const MicrobenchArguments& a);

// Whether a file is a chip; false where there is none.
bool is_chip(const std::string& path);
// Whether a file is the proof of a plan (mapsim plan --certificate).
bool is_plan_certificate(const std::string& path);
// Whether a file is the proof of the best designs of a space (mapsim design --certificate).
bool is_design_certificate(const std::string& path);
// Whether a file is the proof of a chain (mapsim search ARCH CHAIN --certificate).
bool is_chain_certificate(const std::string& path);
// Whether a file is the proof of a fused network (mapsim network ARCH NET --fuse --certificate).
bool is_network_certificate(const std::string& path);

// Throws a ConfigError with every input that is not there (with the nearest name, of that folder or
// of the shipped files) or, as far as is known, something else than it should be.
void check_inputs(const std::vector<Input>& inputs);

}  // namespace mapsim
