// SPDX-License-Identifier: Apache-2.0
#include "app/onnx_model.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <map>

#include "app/import.hpp"
#include "app/places.hpp"
#include "campaign/network_file.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim {

OnnxOptions options_of(const OnnxArguments& arguments) {
  OnnxOptions options;
  options.batch = arguments.batch;
  if (arguments.operand_bits > 0) {
    options.operand_bits = Bits{arguments.operand_bits};
  }
  options.dims = numbers_of(arguments.dims, "--dim", 1);
  options.inputs =
      numbers_of(arguments.inputs, "--input", std::numeric_limits<std::int64_t>::min());
  return options;
}

std::map<std::string, std::int64_t> numbers_of(const std::vector<std::string>& texts,
                                               const char* option, std::int64_t least) {
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (equals == 0 || error != std::errc{} || end != value.data() + value.size() ||
        number < least) {
      throw UsageError(fmt::format("{}: '{}' is not NAME=N{}", option, text,
                                   least == 1 ? " with N at least 1" : ""));
    }
    if (!numbers.emplace(text.substr(0, equals), number).second) {
      throw UsageError(fmt::format("{}: '{}' is given twice", option, text.substr(0, equals)));
    }
  }
  return numbers;
}

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
