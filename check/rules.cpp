// SPDX-License-Identifier: Apache-2.0
#include "check/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "costmodel/timing/model.hpp"

namespace mapsim::check {

namespace {

const Words kAxes{"X", "Y"};  // in the order of Axis

class RulesReader {
 public:
  RulesReader(Reader& reader, const Problem& problem)
      : reader_{reader},
        problem_{problem},
        dims_{names_of(problem.workload().dims)},
        tensors_{names_of(problem.workload().tensors)},
        levels_{names_of(problem.arch().levels)} {}

  Rules read(const Node& map) {
    Rules rules;
    rules.spatial.resize(problem_.arch().fanouts.size());
    rules.unroll = PerFanout<std::array<AxisRules, 2>>(problem_.arch().fanouts.size());
    rules.min_utilization = PerFanout<double>(problem_.arch().fanouts.size(), 0.0);
    rules.keep = PerLevel<TensorSet>(levels_.size());
    rules.bypass = rules.keep;
    if (timing_model(problem_.arch()).is_engine) {
      read_schedules(map, rules);
      return rules;
    }
    const Words known{"tiling", "one_loop_per_dim", "factors", "pieces",
                      "tiles",  "spatial",          "unroll",  "keep",
                      "bypass", "extents",          "loops"};
    rules.tiles.resize(dims_.size());
    for (const Entry* entry : reader_.entries(map, "a map of rules")) {
      if (std::find(known.begin(), known.end(), entry->key.text) == known.end()) {
        reader_.error(entry->key,
                      fmt::format("this certificate needs the rule {}, which the checker does not "
                                  "know{}",
                                  quoted(entry->key.text), suggestion(entry->key.text, known)));
      } else {
        read_rule(entry->key.text, entry->value, rules);
      }
    }
    if (!rules.imperfect && (rules.pieces > 0 || rules.has_tiles())) {
      reader_.error(map, "'pieces' and 'tiles' need 'factors: imperfect'");
    }
    if (rules.imperfect && rules.once) {
      reader_.error(map, "'one_loop_per_dim' needs 'factors: perfect'");
    }
    for (const LoopRule& rule : rules.loops) {
      if (rule.level && !rules.even) {
        reader_.error(map, "rules for loops above a level need the tiling 'even'");
      }
    }
    return rules;
  }

 private:
  void read_rule(const std::string& rule, const Node& value, Rules& rules) {
    if (rule == "tiling") {
      rules.even = reader_.choice(&value, {"uneven", "even"}, "tiling") == 1;
    } else if (rule == "one_loop_per_dim") {
      rules.once = reader_.boolean(&value).value_or(false);
    } else if (rule == "factors") {
      rules.imperfect = reader_
                            .choice(&value, {"perfect", "imperfect", "balanced"},
                                    "kind of factors that the checker knows")
                            .value_or(0) > 0;
    } else if (rule == "pieces") {
      rules.pieces = reader_.integer(&value, 1, kMaxInteger).value_or(0);
    } else if (rule == "tiles") {
      read_tiles(value, rules);
    } else if (rule == "spatial") {
      read_spatial(value, rules);
    } else if (rule == "unroll") {
      read_unroll(value, rules);
    } else if (rule == "extents") {
      read_extents(value, rules);
    } else if (rule == "loops") {
      read_loops(value, rules);
    } else {
      read_keeps(value, rule == "keep" ? rules.keep : rules.bypass);
    }
  }

  // {schedules: nvdla, frames: one}: nothing can be left out of an engine's schedules.
  void read_schedules(const Node& map, Rules& rules) {
    const Fields fields = reader_.fields(map, {"schedules", "frames"});
    rules.schedules =
        reader_.choice(fields.require("schedules"), {"nvdla"}, "kind of schedules").has_value();
    rules.batches = reader_.choice(fields.require("frames"), {"one", "batches"}, "frames") == 1;
  }

