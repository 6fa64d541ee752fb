// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "core/arithmetic.hpp"
#include "interop/accelforge.hpp"
#include "interop/accelforge_accesses.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

class ForgeWorkloadReader {
 public:
  ForgeWorkloadReader(Reader& reader, const std::map<std::string, double>& variables,
                      ImportNotes& notes)
      : reader_{reader}, notes_{notes} {
    variables_.numbers = variables;
  }

  std::vector<ForgeEinsum> read(const Node& workload, const ForgeRenames& renames) {
    const Fields fields = reader_.fields(
        workload, {"version", "einsums", "iteration_space_shape", "shape", "rank_sizes",
                   "n_instances", "bits_per_value", "persistent_tensors"});
    renames_ = renames;
    bits_ = fields.find("bits_per_value");
    persistent_ = fields.find("persistent_tensors");
    instances_ = whole(fields.find("n_instances"), 1);
    for (const char* key : {"iteration_space_shape", "shape"}) {
      if (const Node* shape = fields.find(key)) {
        for (const Entry* entry : reader_.entries(*shape, "a map of rank variables")) {
          Bounds own;
          add_bound(entry->value, own);
          if (!own.empty() && !own.contains(entry->key.text)) {
            reader_.error(entry->value, fmt::format("the bound of {} is of another rank variable",
                                                    quoted(entry->key.text)));
          }
          own.merge(bounds_);
          bounds_ = std::move(own);
        }
      }
    }
    if (const Node* sizes = fields.find("rank_sizes")) {
      read_sizes(*sizes, sizes_);
    }
    if (const Node* list = fields.require("einsums")) {
      entries_ = read_forge_entries(reader_, *list, notes_);
    }
    std::vector<ForgeEinsum> einsums;
    std::set<std::string> names;
    for (const ForgeEntry& entry : entries_) {
      if (!names.insert(entry.name).second) {
        reader_.error(*entry.node, fmt::format("a second einsum called {}", quoted(entry.name)));
      }
      einsums.push_back(einsum_of(entry));
    }
    note_unused(fields);
    return einsums;
  }

 private:
  using Bounds = std::map<std::string, std::int64_t>;
  using Sizes = std::map<std::string, std::int64_t>;

  double number(const Node& node, const ForgeNames& names) {
    return read_forge_number(reader_, node, names);
  }

  std::int64_t whole(const Node* node, std::int64_t otherwise) {
    return whole(node, otherwise, variables_);
  }

  std::int64_t whole(const Node* node, std::int64_t otherwise, const ForgeNames& names) {
    if (node == nullptr) {
      return otherwise;
    }
    const double value = number(*node, names);
    if (!(value >= 1) || value > static_cast<double>(kMaxInteger) || value != std::floor(value)) {
      reader_.error(*node,
                    fmt::format("{} is not a whole number of at least 1", quoted(node->text)));
      return 1;
    }
    return static_cast<std::int64_t>(value);
  }

  // Sizes may name sizes above them.
  void read_sizes(const Node& map, Sizes& sizes) {
    ForgeNames names = variables_;
    for (const auto& [rank, size] : sizes) {
      names.numbers[rank] = static_cast<double>(size);
    }
    for (const Entry* entry : reader_.entries(map, "a map of ranks")) {
      const std::int64_t size = whole(&entry->value, 1, names);
      sizes[entry->key.text] = size;
      names.numbers[entry->key.text] = static_cast<double>(size);
    }
  }

  // 0 <= p < 56
  void add_bound(const Node& node, Bounds& bounds) {
    std::string text = node.text;
    for (std::size_t at = text.find(" and "); at != std::string::npos; at = text.find(" and ")) {
      text.replace(at, 5, "\n");
    }
    for (const TextPiece& line : pieces(text, "\n")) {
      const std::string one = without_blanks(line.text);
      const std::size_t second = one.find('<', 3);
      const bool inclusive = second != std::string::npos && one.substr(second, 2) == "<=";
      const std::string high =
          second == std::string::npos ? "" : one.substr(second + (inclusive ? 2 : 1));
      const std::string name = second == std::string::npos ? "" : one.substr(3, second - 3);
      if (!one.starts_with("0<=") || !is_forge_word(name) || !is_forge_digits(high) ||
          std::stoll(high) + (inclusive ? 1 : 0) < 1) {
        reader_.error(node, fmt::format("{} is not of the form 0 <= p < 56", quoted(line.text)));
        continue;
      }
      bounds[name] = std::stoll(high) + (inclusive ? 1 : 0);
    }
  }

