// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_mapping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_components.hpp"
#include "interop/timeloop_loops.hpp"

namespace mapsim {

namespace {

// Demands of version 0.4 that are not known here; its front end writes them out even where they are
// empty.
constexpr std::array kDemands{"keep_only",
                              "max_overbooked_proportion",
                              "no_iteration_over_dataspaces",
                              "no_multicast_no_reduction",
                              "no_reuse",
                              "no_temporal_reuse",
                              "remainders",
                              "rmw_on_first_writeback"};

// Demands that change nothing. Timeloop reads no 'stream'; what neighbours hand each other
// ('no_link_transfer') is a saving of Timeloop that is not counted here anyway.
constexpr std::array kIgnoredDemands{"stream", "no_link_transfer"};

constexpr std::int64_t kTooMany = std::int64_t{1} << 31;  // iterations; times a factor, it fits

class MappingReader {
 public:
  MappingReader(Reader& reader, const TimeloopMachine& machine, const Workload& workload,
                ImportNotes& notes)
      : reader_{reader},
        machine_{machine},
        workload_{workload},
        notes_{notes},
        storages_{names_of(machine.storages)},
        tensors_{names_of(workload.tensors)},
        blocks_(machine.storages.size()),
        seen_(machine.storages.size()) {}

  std::vector<TimeloopBlock> read(const Node& section) {
    for (std::size_t l = 0; l < blocks_.size(); ++l) {
      if (l == 0 || !machine_.storages[l].holds_nothing) {  // else only what the file names
        blocks_[l].keep = TensorSet::from_bits((1U << workload_.tensors.size()) - 1);
      }
    }
    const std::size_t before = reader_.errors();
    for (const Node* item : reader_.items(section, "a list of directives")) {
      read_directive(*item);
    }
    if (reader_.errors() == before) {
      check_products(section);
      if (blocks_.front().keep.size() != static_cast<int>(workload_.tensors.size())) {
        reader_.error(section, fmt::format("a tensor bypasses {}; here, the outermost storage "
                                           "keeps every tensor",
                                           storages_.front()));
      }
    }
    return blocks_;
  }

 private:
  static bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  }
  // Older inputs count storages from the innermost one on.
  std::optional<std::size_t> numbered(const Node& target) {
    const auto number =
        reader_.integer(&target, 0, static_cast<std::int64_t>(storages_.size()) - 1);
    return number ? std::optional{storages_.size() - 1 - static_cast<std::size_t>(*number)}
                  : std::nullopt;
  }

  static bool demands(const Fields& fields, const char* key) {
    const Node& value = fields.place(key);
    return fields.has(key) &&
           (value.kind == Node::Kind::kScalar || !value.items.empty() || !value.entries.empty());
  }

  void read_directive(const Node& node) {
    Words keys{"target", "type", "factors", "permutation", "split", "keep", "bypass"};
    keys.insert(keys.end(), kDemands.begin(), kDemands.end());
    keys.insert(keys.end(), kIgnoredDemands.begin(), kIgnoredDemands.end());
    const Fields fields = reader_.fields(node, keys);
    for (const char* demand : kDemands) {
      if (demands(fields, demand)) {
        reader_.error(fields.place(demand),
                      fmt::format("'{}' of a directive is not known here", demand));
      }
    }
    for (const char* demand : kIgnoredDemands) {
      if (demands(fields, demand)) {
        const Node* target = value_of(node, "target");
        notes_.trifles.push_back({"ignored demands of the mapping, which change no count here",
                                  demand, target != nullptr ? target->text : ""});
      }
    }
    const Words types{"temporal", "spatial", "datatype", "dataspace", "bypass"};
    const auto type = reader_.choice(fields.require("type"), types, "type of directive");
    const Node* target = fields.require("target");
    if (!type || target == nullptr) {
      return;
    }
    const std::size_t kind = std::min<std::size_t>(*type, 2);
    const auto own = kind == 1 ? fanout_called(timeloop_point_name(target->text)) : std::nullopt;
    const auto fanout = own ? own : fanout_called(target->text);
    if (fanout && (kind != 1 || fanout->is_unit)) {
      demand_nothing(fields, kind);
      return;
    }
    const auto level = fanout                    ? std::optional{fanout->level}
                       : is_number(target->text) ? numbered(*target)
                                                 : reader_.choice(target, storages_, "storage");
    if (!level) {
      return;
    }
    if (std::exchange(seen_[*level][kind], true)) {
      reader_.error(node,
                    fmt::format("a second {} directive for {}", types[*type], storages_[*level]));
      return;
    }
    if (kind == 2) {
      read_keeps(fields, blocks_[*level]);
    } else {
      read_loops(fields, *level, kind == 1);
    }
  }

