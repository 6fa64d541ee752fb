// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "campaign/network.hpp"
#include "campaign/network_widths.hpp"
#include "costmodel/nvdla/engine.hpp"
#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
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
  const std::string name = table_name(layer.name);
  return {batch ? fmt::format("{} ({})", name, to_string(found.form)) : name,
          fmt::format("{} x", layer.count),
          scaled(static_cast<double>(layer.count * layer.workload.macs()), ""),
          scaled(seconds(arch, share.latency), "s"),
          percent(time_part(share, sums)),
          energy_text(share.energy),
          percent(energy_part(share, sums)),
          percent(found.cost->utilization),
          resource_name(arch, latency.resources[latency.bottleneck]),
          status_of(found.certificate)};
}

// Memory-bound operators, all of one kind together.
struct StreamKind {
  std::string kind;
  std::int64_t count = 0;
  Share share;
};

// Slowest first.
std::vector<StreamKind> stream_kinds(const Arch& arch, const Network& network) {
  std::map<std::string, StreamKind> kinds;
  for (const Stream& stream : network.streams) {
    const StreamCost cost = stream_cost(arch, stream.in, stream.out);
    StreamKind& all = kinds[stream.kind];
    all.kind = stream.kind;
    all.count += stream.count;
    all.share.energy += cost.energy * static_cast<double>(stream.count);
    all.share.latency += cost.latency * stream.count;
  }
  std::vector<StreamKind> order;
  for (const auto& [kind, all] : kinds) {
    order.push_back(all);
  }
  std::stable_sort(order.begin(), order.end(), [](const StreamKind& a, const StreamKind& b) {
    return a.share.latency > b.share.latency;
  });
  return order;
}

