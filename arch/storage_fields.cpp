// SPDX-License-Identifier: Apache-2.0
#include "arch/storage_fields.hpp"

#include "core/quantity_text.hpp"

namespace mapsim {

Capacity read_capacity(Reader& reader, const Node* node) {
  Capacity capacity;
  if (node == nullptr || (node->kind == Node::Kind::kScalar && node->text == "unlimited")) {
    return capacity;
  }
  if (node->kind != Node::Kind::kMap) {
    capacity.shared = reader.quantity(node, parse_size);
    return capacity;
  }
  const Fields fields = reader.fields(*node, role_words());
  if (node->entries.empty()) {
    reader.error(*node, "no partition; name roles, or write 'unlimited'");
  }
  for (const Role role : IdRange<Role>{3}) {
    if (fields.has(to_string(role))) {
      const auto size = reader.quantity(fields.find(to_string(role)), parse_size);
      capacity.per_role[role] = size.value_or(Bits{1});  // a partition, if a wrong one
    }
  }
  return capacity;
}

Bandwidth read_bandwidth(Reader& reader, const Node* node, std::optional<Bits> word, Hertz clock) {
  Bandwidth bandwidth;
  if (node == nullptr) {
    return bandwidth;
  }
  const Fields fields = reader.fields(*node, {"read", "write", "shared", "link"});
  const auto parse = [word, clock](std::string_view text) {
    return parse_bandwidth(text, word, clock);
  };
  bandwidth.read = reader.quantity(fields.find("read"), parse);
  bandwidth.write = reader.quantity(fields.find("write"), parse);
  bandwidth.shared = reader.quantity(fields.find("shared"), parse);
  bandwidth.link = reader.quantity(fields.find("link"), parse);
  if (fields.has("shared") && (fields.has("read") || fields.has("write"))) {
    reader.error(fields.place("shared"), "a shared port excludes 'read' and 'write'");
  }
  return bandwidth;
}

StorageEnergy read_storage_energy(Reader& reader, const Node* node, std::optional<Bits> word) {
  StorageEnergy energy;
  if (node == nullptr) {
    return energy;
  }
  const Fields fields = reader.fields(*node, {"read", "write", "update", "gated", "skipped"});
  const auto parse = [word](std::string_view text) { return parse_access_energy(text, word); };
  energy.read = reader.quantity(fields.require("read"), parse).value_or(energy.read);
  energy.write = reader.quantity(fields.require("write"), parse).value_or(energy.write);
  energy.update = reader.quantity(fields.find("update"), parse).value_or(energy.write);
  return energy;
}

}  // namespace mapsim