  // What goes along an axis, against the instances that there are.
  void check_instances(const Node& node, std::size_t level) {
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      std::int64_t taken = 1;
      Words factors;
      for (const TimeloopLoop& loop : blocks_[level].spatial) {
        if (loop.axis == axis && taken <= kTooMany) {
          taken *= loop.bound;
          factors.push_back(fmt::format("{}={}", workload_.dims[loop.dim].name, loop.bound));
        }
      }
      const std::int64_t instances = machine_.fanout(level, axis);
      if (taken > instances) {
        reader_.error(node, fmt::format("{} along {} below {}, which has {} there",
                                        fmt::join(factors, " "), to_string(axis), storages_[level],
                                        instances == 1 ? "no more than one instance"
                                                       : fmt::format("{} instances", instances)));
      }
    }
  }

  struct NamedFanout {
    std::size_t level = 0;
    bool is_unit = false;
  };
  std::optional<NamedFanout> fanout_called(const std::string& name) const {
    const auto has = [&](const Words& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (std::size_t l = 0; l < machine_.storages.size(); ++l) {
      const TimeloopStorage& storage = machine_.storages[l];
      if (has(storage.fanout_names) || has(storage.unit_names)) {
        return NamedFanout{l, has(storage.unit_names)};
      }
    }
    return std::nullopt;
  }

  // A fanout keeps nothing and has no loops of its own in time; one instance has none in space.
  void demand_nothing(const Fields& fields, std::size_t kind) {
    const Node* keep = fields.has("keep") ? value_of(fields.node(), "keep") : nullptr;
    if (kind == 2 && keep != nullptr && !keep->items.empty()) {
      reader_.error(*keep, "nothing can be kept there: it is no storage");
    }
    const auto factors = kind == 2
                             ? PerDim<TimeloopFactor>(workload_.dims.size())
                             : read_timeloop_factors(reader_, fields.find("factors"), workload_);
    for (const DimId d : workload_.dims.ids()) {
      if (factors[d].bound > 1) {
        reader_.error(fields.node(), fmt::format("a loop over {} where there can be none",
                                                 workload_.dims[d].name));
      }
    }
  }

  void read_keeps(const Fields& fields, TimeloopBlock& block) {
    refuse(fields, {"factors", "permutation", "split"}, "a directive of data spaces");
    TensorSet named[2];
    for (const std::size_t which : {0, 1}) {
      const Node* list = fields.find(which == 0 ? "keep" : "bypass");
      if (list == nullptr || list->items.empty()) {
        continue;
      }
      for (const std::size_t tensor : reader_.choice_list(list, tensors_, "data space")) {
        named[which].insert(static_cast<TensorId>(tensor));
      }
    }
    if (!(named[0] & named[1]).empty()) {
      reader_.error(fields.node(), "a data space is both kept and bypassed");
    }
    for (const TensorId t : workload_.tensors.ids()) {
      if (named[0].contains(t)) {
        block.keep.insert(t);
      } else if (named[1].contains(t)) {
        block.keep.erase(t);
      }
    }
  }

  void refuse(const Fields& fields, const Words& keys, const char* where) {
    for (const std::string& key : keys) {
      if (fields.has(key)) {
        reader_.error(fields.place(key), fmt::format("'{}' has no place in {}", key, where));
      }
    }
  }

  void read_loops(const Fields& fields, std::size_t level, bool spatial) {
    refuse(fields, {"keep", "bypass"}, "a directive of loops");
    const auto factors = read_timeloop_factors(reader_, fields.find("factors"), workload_);
    const std::vector<DimId> order =
        read_timeloop_order(reader_, fields.find("permutation"), workload_).dims;
    const std::optional<std::size_t> split = read_split(fields, level, spatial, factors);
    if (!split) {
      return;
    }
    // The file lists the innermost loop first; along X first.
    std::vector<TimeloopLoop>& loops = spatial ? blocks_[level].spatial : blocks_[level].temporal;
    for (std::size_t i = order.size(); i-- > 0;) {
      const TimeloopFactor& factor = factors[order[i]];
      if (factor.bound > 1) {
        loops.push_back({order[i], factor.bound, factor.residual,
                         spatial && i >= *split ? Axis::kY : Axis::kX});
      }
    }
    if (spatial) {
      check_instances(fields.node(), level);
    }
  }

  // How many dims of the permutation go along X.
  std::optional<std::size_t> read_split(const Fields& fields, std::size_t level, bool spatial,
                                        const PerDim<TimeloopFactor>& factors) {
    if (fields.has("split")) {
      if (!spatial) {
        refuse(fields, {"split"}, "a temporal directive");
        return std::nullopt;
      }
      const auto split = read_whole(reader_, fields.find("split"), 0);
      return split ? std::optional{static_cast<std::size_t>(*split)} : std::nullopt;
    }
    const bool loops = std::any_of(factors.begin(), factors.end(),
                                   [](const TimeloopFactor& factor) { return factor.bound > 1; });
    const bool x = machine_.fanout(level, Axis::kX) > 1;
    const bool y = machine_.fanout(level, Axis::kY) > 1;
    if (spatial && loops && x && y) {
      reader_.error(fields.node(), "no 'split': which loops go along X is not said");
      return std::nullopt;
    }
    return y && !x ? 0 : workload_.dims.size();
  }

  // The loops over a dim, outermost first, must count it out, and in the way that tiles of a fixed
  // size do: a residual is what is left for the last one.
  void check_products(const Node& section) {
    for (const DimId d : workload_.dims.ids()) {
      std::vector<TimeloopLoop> loops;
      for (const TimeloopBlock& block : blocks_) {
        for (const auto* list : {&block.temporal, &block.spatial}) {
          std::copy_if(list->begin(), list->end(), std::back_inserter(loops),
                       [d](const TimeloopLoop& loop) { return loop.dim == d; });
        }
      }
      std::int64_t before_last = 0;  // iterations of the whole nest before the last one
      for (const TimeloopLoop& loop : loops) {
        before_last = std::min(before_last * loop.bound + loop.residual - 1, kTooMany);
      }
      const Dim& dim = workload_.dims[d];
      if (before_last + 1 != dim.bound) {
        reader_.error(section, fmt::format("the loops over {} make {} iterations, not {}", dim.name,
                                           before_last + 1, dim.bound));
      } else if (!loops.empty() && loops.front().residual != loops.front().bound) {
        reader_.error(section, fmt::format("the outermost loop over {} never makes its {} "
                                           "iterations",
                                           dim.name, loops.front().bound));
      }
    }
  }

  Reader& reader_;
  const TimeloopMachine& machine_;
  const Workload& workload_;
  ImportNotes& notes_;
  Words storages_;
  Words tensors_;
  std::vector<TimeloopBlock> blocks_;
  std::vector<std::array<bool, 3>> seen_;  // temporal, spatial, data spaces
};

std::string factors_text(const Workload& workload, const std::vector<TimeloopLoop>& loops) {
  std::vector<std::string> factors;
  for (const DimId d : workload.dims.ids()) {
    const auto loop = std::find_if(loops.begin(), loops.end(),
                                   [d](const TimeloopLoop& each) { return each.dim == d; });
    std::string text = fmt::format("{}=1", workload.dims[d].name);
    if (loop != loops.end()) {
      text = fmt::format("{}={}", workload.dims[d].name, loop->bound);
      text += loop->residual != loop->bound ? fmt::format(",{}", loop->residual) : "";
    }
    factors.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(factors, " "));
}

// Innermost first, then the dims without a loop.
std::string permutation_text(const Workload& workload, const std::vector<TimeloopLoop>& loops) {
  std::vector<std::string> order;
  DimSet named;
  for (std::size_t i = loops.size(); i-- > 0;) {
    order.push_back(workload.dims[loops[i].dim].name);
    named.insert(loops[i].dim);
  }
  for (const DimId d : workload.dims.ids()) {
    if (!named.contains(d)) {
      order.push_back(workload.dims[d].name);
    }
  }
  const bool letters = std::all_of(order.begin(), order.end(),
                                   [](const std::string& name) { return name.size() == 1; });
  return fmt::format("{}", fmt::join(order, letters ? "" : ","));
}

}  // namespace

