// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/rules_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "mapper/mapspace/rule_values.hpp"
#include "mapper/mapspace/unrolling.hpp"

namespace mapsim {
namespace {

class RulesReader : RuleValues {
 public:
  RulesReader(Reader& reader, const Problem& problem, Constraints& constraints)
      : RuleValues{reader, problem.workload(), constraints.factors},
        problem_{problem},
        arch_{problem.arch()},
        constraints_{constraints} {}

  void read_unroll(const Node& node) {
    const Words fanouts = names_of(arch_.fanouts);
    for (const Entry* entry : reader_.entries(node, "a map of fanouts")) {
      const auto id = reader_.choice(&entry->key, fanouts, "fanout");
      if (!id) {
        continue;
      }
      const auto fanout = static_cast<FanoutId>(*id);
      if (std::any_of(constraints_.unroll.begin(), constraints_.unroll.end(),
                      [fanout](const UnrollRule& rule) { return rule.fanout == fanout; })) {
        reader_.error(entry->key,
                      fmt::format("the dataflow has rules for {} already", fanouts[*id]));
        continue;
      }
      const auto& given = constraints_.spatial;
      if (given && std::any_of(given->begin(), given->end(),
                               [fanout](const Unroll& u) { return u.fanout == fanout; })) {
        reader_.error(entry->key, fmt::format("the unrolling of {} is given under spatial already",
                                              fanouts[*id]));
        continue;
      }
      constraints_.unroll.push_back(read_fanout(fanout, entry->value));
    }
  }

  void read_extents(const Node& node) {
    const Words levels = names_of(arch_.levels);
    for (const Entry* entry : reader_.entries(node, "a map of levels")) {
      const auto index = reader_.choice(&entry->key, levels, "level");
      if (index && *index == 0) {
        reader_.error(entry->key, fmt::format("{} keeps every tensor whole", levels[0]));
      } else if (index) {
        read_level(static_cast<LevelId>(*index), entry->value);
      }
    }
  }

  void read_loops(const Node& node) {
    for (const Entry* entry : reader_.entries(node, "a map of nodes of the architecture")) {
      const auto rule = place_of(entry->key);
      const auto same = [&](const LoopRule& known) {
        return known.level == rule->level && known.fanout == rule->fanout;
      };
      if (rule && std::any_of(constraints_.loops.begin(), constraints_.loops.end(), same)) {
        reader_.error(entry->key, fmt::format("the dataflow has rules for the loops above {} "
                                              "already",
                                              entry->key.text));
      } else if (rule) {
        read_region(*rule, entry->value);
      }
    }
    std::stable_sort(constraints_.loops.begin(), constraints_.loops.end(),
                     [this](const LoopRule& a, const LoopRule& b) { return rank(a) < rank(b); });
    std::stable_sort(said_.begin(), said_.end(),
                     [](const Said& a, const Said& b) { return a.rank < b.rank; });
    for (const DimId d : workload_.dims.ids()) {
      check_factors(d);
    }
  }

  const std::vector<LackingWord>& lacking() const { return lacking_; }

 private:
  // ---- unroll

  UnrollRule read_fanout(FanoutId fanout, const Node& node) {
    const Fields fields = reader_.fields(node, {"min_utilization", "X", "Y"});
    UnrollRule rule;
    rule.fanout = fanout;
    rule.min_utilization = read_share(fields.find("min_utilization"));
    if (const Node* axis = fields.find("X")) {
      rule.x = read_axis(fanout, Axis::kX, *axis);
    }
    if (const Node* axis = fields.find("Y")) {
      rule.y = read_axis(fanout, Axis::kY, *axis);
    }
    return rule;
  }

  double read_share(const Node* node) {
    const auto text = reader_.text(node, "a number from 0 to 1");
    double share = 0;
    if (text) {
      const char* end = text->data() + text->size();
      const auto [stop, failure] =
          std::from_chars(text->data(), end, share, std::chars_format::fixed);
      if (failure != std::errc{} || stop != end || !(share >= 0 && share <= 1)) {
        reader_.error(*node, fmt::format("expected a number from 0 to 1, not {}", describe(*node)));
        share = 0;
      }
    }
    return share;
  }

