// SPDX-License-Identifier: Apache-2.0
#include "report/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/plots.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

namespace mapsim {

namespace {

std::string title(const Mapspace& space) {
  return space.problem().workload().name + " on " + space.problem().arch().name;
}

std::string selection(const HistogramOptions& options) {
  return fmt::format("within {} of the peak MAC rate{}", percent(options.within_peak),
                     options.compute_only ? ", transfers apart" : "");
}

// "1 distinct mapping", "12 distinct mappings".
std::string counted_mappings(const char* adjective, const Histogram& histogram) {
  const std::int64_t count = std::ssize(histogram.points);
  return fmt::format("{} {}mapping{}", grouped(count), adjective, count == 1 ? "" : "s");
}

// How many times as much the one is.
std::string spread_text(double most, double least) {
  return least > 0 ? ratio(most / least) : most > 0 ? "unlimited" : ratio(1);
}

std::string findings(const Histogram& histogram) {
  const HistogramSummary summary = summarise(histogram);
  std::string text = fmt::format(
      "energy from {} to {}: a spread of {}\n", energy_text(Picojoules{summary.least_pj}),
      energy_text(Picojoules{summary.most_pj}), spread_text(summary.most_pj, summary.least_pj));
  if (histogram.optimum) {
    text +=
        fmt::format("the proven optimum of the mapspace is {}; {} of these are within 1 % of it\n",
                    energy_text(histogram.optimum->energy.total), grouped(summary.near_optimum));
  }
  text += fmt::format(
      "{} have the least accesses of the outermost level met ({} elements), and differ {} in "
      "energy\n",
      grouped(summary.tied), grouped(summary.least_accesses),
      (std::isnan(summary.tied_spread) ? ratio(1) : ratio(summary.tied_spread)) + "x");
  // Parashar et al., ISPASS 2019, figure 1: 19x among mappings within 5 % of peak.
  text +=
      "the published histogram of this kind (Timeloop, figure 1) is of a machine whose buffer "
      "sizes "
      "are unknown: compare shapes, not figures\n";
  return text;
}

}  // namespace

HistogramBins make_bins(const Histogram& histogram, std::size_t bins) {
  const HistogramSummary summary = summarise(histogram);
  double least = summary.most_pj;  // of those that take any
  for (const HistogramPoint& point : histogram.points) {
    least = point.energy_pj > 0 ? std::min(least, point.energy_pj) : least;
  }
  if (!(least > 0)) {  // a machine without energies
    HistogramBins none{0, 1, std::vector<std::int64_t>(bins, 0)};
    none.counts.front() = std::ssize(histogram.points);
    return none;
  }
  const double spread = std::max(summary.most_pj / least, 1 + 1e-9);
  HistogramBins made{least, std::pow(spread, 1.0 / static_cast<double>(bins)),
                     std::vector<std::int64_t>(bins, 0)};
  const double width = std::log(made.factor);
  for (const HistogramPoint& point : histogram.points) {
    const double place = point.energy_pj > least ? std::log(point.energy_pj / least) / width : 0;
    ++made.counts[static_cast<std::size_t>(std::min(static_cast<double>(bins - 1), place))];
  }
  return made;
}

std::string histogram_text(const Mapspace& space, const HistogramOptions& options,
                           const Histogram& histogram) {
  std::string text = title_text(space.problem().arch(), space.problem().workload()) + "\n";
  if (histogram.points.empty()) {
    return text + "no mapping met is " + selection(options) + "\n";
  }
  const HistogramBins bins = make_bins(histogram, 20);
  const std::int64_t most = *std::max_element(bins.counts.begin(), bins.counts.end());
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const auto length = static_cast<std::size_t>(
        std::ceil(50 * static_cast<double>(bins.counts[i]) / static_cast<double>(most)));
    text += fmt::format("  {:>9} {:<50} {:>9}\n", energy_text(Picojoules{bins.edge(i)}),
                        std::string(length, '#'), grouped(bins.counts[i]));
  }
  text += fmt::format(
      "\n{} {}{}{}\n", counted_mappings("distinct ", histogram), selection(options),
      histogram.mapspace_size.empty()
          ? std::string{}
          : fmt::format(", of {} in the mapspace", short_decimal(histogram.mapspace_size)),
      histogram.interrupted ? " (interrupted)" : "");
  text += fmt::format("random walks over {} of {} spatial unrollings, {} steps\n",
                      grouped(histogram.unrollings), grouped(histogram.unrollings_total),
                      grouped(histogram.proposals));
  return text + findings(histogram);
}

std::string histogram_svg(const Mapspace& space, const HistogramOptions& options,
                          const Histogram& histogram) {
  EnergyBins bins;
  bins.head = {title(space) + ": mappings by energy",
               histogram.points.empty()
                   ? "no mapping met is " + selection(options)
                   : fmt::format("{} {}", counted_mappings("", histogram), selection(options))};
  if (!histogram.points.empty()) {
    const HistogramBins made = make_bins(histogram, kHistogramBins);
    for (std::size_t i = 0; i <= made.counts.size(); ++i) {
      bins.edges.push_back(made.edge(i) * kPicojoule);
    }
    bins.counts.assign(made.counts.begin(), made.counts.end());
  }
  if (histogram.optimum) {
    bins.optimum = histogram.optimum->energy.total.count() * kPicojoule;
  }
  return standalone(energies_svg(bins.head.title, bins));
}

}  // namespace mapsim
