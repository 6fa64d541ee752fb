// SPDX-License-Identifier: Apache-2.0
#include "report/chain_front.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "report/figures.hpp"
#include "report/front.hpp"
#include "report/plots.hpp"
#include "report/table.hpp"
#include "report/tree.hpp"

namespace mapsim {

namespace {

std::int64_t cycles_of(const ChainPoint& point) { return point.cost.latency.count(); }

// The least energy of a front with no more latency; nullptr: nothing is as fast.
const ChainPoint* as_fast(const ChainFront& front, std::int64_t cycles) {
  for (const ChainPoint& point : front.points) {  // energy ascending
    if (cycles_of(point) <= cycles) {
      return &point;
    }
  }
  return nullptr;
}

}  // namespace

std::string chain_fronts_text(const Arch& arch, const EinsumChain& chain,
                              const ChainFronts& fronts) {
  const ChainFront& fused = fronts.fused;
  std::string text = chain_title_text(arch, chain) + "\n";
  if (fused.points.empty()) {
    return text + (fused.complete ? "nothing fits\n" : "stopped before anything was found\n");
  }
  std::vector<Row> rows{{"", "energy", "latency", "layer by layer, as fast", ""}};
  for (std::size_t i = 0; i < fused.points.size(); ++i) {
    const ChainPoint& point = fused.points[i];
    const ChainPoint* apart = as_fast(fronts.on_chip, cycles_of(point));
    const double saved =
        apart == nullptr ? 0 : 100 * (1 - point.cost.energy.count() / apart->cost.energy.count());
    rows.push_back({fmt::format("{}", i + 1), energy_text(point.cost.energy),
                    grouped(cycles_of(point)) + " cycles",
                    apart == nullptr ? "none" : energy_text(apart->cost.energy),
                    saved < 0.05 ? "" : fmt::format("-{:.1f} %", saved)});
  }
  text += "energy against latency\n" + table(rows) + "\n";
  text += fused.complete
              ? "proven: every mapping tree of the space needs at least the energy and the latency "
                "of one of these points\n"
              : "stopped early: there may be others\n";
  text += fronts.on_chip.complete ? "" : "stopped early: layer by layer less may do\n";
  return text + fmt::format("{} searches in {:.2f} s\n",
                            grouped(fused.searches + fronts.on_chip.searches),
                            fused.seconds + fronts.on_chip.seconds);
}

std::string chain_front_svg(const Arch& arch, const EinsumChain& chain, const ChainFront& front) {
  constexpr double kJoule = 1e-12;
  std::vector<FrontDot> dots;
  std::vector<double> across;
  std::vector<double> up;
  for (const ChainPoint& point : front.points) {
    across.push_back(seconds_of(arch, point.cost.latency));
    up.push_back(point.cost.energy.count() * kJoule);
    dots.push_back(
        {across.back(), up.back(),
         fmt::format("{}, {} cycles", energy_text(point.cost.energy), grouped(cycles_of(point)))});
  }
  const FrontChart chart{
      {fmt::format("{} on {}: energy against latency", chain.name, arch.name),
       front.complete ? "mapping trees with perfect factors; complete" : "stopped early"},
      ChartAxis::around("latency", "s", across),
      ChartAxis::around("energy", "J", up),
      dots};
  return standalone(front_svg(chart.head.title, chart));
}

}  // namespace mapsim
