// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "core/file_kind.hpp"
#include "core/reader.hpp"

namespace mapsim {

// Parts of the reader of campaigns (campaign/campaign.hpp).

// The files below a folder that match a pattern (glob(3)), in the order of their bytes.
std::vector<std::string> files_of(const std::string& folder, const std::string& pattern);

// The shipped files of a kind whose names match a pattern: resnet50/conv2_*. In the order of names.
std::vector<std::string> shipped_files_of(const std::string& pattern, FileKind kind,
                                          const Words& configs);

// The objective of a question and its limits: a formula, throughput, or a map with the mode and the
// limits. nullopt: it has an error.
std::optional<Question> read_objective(Reader& reader, const Node& node);

}  // namespace mapsim
