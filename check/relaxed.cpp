// SPDX-License-Identifier: Apache-2.0
#include "check/relaxed.hpp"

#include <algorithm>

namespace mapsim::check {

std::size_t Relaxed::width(const Graph& graph, Tracked tracked) {
  std::size_t rows = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      rows += graph.alive(stage, residency) ? 1 : 0;
    }
  }
  return resources(tracked, graph.ports().size()) * (rows + 2 * graph.edges().size());
}

Relaxed::Relaxed(const Graph& graph, const ExtentBins& bins, Tracked tracked, Stop stop)
    : graph_{graph},
      bins_{bins},
      shares_{graph, bins, tracked},
      bits_(graph.edges().size()),
      plain_(graph.edges().size()),
      sliding_(graph.edges().size(), PerDim<std::vector<double>>(bins.dims())) {
  std::size_t size = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      rows_.push_back(size);
      size += graph.alive(stage, residency) ? bins.size() : 0;
    }
  }
  states_ = static_cast<std::int64_t>(size);
  for (std::size_t p = 0; p < bits_.size(); ++p) {
    if (graph.edges()[p].inner != BoundaryEdge::kMac) {
      bits_[p] = shares_.bits(p);
    }
  }
  for (std::size_t k = 0; k < shares_.components(); ++k) {
    to_go_.emplace_back(size, kInfinity);
  }
  for (std::size_t stage = graph.stages(); stage-- > 0;) {
    for (std::size_t residency = graph.residencies(); residency-- > 0;) {
      if (graph.alive(stage, residency) && !stop.is_set()) {
        pass_on(stage, residency);
      }
    }
  }
  plain_.clear();
  sliding_.clear();
}

const std::vector<double>& Relaxed::plain(std::size_t edge) {
  if (plain_[edge].empty()) {
    plain_[edge] = shares_.plain(edge, bits_[edge]);
  }
  return plain_[edge];
}

const std::vector<double>& Relaxed::sliding(std::size_t edge, DimId dim) {
  std::vector<double>& costs = sliding_[edge][dim];
  if (costs.empty()) {
    costs = shares_.sliding(edge, dim);
  }
  return costs;
}

// All that leads away from the node is known: it goes to where walks come from.
void Relaxed::pass_on(std::size_t stage, std::size_t residency) {
  const std::size_t tiles = bins_.size();
  const auto& end = graph_.end(residency);
  const std::vector<double> last =
      stage + 1 == graph_.stages() && end ? shares_.end(*end) : std::vector<double>{};
  for (std::size_t k = 0; k < shares_.components(); ++k) {
    double* row = row_of(k, stage, residency);
    row[0] = last.empty() ? row[0] : std::min(row[0], last[k]);
    for (const Graph::Loop& each : graph_.loops_to(stage, residency)) {
      if (each.from == residency) {
        loop(each.dim, row);
      }
    }
    for (const Graph::Loop& each : graph_.loops_to(stage, residency)) {
      if (each.from != residency && graph_.alive(stage, each.from)) {
        read_on(k, stage, each);
      }
    }
    for (const std::size_t from : graph_.crossings_to(stage, residency)) {
      if (graph_.alive(stage - 1, from)) {
        cross(k, stage, from, residency);
      }
    }
    for (const Graph::Move& move : graph_.moves_to(stage, residency)) {
      if (!graph_.alive(stage, move.from)) {
        continue;
      }
      double* outer = row_of(k, stage, move.from);
      const std::vector<double>& costs = plain(move.edge);
      const std::vector<double>& bits = bits_[move.edge];
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        const bool fits = bits[tile] < kInfinity && costs[tile] < kInfinity;
        outer[tile] =
            fits ? std::min(outer[tile], costs[k * tiles + tile] + row[tile]) : outer[tile];
      }
    }
    for (const Graph::Slide& each : graph_.slides_to(stage, residency)) {
      if (graph_.alive(stage, each.loop.from)) {
        slide(k, stage, residency, each);
      }
    }
  }
}

