// SPDX-License-Identifier: Apache-2.0
// The only file that names yaml-cpp. It works from parser events, not from YAML::Node: a Node loses
// the place of aliases and empty values, and lets an alias contain itself.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/document.hpp"
#include "core/utf8.hpp"

namespace mapsim {
namespace {

constexpr std::array<std::string_view, 4> kNullWords{"~", "null", "Null", "NULL"};

[[noreturn]] void fail(const std::string& file, const std::string& message) {
  throw ConfigError{{{file, 0, 0, "", message, ""}}};
}

[[noreturn]] void fail_at(const std::string& file, const std::string& text, int line, int column,
                          const std::string& message) {
  throw ConfigError{{{file, line, column, "", message, line_of(text, line)}}};
}

std::size_t weight(const Node& node) { return sizeof(Node) + node.text.size(); }

// What a copy of a subtree costs.
struct Extent {
  std::size_t bytes = 0;
  int depth = 0;
};
Extent extent_of(const Node& node) {
  Extent sum;
  const auto add = [&sum](const Node& child) {
    const Extent extent = extent_of(child);
    sum.bytes += extent.bytes;
    sum.depth = std::max(sum.depth, extent.depth);
  };
  for (const Node& item : node.items) {
    add(item);
  }
  for (const Entry& entry : node.entries) {
    add(entry.key);
    add(entry.value);
  }
  return {sum.bytes + weight(node), sum.depth + 1};
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, const std::string& text, Tags tags)
      : file_{file}, text_{text}, tags_{tags} {}

  Node take() { return std::move(root_); }

  // The innermost container whose end has not come yet, or nullptr.
  const Node* innermost() const { return open_.empty() ? nullptr : &open_.back().node; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (done_) {
      refuse(mark, "a second document begins here; one document a file");
    }
  }
  void OnDocumentEnd() override { done_ = true; }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node = located(Node::Kind::kNull, mark);
    if (!is_written_null(mark)) {
      // Nothing was written, and the mark is that of the next token, perhaps lines away.
      const Node* before = predecessor();
      node.line = before == nullptr ? node.line : before->line;
      node.column = before == nullptr ? node.column : before->column;
    }
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      refuse(mark, "this alias is part of what it stands for");
    }
    const Extent extent = extent_of(known->second);
    charge(mark, extent.bytes, static_cast<int>(open_.size()) + extent.depth);
    append(known->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = located(Node::Kind::kScalar, mark);
    node.tag = kept_tag(mark, tag);
    node.plain = tag == "?";
    node.text = value;
    charge(mark, weight(node), static_cast<int>(open_.size()) + 1);
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::kSequence, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::kMap, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  // A container whose end has not come yet.
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Node> key;  // waits for its value
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
    fail_at(file_, text_, mark.line + 1, mark.column + 1, message);
  }

  static Node located(Node::Kind kind, const YAML::Mark& mark) {
    Node node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  bool is_written_null(const YAML::Mark& mark) const {
    const std::string_view rest =
        std::string_view{text_}.substr(std::min(static_cast<std::size_t>(mark.pos), text_.size()));
    return std::any_of(kNullWords.begin(), kNullWords.end(),
                       [rest](std::string_view word) { return rest.starts_with(word); });
  }

  // The key that waits for a value, the item before, or the container.
  const Node* predecessor() const {
    if (open_.empty()) {
      return nullptr;
    }
    const Open& top = open_.back();
    if (top.key) {
      return &*top.key;
    }
    return top.node.items.empty() ? &top.node : &top.node.items.back();
  }

  // The tag that a node keeps; "?" and "!" only say whether it is quoted.
  std::string kept_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") {
      return "";
    }
    if (tags_ == Tags::kRefused) {
      refuse(mark, "tags are not supported; remove it");
    }
    return tag;
  }

  void charge(const YAML::Mark& mark, std::size_t bytes, int depth) {
    if (depth > kMaxDepth) {
      refuse(mark, fmt::format("nested deeper than {} levels", kMaxDepth));
    }
    bytes_ += bytes;
    if (bytes_ > kMaxTreeBytes) {
      refuse(mark,
             fmt::format("more than {} MiB of values, with aliases expanded", kMaxTreeBytes >> 20));
    }
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    Open container{located(kind, mark), anchor, std::nullopt};
    container.node.tag = kept_tag(mark, tag);
    charge(mark, weight(container.node), static_cast<int>(open_.size()) + 1);
    open_.push_back(std::move(container));
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (anchor != 0) {
      bytes_ += extent_of(node).bytes;
      anchors_[anchor] = node;
    }
    append(std::move(node));
  }

  void append(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = open_.back();
    if (top.node.kind == Node::Kind::kSequence) {
      top.node.items.push_back(std::move(node));
    } else if (!top.key) {
      top.key = std::move(node);
    } else {
      top.node.entries.push_back({std::move(*top.key), std::move(node)});
      top.key.reset();
    }
  }

  const std::string& file_;
  const std::string& text_;
  Tags tags_;
  Node root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t bytes_ = 0;
  bool done_ = false;
};

