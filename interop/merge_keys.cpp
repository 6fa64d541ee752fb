// SPDX-License-Identifier: Apache-2.0
#include "interop/merge_keys.hpp"

#include <algorithm>
#include <vector>

namespace mapsim {

namespace {

Entry* entry_of(Node& map, const std::string& key) {
  const auto entry = std::find_if(map.entries.begin(), map.entries.end(),
                                  [&](const Entry& each) { return each.key.text == key; });
  return entry == map.entries.end() ? nullptr : &*entry;
}

void bring_in(Node& map, const Node& from, bool deep) {
  for (const Entry& entry : from.entries) {
    Entry* own = entry_of(map, entry.key.text);
    if (own == nullptr) {
      map.entries.push_back(entry);
    } else if (own->value.tag == "!nomerge") {
      continue;
    } else if (deep && own->value.kind == Node::Kind::kMap &&
               entry.value.kind == Node::Kind::kMap) {
      bring_in(own->value, entry.value, true);
    } else if (deep && own->value.kind == Node::Kind::kSequence &&
               entry.value.kind == Node::Kind::kSequence) {
      own->value.items.insert(own->value.items.end(), entry.value.items.begin(),
                              entry.value.items.end());
    }
  }
}

bool is_merge(const Entry& entry) {
  return entry.key.plain && (entry.key.text == "<<" || entry.key.text == "<<<");
}

}  // namespace

void merge_keys(Node& node) {
  for (Node& item : node.items) {
    merge_keys(item);
  }
  std::vector<Entry> merges;
  for (Entry& entry : node.entries) {
    merge_keys(entry.value);
    // Anything else than maps stays, for the reader to complain about.
    if (is_merge(entry) &&
        (entry.value.kind == Node::Kind::kMap || entry.value.kind == Node::Kind::kSequence)) {
      merges.push_back(entry);
    }
  }
  if (merges.empty()) {
    return;
  }
  std::erase_if(node.entries, is_merge);
  for (const Entry& entry : merges) {
    const bool deep = entry.key.text == "<<<";
    if (entry.value.kind == Node::Kind::kMap) {
      bring_in(node, entry.value, deep);
    }
    for (const Node& each : entry.value.items) {
      bring_in(node, each, deep);
    }
  }
}

}  // namespace mapsim
