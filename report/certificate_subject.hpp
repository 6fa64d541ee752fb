// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "report/json.hpp"

namespace mapsim {

std::string indented(const std::string& text);
// The hashes of the files that a search read.
std::string inputs_text(const Provenance& origin);
// What a certificate is about: the inputs, the machine, and the workload or chain as YAML.
std::string subject_text(const Provenance& origin, const Arch& arch, const std::string& layer);

}  // namespace mapsim
