// SPDX-License-Identifier: Apache-2.0
#include "check/potential.hpp"

#include <algorithm>

#include "costmodel/timing/model.hpp"

namespace mapsim::check {

Price::Price(const Problem& problem, const Graph& graph, const Goal& goal, double steps)
    : graph_{graph},
      goal_{goal},
      compute_cycles_{
          timing_model(problem.arch())
              .cycles_of_steps(problem,
                               steps * static_cast<double>(problem.arch().compute.issue_interval))},
      leakage_per_cycle_{problem.leakage(Cycles{1}).count()},
      tracked_{goal.needs_time() || leakage_per_cycle_ > 0, goal.needs_time() && goal.ramped},
      times_array_{tracked_.ports && timing_model(problem.arch()).array != nullptr} {}

// As docs/model.md has it: the compute units with first fills and last drains, and beside them what
// hides; then the busiest port of each storey that shows.
double Price::ramped_cycles(const double* components, double compute) const {
  double hidden = compute + components[1 + graph_.ports().size()];
  PerLevel<double> shown(graph_.problem().arch().levels.size(), 0.0);
  for (std::size_t q = 0; q < graph_.ports().size(); ++q) {
    const Port& port = graph_.ports()[q];
    const Overlap& overlap = graph_.problem().overlap(port.level);
    double& time = overlap.hides(port.kind) ? hidden : shown[static_cast<LevelId>(overlap.storey)];
    time = std::max(time, std::ceil(components[1 + q] / port.bits_per_cycle));
  }
  double cycles = hidden;
  for (const double time : shown) {
    cycles += time;
  }
  return cycles;
}

Figures Price::of(const double* components, double bits, double array) const {
  const double compute = times_array_ ? array : compute_cycles_;
  if (!(components[0] < kInfinity) || !(compute < kInfinity)) {
    return {kInfinity, kInfinity};
  }
  double cycles = compute;
  for (std::size_t q = 0; tracked_.ports && q < graph_.ports().size(); ++q) {
    cycles = std::max(cycles, std::ceil(components[1 + q] / graph_.ports()[q].bits_per_cycle));
  }
  const double energy = components[0] + leakage_per_cycle_ * cycles;
  cycles = tracked_.edges ? ramped_cycles(components, compute) : cycles;
  return goal_.figures(energy, cycles, bits);
}

CompletionBound::CompletionBound(const Graph& graph, const Case& at, const Tiles& tiles,
                                 EdgeCosts& edge_costs, ArrayTimes* array)
    : graph_{graph}, at_{at}, tiles_{tiles} {
  std::size_t size = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      rows_.push_back(size);
      size += graph.alive(stage, residency) ? tiles.size() : 0;
    }
  }
  states_ = static_cast<std::int64_t>(size);
  for (std::size_t k = 0; k < edge_costs.components(); ++k) {
    least_.emplace_back(size, kInfinity);
    for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
      for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
        if (graph.alive(stage, residency)) {
          fill(stage, residency, edge_costs, k);
        }
      }
    }
  }
  sooner_.assign(array == nullptr ? 0 : size, kInfinity);
  for (std::size_t stage = 0; array != nullptr && stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      if (graph.alive(stage, residency)) {
        fill_array(stage, residency, edge_costs, *array);
      }
    }
  }
}

bool CompletionBound::may_cross(std::size_t stage, std::size_t tile) const {
  const auto& fanout = graph_.event_after(stage);
  for (std::size_t d = 0; fanout && d < tiles_.dims(); ++d) {
    const auto dim = static_cast<DimId>(d);
    const std::int64_t block = at_.blocks[*fanout][dim];
    if (block != 0 && tiles_.extent(dim, tile) != block) {
      return false;
    }
  }
  return true;
}

void CompletionBound::fill(std::size_t stage, std::size_t residency, EdgeCosts& edge_costs,
                           std::size_t component) {
  double* row = &least_[component][rows_[stage * graph_.residencies() + residency]];
  const auto& starts = graph_.starts();
  if (stage == 0 && std::find(starts.begin(), starts.end(), residency) != starts.end()) {
    row[tiles_.size() - 1] = 0;
  }
  for (const std::size_t from : graph_.crossings_to(stage, residency)) {
    if (graph_.alive(stage - 1, from)) {
      const double* before = row_of(component, stage - 1, from);
      for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        if (before[tile] < row[tile] && may_cross(stage - 1, tile)) {
          row[tile] = before[tile];
        }
      }
    }
  }
  for (const Graph::Move& move : graph_.moves_to(stage, residency)) {
    if (graph_.alive(stage, move.from)) {
      const double* from = row_of(component, stage, move.from);
      const double* edge_cost = &edge_costs.plain(move.edge)[component * tiles_.size()];
      for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        row[tile] = std::min(row[tile], from[tile] + edge_cost[tile]);
      }
    }
  }
  for (const Graph::Slide& slide : graph_.slides_to(stage, residency)) {
    if (graph_.alive(stage, slide.loop.from)) {
      arrive_by_slide(stage, slide, edge_costs, component, row);
    }
  }
  // Loops that stay here come last: what arrives by the others goes on by these.
  for (const bool stays : {false, true}) {
    for (const Graph::Loop& loop : graph_.loops_to(stage, residency)) {
      if ((loop.from == residency) == stays && graph_.alive(stage, loop.from)) {
        arrive_by_loop(stage, loop, row_of(component, stage, loop.from), row);
      }
    }
  }
}

