// SPDX-License-Identifier: Apache-2.0
#include "check/relaxed.hpp"

#include <algorithm>

namespace mapsim::check {

std::size_t Relaxed::width(const Graph& graph, Tracked tracked) {
  std::size_t rows = 0;
  for (std::size_t phase = 0; phase < graph.phases(); ++phase) {
    for (std::size_t spot = 0; spot < graph.spots(); ++spot) {
      rows += graph.alive(phase, spot) ? 1 : 0;
    }
  }
  return resources(tracked, graph.ports().size()) * (rows + 2 * graph.placings().size());
}

Relaxed::Relaxed(const Graph& graph, const Rungs& rungs, Tracked tracked, Stop stop)
    : graph_{graph},
      rungs_{rungs},
      shares_{graph, rungs, tracked},
      bits_(graph.placings().size()),
      plain_(graph.placings().size()),
      sliding_(graph.placings().size(), PerDim<std::vector<double>>(rungs.dims())) {
  std::size_t size = 0;
  for (std::size_t phase = 0; phase < graph.phases(); ++phase) {
    for (std::size_t spot = 0; spot < graph.spots(); ++spot) {
      rows_.push_back(size);
      size += graph.alive(phase, spot) ? rungs.size() : 0;
    }
  }
  states_ = static_cast<std::int64_t>(size);
  for (std::size_t p = 0; p < bits_.size(); ++p) {
    if (graph.placings()[p].inner != Placing::kMac) {
      bits_[p] = shares_.bits(p);
    }
  }
  for (std::size_t k = 0; k < shares_.components(); ++k) {
    to_go_.emplace_back(size, kInfinity);
  }
  for (std::size_t phase = graph.phases(); phase-- > 0;) {
    for (std::size_t spot = graph.spots(); spot-- > 0;) {
      if (graph.alive(phase, spot) && !stop.is_set()) {
        pass_on(phase, spot);
      }
    }
  }
  plain_.clear();
  sliding_.clear();
}

const std::vector<double>& Relaxed::plain(std::size_t placing) {
  if (plain_[placing].empty()) {
    plain_[placing] = shares_.plain(placing, bits_[placing]);
  }
  return plain_[placing];
}

const std::vector<double>& Relaxed::sliding(std::size_t placing, DimId dim) {
  std::vector<double>& costs = sliding_[placing][dim];
  if (costs.empty()) {
    costs = shares_.sliding(placing, dim);
  }
  return costs;
}

// All that leads away from the node is known: it goes to where walks come from.
void Relaxed::pass_on(std::size_t phase, std::size_t spot) {
  const std::size_t tiles = rungs_.size();
  const auto& end = graph_.end(spot);
  const std::vector<double> last =
      phase + 1 == graph_.phases() && end ? shares_.end(*end) : std::vector<double>{};
  for (std::size_t k = 0; k < shares_.components(); ++k) {
    double* row = row_of(k, phase, spot);
    row[0] = last.empty() ? row[0] : std::min(row[0], last[k]);
    for (const Graph::Loop& each : graph_.loops_to(phase, spot)) {
      if (each.from == spot) {
        loop(each.dim, row);
      }
    }
    for (const Graph::Loop& each : graph_.loops_to(phase, spot)) {
      if (each.from != spot && graph_.alive(phase, each.from)) {
        read_on(k, phase, each);
      }
    }
    for (const std::size_t from : graph_.crossings_to(phase, spot)) {
      if (graph_.alive(phase - 1, from)) {
        cross(k, phase, from, spot);
      }
    }
    for (const Graph::Move& move : graph_.moves_to(phase, spot)) {
      if (!graph_.alive(phase, move.from)) {
        continue;
      }
      double* outer = row_of(k, phase, move.from);
      const std::vector<double>& costs = plain(move.placing);
      const std::vector<double>& bits = bits_[move.placing];
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        const bool fits = bits[tile] < kInfinity && costs[tile] < kInfinity;
        outer[tile] =
            fits ? std::min(outer[tile], costs[k * tiles + tile] + row[tile]) : outer[tile];
      }
    }
    for (const Graph::Slide& each : graph_.slides_to(phase, spot)) {
      if (graph_.alive(phase, each.loop.from)) {
        slide(k, phase, spot, each);
      }
    }
  }
}

