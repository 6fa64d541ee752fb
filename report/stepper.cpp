// SPDX-License-Identifier: Apache-2.0
#include "report/stepper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "report/accesses.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/markup.hpp"
#include "report/nest.hpp"
#include "report/show.hpp"

namespace mapsim {

namespace {

using Parts = std::vector<std::string>;

std::string list(const Parts& parts) { return fmt::format("[{}]", fmt::join(parts, ",")); }

std::string dims_json(const Workload& workload) {
  Parts dims;
  for (const Dim& dim : workload.dims) {
    dims.push_back(fmt::format("[{},{}]", json_string(dim.name), dim.bound));
  }
  return list(dims);
}

std::string tensors_json(const Workload& workload) {
  Parts tensors;
  for (const Tensor& tensor : workload.tensors) {
    Parts dims;
    for (const DimId d : workload.dims.ids()) {
      if (tensor.dims().contains(d)) {
        dims.push_back(fmt::format("{}", index_of(d)));
      }
    }
    Parts ranks;
    for (const Rank& rank : tensor.ranks) {
      Parts terms;
      for (const Term& term : rank.terms) {
        terms.push_back(fmt::format("[{},{}]", index_of(term.dim), term.coefficient));
      }
      ranks.push_back(list(terms));
    }
    tensors.push_back(fmt::format("{{\"name\":{},\"role\":\"{}\",\"dims\":{},\"ranks\":{}}}",
                                  json_string(tensor.name), to_string(tensor.role), list(dims),
                                  list(ranks)));
  }
  return list(tensors);
}

// `bits`: of an element of each tensor as the level stores it.
std::string levels_json(const Problem& problem, const Cost& cost) {
  Parts levels;
  for (const LevelId l : problem.arch().levels.ids()) {
    Parts bits;
    for (const TensorCounts& at : cost.counts.levels[l]) {
      bits.push_back(fmt::format("{}", at.bits.count()));
    }
    const Storage& level = problem.arch().levels[l];
    levels.push_back(fmt::format(
        "{{\"name\":{},\"capacity\":{},\"bits\":{}}}", json_string(level.name),
        level.capacity.shared ? fmt::format("{}", level.capacity.shared->count()) : "null",
        list(bits)));
  }
  return list(levels);
}

std::string nodes_json(const Workload& workload, const Mapping& mapping) {
  Parts nodes;
  for (const MappingNode& node : canonical(workload, mapping).nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      Parts tensors;
      for (const TensorId t : workload.tensors.ids()) {
        if (keep->tensors.contains(t)) {
          tensors.push_back(fmt::format("{}", index_of(t)));
        }
      }
      nodes.push_back(
          fmt::format("{{\"level\":{},\"tensors\":{}}}", index_of(keep->level), list(tensors)));
    } else if (const auto* loop = std::get_if<Temporal>(&node)) {
      nodes.push_back(
          fmt::format("{{\"dim\":{},\"extent\":{}}}", index_of(loop->dim), loop->extent));
    } else {
      const auto& spread = std::get<Parallel>(node);
      nodes.push_back(fmt::format("{{\"dim\":{},\"extent\":{},\"fanout\":{},\"axis\":\"{}\"}}",
                                  index_of(spread.dim), spread.extent, index_of(spread.fanout),
                                  to_string(spread.axis)));
    }
  }
  return list(nodes);
}

std::string fanouts_json(const Arch& arch) {
  Parts fanouts;
  for (const Fanout& fanout : arch.fanouts) {
    fanouts.push_back(fmt::format("{{\"name\":{},\"x\":{},\"y\":{}}}", json_string(fanout.name),
                                  fanout.x, fanout.y));
  }
  return list(fanouts);
}

}  // namespace

PageStepper stepper_of(const Problem& problem, const Mapping& mapping, const Cost& cost,
                       const std::string& name) {
  const Workload& workload = problem.workload();
  return {name,
          fmt::format("{} on {}, step by step: where the loops stand, the tile that each level "
                      "holds then (of its first instance), and what each instance of the array "
                      "works on. Arrow keys step, the space bar plays.",
                      workload.name, problem.arch().name),
          draw_nest(problem, mapping, cost.counts),
          fmt::format("{{\"dims\":{},\n\"tensors\":{},\n\"levels\":{},\n\"fanouts\":{},\n\"nodes\":"
                      "{},\n\"compute\":{}}}",
                      dims_json(workload), tensors_json(workload), levels_json(problem, cost),
                      fanouts_json(problem.arch()), nodes_json(workload, mapping),
                      json_string(problem.arch().compute.name))};
}

Page stepper_page(const Problem& problem, const Mapping& mapping, const Cost& cost) {
  const std::string title = fmt::format("{} on {}", problem.workload().name, problem.arch().name);
  const std::string figures = fmt::format("{}; {} and {} cycles", problem.workload().equation(),
                                          si_text(cost.energy.total.count() * 1e-12, "J", 4),
                                          grouped(cost.latency.steady.count()));
  Page page{title, {figures}, {}, fmt::format("Made by mapsim {}.", tool_version())};
  page.sections.push_back(
      {"stepper", "Step by step", {}, {stepper_of(problem, mapping, cost, "steps")}});
  page.sections.push_back(
      {"picture",
       "The machine and the mapping",
       {},
       {PageFigure{"mapping", "What lies along the rows and columns of the array.",
                   show_mapping(problem, mapping, cost), ""}}});
  page.sections.push_back({"actions", "Accesses and energy", {}, {action_table(problem, cost)}});
  return page;
}

}  // namespace mapsim