  // Sizes and bounds of what no einsum has.
  void note_unused(const Fields& fields) {
    std::set<std::string> used;
    for (const ForgeEntry& entry : entries_) {
      for (const ForgeAccess& access : entry.accesses) {
        for (const ForgeIndex& index : access.indices) {
          used.insert(index.rank);
          for (const auto& [coefficient, name] :
               forge_terms(index.expression).value_or(ForgeTerms{})) {
            used.insert(name);
          }
        }
      }
    }
    for (const char* key : {"iteration_space_shape", "shape", "rank_sizes"}) {
      const Node* sizes = fields.find(key);
      for (std::size_t i = 0; sizes != nullptr && i < sizes->entries.size(); ++i) {
        const Node& name = sizes->entries[i].key;
        const bool named = std::any_of(  // in the size of another
            sizes->entries.begin(), sizes->entries.end(), [&](const Entry& each) {
              return each.value.text.find(name.text) != std::string::npos;
            });
        if (!used.contains(name.text) && (!named || key[0] != 'r')) {
          notes_.add(name, {"sizes of ranks that no einsum has", name.text, ""});
        }
      }
    }
  }

  const Node* of_entry(const ForgeEntry& entry, const char* key) const {
    return entry.node->kind == Node::Kind::kMap ? value_of(*entry.node, key) : nullptr;
  }

  ForgeEinsum einsum_of(const ForgeEntry& entry) {
    ForgeEinsum einsum;
    einsum.name = entry.name;
    einsum.at = entry.node;
    einsum.names.numbers = variables_.numbers;
    einsum.count = instances_ * whole(of_entry(entry, "n_instances"), 1);
    einsum.copies =
        read_foreign_boolean(reader_, of_entry(entry, "is_copy_operation")).value_or(false);
    std::vector<ForgeAccess> accesses = entry.accesses;
    std::stable_partition(accesses.begin(), accesses.end(),
                          [](const ForgeAccess& each) { return !each.output; });
    if (std::count_if(accesses.begin(), accesses.end(),
                      [](const ForgeAccess& each) { return each.output; }) != 1) {
      reader_.error(*entry.node, fmt::format("{} needs one output", entry.name));
      return einsum;
    }
    if (accesses.size() > kMaxTensors) {
      reader_.error(*entry.node,
                    fmt::format("{} has more than {} tensors", entry.name, kMaxTensors));
      return einsum;
    }
    const auto bounds = bounds_of(entry, accesses);
    for (const auto& [name, bound] : bounds) {
      einsum.dims.push_back({name, bound});
    }
    if (einsum.dims.size() > 32) {
      reader_.error(*entry.node, fmt::format("{} has more than 32 rank variables", entry.name));
      return einsum;
    }
    for (const ForgeAccess& access : accesses) {
      add_tensor(entry, access, bounds, einsum);
    }
    name_things(entry, accesses, einsum);
    return einsum;
  }

