// SPDX-License-Identifier: Apache-2.0
#include "check/potential.hpp"

#include <algorithm>
#include <variant>

namespace mapsim::check {

Price::Price(const Problem& problem, const Graph& graph, const Goal& goal, double steps)
    : graph_{graph},
      goal_{goal},
      compute_cycles_{steps * static_cast<double>(problem.arch().compute.issue_interval)},
      leakage_per_cycle_{problem.leakage(Cycles{1}).count()},
      tracked_{goal.needs_time() || leakage_per_cycle_ > 0, goal.needs_time() && goal.ramped},
      times_array_{tracked_.ports &&
                   std::holds_alternative<SystolicTiming>(problem.arch().compute.timing)} {}

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

Potential::Potential(const Graph& graph, const Case& at, const Tiles& tiles, Tolls& tolls,
                     ArrayTimes* array)
    : graph_{graph}, at_{at}, tiles_{tiles} {
  std::size_t size = 0;
  for (std::size_t phase = 0; phase < graph.phases(); ++phase) {
    for (std::size_t spot = 0; spot < graph.spots(); ++spot) {
      rows_.push_back(size);
      size += graph.alive(phase, spot) ? tiles.size() : 0;
    }
  }
  states_ = static_cast<std::int64_t>(size);
  for (std::size_t k = 0; k < tolls.components(); ++k) {
    least_.emplace_back(size, kInfinity);
    for (std::size_t phase = 0; phase < graph.phases(); ++phase) {
      for (std::size_t spot = 0; spot < graph.spots(); ++spot) {
        if (graph.alive(phase, spot)) {
          fill(phase, spot, tolls, k);
        }
      }
    }
  }
  sooner_.assign(array == nullptr ? 0 : size, kInfinity);
  for (std::size_t phase = 0; array != nullptr && phase < graph.phases(); ++phase) {
    for (std::size_t spot = 0; spot < graph.spots(); ++spot) {
      if (graph.alive(phase, spot)) {
        fill_array(phase, spot, tolls, *array);
      }
    }
  }
}

bool Potential::may_cross(std::size_t phase, std::size_t tile) const {
  const auto& fanout = graph_.event_after(phase);
  for (std::size_t d = 0; fanout && d < tiles_.dims(); ++d) {
    const auto dim = static_cast<DimId>(d);
    const std::int64_t block = at_.blocks[*fanout][dim];
    if (block != 0 && tiles_.extent(dim, tile) != block) {
      return false;
    }
  }
  return true;
}

void Potential::fill(std::size_t phase, std::size_t spot, Tolls& tolls, std::size_t component) {
  double* row = &least_[component][rows_[phase * graph_.spots() + spot]];
  const auto& starts = graph_.starts();
  if (phase == 0 && std::find(starts.begin(), starts.end(), spot) != starts.end()) {
    row[tiles_.size() - 1] = 0;
  }
  for (const std::size_t from : graph_.crossings_to(phase, spot)) {
    if (graph_.alive(phase - 1, from)) {
      const double* before = row_of(component, phase - 1, from);
      for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        if (before[tile] < row[tile] && may_cross(phase - 1, tile)) {
          row[tile] = before[tile];
        }
      }
    }
  }
  for (const Graph::Move& move : graph_.moves_to(phase, spot)) {
    if (graph_.alive(phase, move.from)) {
      const double* from = row_of(component, phase, move.from);
      const double* toll = &tolls.plain(move.placing)[component * tiles_.size()];
      for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        row[tile] = std::min(row[tile], from[tile] + toll[tile]);
      }
    }
  }
  for (const Graph::Slide& slide : graph_.slides_to(phase, spot)) {
    if (graph_.alive(phase, slide.loop.from)) {
      arrive_by_slide(phase, slide, tolls, component, row);
    }
  }
  // Loops that stay here come last: what arrives by the others goes on by these.
  for (const bool stays : {false, true}) {
    for (const Graph::Loop& loop : graph_.loops_to(phase, spot)) {
      if ((loop.from == spot) == stays && graph_.alive(phase, loop.from)) {
        arrive_by_loop(phase, loop, row_of(component, phase, loop.from), row);
      }
    }
  }
}

