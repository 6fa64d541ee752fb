// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/document.hpp"
#include "tests/fuzz/mutate.hpp"

namespace mapsim {

namespace {

constexpr std::array<std::string_view, 16> kTexts{"",
                                                  "~",
                                                  "true",
                                                  "no",
                                                  "a",
                                                  "[]",
                                                  "*",
                                                  "?",
                                                  "rest",
                                                  "name: b",
                                                  "\xE2\x80\xAE"
                                                  "r",
                                                  "unlimited",
                                                  "{{x}}",
                                                  "M",
                                                  "1 KiB",
                                                  "e\xCC\x81"};

// What stands in plain text without meaning anything else.
bool is_plain(const std::string& text) {
  return !text.empty() && text.find_first_of("[]{},:#&*!|>'\"%@`\n\r\t\\") == std::string::npos &&
         text.front() != ' ' && text.back() != ' ' && text.front() != '-' && text.front() != '?';
}

void print_text(const Node& node, std::string& out) {
  if (node.plain && is_plain(node.text)) {
    out += node.text;
    return;
  }
  out += '"';
  for (const char c : node.text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string{c};
    }
  }
  out += '"';
}

// In flow style, as JSON has it.
void print(const Node& node, std::string& out) {
  if (!node.tag.empty()) {
    out += "!" +
           node.tag.substr(node.tag.find_first_not_of('!') == std::string::npos
                               ? node.tag.size()
                               : node.tag.find_first_not_of('!')) +
           " ";
  }
  switch (node.kind) {
    case Node::Kind::kNull:
      out += "~";
      return;
    case Node::Kind::kScalar:
      print_text(node, out);
      return;
    case Node::Kind::kSequence:
      out += '[';
      for (const Node& item : node.items) {
        print(item, out);
        out += ", ";
      }
      out += ']';
      return;
    case Node::Kind::kMap:
      out += '{';
      for (const Entry& entry : node.entries) {
        print(entry.key, out);
        out += ": ";
        print(entry.value, out);
        out += ", ";
      }
      out += '}';
      return;
  }
}

// Each item and entry of the root in a line of its own.
std::string print(const Node& root) {
  std::string out;
  for (const Node& item : root.items) {
    out += "- ";
    print(item, out);
    out += '\n';
  }
  for (const Entry& entry : root.entries) {
    print(entry.key, out);
    out += ": ";
    print(entry.value, out);
    out += '\n';
  }
  return out;
}

void list(Node& node, std::vector<Node*>& all) {
  all.push_back(&node);
  for (Node& item : node.items) {
    list(item, all);
  }
  for (Entry& entry : node.entries) {
    list(entry.value, all);
  }
}

Node scalar(std::string_view text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.text = text;
  return node;
}

// Leaves out, repeats or swaps what is in a list or a map.
template <class Parts>
void change_parts(Parts& parts, Rng& rng) {
  const auto at = parts.begin() + static_cast<std::ptrdiff_t>(rng.below(parts.size()));
  switch (rng.below(3)) {
    case 0:
      parts.erase(at);
      return;
    case 1: {
      auto copy = one_of(parts, rng);
      parts.insert(at, std::move(copy));
      return;
    }
    default:
      std::swap(*at, one_of(parts, rng));
  }
}

void change_scalar(Node& node, Rng& rng) {
  if (rng.below(3) == 0) {
    node = scalar(one_of(kTexts, rng));
  } else if (rng.below(8) == 0) {
    node.text = std::string(1 + rng.below(300), 'x') + node.text;
  } else {
    node.text = with_another_number(node.text, rng);
  }
}

void change(Node& root, Rng& rng) {
  std::vector<Node*> all;
  list(root, all);
  Node& node = *one_of(all, rng);
  Node other = *one_of(all, rng);  // a copy, as the one may be a part of the other
  const std::uint64_t how = rng.below(12);
  if (how == 0 && other.entries.size() + other.items.size() < 100) {
    node = std::move(other);
  } else if (how == 1) {
    Node wrapped;
    wrapped.kind = Node::Kind::kSequence;
    wrapped.items.push_back(std::move(node));
    node = std::move(wrapped);
  } else if (how == 2 && !node.entries.empty()) {
    Node& key = one_of(node.entries, rng).key;
    key = other.entries.empty() ? scalar(one_of(kTexts, rng)) : one_of(other.entries, rng).key;
  } else if (!node.items.empty()) {
    change_parts(node.items, rng);
  } else if (!node.entries.empty()) {
    change_parts(node.entries, rng);
  } else if (other.kind == Node::Kind::kScalar && rng.below(3) == 0) {
    node = std::move(other);
  } else {
    change_scalar(node, rng);
  }
}

}  // namespace

std::string mutate_tree(const std::string& text, Rng& rng) {
  const std::string between = kNextDocument;
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t end = 0; end != std::string::npos; at = end + between.size()) {
    end = text.find(between, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
  }
  std::string& part = one_of(parts, rng);
  try {
    Document document = parse_yaml(part, "", Tags::kKept);
    change(document.root, rng);
    part = print(document.root);
  } catch (const ConfigError&) {  // a template, or no YAML any more
    part = mutate_text(part, rng);
  }
  std::string whole = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    whole += between + parts[i];
  }
  return whole;
}

}  // namespace mapsim
