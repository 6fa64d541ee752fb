// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutate.hpp"

namespace mapsim {

// A reader, and what the program does with what it reads. `read` throws ConfigError where it
// refuses the input; anything else that it throws, and any law that what was read breaks
// (std::logic_error), is a fault.
struct FuzzTarget {
  std::string name;
  InputForm form = InputForm::kTree;
  std::function<void(const std::string&)> read;
  std::vector<std::string> seeds;  // files below the source tree; those of seeds/NAME besides
};

// tests/fuzz/targets_*.cpp
std::vector<FuzzTarget> own_format_targets();
std::vector<FuzzTarget> import_targets();
std::vector<FuzzTarget> result_targets();

// All of them.
std::vector<FuzzTarget> fuzz_targets();

// Is it read? Throws what is no ConfigError.
bool accepts(const FuzzTarget& target, const std::string& input);

// The inputs that mutations begin with: each accepted by its reader.
std::vector<std::string> seed_inputs(const FuzzTarget& target);

// Throws std::logic_error with what is broken.
void require_law(bool holds, const char* what);

}  // namespace mapsim