void Potential::arrive_by_slide(std::size_t phase, const Graph::Slide& slide, Tolls& tolls,
                                std::size_t component, double* row) const {
  const DimId dim = slide.loop.dim;
  const double* from = row_of(component, phase, slide.loop.from);
  const std::size_t stride = tiles_.stride(dim);
  const std::size_t digits = tiles_.divisors(dim).size();
  const std::size_t rests = tiles_.size() / digits;
  const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
  std::vector<double> sum(rests);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!graph_.passes(phase, slide.loop, tiles_.factor(dim, runs[r]))) {
      continue;
    }
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const std::size_t placing : slide.placings) {
      const double* toll = &tolls.sliding(placing, dim)[(component * runs.size() + r) * rests];
      for (std::size_t rest = 0; rest < rests; ++rest) {
        sum[rest] += toll[rest];
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

void Potential::arrive_by_loop(std::size_t phase, const Graph::Loop& loop, const double* from,
                               double* row) const {
  const std::size_t stride = tiles_.stride(loop.dim);
  const std::size_t block = stride * tiles_.divisors(loop.dim).size();
  std::vector<Tiles::Run> runs;
  for (const Tiles::Run& run : tiles_.runs(loop.dim)) {
    if (run.prime && graph_.passes(phase, loop, tiles_.factor(loop.dim, run))) {
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
void Potential::fill_array(std::size_t phase, std::size_t spot, Tolls& tolls, ArrayTimes& array) {
  const auto row_at = [this](std::size_t p, std::size_t s) {
    return &sooner_[rows_[p * graph_.spots() + s]];
  };
  double* row = row_at(phase, spot);
  for (const std::size_t from : graph_.crossings_to(phase, spot)) {
    for (std::size_t tile = 0; graph_.alive(phase - 1, from) && tile < tiles_.size(); ++tile) {
      const double before = row_at(phase - 1, from)[tile];
      row[tile] = may_cross(phase - 1, tile) ? std::min(row[tile], before) : row[tile];
    }
  }
  for (const Graph::Move& move : graph_.moves_to(phase, spot)) {
    if (!graph_.alive(phase, move.from)) {
      continue;
    }
    const double* energy = row_of(0, phase, move.from);
    const double* toll = tolls.plain(move.placing).data();
    const double* times = array.enters(move.placing) ? array.cycles(move.placing).data() : nullptr;
    const double* from = row_at(phase, move.from);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      if (energy[tile] + toll[tile] < kInfinity) {
        row[tile] = std::min({row[tile], from[tile], times != nullptr ? times[tile] : kInfinity});
      }
    }
  }
  for (const Graph::Slide& slide : graph_.slides_to(phase, spot)) {
    if (graph_.alive(phase, slide.loop.from)) {
      enter_by_slide(phase, slide, tolls, array, row);
    }
  }
  for (const bool stays : {false, true}) {
    for (const Graph::Loop& loop : graph_.loops_to(phase, spot)) {
      if ((loop.from == spot) == stays && graph_.alive(phase, loop.from)) {
        arrive_by_loop(phase, loop, row_at(phase, loop.from), row);
      }
    }
  }
}

void Potential::enter_by_slide(std::size_t phase, const Graph::Slide& slide, Tolls& tolls,
                               ArrayTimes& array, double* row) const {
  const DimId dim = slide.loop.dim;
  const std::size_t from_row = rows_[phase * graph_.spots() + slide.loop.from];
  const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
  const std::size_t rests = tiles_.size() / tiles_.divisors(dim).size();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!graph_.passes(phase, slide.loop, tiles_.factor(dim, runs[r]))) {
      continue;
    }
    for (std::size_t rest = 0; rest < rests; ++rest) {
      const std::size_t outer = from_row + tiles_.from_rest(dim, rest, runs[r].from);
      const std::size_t inner = tiles_.from_rest(dim, rest, runs[r].to);
      double energy = least_[0][outer];
      double sooner = sooner_[outer];
      for (const std::size_t placing : slide.placings) {
        energy += tolls.sliding(placing, dim)[r * rests + rest];
        sooner = array.enters(placing) ? std::min(sooner, array.cycles(placing)[inner]) : sooner;
      }
      row[inner] = energy < kInfinity ? std::min(row[inner], sooner) : row[inner];
    }
  }
}

bool Potential::is_covered(Tolls& tolls, const Price& price, const Frontier& frontier) const {
  const std::size_t last = graph_.phases() - 1;
  for (std::size_t spot = 0; spot < graph_.spots(); ++spot) {
    if (graph_.alive(last, spot) && graph_.end(spot)) {
      std::vector<double> sum = tolls.end(*graph_.end(spot));
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += at({last, spot, 0}, k);
      }
      if (!frontier.covers(price.of(sum.data(), 0, array_at({last, spot, 0})))) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace mapsim::check
