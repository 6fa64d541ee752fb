// SPDX-License-Identifier: Apache-2.0
#include "campaign/network.hpp"

#include <algorithm>

#include "campaign/layer.hpp"
#include "core/arithmetic.hpp"
#include "mapper/shared_budget.hpp"

namespace mapsim {

NetworkResult search_network(const Arch& arch, const Network& network,
                             const NetworkOptions& options) {
  LayerSearch search{options.strategy, options.search, options.frames};
  const SharedBudget budget{options.search};
  NetworkResult result;
  for (std::size_t i = 0; i < network.layers.size() && !result.interrupted; ++i) {
    const std::size_t first = first_like(network, i);
    if (first < i) {
      result.layers.push_back(result.layers[first]);
      result.layers.back().statistics.seconds = 0;
      continue;
    }
    options.progress(i);
    const NetworkLayer& layer = network.layers[i];
    const Problem problem{arch, layer.workload};
    if (options.sharing) {
      search.options = budget.share(real(network.layers.size() - i + *options.sharing));
    }
    result.layers.push_back(
        search_layer(problem, layer.workbook, options.constraints(problem), search).result);
    result.interrupted = options.search.stop != nullptr && *options.search.stop;
  }
  const bool is_mapped =
      std::all_of(result.layers.begin(), result.layers.end(),
                  [](const SearchResult& layer) { return layer.cost.has_value(); });
  if (!result.interrupted && is_mapped && !result.layers.empty() &&
      makes_joint_choices(options.strategy) &&
      options.search.objective.function == ObjectiveFunction::product(1, 1)) {
    NetworkOptions rest = options;
    rest.search = options.sharing ? budget.rest() : options.search;
    choose_jointly(arch, network, rest, result);
  }
  return result;
}

std::size_t first_like(const Network& network, std::size_t layer) {
  Workload wanted = network.layers[layer].workload;
  std::size_t i = 0;
  for (; i < layer; ++i) {
    wanted.name = network.layers[i].workload.name;
    if (network.layers[i].workload == wanted &&
        network.layers[i].workbook == network.layers[layer].workbook) {
      break;
    }
  }
  return i;
}

std::int64_t unread_layers(const Network& network) {
  std::int64_t sum = 0;
  for (const auto& [kind, count] : network.unpriced) {
    const auto begins = [op = kind](const char* name) { return op.starts_with(name); };
    sum += std::any_of(kMultiplyingOps.begin(), kMultiplyingOps.end(), begins) ? count : 0;
  }
  return sum;
}

bool times_streams(const Arch& arch) {
  const Bandwidth& ports = arch.levels.begin()->bandwidth;
  return ports.shared || ports.read || ports.write;
}

std::int64_t frame_count(const SearchResult& found) {
  return found.form.kind == FormKind::kBatch ? found.form.count : 1;
}

FrameCost frame_cost(const SearchResult& found, LatencyMode mode) {
  const std::int64_t frames = frame_count(found);
  const std::int64_t cycles = latency_of(mode, found.cost->latency).count();
  return {Picojoules{found.cost->energy.total.count() / static_cast<double>(frames)},
          Cycles{(cycles + frames - 1) / frames}};
}

NetworkTotals totals(const Arch& arch, const Network& network, const NetworkResult& result,
                     LatencyMode mode) {
  NetworkTotals sums;
  for (const Stream& stream : network.streams) {
    const StreamCost cost = stream_cost(arch, stream.in, stream.out);
    sums.streams.energy += cost.energy * static_cast<double>(stream.count);
    sums.streams.latency += cost.latency * stream.count;
  }
  sums.energy = sums.streams.energy;
  sums.latency = sums.streams.latency;
  sums.missing = unread_layers(network);
  sums.proven = sums.missing == 0 && (!result.joint || result.joint->is_proven());
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    sums.distinct += first_like(network, i) == i ? 1 : 0;
    const SearchResult* found = i < result.layers.size() ? &result.layers[i] : nullptr;
    if (found == nullptr || !found->cost) {
      ++sums.missing;
      sums.proven = false;
      continue;
    }
    const FrameCost cost = frame_cost(*found, mode);
    sums.energy += cost.energy * static_cast<double>(layer.count);
    sums.latency += cost.latency * layer.count;
    sums.macs += layer.count * layer.workload.macs();
    sums.seconds += found->statistics.seconds;
    sums.proven = sums.proven && found->certificate.status == Proof::kOptimal &&
                  !found->certificate.bound_but_for_free_boundaries;
  }
  return sums;
}

}  // namespace mapsim
