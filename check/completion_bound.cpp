// SPDX-License-Identifier: Apache-2.0
#include "check/completion_bound.hpp"

#include <algorithm>

namespace mapsim::check {

std::size_t CompletionBound::width(const Graph& graph, Tracked tracked) {
  std::size_t rows = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      rows += graph.alive(stage, residency) ? 1 : 0;
    }
  }
  return resources(tracked, graph.ports().size()) * (rows + 2 * graph.edges().size());
}

CompletionBound::CompletionBound(const Graph& graph, EdgeCosts& costs, ArrayTimes* array, Stop stop)
    : graph_{graph},
      costs_{costs},
      lattice_{costs.lattice()},
      array_{array},
      from_outside_{lattice_.is_perfect()},
      components_{costs.components()} {
  std::size_t size = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      rows_.push_back(size);
      size += graph.alive(stage, residency) ? lattice_.size() : 0;
    }
  }
  states_ = static_cast<std::int64_t>(size);
  rest_.assign(components_ + (array == nullptr ? 0 : 1), std::vector<double>(size, kInfinity));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t row = from_outside_ ? i : rows_.size() - 1 - i;
    const std::size_t stage = row / graph.residencies();
    if (graph.alive(stage, row % graph.residencies()) && !stop.is_set()) {
      fill(stage, row % graph.residencies());
    }
  }
}

// From outside: a row takes the values of rows that lead to it, and then passes along its own
// loops. From inside: the row is complete; its values pass along its own loops first, and then to
// the rows that lead to it. Energy is the first component, since the array's time only counts where
// a path exists.
void CompletionBound::fill(std::size_t stage, std::size_t residency) {
  begin(stage, residency);
  for (std::size_t k = 0; k < rest_.size(); ++k) {
    if (!from_outside_) {
      loops(k, stage, residency, true);
    }
    loops(k, stage, residency, false);
    arrive(k, stage, residency);
    if (from_outside_) {
      loops(k, stage, residency, true);
    }
  }
}

void CompletionBound::begin(std::size_t stage, std::size_t residency) {
  const auto& starts = graph_.starts();
  const auto& end = graph_.end(residency);
  if (from_outside_) {
    const bool is_start =
        stage == 0 && std::find(starts.begin(), starts.end(), residency) != starts.end();
    for (std::size_t k = 0; k < components_ && is_start; ++k) {
      row_of(k, stage, residency)[lattice_.size() - 1] = 0;
    }
  } else if (stage + 1 == graph_.stages() && end) {
    const std::vector<double> last = costs_.end(*end);
    for (std::size_t k = 0; k < components_; ++k) {
      double& first = row_of(k, stage, residency)[0];
      first = std::min(first, last[k]);
    }
  }
}

// All arcs that lead to the row except loops.
void CompletionBound::arrive(std::size_t component, std::size_t stage, std::size_t residency) {
  for (const std::size_t from : graph_.crossings_to(stage, residency)) {
    if (graph_.alive(stage - 1, from)) {
      cross(component, stage, from, residency);
    }
  }
  for (const Graph::Move& each : graph_.moves_to(stage, residency)) {
    if (graph_.alive(stage, each.from)) {
      move(component, stage, residency, each);
    }
  }
  for (const Graph::SlidingEdge& each : graph_.sliding_edges_to(stage, residency)) {
    if (graph_.alive(stage, each.loop.from)) {
      slide(component, stage, residency, each);
    }
  }
}

// `stays`: loops that keep the residency; otherwise those that change it.
void CompletionBound::loops(std::size_t component, std::size_t stage, std::size_t residency,
                            bool stays) {
  for (const Graph::Loop& each : graph_.loops_to(stage, residency)) {
    if ((each.from == residency) != stays || !graph_.alive(stage, each.from)) {
      continue;
    }
    std::vector<Lattice::Loop> steps;
    for (const Lattice::Loop& step : lattice_.steps(each.dim)) {
      if (graph_.passes(stage, each, lattice_.factor(each.dim, step))) {
        steps.push_back(step);
      }
    }
    double* inner = row_of(component, stage, residency);
    double* outer = row_of(component, stage, each.from);
    take_steps(each.dim, steps, from_outside_ ? outer : inner, from_outside_ ? inner : outer);
  }
}

