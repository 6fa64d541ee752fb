// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/diagnostic.hpp"

namespace mapsim {

struct Entry;

// A value of a YAML document that knows where it stands. Plain values: an alias has been replaced
// by a copy of what it stands for (and keeps the place of the original).
struct Node {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };
  Kind kind = Kind::kNull;
  bool plain = true;           // a scalar without quotes
  int line = 0;                // 1-based
  int column = 0;              // 1-based, in bytes
  std::string text;            // of a scalar
  std::string tag;             // !Name, where tags are kept
  std::vector<Node> items;     // of a sequence
  std::vector<Entry> entries;  // of a map, in file order, duplicates included
};

struct Entry {
  Node key;
  Node value;
};

// Limits of one file. Far beyond any real one, low enough that no file can exhaust the machine.
inline constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxTreeBytes = std::size_t{256} << 20;  // with aliases expanded
inline constexpr int kMaxDepth = 64;

struct Document {
  std::string file;
  std::string text;
  Node root;
};

// Our own files have no tags; those of other tools may.
enum class Tags : std::uint8_t { kRefused, kKept };

// Reads a document. Throws ConfigError with what is wrong: not readable, not text, not YAML, empty,
// several documents, tags (unless kept), aliases that loop, beyond the limits. Keys are the
// reader's business (core/reader.hpp).
Document parse_yaml(std::string text, const std::string& filename, Tags tags = Tags::kRefused);
Document read_yaml(const std::string& path);
// The text of a file, for those who change it before it is parsed. Throws ConfigError where it
// cannot be read. A file beyond the limit is cut off behind it: parse_yaml() refuses it.
std::string read_yaml_text(const std::string& path);

// Where `node` stands in its document, as people would write it: nodes[0].bandwidth.read. For a
// key, the map that it is a key of. Searches the tree, so that nothing has to carry paths about.
std::string path_of(const Document& document, const Node& node);

// A diagnostic at `node`, or at byte `offset` of its text where the file shows it verbatim.
Diagnostic diagnose(const Document& document, const Node& node, std::size_t offset,
                    const std::string& message);

// The line of `text` with this 1-based number, without its end; empty if there is none.
std::string line_of(const std::string& text, int number);

// "a map", "a list", "'16 KiB'", "the text '12'" (in quotes), "nothing".
std::string describe(const Node& node);

}  // namespace mapsim
