// SPDX-License-Identifier: Apache-2.0
#include "core/substitute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "core/diagnostic.hpp"
#include "core/edit_distance.hpp"

namespace mapsim {

namespace {

constexpr std::array<std::string_view, 4> kNameKeys{"storage", "fanout", "compute", "name"};

// A key or a name; or a position in brackets.
struct Step {
  std::string word;
  std::optional<std::size_t> position;
};

// nodes[1].x -> nodes, 1, x. nullopt: not a path.
std::optional<std::vector<Step>> steps_of(std::string_view path) {
  std::vector<Step> steps;
  bool expects_word = true;
  while (!path.empty()) {
    if (path[0] == '[' && !expects_word) {
      const std::size_t end = path.find(']');
      std::size_t position = 0;
      const char* const last = path.data() + std::min(end, path.size());
      const auto [stop, failure] = std::from_chars(path.data() + 1, last, position);
      if (end == std::string_view::npos || failure != std::errc{} || stop != last) {
        return std::nullopt;
      }
      steps.push_back({"", position});
      path.remove_prefix(end + 1);
    } else {
      if (!expects_word && path[0] != '.') {
        return std::nullopt;
      }
      path.remove_prefix(expects_word ? 0 : 1);
      const std::string_view word = path.substr(0, path.find_first_of(".[]"));
      if (word.empty()) {
        return std::nullopt;
      }
      steps.push_back({std::string{word}, std::nullopt});
      path.remove_prefix(word.size());
      expects_word = false;
    }
  }
  return steps.empty() ? std::nullopt : std::optional{steps};
}

// What an item of a list goes by; empty: nothing.
std::string name_of(const Node& item) {
  for (const Entry& entry : item.entries) {
    const bool names =
        std::find(kNameKeys.begin(), kNameKeys.end(), entry.key.text) != kNameKeys.end();
    if (names && entry.value.kind == Node::Kind::kScalar) {
      return entry.value.text;
    }
  }
  return "";
}

Words words_in(const Node& node) {
  Words words;
  for (const Entry& entry : node.entries) {
    words.push_back(entry.key.text);
  }
  for (const Node& item : node.items) {
    words.push_back(name_of(item));
  }
  std::erase(words, "");
  return words;
}

// Where the step leads from `node`; nullptr: nowhere.
Node* follow(Node& node, const Step& step) {
  if (step.position) {
    return *step.position < node.items.size() ? &node.items[*step.position] : nullptr;
  }
  for (Entry& entry : node.entries) {
    if (entry.key.text == step.word) {
      return &entry.value;
    }
  }
  for (Node& item : node.items) {
    if (name_of(item) == step.word) {
      return &item;
    }
  }
  return nullptr;
}

std::string not_there(const Node& node, const Step& step, const std::string& so_far) {
  const std::string place = so_far.empty() ? "the file" : so_far;
  if (step.position) {
    return fmt::format("{} has no item {}; it has {}", place, *step.position, node.items.size());
  }
  for (const Entry& entry : node.entries) {
    const auto& items = entry.value.items;
    if (std::any_of(items.begin(), items.end(),
                    [&](const Node& item) { return name_of(item) == step.word; })) {
      return fmt::format("there is no '{}' in {}; did you mean '{}.{}'?", step.word, place,
                         entry.key.text, step.word);
    }
  }
  if (node.kind == Node::Kind::kScalar) {
    return fmt::format("{0} is a value, {1}, which has no '{2}'; set '{0}' itself", place,
                       quoted(node.text), step.word);
  }
  return fmt::format("there is no '{}' in {}{}", step.word, place,
                     suggestion(step.word, words_in(node)));
}

// `value` and all in it, standing at the place of `there`.
Node placed(Node value, const Node& there) {
  value.line = there.line;
  value.column = there.column;
  for (Node& item : value.items) {
    item = placed(std::move(item), there);
  }
  for (Entry& entry : value.entries) {
    entry.key = placed(std::move(entry.key), there);
    entry.value = placed(std::move(entry.value), there);
  }
  return value;
}

// Plain words as they are; "12" in quotes is not 12, nor is the plain text `a, b` a list.
std::string scalar_text(const Node& node) {
  if (!node.plain) {
    return fmt::format("{:?}", node.text);
  }
  const bool simple = node.text.find_first_of(",:[]{}'\"#\n") == std::string::npos;
  return simple ? node.text : fmt::format("'{:?}'", node.text);
}

}  // namespace

std::optional<std::string> substitute(Node& root, std::string_view path, const Node& value) {
  const auto steps = steps_of(path);
  if (!steps) {
    return "not a path, such as nodes.GLB.capacity or nodes[1].capacity";
  }
  Node* node = &root;
  std::string so_far;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    const Step& step = (*steps)[i];
    Node* const next = follow(*node, step);
    if (next != nullptr) {
      node = next;
    } else if (i + 1 == steps->size() && node->kind == Node::Kind::kMap && !step.position) {
      Node key = placed({}, *node);
      key.kind = Node::Kind::kScalar;
      key.text = step.word;
      node->entries.push_back({key, placed(value, *node)});
      return std::nullopt;
    } else {
      return not_there(*node, step, so_far);
    }
    so_far += step.position ? fmt::format("[{}]", *step.position)
                            : (so_far.empty() ? "" : ".") + step.word;
  }
  if (node->kind == Node::Kind::kMap && value.kind != Node::Kind::kMap) {
    return fmt::format("{} is a map; name one of its keys ({}), or give a map", path,
                       fmt::join(words_in(*node), ", "));
  }
  *node = placed(value, *node);
  return std::nullopt;
}

const Node* find(Node& root, std::string_view path) {
  const auto steps = steps_of(path);
  Node* node = steps ? &root : nullptr;
  for (std::size_t i = 0; node != nullptr && i < steps->size(); ++i) {
    node = follow(*node, (*steps)[i]);
  }
  return node;
}

std::string flow_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "null";
    case Node::Kind::kScalar:
      return scalar_text(node);
    case Node::Kind::kSequence: {
      Words items;
      for (const Node& item : node.items) {
        items.push_back(flow_text(item));
      }
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    case Node::Kind::kMap: {
      Words entries;
      for (const Entry& entry : node.entries) {
        entries.push_back(flow_text(entry.key) + ": " + flow_text(entry.value));
      }
      return fmt::format("{{{}}}", fmt::join(entries, ", "));
    }
  }
  return "";
}

}  // namespace mapsim