  // Of every rank variable, by iteration spaces and by sizes of the ranks that it indexes.
  Bounds bounds_of(const ForgeEntry& entry, const std::vector<ForgeAccess>& accesses) {
    Bounds given = bounds_;
    Sizes sizes = sizes_;
    for (const Node* item : read_forge_list(reader_, of_entry(entry, "iteration_space_shape"),
                                            "a list of bounds such as 0 <= p < 56")) {
      add_bound(*item, given);
    }
    if (const Node* own = of_entry(entry, "rank_sizes")) {
      read_sizes(*own, sizes);
    }
    std::vector<std::string> order;
    Bounds bounds;
    for (const ForgeAccess& access : accesses) {
      for (const ForgeIndex& index : access.indices) {
        const auto terms = forge_terms(index.expression);
        if (!terms) {
          reader_.error(*entry.node,
                        fmt::format("{}: {} of {} is not of the form 2*p + r", entry.name,
                                    quoted(index.expression), access.name));
          continue;
        }
        for (const auto& [coefficient, name] : *terms) {
          const auto bound = given.find(name);
          const auto size = sizes.find(index.rank);
          const std::int64_t by_rank =
              size == sizes.end() ? kMaxInteger : (size->second - 1) / coefficient + 1;
          const std::int64_t by_shape = bound == given.end() ? kMaxInteger : bound->second;
          const auto [at, is_new] = bounds.emplace(name, kMaxInteger);
          at->second = std::min({at->second, by_rank, by_shape});
        }
      }
    }
    for (const auto& [name, bound] : bounds) {
      if (bound == kMaxInteger) {
        reader_.error(*entry.node, fmt::format("{}: nothing says how far {} goes; rank_sizes or "
                                               "iteration_space_shape does",
                                               entry.name, quoted(name)));
      }
    }
    note_cut_ranks(entry, accesses, bounds, sizes);
    return bounds;
  }

  void note_cut_ranks(const ForgeEntry& entry, const std::vector<ForgeAccess>& accesses,
                      const Bounds& bounds, const Sizes& sizes) {
    for (const ForgeAccess& access : accesses) {
      for (const ForgeIndex& index : access.indices) {
        const auto size = sizes.find(index.rank);
        const std::int64_t reach = extent(index, bounds);
        if (size != sizes.end() && reach > size->second) {
          notes_.add(
              *entry.node,
              fmt::format(
                  "{}: rank {} of {} has {} elements and its index reaches {}: all of these count, "
                  "as in AccelForge",
                  entry.name, index.rank, access.name, size->second, reach));
        }
      }
    }
  }

  static std::int64_t extent(const ForgeIndex& index, const Bounds& bounds) {
    double reach = 1;
    for (const auto& [coefficient, name] : forge_terms(index.expression).value_or(ForgeTerms{})) {
      const auto bound = bounds.find(name);
      reach += real(coefficient) * real((bound == bounds.end() ? 1 : bound->second) - 1);
    }
    return forge_count(reach);
  }

  void add_tensor(const ForgeEntry& entry, const ForgeAccess& access, const Bounds& bounds,
                  ForgeEinsum& einsum) {
    ForgeTensor tensor;
    tensor.name = access.name;
    tensor.output = access.output;
    std::set<std::string> seen;
    std::uint32_t indexed = 0;
    for (const ForgeIndex& index : access.indices) {
      std::string rank;
      for (const auto& [coefficient, name] : forge_terms(index.expression).value_or(ForgeTerms{})) {
        rank += rank.empty() ? "" : "+";
        rank += coefficient == 1 ? name : fmt::format("{}*{}", coefficient, name);
        const auto at = bounds.find(name);
        indexed |= std::uint32_t{1} << std::distance(bounds.begin(), at);
        if (!seen.insert(name).second) {
          reader_.error(*entry.node,
                        fmt::format("{}: {} indexes {} twice", entry.name, name, access.name));
        }
      }
      tensor.ranks.push_back(std::move(rank));
      tensor.size = forge_count(real(tensor.size) * real(extent(index, bounds)));
    }
    einsum.names.dims_of.push_back(indexed);
    einsum.tensors.push_back(std::move(tensor));
  }

  bool reads(const ForgeEntry& entry, const std::string& tensor, bool as_output) const {
    return std::any_of(entry.accesses.begin(), entry.accesses.end(), [&](const ForgeAccess& each) {
      return each.name == tensor && each.output == as_output;
    });
  }

