// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "costmodel/sparse/format.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostBits = 64;  // of a word of a format

struct FormatName {
  std::string_view name;
  RankFormat format;
  const char* width;  // the key of its words
};
constexpr std::array kFormats{FormatName{"B", RankFormat::kBitmask, "metadata_word_bits"},
                              FormatName{"CP", RankFormat::kCoordinates, "metadata_word_bits"},
                              FormatName{"RLE", RankFormat::kRuns, "metadata_word_bits"},
                              FormatName{"UOP", RankFormat::kOffsets, "payload_word_bits"}};

// As Timeloop does, for keys and some of its words.
std::string underscored(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

const Node* find_key(const Node& map, std::string_view key) {
  for (const Entry& entry : map.entries) {
    if (underscored(entry.key.text) == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

// A map with these keys, spelled with underscores or hyphens.
void check_keys(Reader& reader, const Node& map, const Words& keys) {
  for (const Entry* entry : reader.entries(map, "a map")) {
    const std::string key = underscored(entry->key.text);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      reader.error(entry->key, fmt::format("{} has no counterpart here; known keys: {}",
                                           mapsim::quoted(entry->key.text), joined(keys, ", ")));
    }
  }
}

}  // namespace

std::optional<TensorId> TimeloopSparse::tensor(Reader& reader, const Node* node) const {
  const auto found = node == nullptr ? std::nullopt : design_.workload.find_tensor(node->text);
  if (node != nullptr && !found) {
    reader.error(*node,
                 fmt::format("{} is no data space of the problem", mapsim::quoted(node->text)));
  }
  return found;
}

void TimeloopSparse::read(Reader& reader, const Node& section) {
  check_keys(reader, section, {"version", "targets"});
  const Node* targets = find_key(section, "targets");
  if (targets == nullptr) {
    return;
  }
  for (const Node* target : reader.items(*targets, "a list of targets")) {
    if (const Node* name = find_key(*target, "name")) {
      read(reader, name->text.substr(0, name->text.find('[')), *target);
    } else {
      reader.error(*target, "a target without a name");
    }
  }
}

void TimeloopSparse::read(Reader& reader, const std::string& component, const Node& section) {
  check_keys(reader, section,
             {"name", "representation_format", "action_optimization", "compute_optimization"});
  const TimeloopMachine& machine = design_.machine;
  const auto storage =
      std::find_if(machine.storages.begin(), machine.storages.end(),
                   [&](const TimeloopStorage& each) { return each.name == component; });
  const auto given = [&](const char* key) -> const Node* {
    const Node* node = find_key(section, key);
    const bool is_empty = node == nullptr || (node->items.empty() && node->entries.empty());
    return is_empty ? nullptr : node;
  };
  if (const Node* compute = given("compute_optimization")) {
    if (component == machine.compute_name) {
      read_compute(reader, *compute);
    } else {
      reader.error(*compute, fmt::format("{} is not the compute unit", component));
    }
  }
  const Node* formats = given("representation_format");
  const Node* actions = given("action_optimization");
  if (formats == nullptr && actions == nullptr) {
    return;
  }
  if (storage == machine.storages.end()) {
    reader.error(section,
                 fmt::format("{} is no storage of the architecture", mapsim::quoted(component)));
    return;
  }
  const auto level = static_cast<std::size_t>(storage - machine.storages.begin());
  if (formats != nullptr) {
    read_format(reader, *formats, level);
  }
  if (actions != nullptr) {
    read_actions(reader, *actions, level);
  }
}

void TimeloopSparse::read_format(Reader& reader, const Node& node, std::size_t level) {
  check_keys(reader, node, {"data_spaces"});
  const Node* spaces = find_key(node, "data_spaces");
  if (spaces == nullptr || spaces->items.empty()) {
    return;
  }
  for (const Node* space : reader.items(*spaces, "a list of data spaces")) {
    check_keys(reader, *space, {"name", "ranks", "rank_application_order"});
    const Node* name = find_key(*space, "name");
    if (name == nullptr) {
      reader.error(*space, "a data space without a name");
    } else if (const auto t = tensor(reader, name)) {
      read_ranks(reader, *space, level, *t);
    }
  }
}

void TimeloopSparse::read_ranks(Reader& reader, const Node& space, std::size_t level, TensorId t) {
  const Node* list = find_key(space, "ranks");
  if (list == nullptr) {
    reader.error(space, "a format without ranks");
    return;
  }
  TimeloopRanks ranks;
  if (const Node* order = find_key(space, "rank_application_order")) {
    const std::string word = underscored(order->text);
    ranks.from_inside = word == "inner_to_outer";
    if (!ranks.from_inside && word != "outer_to_inner") {
      reader.error(*order, "expected inner-to-outer or outer-to-inner");
    }
  }
  const std::vector<const Node*> items = reader.items(*list, "a list of ranks");
  for (const Node* item : items) {
    const auto rank = read_rank(reader, *item, level, item == items.back());
    if (!rank) {
      return;
    }
    ranks.ranks.push_back(*rank);
  }
  if (!ranks.ranks.empty()) {
    levels_[level].formats[index_of(t)] = ranks;
    levels_[level].places[index_of(t)] = {&reader, list};
  }
}

// Timeloop widens words until a row of the storage holds whole ones
// (src/model/sparse-optimization-parser.cpp: AdjustFormatWordBits).
std::int64_t TimeloopSparse::whole_in_row(std::int64_t bits, const TimeloopStorage& storage) {
  std::int64_t wider = bits;
  while (wider < 2 * bits && storage.metadata_width % wider != 0) {
    ++wider;
  }
  if (wider != bits) {
    notes_.lines.push_back(
        fmt::format("{}: words of formats of {} b take {} b, as in Timeloop, so that its rows of "
                    "{} b hold whole ones",
                    storage.name, bits, wider, storage.metadata_width));
  }
  return wider;
}

std::optional<TimeloopRank> TimeloopSparse::read_rank(Reader& reader, const Node& node,
                                                      std::size_t level, bool innermost) {
  check_keys(reader, node,
             {"format", "metadata_word_bits", "payload_word_bits", "flattened_rankIDs"});
  const Node* name = find_key(node, "format");
  const auto* known = std::find_if(kFormats.begin(), kFormats.end(), [&](const FormatName& each) {
    return name != nullptr &&
           std::equal(name->text.begin(), name->text.end(), each.name.begin(), each.name.end(),
                      [](unsigned char a, char b) { return std::toupper(a) == b; });
  });
  if (known == kFormats.end()) {
    reader.error(name == nullptr ? node : *name,
                 fmt::format("expected UOP, CP, RLE or B, not {}: an uncompressed bitmask (UB) has "
                             "no counterpart here",
                             name == nullptr ? "nothing" : describe(*name)));
    return std::nullopt;
  }
  const TimeloopStorage& storage = design_.machine.storages[level];
  TimeloopRank rank;
  rank.format = known->format;
  // A bitmask without a width has places of one bit, whatever the storage says.
  const bool is_bitmask = rank.format == RankFormat::kBitmask;
  const auto width = [&](const char* key) {
    const Node* bits = find_key(node, key);
    return bits == nullptr ? (is_bitmask ? 1 : storage.metadata_word_bits)
                           : whole_in_row(read_whole(reader, bits, 0).value_or(0), storage);
  };
  rank.bits = width(known->width);
  if (rank.format == RankFormat::kCoordinates && !innermost) {
    rank.bits += width("payload_word_bits");  // a pointer beside each coordinate
  }
  if (rank.bits > kMostBits) {
    reader.error(node, fmt::format("words of {} b; at most {} b", rank.bits, kMostBits));
    return std::nullopt;
  }
  if (is_bitmask && rank.bits > 1) {
    notes_.lines.push_back(
        fmt::format("{}: a place of a bitmask takes one bit here, {} b in "
                    "Timeloop",
                    storage.name, rank.bits));
  }
  if (const Node* sets = find_key(node, "flattened_rankIDs")) {
    for (const Node* set : reader.items(*sets, "a list of lists of dims")) {
      DimSet dims;
      for (const Node* item : reader.items(*set, "a list of dims")) {
        if (const auto dim = design_.workload.find_dim(item->text)) {
          dims.insert(*dim);
        } else {
          reader.error(
              *item, fmt::format("{} is no dimension of the problem", mapsim::quoted(item->text)));
        }
      }
      rank.flattened.push_back(dims);
    }
  }
  return rank;
}

void TimeloopSparse::read_actions(Reader& reader, const Node& list, std::size_t level) {
  for (const Node* item : reader.items(list, "a list of actions")) {
    const Node* type = find_key(*item, "type");
    const std::string word = type == nullptr ? "" : underscored(type->text);
    if (word == "skipping_spatial" || word == "position_skipping") {
      read_lanes(reader, *item, level, word == "position_skipping");
      continue;
    }
    if (word != "gating" && word != "skipping") {
      reader.error(type == nullptr ? *item : *type,
                   fmt::format("expected gating, skipping, skipping_spatial or position_skipping, "
                               "not {}",
                               type == nullptr ? "nothing" : describe(*type)));
      continue;
    }
    const ZeroAct act = word == "gating" ? ZeroAct::kGate : ZeroAct::kSkip;
    const Node* options = find_key(*item, "options");
    if (options == nullptr) {
      check_keys(reader, *item, {"type", "target", "condition_on"});
      read_condition(reader, *item, act, level);
      continue;
    }
    check_keys(reader, *item, {"type", "options"});
    const std::vector<const Node*> choices = reader.items(*options, "a list of options");
    if (choices.size() > 1) {
      reader.error(*options,
                   "several options, of which Timeloop takes one by what it saves: leave that one");
    } else if (!choices.empty()) {
      check_keys(reader, *choices.front(), {"target", "condition_on"});
      read_condition(reader, *choices.front(), act, level);
    }
  }
}

// Lanes take the next nonzeros of the leaders (spatial skipping), or of the target itself (`own`:
// position skipping); then the other operands are read once per batch.
void TimeloopSparse::read_lanes(Reader& reader, const Node& node, std::size_t level, bool own) {
  check_keys(reader, node, {"type", "target", "condition_on"});
  const Node* target = find_key(node, "target");
  const Node* on = find_key(node, "condition_on");
  const Workload& workload = design_.workload;
  if (!own) {
    const std::size_t before = reader.errors();
    read_condition(reader, node, ZeroAct::kSkip, level);
    if (reader.errors() == before) {
      for (const Node* item : reader.items(*on, "a list of data spaces")) {
        levels_[level].packed.insert(*workload.find_tensor(item->text));
      }
    }
    return;
  }
  if (on != nullptr && !on->items.empty()) {
    reader.error(*on, "positions are those of the target: expected no condition");
  }
  const auto t = tensor(reader, target);
  if (!t || *t == workload.output()) {
    reader.error(target == nullptr ? node : *target,
                 "lanes take the nonzeros of an operand: expected one as the target");
    return;
  }
  levels_[level].packed.insert(*t);
  if (!may_name_roles(reader, node)) {
    return;
  }
  for (const TensorId other : workload.tensors.ids()) {
    if (other != *t && other != workload.output()) {
      Condition condition{ZeroAct::kSkip, workload.tensors[other].role, {}};
      condition.leaders.insert(workload.tensors[*t].role);
      levels_[level].sparsity.when_empty.push_back(condition);
    }
  }
}

// Conditions are between roles, each of which is one operand then.
bool TimeloopSparse::may_name_roles(Reader& reader, const Node& node) const {
  const auto shared = [&](Role role) {
    const Workload& workload = design_.workload;
    return std::count_if(workload.tensors.begin(), workload.tensors.end(),
                         [&](const Tensor& each) { return each.role == role; }) > 1;
  };
  const bool may = !shared(Role::kInput) && !shared(Role::kWeight);
  if (!may) {
    reader.error(node, "conditions among three and more operands have no counterpart here");
  }
  return may;
}

void TimeloopSparse::read_condition(Reader& reader, const Node& node, ZeroAct act,
                                    std::size_t level) {
  const Node* target = find_key(node, "target");
  const Node* on = find_key(node, "condition_on");
  if (target == nullptr || on == nullptr) {
    reader.error(node, "expected a target and condition_on");
    return;
  }
  const auto t = tensor(reader, target);
  Condition condition;
  condition.act = act;
  const Workload& workload = design_.workload;
  for (const Node* item : reader.items(*on, "a list of data spaces")) {
    const auto leader = tensor(reader, item);
    if (!leader || !t) {
      return;
    }
    if (*leader == workload.output() || *leader == *t) {
      reader.error(*item, "a leader is an operand other than the tensor that waits for it");
      return;
    }
    condition.leaders.insert(workload.tensors[*leader].role);
  }
  condition.target = workload.tensors[*t].role;
  if (may_name_roles(reader, node)) {
    levels_[level].sparsity.when_empty.push_back(condition);
  }
}

void TimeloopSparse::read_compute(Reader& reader, const Node& list) {
  for (const Node* item : reader.items(list, "a list of actions")) {
    check_keys(reader, *item, {"type"});
    const Node* type = find_key(*item, "type");
    const std::string word = type == nullptr ? "" : underscored(type->text);
    const bool gates = word == "gating" || word == "gate_on_zero_operand";
    if (!gates && word != "skipping" && word != "skip_on_not_aligned_operands") {
      reader.error(type == nullptr ? *item : *type, "expected gating or skipping");
    } else if (!gates || sparsity_.when_zero == ZeroAct::kNothing) {
      sparsity_.when_zero = gates ? ZeroAct::kGate : ZeroAct::kSkip;
    }
  }
}

void TimeloopSparse::take_energies(const EnergyReferences& table) {
  const auto energy = [&](const std::string& name, const char* action) {
    const std::array<const char*, 1> one{action};
    const auto found = table.find(name, one);
    return found ? found->count() : 0;
  };
  const TimeloopMachine& machine = design_.machine;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const TimeloopStorage& storage = machine.storages[l];
    const double bits =
        static_cast<double>(storage.block * storage.cluster * machine.storages[0].word_bits);
    StorageSparsity& sparsity = levels_[l].sparsity;
    sparsity.gated = PicojoulesPerBit{energy(storage.name, "gated_read") / bits};
    sparsity.skipped = PicojoulesPerBit{energy(storage.name, "skipped_read") / bits};
    const double words = energy(storage.name, "metadata_read");
    if (words > 0 && !levels_[l].places.empty()) {
      notes_.lines.push_back(
          fmt::format("{}: words of formats cost the energy of data per bit here; the table has "
                      "metadata_read ({} pJ) and others",
                      storage.name, words));
    }
  }
  sparsity_.gated = Picojoules{energy(machine.compute_name, "gated_compute")};
  sparsity_.skipped = Picojoules{energy(machine.compute_name, "skipped_compute")};
}

bool TimeloopSparse::is_empty() const {
  return sparsity_.when_zero == ZeroAct::kNothing &&
         std::all_of(levels_.begin(), levels_.end(), [](const Level& level) {
           return level.places.empty() && level.sparsity.when_empty.empty();
         });
}

bool TimeloopSparse::is_counted(TensorId t, const Workload& with_density) const {
  const DensityModel occupancy{with_density, t};
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const bool has_format = levels_[l].formats[index_of(t)].has_value();
    if (has_format && !counts_runs(stored_as(t, l).format, occupancy)) {
      return false;
    }
  }
  return true;
}