  void read_spatial(const Node& map, Rules& rules) {
    const Words fanouts = names_of(problem_.arch().fanouts);
    for (const Entry* entry : reader_.entries(map, "a map of fanouts")) {
      if (const auto id = reader_.choice(&entry->key, fanouts, "fanout")) {
        const auto fanout = static_cast<FanoutId>(*id);
        const PerDim<std::int64_t> ones(dims_.size(), 1);
        rules.spatial[fanout] = Rules::AxisFactors{ones, ones};
        const Fields axes = reader_.fields(entry->value, kAxes);
        for (const Axis axis : {Axis::kX, Axis::kY}) {
          if (const Node* node = axes.find(to_string(axis))) {
            read_axis(*node, fanout, axis, *rules.spatial[fanout]);
          }
        }
      }
    }
    if (!rules.imperfect) {
      check_products(map, rules);
    }
  }

  // {K: [3, 17]}
  void read_tiles(const Node& map, Rules& rules) {
    for (const Entry* entry : reader_.entries(map, "a map of dims")) {
      if (const auto d = reader_.choice(&entry->key, dims_, "dim")) {
        const auto dim = static_cast<DimId>(*d);
        const std::int64_t bound = problem_.workload().dims[dim].bound;
        for (const Node* item : reader_.items(entry->value, "a list of extents")) {
          rules.tiles[dim].push_back(reader_.integer(item, 1, bound).value_or(1));
        }
      }
    }
  }

  void read_axis(const Node& map, FanoutId fanout, Axis axis, Rules::AxisFactors& factors) {
    const std::int64_t size = problem_.arch().fanouts[fanout].size(axis);
    std::int64_t used = 1;
    for (const Entry* entry : reader_.entries(map, "a map of dims")) {
      const auto id = reader_.choice(&entry->key, dims_, "dim");
      const auto factor = reader_.integer(&entry->value, 1, size);
      if (!id || !factor) {
        continue;
      }
      const auto dim = static_cast<DimId>(*id);
      used *= *factor;
      if (used > size) {
        reader_.error(entry->value, fmt::format("the axis has {} instances", size));
      }
      if (*factor > 1 && !may_unroll(problem_, fanout, axis, dim)) {
        reader_.error(entry->key, "the architecture does not unroll it here");
      }
      factors[static_cast<std::size_t>(axis)][dim] = *factor;
    }
  }

  // {PEs: {min_utilization: 0.5, X: {dims: [K], factors: {K: [2, 4]}, max_dims: 1}}}
  void read_unroll(const Node& map, Rules& rules) {
    for (const Entry* entry : reader_.entries(map, "a map of fanouts")) {
      const auto id = reader_.choice(&entry->key, names_of(problem_.arch().fanouts), "fanout");
      const Fields fields = reader_.fields(entry->value, {"min_utilization", "X", "Y"});
      if (!id) {
        continue;
      }
      const auto fanout = static_cast<FanoutId>(*id);
      if (const Node* share = fields.find("min_utilization")) {
        rules.min_utilization[fanout] = read_share(*share);
      }
      for (const Axis axis : {Axis::kX, Axis::kY}) {
        if (const Node* node = fields.find(to_string(axis))) {
          rules.unroll[fanout][static_cast<std::size_t>(axis)] = read_axis_rules(*node);
        }
      }
    }
  }

  double read_share(const Node& node) {
    const std::string text = reader_.text(&node, "a share").value_or("");
    double share = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), share);
    if (failure != std::errc{} || end != text.data() + text.size() || !(share >= 0 && share <= 1)) {
      reader_.error(node, fmt::format("expected a number from 0 to 1, not {}", describe(node)));
    }
    return share;
  }

  AxisRules read_axis_rules(const Node& map) {
    const Fields fields = reader_.fields(map, {"dims", "factors", "max_dims"});
    AxisRules rules;
    if (const Node* list = fields.find("dims")) {
      rules.dims = read_dims(*list);
    }
    if (const Node* factors = fields.find("factors")) {
      rules.factors = read_factors(*factors);
    }
    rules.max_dims = reader_.integer(fields.find("max_dims"), 0, kMaxInteger);
    return rules;
  }

