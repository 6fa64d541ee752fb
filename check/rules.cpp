// SPDX-License-Identifier: Apache-2.0
#include "check/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    rules.spatial = PerFanout<std::optional<Rules::AxisFactors>>(problem_.arch().fanouts.size());
    rules.keep = PerLevel<TensorSet>(levels_.size());
    rules.bypass = rules.keep;
    const Words known{"tiling", "factors", "spatial", "keep", "bypass"};
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
    return rules;
  }

 private:
  void read_rule(const std::string& rule, const Node& value, Rules& rules) {
    if (rule == "tiling") {
      rules.even = reader_.choice(&value, {"uneven", "even"}, "tiling") == 1;
    } else if (rule == "factors") {
      reader_.choice(&value, {"perfect"}, "kind of factors that the checker knows");
    } else if (rule == "spatial") {
      read_spatial(value, rules);
    } else {
      read_keeps(value, rule == "keep" ? rules.keep : rules.bypass);
    }
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
    check_products(map, rules);
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

Rules read_rules(Reader& reader, const Node& map, const Problem& problem) {
  return RulesReader{reader, problem}.read(map);
}

}  // namespace mapsim::check
