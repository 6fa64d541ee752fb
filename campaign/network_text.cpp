// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "campaign/network.hpp"
#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/table.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// A layer with a mapping, as often as it occurs.
struct Share {
  std::size_t layer = 0;
  Picojoules energy{0};
  Cycles latency{0};
};

std::vector<Share> shares(const Network& network, const NetworkResult& result, LatencyMode mode) {
  std::vector<Share> found;
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    if (result.layers[i].cost) {
      const std::int64_t count = network.layers[i].count;
      const FrameCost cost = frame_cost(result.layers[i], mode);
      found.push_back({i, cost.energy * static_cast<double>(count), cost.latency * count});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Share& a, const Share& b) { return a.latency > b.latency; });
  return found;
}

double seconds(const Arch& arch, Cycles cycles) {
  return static_cast<double>(cycles.count()) / arch.clock.count();
}

double part(double value, double whole) { return whole > 0 ? value / whole : 0; }

double time_part(const Share& share, const NetworkTotals& sums) {
  return part(static_cast<double>(share.latency.count()),
              static_cast<double>(sums.latency.count()));
}

double energy_part(const Share& share, const NetworkTotals& sums) {
  return part(share.energy.count(), sums.energy.count());
}

Row layer_row(const Arch& arch, const NetworkLayer& layer, const SearchResult& found,
              const Share& share, const NetworkTotals& sums) {
  const Latency& latency = found.cost->latency;
  const bool batch = found.form.kind == FormKind::kBatch;
  return {batch ? fmt::format("{} ({})", layer.name, to_string(found.form)) : layer.name,
          fmt::format("{} x", layer.count),
          scaled(static_cast<double>(layer.count * layer.workload.macs()), ""),
          scaled(seconds(arch, share.latency), "s"),
          percent(time_part(share, sums)),
          energy_text(share.energy),
          percent(energy_part(share, sums)),
          percent(found.cost->utilization),
          resource_name(arch, latency.resources[latency.bottleneck]),
          to_string(found.certificate.status)};
}

// "conv3_2 16.1 %, conv4_2 12.0 %": the three that need most energy.
std::string hungriest(const Network& network, std::vector<Share> found, const NetworkTotals& sums) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Share& a, const Share& b) { return a.energy > b.energy; });
  found.resize(std::min<std::size_t>(found.size(), 3));
  Row names;
  for (const Share& share : found) {
    names.push_back(
        fmt::format("{} {}", network.layers[share.layer].name, percent(energy_part(share, sums))));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Operators that only move data, by kind, slowest first; then those without a price.
std::string streams_text(const Arch& arch, const Network& network, const NetworkTotals& sums) {
  std::map<std::string, std::pair<std::int64_t, StreamCost>> kinds;
  for (const Stream& stream : network.streams) {
    const StreamCost cost = stream_cost(arch, stream.in, stream.out);
    auto& [count, all] = kinds[stream.kind];
    count += stream.count;
    all.energy += cost.energy * static_cast<double>(stream.count);
    all.latency += cost.latency * stream.count;
  }
  std::vector<std::pair<std::string, std::pair<std::int64_t, StreamCost>>> order(kinds.begin(),
                                                                                 kinds.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.second.latency > b.second.second.latency;
  });
  std::vector<Row> rows{{"moves data only", "times", "latency", "share", "energy", "share"}};
  for (const auto& [kind, found] : order) {
    const Share share{0, found.second.energy, found.second.latency};
    rows.push_back({kind, fmt::format("{} x", found.first),
                    scaled(seconds(arch, share.latency), "s"), percent(time_part(share, sums)),
                    energy_text(share.energy), percent(energy_part(share, sums))});
  }
  std::string text = order.empty() ? "" : table(rows) + '\n';
  for (const auto& [kind, count] : network.unpriced) {
    text += fmt::format("Not priced: {}, {} x\n", kind, count);
  }
  return text;
}

std::string totals_text(const Arch& arch, const Network& network, const NetworkTotals& sums) {
  const double time = seconds(arch, sums.latency);
  std::string text = fmt::format(
      "Total{}: {} in {} cycles ({}; {} inferences/s), {} MACs, {} per MAC, {} of peak\n",
      network.batch > 1 ? fmt::format(" of {} at a time", network.batch) : "",
      energy_text(sums.energy), grouped(sums.latency.count()), scaled(time, "s"),
      ratio(part(static_cast<double>(network.batch), time)), grouped(sums.macs),
      energy_text(Picojoules{part(sums.energy.count(), static_cast<double>(sums.macs))}),
      percent(part(static_cast<double>(sums.macs), static_cast<double>(sums.latency.count()) *
                                                       static_cast<double>(arch.mac_units()))));
  text += fmt::format("{}; {} distinct layers of {} searched in {}\n",
                      sums.proven ? "Every layer's mapping is proven optimal"
                                  : "Not every layer's mapping is proven optimal",
                      network.layers.size(),
                      std::accumulate(network.layers.begin(), network.layers.end(), std::int64_t{0},
                                      [](std::int64_t sum, const NetworkLayer& layer) {
                                        return sum + layer.count;
                                      }),
                      scaled(sums.seconds, "s"));
  return text;
}

// What the layers' `workbook` says is for the workbook's timing.
std::string workbook_note(const Arch& arch, const Network& network) {
  const auto* nvdla = std::get_if<NvdlaTiming>(&arch.compute.timing);
  const auto said =
      std::count_if(network.layers.begin(), network.layers.end(),
                    [](const NetworkLayer& layer) { return layer.workbook != WorkbookRow{}; });
  return said == 0 || (nvdla != nullptr && nvdla->mode == NvdlaMode::kSheet)
             ? ""
             : fmt::format(
                   "note: `workbook` of {} of {} layers is not counted: only engines after NVDLA "
                   "in `mode: sheet` read it\n",
                   said, network.layers.size());
}

}  // namespace

std::string network_text(const Arch& arch, const Network& network, const NetworkOptions& options,
                         const NetworkResult& result) {
  const LatencyMode mode = options.search.objective.mode;
  const NetworkTotals sums = totals(arch, network, result, mode);
  const std::vector<Share> found = shares(network, result, mode);
  std::string text = fmt::format("{} on {}: layer by layer, least {}\n\n", network.name, arch.name,
                                 to_string(options.search.objective));
  std::vector<Row> rows{{"layer", "times", "MACs", "latency", "share", "energy", "share",
                         "utilised", "limited by", "proof"}};
  for (const Share& share : found) {
    rows.push_back(
        layer_row(arch, network.layers[share.layer], result.layers[share.layer], share, sums));
  }
  text += table(rows) + '\n' + streams_text(arch, network, sums);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (i >= result.layers.size() || !result.layers[i].cost) {
      text += fmt::format("{}: {}\n", network.layers[i].name,
                          i < result.layers.size() ? "nothing fits" : "not searched");
    }
  }
  text += found.empty() ? "" : "Most energy: " + hungriest(network, found, sums) + '\n';
  text += totals_text(arch, network, sums);
  return text + workbook_note(arch, network);
}

}  // namespace mapsim
