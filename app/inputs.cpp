// SPDX-License-Identifier: Apache-2.0
#include "app/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/places.hpp"
#include "check/chain_proof.hpp"
#include "check/design_certificate.hpp"
#include "check/network_proof.hpp"
#include "check/plan_proof.hpp"
#include "core/shipped.hpp"
#include "workloads/inline_layer.hpp"

namespace mapsim {

namespace {

namespace fs = std::filesystem;

Input arch(const std::string& path) { return {"ARCH", path, {FileKind::kArch}}; }
Input workload(const std::string& path) { return {"WORKLOAD", path, {FileKind::kWorkload}}; }
Input workload_or_chain(const std::string& path) {
  return {"WORKLOAD", path, {FileKind::kWorkload, FileKind::kChain}};
}
// On a GPU a kernel, or a list of kernels as --export json or --json has written it.
Input mapping(const std::string& path) {
  return {"MAPPING", path, {FileKind::kMapping, FileKind::kKernel, FileKind::kResult}};
}
Input constraints(const std::string& path) {
  return {"--constraints", path, {FileKind::kConstraints}};
}

// One that is made where there is none is no input then.
Input database(const std::string& path) {
  std::error_code error;
  return {"--db", fs::exists(path, error) ? path : "", {FileKind::kDatabase}};
}

// Folders that may have the shipped files of a kind.
std::vector<std::string> shipped_folders(FileKind kind) {
  const std::string below = folder_of(kind);
  std::vector<std::string> folders;
  if (!below.empty()) {
    for (const std::string& configs : shipped_configs()) {
      folders.push_back(configs + "/" + below);
    }
  }
  return folders;
}

// What is wrong with an input that is not there by its name; nullopt: look for its file.
std::optional<Diagnostic> unknown_name(const Input& input) {
  std::error_code error;
  if (input.wanted.empty() || std::string_view{folder_of(input.wanted.front())}.empty() ||
      fs::exists(input.path, error)) {
    return std::nullopt;
  }
  const std::string wrong = unknown_name(input.path, input.wanted.front(), shipped_configs());
  return wrong.empty() ? std::nullopt : std::optional{Diagnostic{input.path, 0, 0, "", wrong, ""}};
}

// "are ARCH and WORKLOAD swapped?" where the file is what another one should be.
std::string swapped(const std::vector<Input>& inputs, const Input& input, FileKind kind) {
  for (const Input& other : inputs) {
    if (!other.path.empty() && other.path != input.path && other.name != input.name &&
        std::find(other.wanted.begin(), other.wanted.end(), kind) != other.wanted.end()) {
      return fmt::format("are {} and {} swapped?", input.name, other.name);
    }
  }
  return "";
}

}  // namespace

std::vector<Input> inputs_of(const SearchArguments& a) {
  return {arch(a.arch), workload_or_chain(a.workload), constraints(a.constraints)};
}

std::vector<Input> inputs_of(const NetworkArguments& a) {
  return {arch(a.arch),
          {"NETWORK", a.network, {FileKind::kNetwork, FileKind::kOnnx}},
          constraints(a.constraints)};
}

std::vector<Input> inputs_of(const SweepArguments& a) {
  return {{"CAMPAIGN", a.campaign, {FileKind::kCampaign}}, database(a.database)};
}

std::vector<Input> inputs_of(const DesignArguments& a) {
  std::vector<Input> inputs{{"SPACE", a.space, {FileKind::kCampaign}}};
  for (const std::string& path : a.work) {
    inputs.push_back({"WORK", path, {FileKind::kNetwork, FileKind::kOnnx, FileKind::kWorkload}});
  }
  return inputs;
}

std::vector<Input> inputs_of(const PlanArguments& a) {
  std::vector<Input> inputs{{"SOC", a.soc, {FileKind::kSoc, FileKind::kArch}},
                            {"NETWORK", a.network, {FileKind::kNetwork, FileKind::kOnnx}},
                            {"--given", a.given, {}}};
  for (const std::string& path : a.with) {
    inputs.push_back({"--with",
                      find_shipped(path, FileKind::kNetwork, shipped_configs()),
                      {FileKind::kNetwork, FileKind::kOnnx}});
  }
  return inputs;
}

std::vector<Input> inputs_of(const ListArguments&) { return {}; }

std::vector<Input> inputs_of(const MergeArguments& a) {
  std::vector<Input> inputs{database(a.database)};
  for (const std::string& path : a.inputs) {
    inputs.push_back({"INPUT", path, {FileKind::kDatabase}});
  }
  return inputs;
}

std::vector<Input> inputs_of(const ResultsArguments& a) {
  return {{"RESULTS", a.database, {FileKind::kDatabase}}};
}

std::vector<Input> inputs_of(const ReportArguments& a) {
  std::vector<Input> inputs{{"--arch", a.machine, {FileKind::kArch}}};
  for (const std::string& path : a.results) {
    inputs.push_back(
        {"RESULTS", path, {FileKind::kDatabase, FileKind::kResult, FileKind::kMeasurements}});
  }
  return inputs;
}

std::vector<Input> inputs_of(const CheckArguments& a) {
  if (is_plan_certificate(a.certificate) || is_design_certificate(a.certificate)) {
    return {{"CERTIFICATE", a.certificate, {}}, {"--space", a.space, {FileKind::kCampaign}}};
  }
  return {
      {"CERTIFICATE", a.certificate, {FileKind::kCertificate}},
      {"--arch", a.machine, {FileKind::kArch}},
      {"--workload", a.layer,
       is_network_certificate(a.certificate) ? FileKinds{FileKind::kNetwork, FileKind::kOnnx}
                                             : FileKinds{FileKind::kWorkload, FileKind::kChain}},
      constraints(a.constraints)};
}

bool is_chip(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return false;
  }
  const auto found = recognise(beginning_of(path));
  return found && found->kind == FileKind::kSoc;
}

