// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mapsim {

// Readers of masks, one per kind of file: 1 per nonzero element, row-major over the extents of
// `box`. `path` is for messages. They throw ConfigError.
std::vector<char> from_matrix_market(const std::string& content, const std::string& path,
                                     const std::vector<std::int64_t>& box);
std::vector<char> from_npy(const std::string& content, const std::string& path,
                           const std::vector<std::int64_t>& box);

// Line 0: the file as a whole.
[[noreturn]] void refuse_mask(const std::string& path, int line, const std::string& message);
std::int64_t elements_of(const std::vector<std::int64_t>& box);
std::string extents_text(const std::vector<std::int64_t>& box);  // 2 x 3

}  // namespace mapsim
