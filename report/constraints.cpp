// SPDX-License-Identifier: Apache-2.0
#include "report/constraints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace mapsim {

std::string factors_map(const Workload& workload, const PerDim<std::int64_t>& factors) {
  std::vector<std::string> entries;
  for (const DimId d : workload.dims.ids()) {
    if (factors[d] > 1) {
      entries.push_back(fmt::format("{}: {}", workload.dims[d].name, factors[d]));
    }
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string dim_list(const Workload& workload, DimSet dims) {
  std::vector<std::string> names;
  for (const DimId d : workload.dims.ids()) {
    if (dims.contains(d)) {
      names.push_back(workload.dims[d].name);
    }
  }
  return fmt::format("[{}]", fmt::join(names, ", "));
}

namespace {

using Entries = std::vector<std::string>;

std::string map_text(const Entries& entries) {
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string line(const char* key, const Entries& entries) {
  return entries.empty() ? std::string{} : fmt::format("  {}: {}\n", key, map_text(entries));
}

}  // namespace

std::string factor_lines(const Mapspace& space) {
  const Factors& factors = space.constraints().factors;
  const Workload& workload = space.problem().workload();
  std::string text = factors.imperfect ? "  factors: imperfect\n" : "";
  if (factors.pieces > 0) {
    text += fmt::format("  pieces: {}\n", factors.pieces);
  }
  Entries dims;
  for (const DimId d : factors.tiles.ids()) {
    if (!factors.tiles[d].empty()) {
      dims.push_back(
          fmt::format("{}: [{}]", workload.dims[d].name, fmt::join(factors.tiles[d], ", ")));
    }
  }
  return text + line("tiles", dims);
}

std::string spatial_rules(const Problem& problem, const Unrolling& given) {
  std::vector<std::string> fanouts;
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    std::vector<std::string> axes;
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      PerDim<std::int64_t> factors(problem.workload().dims.size(), 1);
      bool named = false;
      for (const Unroll& unroll : given) {
        if (unroll.fanout == f && unroll.axis == axis) {
          factors[unroll.dim] *= unroll.factor;
          named = true;
        }
      }
      if (named) {
        axes.push_back(
            fmt::format("{}: {}", to_string(axis), factors_map(problem.workload(), factors)));
      }
    }
    if (!axes.empty()) {
      fanouts.push_back(
          fmt::format("{}: {{{}}}", problem.arch().fanouts[f].name, fmt::join(axes, ", ")));
    }
  }
  return line("spatial", fanouts);
}

// The rules that the user adds to those of the architecture.
std::string keep_rules(const Mapspace& space, KeepRule rule) {
  const Problem& problem = space.problem();
  std::vector<std::string> levels;
  for (const LevelId l : problem.arch().levels.ids()) {
    std::vector<std::string> tensors;
    for (const TensorId t : problem.workload().tensors.ids()) {
      const bool is_free = !problem.must_keep(l, t) && problem.may_keep(l, t);
      if (is_free && space.keep_rule(l, t) == rule) {
        tensors.push_back(problem.workload().tensors[t].name);
      }
    }
    if (!tensors.empty()) {
      levels.push_back(
          fmt::format("{}: [{}]", problem.arch().levels[l].name, fmt::join(tensors, ", ")));
    }
  }
  return line(rule == KeepRule::kKeep ? "keep" : "bypass", levels);
}

namespace {

std::string numbers(const Allowed& allowed) {
  if (allowed.values.size() == 1) {
    return std::to_string(allowed.values.front());
  }
  if (!allowed.values.empty()) {
    return fmt::format("[{}]", fmt::join(allowed.values, ", "));
  }
  return allowed.most == Allowed{}.most
             ? fmt::format("{{min: {}}}", allowed.least)
             : fmt::format("{{min: {}, max: {}}}", allowed.least, allowed.most);
}

// done, or {done: true, min: 2, max: 8}
std::string extents_text(const ExtentRule& rule) {
  if (!rule.done || rule.extents == Allowed{}) {
    return rule.done ? "done" : numbers(rule.extents);
  }
  const std::string limits = numbers(rule.extents);
  return rule.extents.values.empty() ? "{done: true, " + limits.substr(1)
                                     : fmt::format("{{done: true, only: {}}}", limits);
}

Entries factor_entries(const Workload& workload, const std::vector<FactorRule>& rules,
                       DimSet rest) {
  Entries entries;
  for (const FactorRule& rule : rules) {
    entries.push_back(fmt::format("{}: {}", workload.dims[rule.dim].name, numbers(rule.factors)));
  }
  for (const DimId d : workload.dims.ids()) {
    if (rest.contains(d)) {
      entries.push_back(workload.dims[d].name + ": rest");
    }
  }
  return entries;
}

std::string axis_text(const Workload& workload, const AxisRule& rule) {
  Entries entries;
  if (rule.dims) {
    entries.push_back("dims: " + dim_list(workload, *rule.dims));
  }
  if (!rule.factors.empty()) {
    entries.push_back("factors: " + map_text(factor_entries(workload, rule.factors, {})));
  }
  if (rule.max_dims) {
    entries.push_back(fmt::format("max_dims: {}", *rule.max_dims));
  }
  return map_text(entries);
}

std::string unroll_rules(const Mapspace& space) {
  Entries fanouts;
  for (const UnrollRule& rule : space.constraints().unroll) {
    Entries entries;
    if (rule.min_utilization > 0) {
      entries.push_back(fmt::format("min_utilization: {}", rule.min_utilization));
    }
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      if (!(rule.along(axis) == AxisRule{})) {
        entries.push_back(fmt::format("{}: {}", to_string(axis),
                                      axis_text(space.problem().workload(), rule.along(axis))));
      }
    }
    fanouts.push_back(
        fmt::format("{}: {}", space.problem().arch().fanouts[rule.fanout].name, map_text(entries)));
  }
  return line("unroll", fanouts);
}

std::string extent_rules(const Mapspace& space) {
  const Problem& problem = space.problem();
  Entries levels;
  for (const LevelId l : problem.arch().levels.ids()) {
    Entries tensors;
    for (const TensorId t : problem.workload().tensors.ids()) {
      Entries dims;
      for (const ExtentRule& rule : space.constraints().extents) {
        if (rule.level == l && rule.tensor == t) {
          dims.push_back(
              fmt::format("{}: {}", problem.workload().dims[rule.dim].name, extents_text(rule)));
        }
      }
      if (!dims.empty()) {
        tensors.push_back(
            fmt::format("{}: {}", problem.workload().tensors[t].name, map_text(dims)));
      }
    }
    if (!tensors.empty()) {
      levels.push_back(fmt::format("{}: {}", problem.arch().levels[l].name, map_text(tensors)));
    }
  }
  return line("extents", levels);
}

std::string loop_rules(const Mapspace& space) {
  const Arch& arch = space.problem().arch();
  const Workload& workload = space.problem().workload();
  Entries nodes;
  for (const LoopRule& rule : space.constraints().loops) {
    Entries entries;
    if (rule.ordered) {
      Entries groups;
      for (const DimSet group : rule.order) {
        groups.push_back(dim_list(workload, group));
      }
      entries.push_back(fmt::format("order: [{}]", fmt::join(groups, ", ")));
    }
    if (!rule.factors.empty() || !rule.rest.empty()) {
      entries.push_back("factors: " + map_text(factor_entries(workload, rule.factors, rule.rest)));
    }
    const std::string& node = rule.level    ? arch.levels[*rule.level].name
                              : rule.fanout ? arch.fanouts[*rule.fanout].name
                                            : arch.compute.name;
    nodes.push_back(fmt::format("{}: {}", node, map_text(entries)));
  }
  return line("loops", nodes);
}

}  // namespace

std::string rule_lines(const Mapspace& space) {
  const std::string spatial = space.constraints().spatial
                                  ? spatial_rules(space.problem(), *space.constraints().spatial)
                                  : std::string{};
  return spatial + unroll_rules(space) + keep_rules(space, KeepRule::kKeep) +
         keep_rules(space, KeepRule::kBypass) + extent_rules(space) + loop_rules(space);
}

std::string constraints_text(const Mapspace& space) {
  return fmt::format("mapspace:\n  tiling: {}\n{}{}{}",
                     space.constraints().even ? "even" : "uneven",
                     space.constraints().one_loop_per_dim ? "  one_loop_per_dim: true\n" : "",
                     factor_lines(space), rule_lines(space));
}

}  // namespace mapsim
