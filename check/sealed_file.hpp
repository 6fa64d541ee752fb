// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "core/reader.hpp"

namespace mapsim::check {

// A certificate is a YAML document that ends with a digest of its other lines. Parts of it are
// documents of their own below a top-level key; they are cut out with their line numbers.

// The last line of a certificate whose other lines are `text`, empty ones above it aside.
std::string seal(const std::string& text);
// Throws a ConfigError where the file has been cut short or changed since it was sealed.
void check_seal(const Document& document);

const Entry* entry_of(const Node& map, std::string_view key);
// The lines from `first` up to `end` (0: the last one), the others blank: a document whose errors
// are found where they stand in the file.
std::string cut_out(const Document& document, int first, int end);
// Where the top-level key behind the one at `line` stands; 0: there is none.
int line_behind(const Document& document, int line);
// The value of a top-level key that is there. value_of: padded, so that its line numbers are those
// of the file. lines_of: the value alone.
std::string value_of(const Document& document, std::string_view key);
std::string lines_of(const Document& document, std::string_view key);

}  // namespace mapsim::check