  AxisRule read_axis(FanoutId fanout, Axis axis, const Node& node) {
    const Fanout& hardware = arch_.fanouts[fanout];
    const Fields fields = reader_.fields(node, {"dims", "factors", "max_dims"});
    AxisRule rule;
    if (const Node* dims = fields.find("dims")) {
      rule.dims = read_dims(*dims);
    }
    rule.max_dims = reader_.integer(fields.find("max_dims"), 0, kMaxDims);
    std::int64_t least = 1;  // product of the factors, at least
    std::int64_t busy = 0;   // dims that are certainly unrolled
    const Node* factors = fields.find("factors");
    const auto read_factor = [&](DimId d, const Node& at) {
      const auto allowed = read_allowed(at, workload_.dims[d].bound);
      if (!allowed || !check_factor(at, d, *allowed)) {
        return;
      }
      const std::int64_t fewest = allowed->values.empty() ? allowed->least : allowed->values[0];
      const bool may =
          may_unroll(workload_, hardware.dims(axis), d) && (!rule.dims || rule.dims->contains(d));
      if (fewest > 1 && !may) {
        reader_.error(at, fmt::format("{} may not be unrolled along {} of {}", name(d),
                                      to_string(axis), hardware.name));
      } else if (fewest > hardware.size(axis) / least) {
        reader_.error(at, fmt::format("{} of {} has {} instances; this takes more", to_string(axis),
                                      hardware.name, hardware.size(axis)));
      } else {
        least *= fewest;
        busy += fewest > 1 ? 1 : 0;
        rule.factors.push_back({d, *allowed});
      }
    };
    if (factors != nullptr) {
      for_each_dim(*factors, read_factor);
    }
    if (rule.max_dims && busy > *rule.max_dims) {
      reader_.error(fields.place("max_dims"),
                    fmt::format("the factors unroll {} dims along {}", busy, to_string(axis)));
    }
    return rule;
  }

  // ---- extents

  void read_level(LevelId level, const Node& node) {
    for (const Entry* entry : reader_.entries(node, "a map of dims or tensors")) {
      const bool is_dim = std::find(dims_.begin(), dims_.end(), entry->key.text) != dims_.end();
      Words words = dims_;
      words.insert(words.end(), tensors_.begin(), tensors_.end());
      const auto word = reader_.choice(&entry->key, words, "dim or tensor");
      if (word && is_dim) {
        read_dim(level, dims_of(*word, entry->key), *entry);
      } else if (word) {
        read_tensors(level, tensor_sets_[*word - dims_.size()].second, *entry);
      }
    }
  }

  TensorSet kept_at(LevelId level) const {
    TensorSet set;
    for (const TensorId t : workload_.tensors.ids()) {
      const bool bypassed =
          !constraints_.keeps.empty() && constraints_.keeps[level][t] == KeepRule::kBypass;
      if (problem_.may_keep(level, t) && !bypassed) {
        set.insert(t);
      }
    }
    return set;
  }

  void read_dim(LevelId level, DimSet dims, const Entry& entry) {
    for (const DimId d : workload_.dims.ids()) {
      if (!dims.contains(d)) {
        continue;
      }
      TensorSet concerned;
      for (const TensorId t : workload_.tensors.ids()) {
        if (kept_at(level).contains(t) && workload_.tensors[t].dims().contains(d)) {
          concerned.insert(t);
        }
      }
      if (concerned.empty()) {
        reader_.error(entry.key, fmt::format("{} keeps no tensor that has the dim {}",
                                             arch_.levels[level].name, name(d)));
      }
      add_extents(level, concerned, d, entry.value);
    }
  }

  void read_tensors(LevelId level, TensorSet tensors, const Entry& entry) {
    const TensorSet kept = kept_at(level) & tensors;
    if (kept.empty() && !tensors.empty()) {
      reader_.error(entry.key,
                    fmt::format("{} never keeps {}", arch_.levels[level].name, entry.key.text));
    }
    for_each_dim(entry.value, [&](DimId d, const Node& at) {
      TensorSet concerned;
      for (const TensorId t : workload_.tensors.ids()) {
        if (kept.contains(t) && workload_.tensors[t].dims().contains(d)) {
          concerned.insert(t);
        }
      }
      // A word for several dims means those that the tensor has.
      const bool named = std::any_of(entry.value.entries.begin(), entry.value.entries.end(),
                                     [&](const Entry& e) { return e.key.text == name(d); });
      if (concerned.empty() && !kept.empty() && named) {
        reader_.error(at, fmt::format("{} has no dim {}", entry.key.text, name(d)));
      }
      add_extents(level, concerned, d, at);
    });
  }