// Refuses what is not text: yaml-cpp would guess at an encoding, or stop silently.
void check_text(const std::string& file, const std::string& text) {
  const std::optional<std::size_t> bad = first_non_text_byte(text);
  if (!bad) {
    return;
  }
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(*bad);
  const auto line = std::count(text.begin(), end, '\n') + 1;
  const std::size_t line_begin = *bad == 0 ? 0 : text.rfind('\n', *bad - 1) + 1;
  const std::string message = fmt::format("byte 0x{:02X} is not UTF-8 text; is this a binary file?",
                                          static_cast<unsigned char>(text[*bad]));
  // Without the source line: it is no text.
  throw ConfigError{
      {{file, static_cast<int>(line), static_cast<int>(*bad - line_begin) + 1, "", message, ""}}};
}

// Of a text without a document. To yaml-cpp a comment goes on beyond a carriage return.
std::string what_is_missing(const std::string& text) {
  return text.find('\r') == std::string::npos || text.find('\n') != std::string::npos
             ? "the file is empty"
             : "lines end in carriage returns alone; end them in line feeds";
}

// What yaml-cpp says, and the usual reason where the line begins with a tab.
std::string syntax_message(const std::string& what, const std::string& line) {
  const std::size_t content = line.find_first_not_of(" \t");
  const bool tab = line.substr(0, content).find('\t') != std::string::npos;
  return "not valid YAML: " + what + (tab ? "; indent with spaces, not tabs" : "");
}

// Does the text close the bracket that begins a node? Brackets in quotes and comments do not count.
bool is_closed(const std::string& text, const Node& open) {
  std::size_t at = 0;
  for (int line = 1; line < open.line; ++line) {
    at = text.find('\n', at) + 1;
  }
  at = text.find_first_of("[{", at + static_cast<std::size_t>(open.column - 1));
  // An apostrophe within a word begins no quotation.
  const auto begins_item = [&text](std::size_t i) {
    return std::string_view{" \t\n[{,:"}.find(text[i - 1]) != std::string_view::npos;
  };
  int depth = 0;
  for (char quote = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      quote = c == quote ? '\0' : quote;
    } else if ((c == '"' || c == '\'') && begins_item(at)) {
      quote = c;
    } else if (c == '#' && std::isspace(static_cast<unsigned char>(text[at - 1])) != 0) {
      at = std::min(text.find('\n', at), text.size());
    } else {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      if (depth == 0) {
        return true;
      }
    }
  }
  return false;
}

// Where the parser misses the end of a list or map in brackets: the bracket is not closed, which is
// found out lines later, or there is no comma before the next item.
[[noreturn]] void fail_in_brackets(const std::string& file, const std::string& text,
                                   const YAML::Mark& mark, const Node& open) {
  const bool is_map = open.kind == Node::Kind::kMap;
  if (is_closed(text, open)) {
    fail_at(file, text, mark.line + 1, mark.column + 1,
            fmt::format("not valid YAML: expected ',' or '{}' here", is_map ? '}' : ']'));
  }
  fail_at(file, text, open.line, open.column,
          fmt::format("not valid YAML: no '{}' closes this '{}'", is_map ? '}' : ']',
                      is_map ? '{' : '['));
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Document parse_yaml(std::string text, const std::string& filename, Tags tags) {
  if (text.size() > kMaxFileBytes) {
    fail(filename, fmt::format("larger than {} MiB", kMaxFileBytes >> 20));
  }
  if (text.starts_with(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
  check_text(filename, text);
  TreeBuilder builder{filename, text, tags};
  try {
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder)) {
      fail(filename, what_is_missing(text));
    }
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    if (error.mark.is_null()) {
      fail(filename, syntax_message(error.msg, ""));
    }
    const bool is_in_brackets = error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW ||
                                error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
    if (is_in_brackets && builder.innermost() != nullptr) {
      fail_in_brackets(filename, text, error.mark, *builder.innermost());
    }
    fail_at(filename, text, error.mark.line + 1, error.mark.column + 1,
            syntax_message(error.msg, line_of(text, error.mark.line + 1)));
  }
  Node root = builder.take();
  return {filename, std::move(text), std::move(root)};
}

std::string read_yaml_text(const std::string& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    fail(path, "is a directory, not a file");
  }
  errno = 0;
  std::ifstream stream{path, std::ios::binary};
  if (!stream) {
    fail(path, "cannot be opened: " + std::generic_category().message(errno));
  }
  // Bit by bit: what is read is seldom more than a few KiB. One byte more than allowed at most, so
  // that parse_yaml() sees the excess of a file without end.
  constexpr std::size_t kPart = std::size_t{16} << 10;
  std::string text;
  while (stream && text.size() <= kMaxFileBytes) {
    const std::size_t size = text.size();
    text.resize(std::min(size + kPart, kMaxFileBytes + 1));
    stream.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) {
    fail(path, "cannot be read: " + std::generic_category().message(errno));
  }
  return text;
}

Document read_yaml(const std::string& path) { return parse_yaml(read_yaml_text(path), path); }

}  // namespace mapsim