StoredAs TimeloopSparse::stored_as(TensorId t, std::size_t level) const {
  std::vector<std::optional<TimeloopRanks>> formats;
  for (const Level& each : levels_) {
    formats.push_back(each.formats[index_of(t)]);
  }
  return to_format(design_.workload, t, level, formats, design_.blocks);
}

void TimeloopSparse::write_formats(std::size_t l) {
  Level& level = levels_[l];
  std::map<Role, std::string> by;  // the tensor that has given a role its format
  for (const auto& [index, place] : level.places) {
    const TensorId t{static_cast<TensorId>(index)};
    const Tensor& tensor = design_.workload.tensors[t];
    const StoredAs stored = stored_as(t, l);
    const std::string where =
        fmt::format("{}, format of {}", design_.machine.storages[l].name, tensor.name);
    if (!stored.wrong.empty()) {
      place.reader->error(*place.node, fmt::format("{}: {}", where, stored.wrong));
      continue;
    }
    const auto [other, is_first] = by.emplace(tensor.role, tensor.name);
    if (!is_first && !(level.sparsity.formats[tensor.role] == stored.format)) {
      place.reader->error(*place.node,
                          fmt::format("{} differs from that of {}, which is an operand "
                                      "of the same role ({})",
                                      where, other->second, to_string(tensor.role)));
    }
    level.sparsity.formats[tensor.role] = stored.format;
    for (const std::string& note : stored.notes) {
      notes_.lines.push_back(fmt::format("{}: {}", where, note));
    }
  }
}

