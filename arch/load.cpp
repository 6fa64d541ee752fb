// SPDX-License-Identifier: Apache-2.0
#include "arch/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "arch/gpu_load.hpp"
#include "arch/lookup.hpp"
#include "arch/sparsity_load.hpp"
#include "arch/storage_fields.hpp"
#include "arch/timing_text.hpp"
#include "core/file_kind.hpp"
#include "core/reader.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kMaxInstances = kMaxInteger;        // product of all fanouts
constexpr std::int64_t kMaxIssueInterval = 1'000'000'000;  // cycles
constexpr std::int64_t kMaxWidth = 1024;                   // bits of an operand
constexpr Bits kDefaultWord{8};

const Words kOperandNames{"input", "weight"};
const Words kGemmAxisNames{"gemm_m", "gemm_n", "gemm_k", "gemm_batch"};  // in the order of GemmAxis
constexpr RoleSet kOperands{Role::kInput, Role::kWeight};

const Words kNodeKinds{"storage", "fanout", "compute"};
const Words kTechnologyNames{"45nm", "16nm", "7nm"};  // in the order of Technology
const Words kKindNames{"sram",  "regfile", "dram",  "lpddr5", "gddr5",
                       "gddr6", "hbm2",    "hbm2e", "hbm3",   "hbm3e"};  // of StorageKind
const Words kFormatNames{"integer", "float", "bfloat"};                  // of NumberFormat
const Words kStorageKeys{
    "storage",  "word",    "capacity", "bandwidth", "energy", "double_buffered",
    "streamed", "sliding", "keep",     "bypass",    "kind",   "leakage",
    "area"};
const Words kFanoutKeys{"fanout",
                        "x",
                        "y",
                        "multicast",
                        "spatial_reduction",
                        "forwarding",
                        "reduction_energy",
                        "energy_per_hop",
                        "word",
                        "balance"};
const Words kBalanceNames{"end", "barrier", "ideal", "packed"};  // of Balance
const Words kComputeKeys{"compute", "energy",  "issue_interval", "register_reuse",
                         "format",  "leakage", "area",           "timing"};

