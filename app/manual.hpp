// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "app/option.hpp"

namespace mapsim {

// What --help and the manual page say of the program itself.
extern const char* const kProgramHelp;
extern const char* const kExitCodes;
Option help_option();           // of the program and of every command
Options information_options();  // --version, --man and --completion

// The manual page mapsim(1), as roff: every command with every option as --help has them.
std::string manual();

}  // namespace mapsim