// Steps ascend, so in one row the source of a step is complete.
void CompletionBound::take_steps(DimId dim, const std::vector<Lattice::Loop>& steps,
                                 const double* source, double* target) const {
  const std::size_t stride = lattice_.stride(dim);
  const std::size_t block = stride * lattice_.count(dim);
  for (std::size_t base = 0; base < lattice_.size(); base += block) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const Lattice::Loop& step = steps[from_outside_ ? steps.size() - 1 - s : s];
      const double* from = source + base + (from_outside_ ? step.from : step.to) * stride;
      double* to = target + base + (from_outside_ ? step.to : step.from) * stride;
      for (std::size_t i = 0; i < stride; ++i) {
        to[i] = std::min(to[i], from[i]);
      }
    }
  }
}

void CompletionBound::cross(std::size_t component, std::size_t stage, std::size_t from,
                            std::size_t residency) {
  double* inner = row_of(component, stage, residency);
  double* outer = row_of(component, stage - 1, from);
  const double* source = from_outside_ ? outer : inner;
  double* target = from_outside_ ? inner : outer;
  std::vector<double> before(source, source + lattice_.size());
  std::vector<double> after;
  const auto& fanout = graph_.fanout_after(stage - 1);
  for (std::size_t i = 0; fanout && i < lattice_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (!lattice_.changes(*fanout, d)) {
      continue;
    }
    after.assign(before.size(), kInfinity);
    const std::size_t stride = lattice_.stride(d);
    lattice_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      for (const std::size_t block : lattice_.behind(*fanout, d, bin)) {
        for (std::size_t tile = first; tile < last; ++tile) {
          const std::size_t behind = tile - (bin - block) * stride;
          double& least = after[from_outside_ ? behind : tile];
          least = std::min(least, before[from_outside_ ? tile : behind]);
        }
      }
    });
    before.swap(after);
  }
  for (std::size_t tile = 0; tile < before.size(); ++tile) {
    target[tile] = std::min(target[tile], before[tile]);
  }
}

// The array's time falls to the least with which a tensor enters, on paths that exist.
void CompletionBound::move(std::size_t component, std::size_t stage, std::size_t residency,
                           const Graph::Move& each) {
  const std::size_t tiles = lattice_.size();
  const std::size_t before = from_outside_ ? each.from : residency;
  const double* source = row_of(component, stage, before);
  double* target = row_of(component, stage, from_outside_ ? residency : each.from);
  const double* costs = costs_.plain(each.edge).data();
  if (component < components_) {
    costs += component * tiles;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      target[tile] = std::min(target[tile], costs[tile] + source[tile]);
    }
    return;
  }
  const double* energy = row_of(0, stage, before);
  const double* times = array_->enters(each.edge) ? array_->cycles(each.edge).data() : nullptr;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    if (energy[tile] + costs[tile] < kInfinity) {
      const double time = times != nullptr ? times[tile] : kInfinity;
      target[tile] = std::min({target[tile], source[tile], time});
    }
  }
}

// From inside: a run stands for all loops with its start. Extents may share a bin, so further loops
// follow where the run ends.
void CompletionBound::slide(std::size_t component, std::size_t stage, std::size_t residency,
                            const Graph::SlidingEdge& slide) {
  double* inner = row_of(component, stage, residency);
  double* outer = row_of(component, stage, slide.loop.from);
  const std::size_t tiles = lattice_.size();
  if (from_outside_ && component < components_) {
    take_runs(component, stage, slide, outer, inner);
  } else if (from_outside_) {
    slide_in(stage, residency, slide);
  } else {
    std::vector<double> below(inner, inner + tiles);
    for (const std::size_t edge : slide.edges) {
      const double* bits = costs_.bits(edge).data();
      const double* plain = costs_.by_run(edge) ? nullptr : &costs_.plain(edge)[component * tiles];
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        const double cost = plain != nullptr ? plain[tile] : 0;
        below[tile] = bits[tile] < kInfinity ? below[tile] + cost : kInfinity;
      }
    }
    take_steps(slide.loop.dim, lattice_.steps(slide.loop.dim), below.data(), below.data());
    take_runs(component, stage, slide, below.data(), outer);
  }
}