  void add_extents(LevelId level, TensorSet tensors, DimId dim, const Node& at) {
    const bool limited = at.kind == Node::Kind::kMap &&
                         std::any_of(at.entries.begin(), at.entries.end(),
                                     [](const Entry& entry) { return entry.key.text == "done"; });
    const bool done = limited || (at.kind == Node::Kind::kScalar && at.text == "done");
    const auto allowed = limited ? read_limits_of_done(at, workload_.dims[dim].bound)
                         : done  ? Allowed{}
                                 : read_allowed(at, workload_.dims[dim].bound);
    if (!allowed || !check_extent(at, dim, *allowed)) {
      return;
    }
    for (const TensorId t : workload_.tensors.ids()) {
      if (tensors.contains(t)) {
        add_extent({level, t, dim, *allowed, done}, at);
      }
    }
  }

  // {done: true, min: 2} or {done: true, only: [2, 4]}: the form in which joined rules of one place
  // are written.
  std::optional<Allowed> read_limits_of_done(const Node& at, std::int64_t bound) {
    const Fields fields = reader_.fields(at, {"done", "min", "max", "only"});
    if (reader_.boolean(fields.find("done")) == false) {
      reader_.error(*fields.find("done"), "expected true");
    }
    if (const Node* only = fields.find("only")) {
      return read_allowed(*only, bound);
    }
    Allowed allowed;
    allowed.least = read_number(fields.find("min"), bound).value_or(allowed.least);
    allowed.most = read_number(fields.find("max"), bound).value_or(allowed.most);
    return allowed;
  }

  // Joins rules of one place that were given by dim and by tensor.
  void add_extent(const ExtentRule& rule, const Node& at) {
    for (ExtentRule& known : constraints_.extents) {
      if (known.level == rule.level && known.tensor == rule.tensor && known.dim == rule.dim) {
        const auto allowed = both(known.extents, rule.extents);
        if (!allowed || !check_extent(at, rule.dim, *allowed)) {
          reader_.error(at, fmt::format("this and the rule for {} before leave nothing",
                                        workload_.tensors[rule.tensor].name));
        }
        known.extents = allowed.value_or(known.extents);
        known.done = known.done || rule.done;
        return;
      }
    }
    constraints_.extents.push_back(rule);
  }

  // ---- loops

  // The position of a node in the architecture, outermost first.
  std::size_t rank(const LoopRule& rule) const {
    if (rule.level) {
      return 2 * index_of(*rule.level) * kMaxFanouts;
    }
    return rule.fanout
               ? (2 * arch_.levels_above[*rule.fanout] - 1) * kMaxFanouts + index_of(*rule.fanout)
               : 2 * kMaxLevels * kMaxFanouts;
  }

  std::optional<LoopRule> place_of(const Node& key) {
    Words nodes = names_of(arch_.levels);
    const Words fanouts = names_of(arch_.fanouts);
    nodes.insert(nodes.end(), fanouts.begin(), fanouts.end());
    nodes.push_back(arch_.compute.name);
    const auto index = reader_.choice(&key, nodes, "node");
    LoopRule rule;
    if (!index) {
      return std::nullopt;
    }
    if (*index == 0) {
      reader_.error(key, fmt::format("there are no loops above {}", nodes[0]));
      return std::nullopt;
    }
    if (*index < arch_.levels.size()) {
      rule.level = static_cast<LevelId>(*index);
      if (!constraints_.even) {
        reader_.error(key, fmt::format("the keeps of {} stand together only in an even mapspace; "
                                       "say tiling: even, or name a fanout or {}",
                                       nodes[*index], nodes.back()));
      }
    } else if (*index + 1 < nodes.size()) {
      rule.fanout = static_cast<FanoutId>(*index - arch_.levels.size());
    }
    return rule;
  }

