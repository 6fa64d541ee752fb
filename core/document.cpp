// SPDX-License-Identifier: Apache-2.0
#include "core/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mapsim {
namespace {

// Depth-first search by address. On success `path` is the way from `at` to `wanted`.
bool find_path(const Node& at, const Node* wanted, std::string& path) {
  if (&at == wanted) {
    return true;
  }
  const std::size_t here = path.size();
  for (std::size_t i = 0; i < at.items.size(); ++i) {
    path += fmt::format("[{}]", i);
    if (find_path(at.items[i], wanted, path)) {
      return true;
    }
    path.resize(here);
  }
  for (const Entry& entry : at.entries) {
    if (&entry.key == wanted) {
      return true;
    }
    path += (here == 0 ? "" : ".") + entry.key.text;
    if (find_path(entry.value, wanted, path)) {
      return true;
    }
    path.resize(here);
  }
  return false;
}

}  // namespace

std::string path_of(const Document& document, const Node& node) {
  std::string path;
  return find_path(document.root, &node, path) ? path : "";
}

std::string line_of(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int line = 1; line < number && begin != std::string::npos; ++line) {
    begin = text.find('\n', begin);
    begin += begin == std::string::npos ? 0 : 1;
  }
  if (begin == std::string::npos || begin >= text.size() || number < 1) {
    return "";
  }
  std::string line = text.substr(begin, text.find('\n', begin) - begin);
  if (!line.empty() && line.back() == '\r') {
    line.pop_back();
  }
  return line;
}

Diagnostic diagnose(const Document& document, const Node& node, std::size_t offset,
                    const std::string& message) {
  const std::string source = line_of(document.text, node.line);
  std::size_t column = static_cast<std::size_t>(std::max(node.column, 1));
  if (offset > 0) {
    // A quoted scalar begins after its quote; escapes and folded lines are not verbatim.
    const std::size_t begin = column - (node.plain ? 1 : 0);
    if (source.size() >= begin && source.compare(begin, node.text.size(), node.text) == 0) {
      column = begin + offset + 1;
    }
  }
  return {document.file,           node.line, static_cast<int>(column),
          path_of(document, node), message,   source};
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      return (node.plain ? "" : "the text ") + quoted(node.text);
    case Node::Kind::kSequence:
      return "a list";
    case Node::Kind::kMap:
      return "a map";
  }
  return "";
}

}  // namespace mapsim