  // All, Inputs ..., tensors, rank variables, renames; then widths, which may name all of these.
  void name_things(const ForgeEntry& entry, const std::vector<ForgeAccess>& accesses,
                   ForgeEinsum& einsum) {
    ForgeNames& names = einsum.names;
    names.tensors = (std::uint32_t{1} << einsum.tensors.size()) - 1;
    names.dims = einsum.dims.empty() ? 0 : ~std::uint32_t{0} >> (32 - einsum.dims.size());
    const auto known = [&names](const std::string& name, std::uint32_t bits, bool dims = false) {
      names.sets[name] = {bits, bits, dims};
    };
    for (const ForgeEntry& each : entries_) {  // of other einsums: nothing of this one
      for (const ForgeAccess& access : each.accesses) {
        known(access.name, 0);
        for (const ForgeIndex& index : access.indices) {
          for (const auto& [coefficient, name] :
               forge_terms(index.expression).value_or(ForgeTerms{})) {
            known(name, 0, true);
          }
        }
      }
    }
    for (std::size_t d = 0; d < einsum.dims.size(); ++d) {
      known(einsum.dims[d].name, std::uint32_t{1} << d, true);
    }
    std::uint32_t intermediates = 0, shared = 0, persistent = 0;
    for (std::size_t t = 0; t < accesses.size(); ++t) {
      const std::uint32_t bit = std::uint32_t{1} << t;
      const std::string& name = accesses[t].name;
      const auto used = [&](bool as_output) {
        return std::count_if(entries_.begin(), entries_.end(),
                             [&](const ForgeEntry& each) { return reads(each, name, as_output); });
      };
      intermediates |= used(true) > 0 && used(false) > 0 ? bit : 0;
      shared |= std::count_if(entries_.begin(), entries_.end(),
                              [&](const ForgeEntry& each) {
                                return reads(each, name, true) || reads(each, name, false);
                              }) > 1
                    ? bit
                    : 0;
      persistent |= accesses[t].persistent ? bit : 0;
      known(name, bit);
    }
    const std::uint32_t output = std::uint32_t{1} << (accesses.size() - 1);
    known("All", names.tensors);
    known("Tensors", names.tensors);
    known("Nothing", 0);
    known("Inputs", names.tensors & ~output);
    known("Outputs", output);
    known("Intermediates", intermediates);
    known("Shared", shared);
    known("Persistent", persistent);
    rename(entry, einsum);
    read_bits(accesses, einsum);
    if (persistent_ != nullptr) {
      read_forge_set(reader_, *persistent_,
                     names);  // what must stay in the outermost memory: here it always does
    }
  }

  // The einsum's own renames, those that `renames` has for it, and the defaults, in this order.
  void rename(const ForgeEntry& entry, ForgeEinsum& einsum) {
    std::set<std::string> done;
    if (const Node* own = of_entry(entry, "renames")) {
      check_forge_rename_list(reader_, *own);
      rename_by(reader_, *own, einsum, done);
    }
    const Node* all = renames_.node == nullptr ? nullptr : value_of(*renames_.node, "einsums");
    for (const std::string& wanted : {entry.name, std::string{"default"}}) {
      for (std::size_t i = 0; all != nullptr && i < all->items.size(); ++i) {
        const Node* name = value_of(all->items[i], "name");
        for (const char* key : {"tensor_accesses", "rank_variables"}) {
          const Node* own = value_of(all->items[i], key);
          if (name != nullptr && name->text == wanted && own != nullptr) {
            rename_by(*renames_.reader, *own, einsum, done);
          }
        }
      }
    }
  }

  static void rename_by(Reader& reader, const Node& renames, ForgeEinsum& einsum,
                        std::set<std::string>& done) {
    for (const Entry& each : renames.entries) {
      if (done.insert(each.key.text).second) {
        einsum.names.sets[each.key.text] = read_forge_set(reader, each.value, einsum.names);
      }
    }
    for (const Node& item : renames.items) {
      const Node *name = value_of(item, "name"), *source = value_of(item, "source");
      if (name == nullptr || source == nullptr || !done.insert(name->text).second) {
        continue;
      }
      const ForgeSet set = read_forge_set(reader, *source, einsum.names);
      einsum.names.sets[name->text] = set;
      const Node* count = value_of(item, "expected_count");
      const auto size = static_cast<double>(std::popcount(set.surely));
      if (count != nullptr && size != read_forge_number(reader, *count, einsum.names)) {
        reader.error(*source,
                     fmt::format("{}: {} is {} tensors, not {}; a rename of its own in the "
                                 "einsum would tell",
                                 einsum.name, name->text, size, count->text));
      }
    }
  }

