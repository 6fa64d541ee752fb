// SPDX-License-Identifier: Apache-2.0
#include "mapper/side_by_side.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "core/threads.hpp"
#include "costmodel/bulk.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {
namespace {

// From so many mappings on the structure is worth looking at once for all.
constexpr std::size_t kWorthwhile = 8;
// Figures in bulk are those of single mappings; this only keeps ties.
constexpr double kMargin = 1 + 1e-9;

// All of a node but its extent.
std::uint64_t shape_of(const MappingNode& node) {
  if (const auto* keep = std::get_if<Keep>(&node)) {
    return std::uint64_t{index_of(keep->level)} << 32 | keep->tensors.bits();
  }
  if (const auto* loop = std::get_if<Temporal>(&node)) {
    return std::uint64_t{1} << 62 | index_of(loop->dim);
  }
  const auto& parallel = std::get<Parallel>(node);
  return std::uint64_t{1} << 63 | index_of(parallel.fanout) << 16 |
         static_cast<std::uint64_t>(parallel.axis) << 8 | index_of(parallel.dim);
}

std::uint64_t hash_of_shape(const Mapping& mapping) {
  std::uint64_t hash = mapping.nodes.size();
  for (const MappingNode& node : mapping.nodes) {
    hash = (hash ^ shape_of(node)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

bool have_one_shape(const Mapping& a, const Mapping& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const MappingNode& x, const MappingNode& y) {
                      return x.index() == y.index() && shape_of(x) == shape_of(y);
                    });
}

struct Known {
  double energy = std::numeric_limits<double>::infinity();  // infinite: look at it
  double cycles = 0;
};

class SideBySide {
 public:
  SideBySide(const Problem& problem, const Objective& objective, std::span<const Mapping> mappings)
      : problem_{problem},
        objective_{objective},
        mappings_{mappings},
        known_(mappings.size()),
        bounds_of_dims_{bounds_of(problem.workload())} {}

  Tally run() {
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> shapes;
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      shapes[hash_of_shape(mappings_[i])].push_back(i);
    }
    for (const auto& entry : shapes) {
      if (entry.second.size() >= kWorthwhile) {
        evaluate(entry.second);
      }
    }
    Tally tally;
    Evaluator evaluator{problem_};
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < mappings_.size(); ++i) {
      if (is_worse(known_[i], best)) {
        tally.pass();
      } else if (tally.consider(evaluator, objective_, mappings_[i])) {
        best = std::min(best, objective_value(objective_, evaluator.cost()));
      }
    }
    return tally;
  }

 private:
  bool is_worse(const Known& known, double best) const {
    const bool within =
        (!objective_.max_energy || known.energy <= objective_.max_energy->count()) &&
        (!objective_.max_latency ||
         known.cycles <= static_cast<double>(objective_.max_latency->count()));
    return std::isfinite(known.energy) && within &&
           objective_value(objective_, known.energy, known.cycles) > best * kMargin;
  }

  void evaluate(const std::vector<std::size_t>& alike) {
    const Mapping& structure = mappings_[alike.front()];
    BulkEvaluator bulk{problem_, structure};
    std::vector<double> bounds(bulk.loops() * alike.size());
    for (std::size_t k = 0; k < alike.size(); ++k) {
      if (!have_one_shape(structure, mappings_[alike[k]])) {
        return;  // hashes that are equal by chance
      }
      write_bounds(mappings_[alike[k]], bounds, alike.size(), k);
    }
    const BulkFigures& figures = bulk.evaluate(bounds, alike.size());
    const std::vector<double>& cycles =
        objective_.mode == LatencyMode::kSteady ? figures.steady : figures.ramped;
    for (std::size_t k = 0; k < alike.size(); ++k) {
      known_[alike[k]] = {figures.energy_pj[k], cycles[k]};
    }
  }

  void write_bounds(const Mapping& mapping, std::vector<double>& bounds, std::size_t count,
                    std::size_t k) const {
    PerDim<std::int64_t> extents = bounds_of_dims_;
    std::size_t loop = 0;
    const auto cut = [&](DimId dim, std::int64_t extent) {
      bounds[loop++ * count + k] = static_cast<double>(extents[dim] / extent);
      extents[dim] = extent;
    };
    for (const MappingNode& node : mapping.nodes) {
      if (const auto* temporal = std::get_if<Temporal>(&node)) {
        cut(temporal->dim, temporal->extent);
      } else if (const auto* parallel = std::get_if<Parallel>(&node)) {
        cut(parallel->dim, parallel->extent);
      }
    }
  }

  const Problem& problem_;
  const Objective& objective_;
  std::span<const Mapping> mappings_;
  std::vector<Known> known_;
  PerDim<std::int64_t> bounds_of_dims_;
};

}  // namespace

Tally consider_side_by_side(const Problem& problem, const SearchOptions& options,
                            std::span<const Mapping> mappings) {
  const std::size_t threads = static_cast<std::size_t>(std::max(1, options.threads));
  std::vector<Tally> parts(threads);
  for_each_on_threads(threads, options.threads, [&](std::size_t part) {
    const std::size_t begin = mappings.size() * part / threads;
    const std::size_t end = mappings.size() * (part + 1) / threads;
    parts[part] =
        SideBySide{problem, options.objective, mappings.subspan(begin, end - begin)}.run();
  });
  Tally all;
  for (Tally& part : parts) {
    all.add(options.objective, std::move(part));
  }
  return all;
}

}  // namespace mapsim
