// SPDX-License-Identifier: Apache-2.0
#include "interop/accelforge_accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

class AccessReader {
 public:
  AccessReader(Reader& reader, ImportNotes& notes) : reader_{reader}, notes_{notes} {}

  std::vector<ForgeEntry> read(const Node& list) {
    flatten(list);
    return std::move(entries_);
  }

 private:
  void flatten(const Node& list) {
    for (const Node& item : list.items) {
      if (item.kind == Node::Kind::kSequence) {
        flatten(item);
      } else {
        add_entry(item);
      }
    }
    if (list.items.empty()) {
      reader_.error(list, fmt::format("expected a list of einsums, not {}", describe(list)));
    }
  }

  void add_entry(const Node& item) {
    ForgeEntry entry;
    entry.node = &item;
    if (item.kind == Node::Kind::kScalar) {
      parse_equation_of(item, item.text, entry);
    } else {
      const Fields fields =
          reader_.fields(item, {"name", "einsum", "tensor_accesses", "iteration_space_shape",
                                "rank_sizes", "is_copy_operation", "renames", "n_instances"});
      if (const Node* text = fields.find("einsum")) {
        parse_equation_of(*text, text->text, entry);
      } else {
        entry.name = reader_.name(fields.require("name")).value_or("");
      }
      if (const Node* list = fields.find("tensor_accesses")) {
        for (const Node* access : reader_.items(*list, "a list of tensors")) {
          add_access(*access, entry, fields.has("einsum"));
        }
      }
    }
    entries_.push_back(std::move(entry));
  }

  // O[m, n] = I[m, k] * W[K: k, n]
  void parse_equation_of(const Node& node, const std::string& text, ForgeEntry& entry) {
    const std::string one = without_blanks(text);
    const std::size_t equals = one.find('=');
    std::vector<ForgeAccess> found;
    bool is_assigned = false;
    std::size_t after = equals;  // the equals sign, then each operand
    const auto note_operator = [&](const std::string& between) {
      if (between != (after == equals ? "" : "*")) {
        notes_.add(node, {"no product, counted as one operation for each point", between,
                          one.substr(0, one.find('['))});
      }
    };
    for (std::size_t open = one.find('['); open != std::string::npos; open = one.find('[', open)) {
      const std::size_t close = one.find(']', open);
      std::size_t begin = open;
      while (begin > 0 && (std::isalnum(static_cast<unsigned char>(one[begin - 1])) != 0 ||
                           one[begin - 1] == '_')) {
        --begin;
      }
      if (close == std::string::npos || begin == open) {
        break;
      }
      if (begin < equals) {
        is_assigned = begin == 0 && close + 1 == equals;  // the output alone
      }
      if (begin > equals) {
        note_operator(one.substr(after + 1, begin - after - 1));
        after = close;
      }
      add_operand(
          node,
          {one.substr(begin, open - begin), indices_of(one.substr(open + 1, close - open - 1)),
           begin < equals, false, nullptr},
          found);
      open = close;
    }
    if (equals == std::string::npos || !is_assigned || found.size() < 2) {
      reader_.error(node,
                    fmt::format("{} is not of the form O[m, n] = I[m, k] * W[k, n]", quoted(text)));
      return;
    }
    if (after + 1 < one.size()) {
      note_operator(one.substr(after + 1));
    }
    entry.name = found.front().name;
    std::rotate(found.begin(), found.begin() + 1, found.end());
    entry.accesses = std::move(found);
  }

  static std::vector<ForgeIndex> indices_of(const std::string& text) {
    std::vector<ForgeIndex> indices;
    for (const TextPiece& part : pieces(text, ",")) {
      const std::size_t colon = part.text.find(':');
      indices.push_back(colon == std::string::npos
                            ? ForgeIndex{upper(part.text), part.text}
                            : ForgeIndex{part.text.substr(0, colon), part.text.substr(colon + 1)});
    }
    return indices;
  }