  void read_bits(const std::vector<ForgeAccess>& accesses, ForgeEinsum& einsum) {
    ForgeNames& names = einsum.names;
    std::vector<const Node*> given(accesses.size());
    ForgeSet others{names.tensors, names.tensors, false};
    const auto take = [&](const Entry& entry) {
      const ForgeSet set = read_forge_set(reader_, entry.key, names);
      others.surely = others.maybe = others.surely & ~set.surely;
      for (std::size_t t = 0; t < accesses.size(); ++t) {
        given[t] = ((set.surely >> t) & 1U) != 0 ? &entry.value : given[t];
      }
    };
    for (const bool last : {false, true}) {
      for (std::size_t i = 0; bits_ != nullptr && i < bits_->entries.size(); ++i) {
        if ((bits_->entries[i].key.text.find("Other") != std::string::npos) == last) {
          names.sets["Other"] = others;
          take(bits_->entries[i]);
        }
      }
    }
    names.sets.erase("Other");
    for (std::size_t t = 0; t < accesses.size(); ++t) {
      const Node* bits = accesses[t].bits != nullptr ? accesses[t].bits : given[t];
      if (bits == nullptr && bits_ != nullptr) {
        reader_.error(*bits_, fmt::format("tensor {} has no bits_per_value", accesses[t].name));
      } else if (bits == nullptr) {
        notes_.add(*einsum.at, fmt::format("tensor {} has no bits_per_value; mapsim takes 8",
                                           accesses[t].name));
      }
      einsum.tensors[t].bits = Bits{whole(bits, 8, names)};
      names.bits_of.push_back(static_cast<double>(einsum.tensors[t].bits.count()));
    }
  }

  Reader& reader_;
  ImportNotes& notes_;
  ForgeNames variables_;
  ForgeRenames renames_;
  const Node* bits_ = nullptr;
  const Node* persistent_ = nullptr;
  std::int64_t instances_ = 1;
  Bounds bounds_;
  Sizes sizes_;
  std::vector<ForgeEntry> entries_;
};

}  // namespace

Role ForgeEinsum::role_of(std::size_t tensor) const {
  if (tensors[tensor].output) {
    return Role::kOutput;
  }
  const auto input = names.sets.find("input");
  const bool is_input =
      input == names.sets.end() ? tensor == 0 : ((input->second.surely >> tensor) & 1U) != 0;
  return is_input ? Role::kInput : Role::kWeight;
}

std::vector<ForgeEinsum> read_forge_einsums(Reader& reader, const Node& workload,
                                            const ForgeRenames& renames,
                                            const std::map<std::string, double>& variables,
                                            ImportNotes& notes) {
  return ForgeWorkloadReader{reader, variables, notes}.read(workload, renames);
}

ForgeEinsum usual_forge_einsum() {
  ForgeEinsum einsum;
  einsum.name = "any";
  einsum.dims = {{"k", 1}, {"m", 1}, {"n", 1}};
  einsum.tensors = {{"input", {"m", "k"}, 1, false, Bits{8}},
                    {"weight", {"k", "n"}, 1, false, Bits{8}},
                    {"output", {"m", "n"}, 1, true, Bits{8}}};
  ForgeNames& names = einsum.names;
  names.tensors = names.dims = 7;
  names.dims_of = {3, 5, 6};
  names.bits_of = {8, 8, 8};
  const std::uint32_t none = 0;
  names.sets = {{"input", {1, 1, false}},
                {"weight", {2, 2, false}},
                {"output", {4, 4, false}},
                {"All", {7, 7, false}},
                {"Tensors", {7, 7, false}},
                {"Nothing", {none, none, false}},
                {"Inputs", {3, 3, false}},
                {"Outputs", {4, 4, false}},
                {"Shared", {none, none, false}},
                {"Persistent", {none, none, false}},
                {"Intermediates", {none, none, false}},
                {"k", {1, 1, true}},
                {"m", {2, 2, true}},
                {"n", {4, 4, true}}};
  return einsum;
}

}  // namespace mapsim