std::vector<TimeloopBlock> read_timeloop_mapping(Reader& reader, const Node& section,
                                                 const TimeloopMachine& machine,
                                                 const Workload& workload, ImportNotes& notes) {
  return MappingReader{reader, machine, workload, notes}.read(section);
}

std::string write_timeloop_mapping(const TimeloopMachine& machine, const Workload& workload,
                                   const std::vector<TimeloopBlock>& blocks) {
  std::string text = "mapping:\n";
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    const TimeloopBlock& block = blocks[l];
    const std::string& name = machine.storages[l].name;
    std::vector<std::string> lists[2];
    for (const TensorId t : workload.tensors.ids()) {
      lists[block.keep.contains(t) ? 0 : 1].push_back(workload.tensors[t].name);
    }
    text += fmt::format("- target: {}\n  type: datatype\n  keep: [{}]\n  bypass: [{}]\n", name,
                        fmt::join(lists[0], ", "), fmt::join(lists[1], ", "));
    text += fmt::format("- target: {}\n  type: temporal\n  factors: {}\n  permutation: {}\n", name,
                        factors_text(workload, block.temporal),
                        permutation_text(workload, block.temporal));
    // The front end has the instances below a point of their own, which Timeloop takes for a
    // storage.
    const std::vector<std::string>& points = machine.storages[l].fanout_names;
    if (!points.empty()) {
      text += fmt::format("- target: {0}\n  type: datatype\n  keep: []\n  bypass: [{1}]\n",
                          points.front(), fmt::join(names_of(workload.tensors), ", "));
      text +=
          fmt::format("- target: {}\n  type: temporal\n  factors: {}\n  permutation: {}\n",
                      points.front(), factors_text(workload, {}), permutation_text(workload, {}));
    }
    if (block.spatial.empty()) {
      continue;
    }
    const auto along_x =
        std::count_if(block.spatial.begin(), block.spatial.end(),
                      [](const TimeloopLoop& loop) { return loop.axis == Axis::kX; });
    text += fmt::format(
        "- target: {}\n  type: spatial\n  factors: {}\n  permutation: {}\n  split: {}\n",
        points.empty() ? name : points.front(), factors_text(workload, block.spatial),
        permutation_text(workload, block.spatial), along_x);
  }
  return text;
}

}  // namespace mapsim
