// SPDX-License-Identifier: Apache-2.0
#include "interop/bit_machines.hpp"

#include "interop/foreign_yaml.hpp"

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

void refuse_bit_machines(Reader& reader) {
  const Entry* in_memory = key_anywhere(reader.root(), "CIM_ARCHITECTURE");
  const Entry* slices = key_anywhere(reader.root(), "N_VIRTUAL_MACS");
  if (in_memory != nullptr && foreign_boolean(in_memory->value.text).value_or(false)) {
    reader.error(in_memory->key, kInMemory);
  } else if (slices != nullptr) {
    reader.error(slices->key,
                 "MACs that are put together from slices of bits have no counterpart: "
                 "here a MAC is one operation, whatever the widths");
  }
}

}  // namespace mapsim
