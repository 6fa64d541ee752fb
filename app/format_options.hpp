// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "app/option.hpp"

namespace mapsim {

// The formats that a command with an argument FORMAT, such as import, takes; empty: it has none.
Words formats_of(const Options& options);

// Refuses an option that was given and is about other formats only: it would have no effect. Throws
// UsageError.
void check_format(const std::string& command, const std::string& format, const Options& options,
                  const Given& given);

// `import scalesim --help`: of a command with a FORMAT what concerns the one that is named among
// `words`, which is the answer; empty: none is.
std::string keep_format(Options& options, std::span<const std::string> words);

}  // namespace mapsim