bool is_plan_certificate(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && check::is_plan_certificate(beginning_of(path));
}

bool is_design_certificate(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && check::is_design_certificate(beginning_of(path));
}

bool is_chain_certificate(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && check::is_chain_certificate(beginning_of(path));
}

bool is_network_certificate(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && check::is_network_certificate(beginning_of(path));
}

std::vector<Input> inputs_of(const EvalArguments& a) {
  if (is_chip(a.arch)) {
    return {{"SOC", a.arch, {FileKind::kSoc}},
            {"NETWORK", a.workload, {FileKind::kNetwork, FileKind::kOnnx}}};
  }
  return {arch(a.arch), workload_or_chain(a.workload), mapping(a.mapping),
          constraints(a.constraints)};
}

std::vector<Input> inputs_of(const SimulateArguments& a) {
  return {arch(a.arch), workload_or_chain(a.workload), mapping(a.mapping)};
}

std::vector<Input> inputs_of(const RooflineArguments& a) {
  return {arch(a.arch), workload(a.workload)};
}

std::vector<Input> inputs_of(const ShowArguments& a) {
  return {arch(a.arch), workload_or_chain(a.workload), mapping(a.mapping)};
}

std::vector<Input> inputs_of(const HistogramArguments& a) {
  return {arch(a.arch), workload(a.workload), constraints(a.constraints)};
}

// SCALE-Sim's two files have places; of several files of another format each may be any of them.
std::vector<Input> inputs_of(const ImportArguments& a) {
  if (a.format == "scalesim" && a.files.size() == 2) {
    return {{"CONFIGURATION", a.files[0], {FileKind::kScaleSim}},
            {"TOPOLOGY", a.files[1], {FileKind::kTopology}}};
  }
  const FileKinds wanted =
      a.format == "timeloop"     ? FileKinds{FileKind::kTimeloop, FileKind::kAccelergy,
                                         FileKind::kMapping, FileKind::kConstraints}
      : a.format == "accelforge" ? FileKinds{FileKind::kAccelForge, FileKind::kMapping}
      : a.format == "zigzag"     ? FileKinds{FileKind::kZigzag, FileKind::kNetwork, FileKind::kOnnx}
      : a.format == "scalesim"   ? FileKinds{FileKind::kScaleSim, FileKind::kTopology}
      : a.format == "onnx"       ? FileKinds{FileKind::kOnnx}
                                 : FileKinds{FileKind::kTable};
  std::vector<Input> inputs;
  for (const std::string& path : a.files) {
    inputs.push_back({"FILE", path, wanted});
  }
  return inputs;
}

std::vector<Input> inputs_of(const CompareArguments& a) {
  std::vector<Input> inputs;
  if (a.format == "zigzag") {
    return inputs;  // told apart by their keys
  }
  for (const std::string& path : a.files) {
    inputs.push_back(
        {"FILE",
         path,
         {FileKind::kTimeloop, FileKind::kAccelergy, FileKind::kMapping, FileKind::kConstraints}});
  }
  return inputs;
}

std::vector<Input> inputs_of(const ExportArguments& a) {
  return {arch(a.arch), workload(a.workload), mapping(a.mapping)};
}

std::vector<Input> inputs_of(const CalibrateArguments& a) {
  return {{"MEASUREMENTS", a.measurements, {FileKind::kMeasurements}},
          {"--arch", a.arch, {FileKind::kArch}}};
}

std::vector<Input> inputs_of(const PredictArguments& a) {
  return {{"TABLE", a.table, {}}, {"--arch", a.arch, {FileKind::kArch}}};
}

std::vector<Input> inputs_of(const ValidateArguments& a) {
  std::vector<Input> inputs{arch(a.arch)};
  for (const std::string& path : a.workloads) {
    inputs.push_back(workload(path));
  }
  if (a.device.starts_with("replay=")) {
    inputs.push_back({"--device", a.device.substr(7), {FileKind::kMeasurements}});
  }
  inputs.push_back({"--counters", a.counters, {}});
  return inputs;
}

std::vector<Input> inputs_of(const MicrobenchArguments& a) { return {arch(a.arch)}; }

void check_inputs(const std::vector<Input>& inputs) {
  std::vector<Diagnostic> wrong;
  for (const Input& input : inputs) {
    if (input.path.empty() || is_inline_layer(input.path)) {
      continue;
    }
    if (auto unknown = unknown_name(input)) {
      wrong.push_back(std::move(*unknown));
      continue;
    }
    std::string beginning;
    try {
      beginning =
          beginning_of(input.path, input.wanted.empty() ? std::vector<std::string>{}
                                                        : shipped_folders(input.wanted.front()));
    } catch (const ConfigError& missing) {
      wrong.insert(wrong.end(), missing.diagnostics().begin(), missing.diagnostics().end());
      continue;
    }
    const std::optional<Recognised> found = recognise(beginning);
    const std::string advice = found ? swapped(inputs, input, found->kind) : "";
    if (auto diagnostic = wrong_kind(input.path, beginning, input.wanted, advice)) {
      wrong.push_back(std::move(*diagnostic));
    }
  }
  if (!wrong.empty()) {
    throw ConfigError{std::move(wrong)};
  }
}

}  // namespace mapsim