  // There a tensor is accessed once: as the output, or as the last operand of its name.
  void add_operand(const Node& node, ForgeAccess access, std::vector<ForgeAccess>& found) {
    const auto known = std::find_if(found.begin(), found.end(), [&](const ForgeAccess& each) {
      return each.name == access.name;
    });
    if (known == found.end()) {
      found.push_back(std::move(access));
      return;
    }
    notes_.add(node, fmt::format("{}: {} stands twice in the equation; as in AccelForge, its one "
                                 "access is {}, and the other costs nothing",
                                 found.front().name, access.name,
                                 known->output ? "that of the output" : "the last one"));
    if (!known->output) {
      *known = std::move(access);
    }
  }

  void add_access(const Node& node, ForgeEntry& entry, bool beside_equation) {
    const Fields fields = reader_.fields(node, {"name", "projection", "output", "persistent",
                                                "backing_storage_size_scale", "bits_per_value"});
    const std::string name = reader_.name(fields.require("name")).value_or("");
    auto access = std::find_if(entry.accesses.begin(), entry.accesses.end(),
                               [&](const ForgeAccess& each) { return each.name == name; });
    if (beside_equation && access == entry.accesses.end()) {
      reader_.error(node, fmt::format("the einsum has no tensor {}", quoted(name)));
      return;
    }
    for (const char* key : {"projection", "output"}) {
      if (beside_equation && fields.has(key)) {
        reader_.error(*fields.find(key),
                      fmt::format("the equation says the {} of {}; leave it out", key, name));
      }
    }
    if (!beside_equation) {
      access =
          entry.accesses.insert(entry.accesses.end(), ForgeAccess{name, {}, false, false, nullptr});
      access->output = read_foreign_boolean(reader_, fields.find("output")).value_or(false);
      if (const Node* projection = fields.require("projection")) {
        if (projection->kind == Node::Kind::kScalar) {
          reader_.error(*projection, "expected a list of rank variables, or a map of ranks");
        }
        for (const Node& item : projection->items) {
          access->indices.push_back({upper(item.text), item.text});
        }
        for (const Entry& rank : projection->entries) {
          access->indices.push_back({rank.key.text, rank.value.text});
        }
      }
    }
    access->persistent = read_foreign_boolean(reader_, fields.find("persistent")).value_or(false);
    access->bits = fields.find("bits_per_value");
    if (const Node* scale = fields.find("backing_storage_size_scale")) {
      notes_.add(*scale, {"scales of what a tensor occupies in the outermost memory",
                          "backing_storage_size_scale", name});
    }
  }

  Reader& reader_;
  ImportNotes& notes_;
  std::vector<ForgeEntry> entries_;
};

}  // namespace

std::string without_blanks(const std::string& text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept),
               [](unsigned char c) { return std::isspace(c) == 0; });
  return kept;
}

bool is_forge_word(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

bool is_forge_digits(const std::string& text) {
  return !text.empty() && text.size() < 16 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<ForgeTerms> forge_terms(const std::string& expression) {
  ForgeTerms terms;
  for (const TextPiece& piece : pieces(without_blanks(expression), "+")) {
    const std::vector<TextPiece> parts = pieces(piece.text, "*");
    if (parts.size() == 1 && is_forge_word(parts[0].text)) {
      terms.emplace_back(1, parts[0].text);
    } else if (parts.size() == 2 &&
               (is_forge_digits(parts[0].text) || is_forge_digits(parts[1].text))) {
      const std::size_t number = is_forge_digits(parts[0].text) ? 0 : 1;
      terms.emplace_back(std::stoll(parts[number].text), parts[1 - number].text);
      if (!is_forge_word(parts[1 - number].text) || terms.back().first == 0) {
        return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
  }
  return terms.empty() ? std::nullopt : std::optional{terms};
}

std::vector<ForgeEntry> read_forge_entries(Reader& reader, const Node& list, ImportNotes& notes) {
  return AccessReader{reader, notes}.read(list);
}

}  // namespace mapsim
