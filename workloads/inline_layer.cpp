// SPDX-License-Identifier: Apache-2.0
#include "workloads/inline_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/reader.hpp"

namespace mapsim {

namespace {

// A part of the text and where it begins, in bytes.
struct Part {
  std::string text;
  std::size_t at = 0;
};

// The parts of text[begin, end) between separators, without the spaces around them.
std::vector<Part> split(const std::string& text, char separator, std::size_t begin,
                        std::size_t end) {
  std::vector<Part> parts;
  while (begin <= end) {
    const std::size_t stop = std::min(text.find(separator, begin), end);
    const std::size_t first = std::min(text.find_first_not_of(' ', begin), stop);
    std::size_t last = stop;
    while (last > first && text[last - 1] == ' ') {
      --last;
    }
    parts.push_back({text.substr(first, last - first), first});
    begin = stop + 1;
  }
  return parts;
}

Node placed(Node::Kind kind, std::size_t at) {
  Node node;
  node.kind = kind;
  node.line = 1;
  node.column = static_cast<int>(at) + 1;
  return node;
}
Node scalar(const Part& part) {
  Node node = placed(Node::Kind::kScalar, part.at);
  node.text = part.text;
  return node;
}
Node pair_of(const Part& a, const Part& b) {
  Node node = placed(Node::Kind::kSequence, a.at);
  node.items = {scalar(a), scalar(b)};
  return node;
}
Node map_of(std::vector<Entry> entries) {
  Node node = placed(Node::Kind::kMap, 0);
  node.entries = std::move(entries);
  return node;
}
Entry entry(const char* key, Node value) {
  Entry made{scalar({key, 0}), std::move(value)};
  made.key.column = made.value.column;
  return made;
}

[[noreturn]] void fail(const Document& document, std::size_t at, const std::string& message) {
  throw ConfigError{{diagnose(document, placed(Node::Kind::kNull, at), 0, message)}};
}

// NAME=N as an entry of a map.
Entry assignment(const Document& document, const Part& part) {
  const std::size_t equals = part.text.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail(document, part.at, fmt::format("{} is not NAME=VALUE", quoted(part.text)));
  }
  return {scalar({part.text.substr(0, equals), part.at}),
          scalar({part.text.substr(equals + 1), part.at + equals + 1})};
}

// The layer without its name and widths, under the key of its form.
Entry gemm_form(const Document& document) {
  const std::vector<Part> parts = split(document.text, 'x', 0, document.text.size());
  if (parts.size() != 3 && parts.size() != 4) {
    fail(document, 0, "expected MxNxK, or BxMxNxK for a batch of B: 4096x4096x4096");
  }
  constexpr std::array kKeys{"batch", "m", "n", "k"};
  std::vector<Entry> extents;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    extents.push_back(entry(kKeys[i + kKeys.size() - parts.size()], scalar(parts[i])));
  }
  return entry(parts.size() == 3 ? "gemm" : "batched_gemm", map_of(std::move(extents)));
}

Entry conv_form(const Document& document) {
  const std::vector<Part> parts = split(document.text, ',', 0, document.text.size());
  const auto is_assignment = [](const Part& part) {
    return part.text.find('=') != std::string::npos;
  };
  constexpr std::size_t kSizes = 6;
  if (std::find_if(parts.begin(), parts.end(), is_assignment) - parts.begin() != kSizes) {
    fail(document, 0,
         "expected C,H,W,K,R,S: input channels, height and width, output channels, kernel's "
         "height and width; then stride=2, padding=1 and the like: 64,56,56,64,3,3");
  }
  std::vector<Entry> shape{
      entry("in_channels", scalar(parts[0])), entry("input", pair_of(parts[1], parts[2])),
      entry("out_channels", scalar(parts[3])), entry("kernel", pair_of(parts[4], parts[5]))};
  for (std::size_t i = kSizes; i < parts.size(); ++i) {
    shape.push_back(assignment(document, parts[i]));
  }
  return entry("conv2d", map_of(std::move(shape)));
}

Entry einsum_form(const Document& document) {
  const std::string& text = document.text;
  const std::size_t semicolon = text.find(';');
  if (semicolon == std::string::npos) {
    fail(document, text.size(),
         "the extents of the dims are missing (--dims): "
         "O[m][n] += A[m][k] * B[k][n]; m=64,n=64,k=32");
  }
  std::vector<Entry> dims;
  for (const Part& part : split(text, ',', semicolon + 1, text.size())) {
    dims.push_back(assignment(document, part));
  }
  Node extents = map_of(std::move(dims));
  extents.column = static_cast<int>(semicolon) + 2;
  return entry("einsum", map_of({entry("equation", scalar({text.substr(0, semicolon), 0})),
                                 entry("dims", std::move(extents))}));
}

struct Kind {
  std::string_view name;
  Entry (*form)(const Document&);
};
constexpr std::array kKinds{Kind{"gemm", gemm_form}, Kind{"conv", conv_form},
                            Kind{"einsum", einsum_form}};

const Kind* kind_of(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(),
                                         [name](const Kind& kind) { return kind.name == name; });
  return found == kKinds.end() || name.size() == text.size() ? nullptr : found;
}

// gemm_64x64x128, conv_64_56_56_64_3_3_padding_1; an equation makes no name.
std::string name_for(std::string_view kind, const std::string& text) {
  std::string name{kind};
  if (kind != "einsum") {
    name += "_" + text;
  }
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_name(std::string{'_', c}); }, '_');
  return name;
}

}  // namespace

bool is_inline_layer(std::string_view text) { return kind_of(text) != nullptr; }

Document inline_layer(const std::string& text) {
  const Kind& kind = *kind_of(text);
  Document document{std::string{kind.name}, text.substr(kind.name.size() + 1), {}};
  std::vector<Entry> widths;
  for (const auto& [role, width] : {std::pair{"input", "8 b"}, std::pair{"weight", "8 b"},
                                    std::pair{"output", "8 b"}, std::pair{"partial", "32 b"}}) {
    widths.push_back(entry(role, scalar({width, 0})));
  }
  document.root = map_of({entry("name", scalar({name_for(kind.name, document.text), 0})),
                          kind.form(document), entry("precision", map_of(std::move(widths)))});
  return document;
}

}  // namespace mapsim