void CompletionBound::arrive_by_slide(std::size_t stage, const Graph::Slide& slide,
                                      EdgeCosts& edge_costs, std::size_t component,
                                      double* row) const {
  const DimId dim = slide.loop.dim;
  const double* from = row_of(component, stage, slide.loop.from);
  const std::size_t stride = tiles_.stride(dim);
  const std::size_t digits = tiles_.divisors(dim).size();
  const std::size_t rests = tiles_.size() / digits;
  const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
  std::vector<double> sum(rests);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!graph_.passes(stage, slide.loop, tiles_.factor(dim, runs[r]))) {
      continue;
    }
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const std::size_t edge : slide.edges) {
      const double* edge_cost =
          &edge_costs.sliding(edge, dim)[(component * runs.size() + r) * rests];
      for (std::size_t rest = 0; rest < rests; ++rest) {
        sum[rest] += edge_cost[rest];
      }
    }
    for (std::size_t rest = 0; rest < rests; rest += stride) {
      const std::size_t block = rest * digits;
      const double* outer = from + block + runs[r].from * stride;
      double* inner = row + block + runs[r].to * stride;
      for (std::size_t i = 0; i < stride; ++i) {
        inner[i] = std::min(inner[i], outer[i] + sum[rest + i]);
      }
    }
  }
}

void CompletionBound::arrive_by_loop(std::size_t stage, const Graph::Loop& loop, const double* from,
                                     double* row) const {
  const std::size_t stride = tiles_.stride(loop.dim);
  const std::size_t block = stride * tiles_.divisors(loop.dim).size();
  std::vector<Tiles::Run> runs;
  for (const Tiles::Run& run : tiles_.runs(loop.dim)) {
    if (run.prime && graph_.passes(stage, loop, tiles_.factor(loop.dim, run))) {
      runs.push_back(run);
    }
  }
  for (std::size_t base = 0; base < tiles_.size(); base += block) {
    for (const Tiles::Run& run : runs) {
      const double* outer = from + base + run.from * stride;
      double* inner = row + base + run.to * stride;
      for (std::size_t i = 0; i < stride; ++i) {
        inner[i] = std::min(inner[i], outer[i]);
      }
    }
  }
}

// As fill(), but what counts is the least of the times that have been entered with. Of walks that
// there are: where the energy is finite.
void CompletionBound::fill_array(std::size_t stage, std::size_t residency, EdgeCosts& edge_costs,
                                 ArrayTimes& array) {
  const auto row_at = [this](std::size_t p, std::size_t s) {
    return &sooner_[rows_[p * graph_.residencies() + s]];
  };
  double* row = row_at(stage, residency);
  for (const std::size_t from : graph_.crossings_to(stage, residency)) {
    for (std::size_t tile = 0; graph_.alive(stage - 1, from) && tile < tiles_.size(); ++tile) {
      const double before = row_at(stage - 1, from)[tile];
      row[tile] = may_cross(stage - 1, tile) ? std::min(row[tile], before) : row[tile];
    }
  }
  for (const Graph::Move& move : graph_.moves_to(stage, residency)) {
    if (!graph_.alive(stage, move.from)) {
      continue;
    }
    const double* energy = row_of(0, stage, move.from);
    const double* edge_cost = edge_costs.plain(move.edge).data();
    const double* times = array.enters(move.edge) ? array.cycles(move.edge).data() : nullptr;
    const double* from = row_at(stage, move.from);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      if (energy[tile] + edge_cost[tile] < kInfinity) {
        row[tile] = std::min({row[tile], from[tile], times != nullptr ? times[tile] : kInfinity});
      }
    }
  }
  for (const Graph::Slide& slide : graph_.slides_to(stage, residency)) {
    if (graph_.alive(stage, slide.loop.from)) {
      enter_by_slide(stage, slide, edge_costs, array, row);
    }
  }
  for (const bool stays : {false, true}) {
    for (const Graph::Loop& loop : graph_.loops_to(stage, residency)) {
      if ((loop.from == residency) == stays && graph_.alive(stage, loop.from)) {
        arrive_by_loop(stage, loop, row_at(stage, loop.from), row);
      }
    }
  }
}

void CompletionBound::enter_by_slide(std::size_t stage, const Graph::Slide& slide,
                                     EdgeCosts& edge_costs, ArrayTimes& array, double* row) const {
  const DimId dim = slide.loop.dim;
  const std::size_t from_row = rows_[stage * graph_.residencies() + slide.loop.from];
  const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
  const std::size_t rests = tiles_.size() / tiles_.divisors(dim).size();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!graph_.passes(stage, slide.loop, tiles_.factor(dim, runs[r]))) {
      continue;
    }
    for (std::size_t rest = 0; rest < rests; ++rest) {
      const std::size_t outer = from_row + tiles_.from_rest(dim, rest, runs[r].from);
      const std::size_t inner = tiles_.from_rest(dim, rest, runs[r].to);
      double energy = least_[0][outer];
      double sooner = sooner_[outer];
      for (const std::size_t edge : slide.edges) {
        energy += edge_costs.sliding(edge, dim)[r * rests + rest];
        sooner = array.enters(edge) ? std::min(sooner, array.cycles(edge)[inner]) : sooner;
      }
      row[inner] = energy < kInfinity ? std::min(row[inner], sooner) : row[inner];
    }
  }
}

bool CompletionBound::is_covered(EdgeCosts& edge_costs, const Price& price,
                                 const Frontier& frontier) const {
  const std::size_t last = graph_.stages() - 1;
  for (std::size_t residency = 0; residency < graph_.residencies(); ++residency) {
    if (graph_.alive(last, residency) && graph_.end(residency)) {
      std::vector<double> sum = edge_costs.end(*graph_.end(residency));
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += at({last, residency, 0}, k);
      }
      if (!frontier.covers(price.of(sum.data(), 0, array_at({last, residency, 0})))) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace mapsim::check