// A loop leads to any smaller extent.
void Relaxed::loop(DimId dim, double* row) const {
  const std::size_t stride = bins_.stride(dim);
  bins_.sweep(dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
    for (std::size_t tile = first; bin > 0 && tile < last; ++tile) {
      row[tile] = std::min(row[tile], row[tile - stride]);
    }
  });
}

// The region reads on: before the loop it had not come so far. ExtentBins may be shared, and a loop
// that does nothing makes no walk dearer.
void Relaxed::read_on(std::size_t component, std::size_t stage, const Graph::Loop& each) {
  const double* inner = row_of(component, stage, each.to);
  std::vector<double> before(inner, inner + bins_.size());
  loop(each.dim, before.data());
  double* outer = row_of(component, stage, each.from);
  for (std::size_t tile = 0; tile < before.size(); ++tile) {
    outer[tile] = std::min(outer[tile], before[tile]);
  }
}

void Relaxed::cross(std::size_t component, std::size_t stage, std::size_t from,
                    std::size_t residency) {
  const double* inner = row_of(component, stage, residency);
  std::vector<double> behind(inner, inner + bins_.size());
  std::vector<double> before;
  if (const auto& fanout = graph_.event_after(stage - 1)) {
    for (std::size_t i = 0; i < bins_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (bins_.spreads()[*fanout].factor(d) == 1) {
        continue;
      }
      before.assign(behind.size(), kInfinity);
      const std::size_t stride = bins_.stride(d);
      bins_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
        for (const std::size_t block : bins_.behind(*fanout, d, bin)) {
          for (std::size_t tile = first; tile < last; ++tile) {
            before[tile] = std::min(before[tile], behind[tile - (bin - block) * stride]);
          }
        }
      });
      behind.swap(before);
    }
  }
  double* outer = row_of(component, stage - 1, from);
  for (std::size_t tile = 0; tile < behind.size(); ++tile) {
    outer[tile] = std::min(outer[tile], behind[tile]);
  }
}

// What slides costs as its run starts, the rest as it ends; extents that share a bin have loops
// between them, too.
void Relaxed::slide(std::size_t component, std::size_t stage, std::size_t residency,
                    const Graph::Slide& slide) {
  const std::size_t tiles = bins_.size();
  const DimId dim = slide.loop.dim;
  const double* inner = row_of(component, stage, residency);
  std::vector<double> least(inner, inner + tiles);
  std::vector<double> begins(tiles, 0.0);
  for (const std::size_t edge : slide.edges) {
    const bool slides = shares_.boundary(edge).slides;
    const std::vector<double>& costs = slides ? sliding(edge, dim) : plain(edge);
    const std::vector<double>& bits = bits_[edge];
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double cost = costs[tile] < kInfinity ? costs[component * tiles + tile] : kInfinity;
      least[tile] = bits[tile] < kInfinity ? least[tile] + (slides ? 0.0 : cost) : kInfinity;
      begins[tile] += slides ? cost : 0.0;
    }
  }
  loop(dim, least.data());
  double* outer = row_of(component, stage, slide.loop.from);
  const std::size_t stride = bins_.stride(dim);
  bins_.sweep(dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
    const std::size_t step = bins_.low(dim, bin) < bins_.high(dim, bin) ? 0 : stride;
    for (std::size_t tile = first; bin > 0 && tile < last; ++tile) {
      outer[tile] = std::min(outer[tile], begins[tile] + least[tile - step]);
    }
  });
}

Figures Relaxed::least(const Price& price) const {
  Figures least{kInfinity, kInfinity};
  std::vector<double> components(shares_.components());
  for (const std::size_t start : graph_.starts()) {
    if (!graph_.alive(0, start)) {
      continue;
    }
    for (std::size_t k = 0; k < components.size(); ++k) {
      components[k] = at({0, start, bins_.size() - 1}, k);
    }
    const Figures here = price.of(components.data(), 0, 0);
    least = {std::min(least.first, here.first), std::min(least.second, here.second)};
  }
  return least;
}

}  // namespace mapsim::check
