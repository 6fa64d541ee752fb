// SPDX-License-Identifier: Apache-2.0
#include "app/onnx_model.hpp"

#include <fmt/format.h>

#include <charconv>

#include "app/import.hpp"
#include "app/places.hpp"
#include "campaign/network_file.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

OnnxOptions options_of(const OnnxArguments& arguments) {
  OnnxOptions options;
  options.batch = arguments.batch;
  if (arguments.operand_bits > 0) {
    options.operand_bits = Bits{arguments.operand_bits};
  }
  for (const std::string& text : arguments.dims) {
    const std::size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), extent);
    if (equals == 0 || error != std::errc{} || end != value.data() + value.size() || extent < 1) {
      throw UsageError(fmt::format("--dim: '{}' is not NAME=N with N at least 1", text));
    }
    options.dims[text.substr(0, equals)] = extent;
  }
  return options;
}

}  // namespace

Network network_of(const std::string& path, const OnnxArguments& arguments) {
  return read_network(path, options_of(arguments), shipped_configs());
}

ImportedFiles import_onnx(const ImportArguments& arguments) {
  if (arguments.files.size() != 1 || !arguments.files[0].ends_with(".onnx")) {
    throw UsageError("import onnx takes one model, FILE.onnx");
  }
  const Network network = network_of(arguments.files[0], arguments.onnx);
  ImportedFiles imported;
  const std::string heading = "# Imported from ONNX.\n";
  imported.files.push_back({"network.yaml", heading + print_network(network, ".")});
  for (const NetworkLayer& layer : network.layers) {
    imported.files.push_back({layer.name + ".yaml", heading + print_layer(layer.workload)});
    parse_workload(imported.files.back().text, imported.files.back().name);  // it can be read
  }
  imported.notes = network.warnings;
  for (const auto& [kind, count] : network.unpriced) {
    imported.notes.push_back(fmt::format("{}, {} x: not known, not priced", kind, count));
  }
  return imported;
}

}  // namespace mapsim