Words with(Words keys, const Words& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

RoleSet read_roles(Reader& reader, const Node* list, const Words& names) {
  RoleSet roles;
  for (const std::size_t index : reader.choice_list(list, names, "role")) {
    roles.insert(static_cast<Role>(index));
  }
  return roles;
}

// true: all of `names`; false: none; or a list of them.
RoleSet read_role_switch(Reader& reader, const Node* node, const Words& names, RoleSet all,
                         RoleSet absent) {
  if (node == nullptr) {
    return absent;
  }
  if (node->kind == Node::Kind::kSequence) {
    return read_roles(reader, node, names);
  }
  return reader.boolean(node).value_or(false) ? all : RoleSet{};
}

// What `keep` and `bypass` say must agree with each other and with the partitions.
void check_keeps(Reader& reader, const Storage& storage, const Fields& fields, bool outermost) {
  if (outermost && !storage.bypass.empty()) {
    reader.error(fields.place("bypass"), "nothing bypasses the outermost level");
    return;
  }
  for (const Role role : IdRange<Role>{role_words().size()}) {
    const bool keep = storage.keep.contains(role);
    if (keep && storage.bypass.contains(role)) {
      reader.error(fields.place("bypass"),
                   fmt::format("{} cannot both be kept and bypass", to_string(role)));
    }
    if (keep && !storage.capacity.per_role.empty() && !storage.capacity.per_role.contains(role)) {
      reader.error(fields.place("capacity"),
                   fmt::format("{} must be kept{}, but has no partition", to_string(role),
                               outermost ? " at the outermost level" : ""));
    }
  }
}

class ArchReader {
 public:
  ArchReader(Reader& reader, const std::string& filename)
      : reader_{reader},
        sparsity_{reader},
        folder_{std::filesystem::path{filename}.parent_path()} {}

  Arch read() {
    const Fields fields = reader_.fields(
        reader_.root(), {"name", "clock", "technology", "ert", "art", "leakage", "nodes"});
    arch_.name = reader_.name(fields.require("name")).value_or("");
    arch_.clock = reader_.quantity(fields.find("clock"), parse_frequency).value_or(Hertz{1e9});
    if (const auto i = reader_.choice(fields.find("technology"), kTechnologyNames, "technology")) {
      arch_.technology = static_cast<Technology>(*i);
    }
    lookup_.technology = arch_.technology;
    if (const auto path = reader_.text(fields.find("ert"), "a file name")) {
      arch_.ert_file = beside(*path);
      lookup_.ert = load_ert(arch_.ert_file);
    }
    if (const auto path = reader_.text(fields.find("art"), "a file name")) {
      arch_.art_file = beside(*path);
      lookup_.art = load_art(arch_.art_file);
    }
    has_lookup_ = fields.has("technology") || fields.has("ert");
    arch_.leaks = reader_.boolean(fields.find("leakage")).value_or(true);
    const Node* nodes = fields.require("nodes");
    if (nodes == nullptr) {
      return arch_;
    }
    const std::vector<const Node*> items = reader_.items(*nodes, "a list of nodes");
    for (std::size_t i = 0; i < items.size(); ++i) {
      read_node(*items[i], i == 0, i + 1 == items.size());
    }
    arch_.sparsity = sparsity_.result();
    check_packed();
    if (reader_.errors() > 0) {
      return arch_;  // the names of the nodes may be wrong
    }
    if (lookup_.ert) {
      check_use(fields.place("ert"), lookup_.ert->file, lookup_.ert->components);
    }
    if (lookup_.art) {
      check_use(fields.place("art"), lookup_.art->file, lookup_.art->components);
    }
    return arch_;
  }

 private:
  // A table none of whose components is a node of ours belongs to another machine.
  template <class Components>
  void check_use(const Node& at, const std::string& file, const Components& components) {
    Words nodes = names_of(arch_.levels);
    nodes.push_back(arch_.compute.name);
    std::string named;
    std::string known;
    bool used = false;
    for (const std::string& node : nodes) {
      named += (named.empty() ? "" : ", ") + node;
      used = used || components.contains(node);
    }
    for (const auto& component : components) {
      known += (known.empty() ? "" : ", ") + component.first;
    }
    if (!used) {
      reader_.error(at, fmt::format("no storage or compute has the name of a component of {} ({}); "
                                    "the nodes are {}",
                                    file, known, named));
    }
  }

  void read_node(const Node& node, bool first, bool last) {
    const std::optional<std::size_t> kind = kind_of(node);
    if (!kind) {
      return;
    }
    if (first && *kind != 0) {
      reader_.error(node, "the outermost node must be a storage");
    }
    if (last && *kind != 2) {
      reader_.error(node, "the innermost node must be the compute");
    }
    switch (*kind) {
      case 0:
        return read_storage(reader_.fields(node, with(kStorageKeys, kStorageSparsityKeys)), first);
      case 1:
        return read_fanout(reader_.fields(node, kFanoutKeys));
      default:
        if (!last) {
          reader_.error(node, "nothing may follow the compute; there is one, the innermost node");
        }
        return read_compute(reader_.fields(node, with(kComputeKeys, kComputeSparsityKeys)));
    }
  }

  // Lanes are packed with the places at which compute units do not skip.
  void check_packed() {
    const bool skips = arch_.sparsity && arch_.sparsity->when_zero == ZeroAct::kSkip;
    for (const Node* balance : skips ? std::vector<const Node*>{} : packed_) {
      reader_.error(*balance,
                    "packed lanes take the next places at which the compute units do not skip, and "
                    "these skip none: add 'when_zero: skip', or {skip: [weight]}, to the compute");
    }
  }

  // The index in kNodeKinds of the one key that says what the node is.
  std::optional<std::size_t> kind_of(const Node& node) {
    std::vector<std::size_t> kinds;
    for (std::size_t i = 0; i < kNodeKinds.size(); ++i) {
      if (std::any_of(node.entries.begin(), node.entries.end(),
                      [i](const Entry& entry) { return entry.key.text == kNodeKinds[i]; })) {
        kinds.push_back(i);
      }
    }
    if (kinds.size() == 1) {
      return kinds[0];
    }
    const bool empty = node.kind != Node::Kind::kMap || node.entries.empty();
    const std::string guess = empty ? "" : suggestion(node.entries.front().key.text, kNodeKinds);
    reader_.error(node, kinds.empty()
                            ? "expected a node: a map with 'storage', 'fanout' or 'compute'" +
                                  (guess.starts_with("; did") ? guess : "")
                            : "a node is one of storage, fanout, compute");
    return std::nullopt;
  }

  std::string read_name(const Node* node) {
    const std::string name = reader_.name(node).value_or("");
    if (name.empty()) {
      return name;
    }
    const auto [known, fresh] = lines_.emplace(name, node->line);
    if (!fresh) {
      reader_.error(*node, fmt::format("the name {} is taken by the node of line {}", quoted(name),
                                       known->second));
    }
    return name;
  }

  void read_storage(const Fields& fields, bool outermost) {
    Storage storage;
    storage.name = read_name(fields.find("storage"));
    const std::optional<Bits> word = reader_.quantity(fields.find("word"), parse_size);
    // A word that is there but wrong has been reported: once is enough.
    const std::optional<Bits> usable = fields.has("word") ? word.value_or(kDefaultWord) : word;
    storage.word = word.value_or(kDefaultWord);
    storage.capacity = read_capacity(reader_, fields.require("capacity"));
    storage.bandwidth = read_bandwidth(reader_, fields.find("bandwidth"), usable, arch_.clock);
    if (outermost && storage.bandwidth.link) {
      reader_.error(*fields.find("bandwidth"), "the outermost level has no parent to be linked to");
    }
    read_kind(fields, storage);
    if (fields.has("energy") || !has_lookup_) {
      storage.energy = read_storage_energy(reader_, given_energy(fields), usable);
    } else if (!lookup_.energy(storage)) {
      report_no_energy(fields, storage.name);
    }
    // A capacity that is wrong has been reported: once is enough.
    const Node* capacity = fields.find("capacity");
    const bool unlimited = capacity != nullptr && capacity->text == "unlimited";
    const Bits bits = storage.capacity.unlimited() ? Bits{1} : storage.capacity.total();
    read_physical(fields, storage.physical, unlimited ? std::nullopt : std::optional{bits});
    lookup_.physical(storage, arch_.clock);
    storage.double_buffered = reader_.boolean(fields.find("double_buffered")).value_or(false);
    storage.streamed = reader_.boolean(fields.find("streamed")).value_or(false);
    if (storage.streamed && storage.double_buffered) {
      reader_.error(
          *fields.find("streamed"),
          "a double-buffered level hides its transfers by its second half; leave one out");
    }
    storage.sliding = reader_.boolean(fields.find("sliding")).value_or(true);
    storage.keep = read_roles(reader_, fields.find("keep"), role_words());
    storage.bypass = read_roles(reader_, fields.find("bypass"), role_words());
    storage.keep = outermost ? kAllRoles : storage.keep;
    check_keeps(reader_, storage, fields, outermost);
    if (arch_.levels.size() == kMaxLevels) {
      reader_.error(fields.node(), fmt::format("too many storages; at most {}", kMaxLevels));
      return;
    }
    arch_.levels.push_back(storage);
    sparsity_.read_storage(fields, usable, storage, lookup_);
  }

  // Without a word of the file, what is unlimited lies off the chip.
  void read_kind(const Fields& fields, Storage& storage) {
    storage.kind = storage.capacity.unlimited() ? StorageKind::kDram : StorageKind::kSram;
    if (const auto i = reader_.choice(fields.find("kind"), kKindNames, "kind")) {
      storage.kind = static_cast<StorageKind>(*i);
    }
  }

  // Needed where no table of the machine has one.
  const Node* given_energy(const Fields& fields) {
    if (!fields.has("energy")) {
      reader_.error(fields.node(),
                    fmt::format("missing key 'energy'; or the machine names a technology whose "
                                "table has it: 'technology: {}'",
                                kTechnologyNames.front()));
    }
    return fields.find("energy");
  }

  void report_no_energy(const Fields& fields, const std::string& name) {
    if (!lookup_.ert && !lookup_.technology) {
      return;  // the technology is unknown, and that has been reported
    }
    reader_.error(fields.node(),
                  fmt::format("no energy found for {}; give 'energy'{}", quoted(name),
                              lookup_.technology ? " or 'capacity'" : " or a 'technology'"));
  }

  void read_physical(const Fields& fields, Physical& physical, std::optional<Bits> capacity) {
    physical.leakage = reader_.quantity(fields.find("leakage"), parse_power);
    physical.area = reader_.quantity(fields.find("area"), [capacity](std::string_view text) {
      return parse_area(text, capacity);
    });
  }

  std::string beside(const std::string& path) const { return (folder_ / path).string(); }

  // SIZE, or {size: SIZE, dims: [...]}.
  std::int64_t read_axis(const Node* node, AxisConstraint& constraint) {
    if (node == nullptr || node->kind != Node::Kind::kMap) {
      return reader_.integer(node, 1, kMaxInstances).value_or(1);
    }
    const Fields fields = reader_.fields(*node, {"size", "dims"});
    if (const Node* dims = fields.find("dims")) {
      read_axis_dims(*dims, constraint);
    }
    return reader_.integer(fields.require("size"), 1, kMaxInstances).value_or(1);
  }

  void read_axis_dims(const Node& list, AxisConstraint& constraint) {
    for (const Node* item : reader_.items(list, "a list of dims")) {
      const std::optional<std::string> name = reader_.name(item);
      if (!name) {
        continue;
      }
      if (name->starts_with("gemm_")) {
        if (const auto axis = reader_.choice(item, kGemmAxisNames, "GEMM axis")) {
          constraint.gemm_axes.push_back(static_cast<GemmAxis>(*axis));
        }
      } else {
        constraint.dims.push_back(*name);
      }
    }
  }

  void read_fanout(const Fields& fields) {
    Fanout fanout;
    fanout.name = read_name(fields.find("fanout"));
    fanout.x = read_axis(fields.require("x"), fanout.x_dims);
    fanout.y = read_axis(fields.find("y"), fanout.y_dims);
    fanout.multicast =
        read_role_switch(reader_, fields.find("multicast"), kOperandNames, kOperands, kOperands);
    fanout.spatial_reduction = reader_.boolean(fields.find("spatial_reduction")).value_or(false);
    fanout.forwarding = reader_.boolean(fields.find("forwarding")).value_or(true);
    fanout.reduction_energy =
        reader_.quantity(fields.find("reduction_energy"), parse_energy).value_or(Picojoules{0});
    fanout.reduction_by_width =
        fanout.spatial_reduction && arch_.technology.has_value() && !fields.has("reduction_energy");
    read_hop_energy(fields, fanout);
    fanout.balance = static_cast<Balance>(
        reader_.choice(fields.find("balance"), kBalanceNames, "balance").value_or(0));
    if (fanout.balance == Balance::kPacked) {
      packed_.push_back(&fields.place("balance"));
    }
    count_instances(fields, fanout);
    if (arch_.fanouts.size() == kMaxFanouts) {
      reader_.error(fields.node(), fmt::format("too many fanouts; at most {}", kMaxFanouts));
      return;
    }
    arch_.fanouts.push_back(fanout);
    arch_.levels_above.push_back(arch_.levels.size());
  }

  // A number, or `technology`: what its table says.
  void read_hop_energy(const Fields& fields, Fanout& fanout) {
    const Node* node = fields.find("energy_per_hop");
    const std::optional<Bits> word = reader_.quantity(fields.find("word"), parse_size);
    if (node == nullptr || node->kind != Node::Kind::kScalar || node->text != "technology") {
      fanout.energy_per_hop = reader_.quantity(
          node, [word](std::string_view text) { return parse_access_energy(text, word); });
    } else if (arch_.technology) {
      const Figure figure = hop_energy(*arch_.technology);
      fanout.energy_per_hop = PicojoulesPerBit{figure.value};
      fanout.hop_source = figure.source;
    } else {
      reader_.error(*node,
                    "no technology to take it from; add one at the top, like 'technology: "
                    "45nm', or give a number like '0.05 pJ/b'");
    }
  }

  void count_instances(const Fields& fields, const Fanout& fanout) {
    for (const std::int64_t size : {fanout.x, fanout.y}) {
      if (size > kMaxInstances / instances_) {
        reader_.error(fields.node(), "this makes more than 2^53 instances");
        return;
      }
      instances_ *= size;
    }
  }

  void read_compute(const Fields& fields) {
    arch_.compute.name = read_name(fields.find("compute"));
    if (fields.has("energy") || !has_lookup_) {
      arch_.compute.energy =
          reader_.quantity(given_energy(fields), parse_energy).value_or(Picojoules{0});
    } else if (!lookup_.energy(arch_.compute)) {
      report_no_energy(fields, arch_.compute.name);
    }
    read_physical(fields, arch_.compute.physical, std::nullopt);
    lookup_.physical(arch_.compute, arch_.clock);
    if (const auto i = reader_.choice(fields.find("format"), kFormatNames, "format")) {
      arch_.compute.format = static_cast<NumberFormat>(*i);
    }
    sparsity_.read_compute(fields, arch_.compute, lookup_);
    read_issue_interval(fields.find("issue_interval"));
    arch_.compute.register_reuse = read_role_switch(reader_, fields.find("register_reuse"),
                                                    role_words(), kAllRoles, RoleSet{});
    if (const Node* timing = fields.find("timing")) {
      arch_.compute.timing = read_timing(reader_, *timing, arch_);
    }
  }

  // CYCLES, or {8x16: CYCLES, ...} by the widths of the operands.
  void read_issue_interval(const Node* node) {
    if (node == nullptr || node->kind != Node::Kind::kMap) {
      arch_.compute.issue_interval = reader_.integer(node, 1, kMaxIssueInterval).value_or(1);
      return;
    }
    for (const Entry* entry : reader_.entries(*node, "a map of widths to cycles")) {
      const std::string& widths = entry->key.text;
      const std::size_t by = widths.find('x');
      if (by == std::string::npos) {
        reader_.error(entry->key, fmt::format("{} is not a pair of widths in bits, such as 8x16",
                                              quoted(widths)));
        continue;
      }
      const auto a = reader_.integer_in(entry->key, 0, widths.substr(0, by), 1, kMaxWidth);
      const auto b = reader_.integer_in(entry->key, by + 1, widths.substr(by + 1), 1, kMaxWidth);
      const auto cycles = reader_.integer(&entry->value, 1, kMaxIssueInterval);
      if (a && b && cycles) {
        arch_.compute.intervals.push_back(
            {Bits{std::max(*a, *b)}, Bits{std::min(*a, *b)}, *cycles});
      }
    }
  }

  Reader& reader_;
  SparsityReader sparsity_;
  Arch arch_;
  std::map<std::string, int> lines_;  // of the names so far
  std::vector<const Node*> packed_;   // where lanes are said to be packed
  std::int64_t instances_ = 1;
  Lookup lookup_;
  bool has_lookup_ = false;       // names something to look numbers up in, known or not
  std::filesystem::path folder_;  // of the file; others are named from here
};

}  // namespace

Arch read_arch(const Document& document) {
  Reader reader{document};
  if (describes_gpu(document)) {
    reader.error(reader.root(), "a GPU, which this command does not take; it wants 'nodes'");
    reader.finish();
  }
  const Arch arch = ArchReader{reader, document.file}.read();
  reader.finish();
  return arch;
}

Arch load_arch(const std::string& path) {
  return read_arch(read_yaml(checked_file(path, {FileKind::kArch})));
}

Arch parse_arch(const std::string& text, const std::string& filename) {
  return read_arch(parse_yaml(text, filename));
}

}  // namespace mapsim