// A loop leads to any smaller extent.
void Relaxed::loop(DimId dim, double* row) const {
  const std::size_t stride = rungs_.stride(dim);
  rungs_.sweep(dim, [&](std::size_t rung, std::size_t first, std::size_t last) {
    for (std::size_t tile = first; rung > 0 && tile < last; ++tile) {
      row[tile] = std::min(row[tile], row[tile - stride]);
    }
  });
}

// The region reads on: before the loop it had not come so far. Rungs may be shared, and a loop that
// does nothing makes no walk dearer.
void Relaxed::read_on(std::size_t component, std::size_t phase, const Graph::Loop& each) {
  const double* inner = row_of(component, phase, each.to);
  std::vector<double> before(inner, inner + rungs_.size());
  loop(each.dim, before.data());
  double* outer = row_of(component, phase, each.from);
  for (std::size_t tile = 0; tile < before.size(); ++tile) {
    outer[tile] = std::min(outer[tile], before[tile]);
  }
}

void Relaxed::cross(std::size_t component, std::size_t phase, std::size_t from, std::size_t spot) {
  const double* inner = row_of(component, phase, spot);
  std::vector<double> behind(inner, inner + rungs_.size());
  std::vector<double> before;
  if (const auto& fanout = graph_.event_after(phase - 1)) {
    for (std::size_t i = 0; i < rungs_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (rungs_.spreads()[*fanout].factor(d) == 1) {
        continue;
      }
      before.assign(behind.size(), kInfinity);
      const std::size_t stride = rungs_.stride(d);
      rungs_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
        for (const std::size_t block : rungs_.behind(*fanout, d, rung)) {
          for (std::size_t tile = first; tile < last; ++tile) {
            before[tile] = std::min(before[tile], behind[tile - (rung - block) * stride]);
          }
        }
      });
      behind.swap(before);
    }
  }
  double* outer = row_of(component, phase - 1, from);
  for (std::size_t tile = 0; tile < behind.size(); ++tile) {
    outer[tile] = std::min(outer[tile], behind[tile]);
  }
}

// What slides costs as its run starts, the rest as it ends; extents that share a rung have loops
// between them, too.
void Relaxed::slide(std::size_t component, std::size_t phase, std::size_t spot,
                    const Graph::Slide& slide) {
  const std::size_t tiles = rungs_.size();
  const DimId dim = slide.loop.dim;
  const double* inner = row_of(component, phase, spot);
  std::vector<double> least(inner, inner + tiles);
  std::vector<double> begins(tiles, 0.0);
  for (const std::size_t placing : slide.placings) {
    const bool slides = shares_.boundary(placing).slides;
    const std::vector<double>& costs = slides ? sliding(placing, dim) : plain(placing);
    const std::vector<double>& bits = bits_[placing];
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double cost = costs[tile] < kInfinity ? costs[component * tiles + tile] : kInfinity;
      least[tile] = bits[tile] < kInfinity ? least[tile] + (slides ? 0.0 : cost) : kInfinity;
      begins[tile] += slides ? cost : 0.0;
    }
  }
  loop(dim, least.data());
  double* outer = row_of(component, phase, slide.loop.from);
  const std::size_t stride = rungs_.stride(dim);
  rungs_.sweep(dim, [&](std::size_t rung, std::size_t first, std::size_t last) {
    const std::size_t step = rungs_.low(dim, rung) < rungs_.high(dim, rung) ? 0 : stride;
    for (std::size_t tile = first; rung > 0 && tile < last; ++tile) {
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
      components[k] = at({0, start, rungs_.size() - 1}, k);
    }
    const Figures here = price.of(components.data(), 0, 0);
    least = {std::min(least.first, here.first), std::min(least.second, here.second)};
  }
  return least;
}

}  // namespace mapsim::check