  void read_region(LoopRule rule, const Node& node) {
    const Fields fields = reader_.fields(node, {"dims", "order", "factors"});
    const Node* dims = fields.find("dims");
    const Node* order = fields.find("order");
    if (dims != nullptr && order != nullptr) {
      reader_.error(*dims, "the order says already which dims have loops");
    } else if (dims != nullptr) {
      rule.ordered = true;
      rule.order = {read_dims(*dims)};
    } else if (order != nullptr) {
      rule.ordered = true;
      rule.order = read_order(*order);
    }
    std::erase(rule.order, DimSet{});
    const Node* factors = fields.find("factors");
    const auto read_factor = [&](DimId d, const Node& at) {
      const bool scalar = at.kind == Node::Kind::kScalar;
      const auto allowed = scalar && (at.text == "rest" || at.text == "0")
                               ? std::optional<Allowed>{}
                               : read_allowed(at, workload_.dims[d].bound);
      if (!allowed) {
        if (scalar && (at.text == "rest" || at.text == "0")) {
          rule.rest.insert(d);
          said_.push_back({rank(rule), d, {}, true, &at});
        }
      } else if (check_factor(at, d, *allowed)) {
        check_has_loop(rule, d, *allowed, at);
        said_.push_back({rank(rule), d, *allowed, false, &at});
        rule.factors.push_back({d, *allowed});
      }
    };
    if (factors != nullptr) {
      for_each_dim(*factors, read_factor);
    }
    constraints_.loops.push_back(std::move(rule));
  }

  void check_has_loop(const LoopRule& rule, DimId d, const Allowed& allowed, const Node& at) {
    const bool may = !rule.ordered || std::any_of(rule.order.begin(), rule.order.end(),
                                                  [d](DimSet group) { return group.contains(d); });
    if (!may && !allowed.contains(1)) {
      reader_.error(at, fmt::format("{} has no loop here", name(d)));
    }
  }

  // From the outside in: the given factors of a dim divide its bound together (perfect factors),
  // and none follows a `rest`.
  void check_factors(DimId d) {
    std::int64_t product = 1;
    bool exhausted = false;
    for (const Said& said : said_) {
      if (said.dim != d) {
        continue;
      }
      if (exhausted && (said.rest || !said.factors.contains(1))) {
        reader_.error(*said.at, fmt::format("a region further out takes the rest of {}", name(d)));
      }
      exhausted = exhausted || said.rest;
      const bool given = said.factors.values.size() == 1 && !factors_.imperfect;
      product *= given ? said.factors.values.front() : 1;
      if (given && workload_.dims[d].bound % product != 0) {
        reader_.error(*said.at, fmt::format("the factors of {} do not divide its bound {}", name(d),
                                            workload_.dims[d].bound));
        return;
      }
    }
  }

  // Items are dims or lists of dims, each a group. `rest`: the dims that no other item names.
  std::vector<DimSet> read_order(const Node& list) {
    std::vector<DimSet> groups;
    DimSet seen;
    std::optional<std::size_t> others;
    if (list.kind == Node::Kind::kSequence && list.items.empty()) {
      return groups;
    }
    for (const Node* item : reader_.items(list, "a list of dims")) {
      DimSet group;
      if (item->kind == Node::Kind::kScalar && item->text == "rest" && !others) {
        others = groups.size();
      } else if (item->kind == Node::Kind::kSequence) {
        group = read_dims(*item);
      } else if (const auto word = reader_.choice(item, dims_, "dim")) {
        group = dims_of(*word, *item);
      }
      if (!(group & seen).empty()) {
        reader_.error(*item, "a dim is named twice");
      }
      seen = seen | group;
      groups.push_back(group);
    }
    for (const DimId d : workload_.dims.ids()) {
      if (others && !seen.contains(d)) {
        groups[*others].insert(d);
      }
    }
    return groups;
  }

  // A statement of the file about the factor of a dim in a region.
  struct Said {
    std::size_t rank = 0;  // of the region
    DimId dim{};
    Allowed factors;
    bool rest = false;  // it says `rest` instead
    const Node* at = nullptr;
  };

  const Problem& problem_;
  const Arch& arch_;
  Constraints& constraints_;
  std::vector<Said> said_;
};

}  // namespace

std::vector<LackingWord> read_rules(Reader& reader, const Problem& problem, const Fields& mapspace,
                                    Constraints& constraints) {
  RulesReader rules{reader, problem, constraints};
  if (const Node* unroll = mapspace.find("unroll")) {
    rules.read_unroll(*unroll);
  }
  if (const Node* extents = mapspace.find("extents")) {
    rules.read_extents(*extents);
  }
  if (const Node* loops = mapspace.find("loops")) {
    rules.read_loops(*loops);
  }
  return rules.lacking();
}

}  // namespace mapsim
