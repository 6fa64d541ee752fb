// SPDX-License-Identifier: Apache-2.0
#include "interop/libconfig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace mapsim {

namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Letters, digits, - _ * + . : what names, numbers and truth values are made of.
bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"-_*+."}.find(c) != std::string_view::npos;
}

class LibconfigReader {
 public:
  LibconfigReader(const std::string& text, const std::string& file) : text_{text}, file_{file} {}

  Node read() {
    Node root = node(Node::Kind::kMap);
    settings(root, '\0');
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw ConfigError{
        {{file_, line_, static_cast<int>(at_ - begin_) + 1, "", message, line_of(text_, line_)}}};
  }

  void next() {
    if (text_[at_++] == '\n') {
      ++line_;
      begin_ = at_;
    }
  }

  // Blanks and comments: # and // to the end of the line, /* to */.
  void space() {
    while (at_ < text_.size()) {
      const std::string_view two = std::string_view{text_}.substr(at_, 2);
      if (is_blank(text_[at_])) {
        next();
      } else if (text_[at_] == '#' || two == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') {
          next();
        }
      } else if (two == "/*") {
        while (at_ < text_.size() && std::string_view{text_}.substr(at_, 2) != "*/") {
          next();
        }
        at_ = std::min(at_ + 2, text_.size());
      } else {
        return;
      }
    }
  }

  bool sign(char c) {
    space();
    if (at_ == text_.size() || text_[at_] != c) {
      return false;
    }
    next();
    return true;
  }

  Node node(Node::Kind kind) {
    space();
    Node made;
    made.kind = kind;
    made.line = line_;
    made.column = static_cast<int>(at_ - begin_) + 1;
    return made;
  }

  Node word(const char* what) {
    Node found = node(Node::Kind::kScalar);
    while (at_ < text_.size() && is_plain(text_[at_])) {
      found.text += text_[at_];
      next();
    }
    if (found.text.empty()) {
      fail(fmt::format("expected {}", what));
    }
    return found;
  }

  // name = value; name : value, ... up to `end`.
  void settings(Node& map, char end) {
    if (++depth_ > kMaxDepth) {
      fail("too many groups inside of each other");
    }
    for (space(); at_ < text_.size() && text_[at_] != end; space()) {
      if (text_[at_] == '@') {
        fail("@include is not followed; put the files together");
      }
      Node key = word("the name of a setting");
      if (!sign('=') && !sign(':')) {
        fail(fmt::format("expected '=' behind '{}'", key.text));
      }
      map.entries.push_back({std::move(key), value()});
      if (!sign(';')) {
        sign(',');
      }
    }
    if (end != '\0' && !sign(end)) {
      fail(fmt::format("the file ends before '{}'", end));
    }
    --depth_;
  }

  Node value() {
    Node found = node(Node::Kind::kSequence);
    if (sign('{')) {
      found.kind = Node::Kind::kMap;
      settings(found, '}');
    } else if (sign('(')) {
      items(found, ')');
    } else if (sign('[')) {
      items(found, ']');
    } else if (at_ < text_.size() && text_[at_] == '"') {
      found.kind = Node::Kind::kScalar;
      found.plain = false;
      while (sign('"')) {  // texts that follow each other are one
        text_into(found.text);
      }
    } else {
      found = word("a value");
      // 64-bit numbers end in L or LL.
      if (std::isdigit(static_cast<unsigned char>(found.text.front())) != 0) {
        found.text.erase(found.text.find_last_not_of('L') + 1);
      }
    }
    return found;
  }

  void text_into(std::string& text) {
    for (; at_ < text_.size() && text_[at_] != '"'; next()) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        next();
      }
      text += text_[at_];
    }
    if (at_ == text_.size()) {
      fail("the file ends inside of a text");
    }
    next();
  }

  void items(Node& list, char end) {
    if (++depth_ > kMaxDepth) {
      fail("too many lists inside of each other");
    }
    while (!sign(end)) {
      if (at_ == text_.size()) {
        fail(fmt::format("the file ends before '{}'", end));
      }
      list.items.push_back(value());
      sign(',');
    }
    --depth_;
  }

  const std::string& text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  // of the line
  int line_ = 1;
  int depth_ = 0;
};

}  // namespace

Document parse_libconfig(std::string text, const std::string& filename) {
  Document document{filename, std::move(text), {}};
  document.root = LibconfigReader{document.text, document.file}.read();
  return document;
}

}  // namespace mapsim
