// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace mapsim {

// The manual page mapsim(1), as roff: every command with every option as --help has them.
std::string manual(const CLI::App& app, const std::string& version);

}  // namespace mapsim