// "BatchNormalization 18.0 %, conv4_2 12.0 %": the three that need most.
std::string most(std::vector<std::pair<double, std::string>> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  parts.resize(std::min<std::size_t>(parts.size(), 3));
  Row names;
  for (const auto& [part, name] : parts) {
    names.push_back(fmt::format("{} {}", name, percent(part)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// What takes most of either, of layers and of kinds of memory-bound operators. Of the time
// the tables say it where there is but one.
std::string extremes_text(const Network& network, const std::vector<Share>& found,
                          const std::vector<StreamKind>& streams, const NetworkTotals& sums) {
  std::vector<std::pair<double, std::string>> times;
  std::vector<std::pair<double, std::string>> energies;
  const auto add = [&](const Share& share, const std::string& name) {
    times.emplace_back(time_part(share, sums), name);
    energies.emplace_back(energy_part(share, sums), name);
  };
  for (const Share& share : found) {
    add(share, table_name(network.layers[share.layer].name));
  }
  for (const StreamKind& stream : streams) {
    add(stream.share, stream.kind);
  }
  std::string text =
      found.empty() || streams.empty() ? "" : fmt::format("Most time: {}\n", most(times));
  return energies.empty() ? text : text + fmt::format("Most energy: {}\n", most(energies));
}

// Memory-bound operators; then those without a price.
std::string streams_text(const Arch& arch, const Network& network,
                         const std::vector<StreamKind>& streams, const NetworkTotals& sums) {
  std::vector<Row> rows{{"memory-bound operators", "times", "latency", "share", "energy", "share"}};
  for (const auto& [kind, count, share] : streams) {
    rows.push_back({kind, fmt::format("{} x", count), scaled(seconds(arch, share.latency), "s"),
                    percent(time_part(share, sums)), energy_text(share.energy),
                    percent(energy_part(share, sums))});
  }
  std::string text = streams.empty() ? "" : table(rows) + '\n';
  if (!streams.empty() && !times_streams(arch)) {
    text += fmt::format("Moving data takes no time here: {} has no bandwidth\n",
                        arch.levels.begin()->name);
  }
  for (const auto& [kind, count] : network.unpriced) {
    text += fmt::format("Not priced: {}, {} x\n", kind, count);
  }
  return text;
}

std::string joint_text(const Arch& arch, const JointChoice& joint) {
  constexpr double kPicojoulesPerJoule = 1e12;
  constexpr double kShownGain = 0.0005;  // 0.1 %
  const double gain = joint.by_layer > 0 ? 1 - part(joint.edp, joint.by_layer) : 0;
  const double gap = part(joint.edp, joint.lower_bound) - 1;
  return fmt::format(
      "EDP {:.6g} J s, {}{}\n", joint.edp / kPicojoulesPerJoule / arch.clock.count(),
      gain >= kShownGain ? percent(gain) + " less than layer by layer" : "as layer by layer",
      joint.is_proven()       ? "; no choice of mappings has less"
      : joint.lower_bound > 0 ? fmt::format("; at most {} above the least", percent(gap))
                              : "");
}

std::string totals_text(const Arch& arch, const Network& network, const NetworkResult& result,
                        const NetworkTotals& sums) {
  const double time = seconds(arch, sums.latency);
  const std::string rate =
      time > 0 && sums.missing == 0 && network.unpriced.empty()
          ? fmt::format("; {} inferences/s", ratio(static_cast<double>(network.batch) / time))
          : "";
  std::string text =
      sums.missing > 0
          ? fmt::format("{} of {} layers are missing: what follows is of the others only\n",
                        sums.missing,
                        static_cast<std::int64_t>(network.layers.size()) + unread_layers(network))
          : "";
  text += fmt::format(
      "{}{}: {} in {} cycles ({}{}), {} MACs, {} per MAC, {} of peak\n",
      sums.missing > 0 || !network.unpriced.empty() ? "Part of the total" : "Total",
      network.batch > 1 ? fmt::format(" of {} at a time", network.batch) : "",
      energy_text(sums.energy), grouped(sums.latency.count()), scaled(time, "s"), rate,
      grouped(sums.macs),
      energy_text(Picojoules{part(sums.energy.count(), static_cast<double>(sums.macs))}),
      percent(part(static_cast<double>(sums.macs), static_cast<double>(sums.latency.count()) *
                                                       static_cast<double>(arch.mac_units()))));
  if (network.layers.empty()) {
    return text;
  }
  text += result.joint ? joint_text(arch, *result.joint) : "";
  text += fmt::format("{}; {} distinct layers of {} searched in {}\n",
                      sums.proven ? "Every layer's mapping is proven optimal"
                                  : "Not every layer's mapping is proven optimal",
                      sums.distinct,
                      std::accumulate(network.layers.begin(), network.layers.end(), std::int64_t{0},
                                      [](std::int64_t sum, const NetworkLayer& layer) {
                                        return sum + layer.count;
                                      }),
                      scaled(sums.seconds, "s"));
  return text;
}

// What the layers' `workbook` says is for the workbook's timing.
std::string workbook_note(const Arch& arch, const Network& network) {
  const auto said =
      std::count_if(network.layers.begin(), network.layers.end(),
                    [](const NetworkLayer& layer) { return layer.workbook != WorkbookRow{}; });
  return said == 0 || is_by_workbook(arch)
             ? ""
             : fmt::format(
                   "note: `workbook` of {} of {} layers is not counted: only NVDLA-like engines "
                   "in `mode: sheet` read it\n",
                   said, network.layers.size());
}

}  // namespace

std::string network_text(const Arch& arch, const Network& network, const NetworkOptions& options,
                         const NetworkResult& result) {
  const LatencyMode mode = options.search.objective.mode;
  const NetworkTotals sums = totals(arch, network, result, mode);
  const std::vector<Share> found = shares(network, result, mode);
  const std::vector<StreamKind> streams = stream_kinds(arch, network);
  std::string text = fmt::format("{} on {}: {}, least {}\n{}", network.name, arch.name,
                                 result.joint ? "all layers together" : "layer by layer",
                                 to_string(options.search.objective), widths_text(arch, network));
  for (const std::string& warning : network_warnings(arch, network)) {
    text += fmt::format("warning: {}\n", warning);
  }
  text += '\n';
  std::vector<Row> rows{{"layer", "times", "MACs", "latency", "share", "energy", "share",
                         "utilised", "limited by", "proof"}};
  for (const Share& share : found) {
    rows.push_back(
        layer_row(arch, network.layers[share.layer], result.layers[share.layer], share, sums));
  }
  text += (found.empty() ? "" : table(rows) + '\n') + streams_text(arch, network, streams, sums);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (i >= result.layers.size() || !result.layers[i].cost) {
      text +=
          fmt::format("{}: {}\n", network.layers[i].name,
                      i < result.layers.size() ? brief_infeasible_text(result.layers[i].infeasible)
                                               : "not searched");
    }
  }
  text += extremes_text(network, found, streams, sums);
  text += totals_text(arch, network, result, sums);
  return text + workbook_note(arch, network);
}

}  // namespace mapsim
