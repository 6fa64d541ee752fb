// SPDX-License-Identifier: Apache-2.0
#include "check/potential.hpp"

#include <algorithm>

namespace mapsim::check {

Price::Price(const Problem& problem, const Graph& graph, const Goal& goal, double steps)
    : graph_{graph},
      goal_{goal},
      compute_cycles_{steps * static_cast<double>(problem.arch().compute.issue_interval)},
      leakage_per_cycle_{problem.leakage(Cycles{1}).count()},
      tracked_{goal.needs_time() || leakage_per_cycle_ > 0, goal.needs_time() && goal.ramped} {}

// As docs/model.md has it: what a double-buffered level moves hides behind the compute units, the
// busiest port of each other level shows, and so do first fills and last drains.
double Price::ramped_cycles(const double* components) const {
  double hidden = compute_cycles_;
  PerLevel<double> shown(graph_.problem().arch().levels.size(), 0.0);
  for (std::size_t q = 0; q < graph_.ports().size(); ++q) {
    const Port& port = graph_.ports()[q];
    const bool hides = graph_.problem().arch().levels[port.level].hides();
    double& time = hides ? hidden : shown[port.level];
    time = std::max(time, std::ceil(components[1 + q] / port.bits_per_cycle));
  }
  double cycles = hidden + components[1 + graph_.ports().size()];
  for (const double time : shown) {
    cycles += time;
  }
  return cycles;
}

double Price::of(const double* components) const {
  if (!(components[0] < kInfinity)) {
    return kInfinity;
  }
  double cycles = compute_cycles_;
  for (std::size_t q = 0; tracked_.ports && q < graph_.ports().size(); ++q) {
    cycles = std::max(cycles, std::ceil(components[1 + q] / graph_.ports()[q].bits_per_cycle));
  }
  const double energy = components[0] + leakage_per_cycle_ * cycles;
  cycles = tracked_.edges ? ramped_cycles(components) : cycles;
  return goal_.is_within_limits(energy, cycles) ? goal_.value(energy, cycles) : kInfinity;
}

Potential::Potential(const Graph& graph, const Case& at, const Tiles& tiles, Tolls& tolls)
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
  std::vector<double>& least = least_[component];
  double* row = &least[rows_[phase * graph_.spots() + spot]];
  const auto row_of = [&](std::size_t at_phase, std::size_t at_spot) {
    return &least[rows_[at_phase * graph_.spots() + at_spot]];
  };
  const auto& starts = graph_.starts();
  if (phase == 0 && std::find(starts.begin(), starts.end(), spot) != starts.end()) {
    row[tiles_.size() - 1] = 0;
  }
  if (phase > 0 && graph_.alive(phase - 1, spot)) {
    const double* before = row_of(phase - 1, spot);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      row[tile] = before[tile] < kInfinity && may_cross(phase - 1, tile) ? before[tile] : kInfinity;
    }
  }
  for (const Graph::Move& move : graph_.moves_to(phase, spot)) {
    if (graph_.alive(phase, move.from)) {
      const double* from = row_of(phase, move.from);
      const double* toll = &tolls.plain(move.placing)[component * tiles_.size()];
      for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        row[tile] = std::min(row[tile], from[tile] + toll[tile]);
      }
    }
  }
  for (const Graph::Slide& slide : graph_.slides_to(phase, spot)) {
    if (graph_.alive(phase, slide.from)) {
      arrive_by_slide(slide, row_of(phase, slide.from), tolls, component, row);
    }
  }
  const DimSet frozen = graph_.frozen(phase, spot);
  for (std::size_t d = 0; d < tiles_.dims(); ++d) {
    if (!frozen.contains(static_cast<DimId>(d))) {
      arrive_by_loop(static_cast<DimId>(d), row);
    }
  }
}

void Potential::arrive_by_slide(const Graph::Slide& slide, const double* from, Tolls& tolls,
                                std::size_t component, double* row) const {
  const std::size_t stride = tiles_.stride(slide.dim);
  const std::size_t digits = tiles_.divisors(slide.dim).size();
  const std::size_t rests = tiles_.size() / digits;
  const std::vector<Tiles::Run>& runs = tiles_.runs(slide.dim);
  std::vector<double> sum(rests);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const std::size_t placing : slide.placings) {
      const double* toll =
          &tolls.sliding(placing, slide.dim)[(component * runs.size() + r) * rests];
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

void Potential::arrive_by_loop(DimId dim, double* row) const {
  const std::size_t stride = tiles_.stride(dim);
  const std::size_t block = stride * tiles_.divisors(dim).size();
  for (std::size_t base = 0; base < tiles_.size(); base += block) {
    for (const Tiles::Run& run : tiles_.runs(dim)) {
      if (run.prime) {
        const double* outer = row + base + run.from * stride;
        double* inner = row + base + run.to * stride;
        for (std::size_t i = 0; i < stride; ++i) {
          inner[i] = std::min(inner[i], outer[i]);
        }
      }
    }
  }
}

double Potential::bound(Tolls& tolls, const Price& price) const {
  double best = kInfinity;
  const std::size_t last = graph_.phases() - 1;
  for (std::size_t spot = 0; spot < graph_.spots(); ++spot) {
    if (graph_.alive(last, spot) && graph_.end(spot)) {
      std::vector<double> sum = tolls.end(*graph_.end(spot));
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += at({last, spot, 0}, k);
      }
      best = std::min(best, price.of(sum.data()));
    }
  }
  return best;
}

}  // namespace mapsim::check
