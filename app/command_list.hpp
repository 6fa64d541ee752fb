// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "app/arguments.hpp"
#include "app/option.hpp"

namespace mapsim {

// A command that can be read: its options, and what they have made of its arguments.
struct ReadableCommand {
  CommandOptions options;
  std::function<Command()> arguments;
};

struct CommandEntry {
  const char* name;
  const char* help;
  ReadableCommand (*make)();
};

// In the order of --help.
const std::vector<CommandEntry>& command_list();

}  // namespace mapsim
