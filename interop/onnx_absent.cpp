// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostic.hpp"
#include "interop/onnx.hpp"

namespace mapsim {

bool has_onnx() { return false; }

OnnxGraph read_onnx(const std::string& path, const OnnxOptions&) {
  throw ConfigError({Diagnostic{path, 0, 0, "",
                                "this mapsim was built without ONNX; import the model where it is "
                                "built with it (libonnx-dev), and take the YAML files",
                                ""}});
}

}  // namespace mapsim