  // [2, 4], or {min: 2, max: 8}
  Allowed read_allowed(const Node& node) {
    Allowed allowed;
    if (node.kind == Node::Kind::kSequence) {
      for (const Node* item : reader_.items(node, "a list of numbers")) {
        allowed.values.push_back(reader_.integer(item, 0, kMaxInteger).value_or(0));
      }
      return allowed;
    }
    const Fields fields = reader_.fields(node, {"min", "max"});
    allowed.least = reader_.integer(fields.require("min"), 0, kMaxInteger).value_or(0);
    allowed.most = reader_.integer(fields.require("max"), 0, kMaxInteger).value_or(0);
    return allowed;
  }

  // {level: GLB, tensor: I, dim: C, extents: [16, 32], done: true}
  void read_extents(const Node& list, Rules& rules) {
    for (const Node* item : reader_.items(list, "a list of rules")) {
      const Fields fields = reader_.fields(*item, {"level", "tensor", "dim", "extents", "done"});
      const bool done = reader_.choice(fields.find("done"), {"false", "true"}, "answer") == 1;
      const auto level = reader_.choice(fields.require("level"), levels_, "level");
      const auto tensor = reader_.choice(fields.require("tensor"), tensors_, "tensor");
      const auto dim = reader_.choice(fields.require("dim"), dims_, "dim");
      const Node* extents = fields.require("extents");
      if (level && tensor && dim && extents != nullptr) {
        rules.extents.push_back({static_cast<LevelId>(*level), static_cast<TensorId>(*tensor),
                                 static_cast<DimId>(*dim), read_allowed(*extents), done});
      }
    }
  }

  // {fanout: PEs, order: [[K], [C, P]], factors: {P: [2]}, rest: [S]}
  void read_loops(const Node& list, Rules& rules) {
    for (const Node* item : reader_.items(list, "a list of rules")) {
      const Fields fields = reader_.fields(*item, {"level", "fanout", "order", "factors", "rest"});
      LoopRule rule;
      if (const auto level = reader_.choice(fields.find("level"), levels_, "level")) {
        rule.level = static_cast<LevelId>(*level);
      }
      if (const auto fanout =
              reader_.choice(fields.find("fanout"), names_of(problem_.arch().fanouts), "fanout")) {
        rule.fanout = static_cast<FanoutId>(*fanout);
      }
      if (const Node* order = fields.find("order")) {
        rule.order.emplace();
        const bool none = order->kind == Node::Kind::kSequence && order->items.empty();
        for (const Node* group : none ? std::vector<const Node*>{}
                                      : reader_.items(*order, "a list of groups of dims")) {
          rule.order->push_back(read_dims(*group));
        }
      }
      if (const Node* factors = fields.find("factors")) {
        rule.factors = read_factors(*factors);
      }
      if (const Node* rest = fields.find("rest")) {
        rule.rest = read_dims(*rest);
      }
      const bool again =
          std::any_of(rules.loops.begin(), rules.loops.end(), [&rule](const LoopRule& other) {
            return other.level == rule.level && other.fanout == rule.fanout;
          });
      if (again || (rule.level && rule.fanout) || rule.level == LevelId{0}) {
        reader_.error(*item,
                      "expected one rule per node, for a node other than the outermost level");
      }
      rules.loops.push_back(std::move(rule));
    }
  }

  DimSet read_dims(const Node& list) {
    DimSet dims;
    if (list.kind == Node::Kind::kSequence && list.items.empty()) {
      return dims;  // none
    }
    for (const std::size_t d : reader_.choice_list(&list, dims_, "dim")) {
      dims.insert(static_cast<DimId>(d));
    }
    return dims;
  }

  std::vector<std::pair<DimId, Allowed>> read_factors(const Node& map) {
    std::vector<std::pair<DimId, Allowed>> factors;
    for (const Entry* entry : reader_.entries(map, "a map of dims")) {
      if (const auto d = reader_.choice(&entry->key, dims_, "dim")) {
        factors.emplace_back(static_cast<DimId>(*d), read_allowed(entry->value));
      }
    }
    return factors;
  }

