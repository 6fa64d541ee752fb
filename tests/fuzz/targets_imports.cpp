// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "core/diagnostic.hpp"
#include "core/document.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/accelforge.hpp"
#include "interop/gpu_table.hpp"
#include "interop/onnx.hpp"
#include "interop/scalesim_compat.hpp"
#include "interop/scalesim_import.hpp"
#include "interop/timeloop_import.hpp"
#include "interop/timeloop_stats.hpp"
#include "interop/zigzag.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/temporary_folder.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

std::vector<std::string> documents_of(const std::string& input) {
  const std::string between = kNextDocument;
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t end = 0; end != std::string::npos; at = end + between.size()) {
    end = input.find(between, at);
    parts.push_back(input.substr(at, end == std::string::npos ? end : end - at));
  }
  return parts;
}

// Without values for symbolic dims, else with one for the dim `seq`.
void read_onnx_model(const std::string& bytes) {
  const std::string path = temporary_folder() + "/model.onnx";
  std::ofstream{path, std::ios::binary} << bytes;
  OnnxOptions plain;
  plain.batch = 2;
  OnnxOptions named = plain;
  named.dims = {{"seq", 3}};
  try {
    to_network(read_onnx(path, plain), plain);
  } catch (const ConfigError&) {
    to_network(read_onnx(path, named), named);
  }
}

// What the command writes, read back.
void read_timeloop_design(const std::string& text) {
  const TimeloopImport import = parse_timeloop(text, "design.yaml", {{{"SIZE", "4"}}, false});
  constexpr const char* kAgain = "again.yaml";
  try {
    if (import.has_machine) {
      parse_arch(print_arch(to_arch(import.design.machine)), kAgain);
    }
  } catch (const std::invalid_argument&) {
    return;  // a usage error of the command
  }
  if (import.has_workload) {
    parse_workload(print_workload(import.design.workload), kAgain);
  }
  if (!import.has_machine || !import.has_workload) {
    return;
  }
  constraints_text(import);
  if (!import.design.blocks.empty()) {
    evaluate(Problem{to_arch(import.design.machine), import.design.workload},
             to_mapping(import.design));
  }
}

void read_timeloop_result(const std::string& text) {
  static const TimeloopDesign design =
      read_timeloop({source_path("tests/app/data/timeloop_gemm.yaml")}).design;
  parse_timeloop_stats(text, "stats.txt", design);
}

void read_accelforge_design(const std::string& text) {
  const ForgeImport import = parse_accelforge(text, "forge.yaml");
  if (import.arch) {
    parse_arch(print_arch(*import.arch), "again.yaml");
  }
  for (std::size_t i = 0; import.network && i < import.layers.size(); ++i) {
    const Workload& workload = import.network->layers[i].workload;
    parse_workload(print_workload(workload), "again.yaml");
    if (import.arch && !import.layers[i].mapping.empty()) {
      parse_mapping(import.layers[i].mapping, "mapping.yaml", import.layers[i].arch, workload);
    }
  }
}

void read_zigzag_files(const std::string& text) {
  std::vector<Document> documents;
  for (const std::string& part : documents_of(text)) {
    documents.push_back(parse_yaml(part, "zigzag.yaml"));
  }
  const ZigzagImport import = import_zigzag(std::move(documents));
  parse_arch(print_arch(import.arch), "again.yaml");
  for (const ZigzagImport::Layer& layer : import.layers) {
    parse_workload(print_workload(layer.workload), "again.yaml");
    if (layer.found) {
      evaluate(Problem{layer.arch, layer.workload}, layer.found->mapping);
    }
  }
}

void read_scalesim_files(const std::string& text) {
  const std::vector<std::string> parts = documents_of(text);
  const ScaleSimConfig config = parse_scalesim_config(parts.front(), "run.cfg");
  const Arch arch = parse_arch(scalesim_arch_text(config), "again.yaml");
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (const ScaleSimLayer& layer : parse_scalesim_topology(parts[i], "net.csv")) {
      parse_workload(scalesim_workload_text(layer, "a"), "again.yaml");
    }
  }
}

void read_gpu_table(const std::string& text) {
  import_gpu_table(text, "table.csv", {"h200", GpuPrecision::kF16, GemmTile{512, 512, 512}, "run"});
}

}  // namespace

std::vector<FuzzTarget> import_targets() {
  const std::string designs = "tests/golden/timeloop/";
  return {
      {"onnx", InputForm::kWire, read_onnx_model, {}},
      {"timeloop",
       InputForm::kTree,
       read_timeloop_design,
       {"tests/app/data/timeloop_gemm.yaml", designs + "t001_simple1pe__conv_tiny.yaml",
        designs + "t160_nvdla_like__gemm_64.yaml",
        designs + "t248_simple3lvl__conv_odd_s2_imperfect.yaml"}},
      {"timeloop_stats",
       InputForm::kText,
       read_timeloop_result,
       {"tests/app/data/timeloop_gemm.stats.txt"}},
      {"accelforge", InputForm::kTree, read_accelforge_design, {}},
      {"zigzag", InputForm::kTree, read_zigzag_files, {}},
      {"scalesim", InputForm::kText, read_scalesim_files, {}},
      {"gpu_table", InputForm::kText, read_gpu_table, {}},
  };
}

}  // namespace mapsim
