// SPDX-License-Identifier: Apache-2.0
#include "interop/bit_machines.hpp"

namespace mapsim {

const Entry* key_anywhere(const Node& root, std::string_view beginning) {
  for (const Entry& entry : root.entries) {
    if (entry.key.text.starts_with(beginning)) {
      return &entry;
    }
    if (const Entry* inside = key_anywhere(entry.value, beginning)) {
      return inside;
    }
  }
  for (const Node& item : root.items) {
    if (const Entry* inside = key_anywhere(item, beginning)) {
      return inside;
    }
  }
  return nullptr;
}

}  // namespace mapsim