  void check_products(const Node& at, const Rules& rules) {
    for (const DimId d : problem_.workload().dims.ids()) {
      std::int64_t product = 1;
      for (const auto& given : rules.spatial) {
        product *= given ? (*given)[0][d] * (*given)[1][d] : 1;
      }
      if (problem_.workload().dims[d].bound % product != 0) {
        reader_.error(at, fmt::format("{} instances of {} do not divide its bound", product,
                                      problem_.workload().dims[d].name));
      }
    }
  }

  void read_keeps(const Node& map, PerLevel<TensorSet>& sets) {
    for (const Entry* entry : reader_.entries(map, "a map of levels")) {
      const auto level = reader_.choice(&entry->key, levels_, "level");
      for (const std::size_t t : reader_.choice_list(&entry->value, tensors_, "tensor")) {
        if (level) {
          sets[static_cast<LevelId>(*level)].insert(static_cast<TensorId>(t));
        }
      }
    }
  }

  Reader& reader_;
  const Problem& problem_;
  Words dims_;
  Words tensors_;
  Words levels_;
};

}  // namespace

bool must_keep(const Problem& problem, const Rules& rules, LevelId level, TensorId tensor) {
  return problem.must_keep(level, tensor) ||
         (problem.may_keep(level, tensor) && rules.keep[level].contains(tensor));
}

bool may_keep(const Problem& problem, const Rules& rules, LevelId level, TensorId tensor) {
  return must_keep(problem, rules, level, tensor) ||
         (problem.may_keep(level, tensor) && !rules.bypass[level].contains(tensor));
}

bool may_unroll(const Problem& problem, FanoutId fanout, Axis axis, DimId dim) {
  const AxisConstraint& allowed = problem.arch().fanouts[fanout].dims(axis);
  const auto names = [](const auto& list, const auto& item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  return allowed.unconstrained() || names(allowed.gemm_axes, problem.workload().gemm_axis(dim)) ||
         names(allowed.dims, problem.workload().dims[dim].name);
}

bool AxisRules::allow(DimId dim, std::int64_t factor) const {
  return (factor == 1 || !dims || dims->contains(dim)) &&
         std::all_of(factors.begin(), factors.end(), [&](const auto& rule) {
           return rule.first != dim || rule.second.contains(factor);
         });
}

bool allows_unrolling(const Problem& problem, const Rules& rules, FanoutId fanout,
                      const Rules::AxisFactors& instances) {
  std::int64_t used = 1;
  bool obeys = true;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const AxisRules& allowed = rules.unroll[fanout][axis];
    std::int64_t dims = 0;
    for (const DimId d : instances[axis].ids()) {
      const std::int64_t factor = instances[axis][d];
      used *= factor;
      dims += factor > 1 ? 1 : 0;
      obeys = obeys && allowed.allow(d, factor);
    }
    obeys = obeys && dims <= allowed.max_dims.value_or(kMaxInteger);
  }
  for (const DimId d : instances[0].ids()) {
    obeys = obeys && !(rules.once && instances[0][d] > 1 && instances[1][d] > 1);
  }
  const Fanout& array = problem.arch().fanouts[fanout];
  return obeys && static_cast<double>(used) >=
                      rules.min_utilization[fanout] * static_cast<double>(array.x * array.y);
}

bool allows_extents(const Rules& rules, LevelId level, TensorId tensor,
                    const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& left) {
  return std::all_of(rules.extents.begin(), rules.extents.end(), [&](const ExtentRule& rule) {
    return rule.level != level || rule.tensor != tensor ||
           (rule.extents.contains(extents[rule.dim]) && (!rule.done || left[rule.dim] == 1));
  });
}

Rules read_rules(Reader& reader, const Node& map, const Problem& problem) {
  return RulesReader{reader, problem}.read(map);
}

}  // namespace mapsim::check