// Where every tile of what a level compresses has its share, the mean tile is the largest one.
void TimeloopSparse::set_fits(std::size_t l) {
  Words shared_out;
  for (const auto& [index, place] : levels_[l].places) {
    const Tensor& tensor = design_.workload.tensors[static_cast<TensorId>(index)];
    if (shared_out_.contains(static_cast<TensorId>(index))) {
      shared_out.push_back(tensor.name);
    } else if (tensor.density < 1 && !tensor.pattern) {
      return;
    }
  }
  if (!shared_out.empty()) {
    levels_[l].sparsity.fits.when = FitsWhen::kExpected;
    notes_.lines.push_back(fmt::format(
        "{}: tiles fit if their means do (fits: expected), since in Timeloop every tile of {} has "
        "its share",
        design_.machine.storages[l].name, joined(shared_out, " and of ")));
  }
}

Sparsity TimeloopSparse::result() {
  set_lanes();
  RoleSet compressed;
  Words joined_storages;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    write_formats(l);
    set_fits(l);
    sparsity_.levels.push_back(levels_[l].sparsity);
    for (const auto& format : levels_[l].sparsity.formats) {
      compressed.insert(format.first);
    }
    const TimeloopStorage& storage = design_.machine.storages[l];
    if (storage.words && !levels_[l].sparsity.formats.empty()) {
      joined_storages.push_back(fmt::format("{} ({} b)", storage.name, storage.metadata_bits));
    }
  }
  if (!joined_storages.empty()) {
    notes_.lines.push_back(
        fmt::format("the storage for words of formats is a part of the capacity, and not apart: {}",
                    joined(joined_storages, ", ")));
  }
  if (compressed.contains(Role::kInput) && compressed.contains(Role::kWeight) &&
      sparsity_.when_zero == ZeroAct::kNothing) {
    notes_.lines.emplace_back(
        "operations of which both operands are zero: Timeloop leaves them out where both are "
        "compressed; here they are done unless a condition or the compute unit leaves them out");
  }
  return sparsity_;
}

}  // namespace mapsim