// The array's time after a sliding-window edge, from outside.
void CompletionBound::slide_in(std::size_t stage, std::size_t residency,
                               const Graph::SlidingEdge& slide) {
  std::vector<double> energy(lattice_.size(), kInfinity);
  std::vector<double> below(lattice_.size(), kInfinity);
  take_runs(0, stage, slide, row_of(0, stage, slide.loop.from), energy.data());
  take_runs(components_, stage, slide, row_of(components_, stage, slide.loop.from), below.data());
  double* inner = row_of(components_, stage, residency);
  for (std::size_t tile = 0; tile < below.size(); ++tile) {
    for (const std::size_t edge : slide.edges) {
      if (array_->enters(edge)) {
        below[tile] = std::min(below[tile], array_->cycles(edge)[tile]);
      }
    }
    inner[tile] = energy[tile] < kInfinity ? std::min(inner[tile], below[tile]) : inner[tile];
  }
}

void CompletionBound::take_runs(std::size_t component, std::size_t stage,
                                const Graph::SlidingEdge& slide, const double* source,
                                double* target) {
  const DimId dim = slide.loop.dim;
  const std::size_t stride = lattice_.stride(dim);
  const std::size_t count = lattice_.count(dim);
  const std::size_t rests = lattice_.rests(dim);
  const std::vector<Lattice::Loop>& runs = lattice_.runs(dim);
  const bool timed = component == components_;
  std::vector<double> sum(rests);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!graph_.passes(stage, slide.loop, lattice_.factor(dim, runs[r]))) {
      continue;
    }
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const std::size_t edge : slide.edges) {
      if (!costs_.by_run(edge)) {
        continue;
      }
      const std::size_t at = ((timed ? 0 : component) * runs.size() + r) * rests;
      const double* costs = &costs_.sliding(edge, dim)[at];
      for (std::size_t rest = 0; rest < rests; ++rest) {
        sum[rest] += timed && costs[rest] < kInfinity ? 0 : costs[rest];
      }
    }
    for (std::size_t rest = 0; rest < rests; rest += stride) {
      const std::size_t block = rest * count;
      const double* from = source + block + (from_outside_ ? runs[r].from : runs[r].to) * stride;
      double* to = target + block + (from_outside_ ? runs[r].to : runs[r].from) * stride;
      for (std::size_t i = 0; i < stride; ++i) {
        to[i] = std::min(to[i], sum[rest + i] + from[i]);
      }
    }
  }
}

std::vector<Figures> CompletionBound::of_whole_walks(const PathObjective& objective,
                                                     double steps) const {
  std::vector<Figures> figures;
  const auto add = [&](const Node& node, std::vector<double> components) {
    for (std::size_t k = 0; k < components_; ++k) {
      components[k] += at(node, k);
    }
    const double compute = objective.times_array() ? array_at(node) : objective.cycles_of(steps);
    figures.push_back(objective.of(components.data(), compute, 0));
  };
  const std::size_t last = graph_.stages() - 1;
  for (std::size_t residency = 0; from_outside_ && residency < graph_.residencies(); ++residency) {
    if (graph_.alive(last, residency) && graph_.end(residency)) {
      add({last, residency, 0}, costs_.end(*graph_.end(residency)));
    }
  }
  for (const std::size_t start : graph_.starts()) {
    if (!from_outside_ && graph_.alive(0, start)) {
      add({0, start, lattice_.size() - 1}, std::vector<double>(components_, 0.0));
    }
  }
  return figures;
}

}  // namespace mapsim::check
