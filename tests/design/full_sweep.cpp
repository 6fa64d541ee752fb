// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "arch/load.hpp"
#include "campaign/layer.hpp"
#include "check/design_proof.hpp"
#include "costmodel/stream.hpp"
#include "costmodel/technology.hpp"
#include "design/certificate.hpp"
#include "mapper/front.hpp"
#include "tests/design/random_space.hpp"

namespace mapsim {

namespace {

Arch arch_of(const Campaign& campaign, std::size_t number) {
  return read_arch(design(campaign, number).document());
}

// Energy [pJ] and latency [cycles] of a layer's mappings.
using Figures = std::pair<double, double>;

std::optional<Figures> optimum(const Arch& arch, const CampaignLayer& layer,
                               const ObjectiveFunction& function) {
  if (layer.stream) {
    const StreamCost cost = stream_cost(arch, layer.stream->in, layer.stream->out);
    return Figures{cost.energy.count(), static_cast<double>(cost.latency.count())};
  }
  SearchOptions options;
  options.objective.function = function;
  const Problem problem{arch, layer.workload};
  const SearchResult found = search_exact(Mapspace{problem, {}}, options);
  return found.cost
             ? std::optional{Figures{found.cost->energy.total.count(),
                                     static_cast<double>(found.cost->latency.steady.count())}}
             : std::nullopt;
}

// All of the Pareto front of a layer.
std::vector<Figures> front_of(const Arch& arch, const CampaignLayer& layer) {
  if (layer.stream) {
    return {*optimum(arch, layer, ObjectiveFunction::product(1, 1))};
  }
  const Problem problem{arch, layer.workload};
  std::vector<Figures> points;
  for (const FrontPoint& point : search_front(Mapspace{problem, {}}, {}).points) {
    points.emplace_back(point.value, static_cast<double>(point.measure));
  }
  return points;
}

// All choices of one point a layer: totals, and the sum of the layers' own values.
struct Choice {
  double energy = 0, cycles = 0, value = 0;
};

std::vector<Choice> choices(const Arch& arch, const std::vector<CampaignLayer>& layers,
                            const ObjectiveFunction& function) {
  std::vector<Choice> all{{}};
  for (const CampaignLayer& layer : layers) {
    std::vector<Choice> more;
    const auto count = static_cast<double>(layer.count);
    for (const auto& [energy, cycles] : front_of(arch, layer)) {
      for (const Choice& before : all) {
        more.push_back({before.energy + count * energy, before.cycles + count * cycles,
                        before.value + count * function.value(energy, cycles)});
      }
    }
    all = std::move(more);
  }
  return all;
}

// The best choice of a design within the limits.
FullSweep::Row row_of(const Arch& arch, const Campaign& campaign, const DesignObjective& objective,
                      const DesignLimits& limits) {
  FullSweep::Row best;
  for (const CampaignLayer& layer : campaign.layers) {
    const auto area = total_area(layer.stream ? arch : bind_widths(arch, layer.workload)).sum;
    best.area = std::max(best.area, area ? area->count() : 0);
  }
  for (const Choice& choice : choices(arch, campaign.layers, objective.function)) {
    FullSweep::Row row = best;
    row.value = objective.function.scaled(
        objective.is_joint ? choice.energy * choice.cycles : choice.value, 1, arch.clock.count());
    row.energy = choice.energy;
    row.seconds = choice.cycles / arch.clock.count();
    if ((!best.value || *row.value < *best.value) && keeps(limits, row)) {
      best = row;
    }
  }
  return best;
}

// The value that so many of a hundred are below.
double share_of(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[percent * values.size() / 100];
}

// Limits that about so many of a hundred designs keep with their best mappings, each one of
// `kinds`.
DesignLimits random_limits(Rng& rng, const FullSweep& sweep, std::size_t percent, int kinds) {
  std::vector<double> areas;
  std::vector<double> energies;
  std::vector<double> times;
  std::vector<double> powers;
  for (const FullSweep::Row& row : sweep.designs) {
    areas.push_back(row.area);
    if (row.value) {
      energies.push_back(row.energy);
      times.push_back(row.seconds);
      powers.push_back(row.energy / row.seconds);
    }
  }
  constexpr double kMilliwatts = 1e-9;
  constexpr double kAside = 1.0001;  // of the design that has just this
  DesignLimits limits;
  if (odds(rng, 2)) {
    limits.area = SquareMillimetres{share_of(areas, 50)};
  }
  if (odds(rng, kinds) && !energies.empty()) {
    limits.energy = Picojoules{kAside * share_of(energies, percent)};
  }
  if (odds(rng, kinds) && !energies.empty()) {
    limits.latency = Seconds{kAside * share_of(times, percent)};
  }
  if (odds(rng, kinds) && !energies.empty()) {
    limits.power = Milliwatts{kAside * kMilliwatts * share_of(powers, percent)};
  }
  return limits;
}

bool is_close(double a, double b) { return std::abs(a - b) <= kRounding * std::abs(b); }

std::string limits_text(const DesignLimits& limits) {
  std::string text;
  const auto add = [&text](const char* name, const auto& limit) {
    text += limit ? fmt::format(", {} {}", name, limit->count()) : "";
  };
  add("area", limits.area);
  add("energy", limits.energy);
  add("latency", limits.latency);
  add("power", limits.power);
  return text;
}

// How an answer differs from what a sweep gives; empty: not at all.
std::string difference(const FullSweep& sweep, const DesignOptions& options,
                       const DesignAnswer& found) {
  const std::vector<FullSweep::Row> expected = sweep.wanted(options);
  if (found.designs.size() != expected.size()) {
    return fmt::format("finds {} designs, a sweep {}", found.designs.size(), expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const BestDesign& design = found.designs[i];
    if (!is_close(design.value, *expected[i].value)) {
      return fmt::format("finds {}, a sweep {}", design.value, *expected[i].value);
    }
    const FullSweep::Row& row = sweep.designs[design.number];
    if (!row.value || !is_close(*row.value, design.value) || !keeps(options.limits, row)) {
      return fmt::format("names design {}, which is another or breaks a limit", design.number);
    }
    if (!is_close(design.area.value_or(0), row.area) ||
        (options.wanted == Wanted::kFront && !is_close(row.area, expected[i].area))) {
      return "gives another area";
    }
    if (!options.objective.function.has_one_figure() &&
        !is_close(design.energy / design.seconds(), row.energy / row.seconds)) {
      return fmt::format("gives {} pJ and {} s, a sweep {} and {}", design.energy, design.seconds(),
                         row.energy, row.seconds);
    }
  }
  return "";
}

}  // namespace

DesignObjective random_objective(Rng& rng) {
  constexpr const char* kTexts[] = {"energy", "latency",          "sum-edp",           "edp",
                                    "edp",    "energy^2*latency", "energy + 3*latency"};
  return std::get<DesignObjective>(parse_design_objective(kTexts[rng.below(std::size(kTexts))]));
}

bool keeps(const DesignLimits& limits, const FullSweep::Row& row) {
  Assessment figures;
  figures.energy = row.energy;
  figures.seconds = row.seconds;
  return !is_beyond(limits, figures) && (!limits.area || row.area <= limits.area->count());
}

std::vector<FullSweep::Row> FullSweep::wanted(const DesignOptions& options) const {
  std::vector<Row> rows;
  for (const Row& row : designs) {
    if (row.value && keeps(options.limits, row)) {
      rows.push_back(row);
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair{*a.value, a.area} < std::pair{*b.value, b.area};
  });
  if (options.wanted == Wanted::kBest) {
    rows.resize(std::min(rows.size(), options.top));
    return rows;
  }
  std::vector<Row> front;
  for (const Row& row : rows) {
    const bool is_equal = !front.empty() && is_close(*front.back().value, *row.value);
    if (front.empty() || row.area < front.back().area) {
      if (is_equal) {
        front.pop_back();
      }
      front.push_back(row);
    }
  }
  return front;
}

std::optional<double> FullSweep::best() const {
  const std::vector<Row> rows = wanted({});
  return rows.empty() ? std::nullopt : rows.front().value;
}

FullSweep full_sweep(const Campaign& campaign, const DesignObjective& objective,
                     const DesignLimits& limits) {
  FullSweep sweep;
  for (std::size_t number = 0; number < campaign.designs(); ++number) {
    sweep.designs.push_back(row_of(arch_of(campaign, number), campaign, objective, limits));
  }
  return sweep;
}

DesignOptions random_question(const RandomSpace& space, std::uint64_t seed, FullSweep& sweep,
                              bool is_tight) {
  Rng rng{seed};
  DesignOptions options;
  options.objective = random_objective(rng);
  sweep = full_sweep(space.campaign, options.objective);
  constexpr int kSome = 4;
  options.limits = random_limits(rng, sweep, is_tight ? rng.below(50) : 50, is_tight ? 2 : kSome);
  sweep = full_sweep(space.campaign, options.objective, options.limits);
  if (odds(rng, 3)) {
    options.wanted = Wanted::kFront;
  } else {
    options.top = odds(rng, 3) ? 1 + rng.below(6) : 1;
  }
  return options;
}

std::string compare_with_sweep(const RandomSpace& space, std::uint64_t seed, int* by_choice) {
  FullSweep sweep;
  const DesignOptions options = random_question(space, seed, sweep, by_choice != nullptr);
  const DesignAnswer found = search_design(space.campaign, options);
  if (by_choice != nullptr) {
    *by_choice += found.evidence.is_by_choice ? 1 : 0;
  }
  const DesignCounts& counts = found.counts;
  std::string wrong = difference(sweep, options, found);
  const double sum = counts.valued + counts.by_bound + counts.by_area + counts.by_limit +
                     counts.infeasible + counts.unreadable + counts.open;
  if (wrong.empty() && (!found.proven || sum != counts.designs || counts.open != 0 ||
                        counts.designs != static_cast<double>(space.campaign.designs()))) {
    wrong = fmt::format("settles {} of {} designs, proven: {}", sum, counts.designs, found.proven);
  }
  return wrong.empty()
             ? ""
             : fmt::format("{} {} {} of {} designs{} {}\n{}", to_string(options.objective),
                           options.wanted == Wanted::kFront ? "front" : "top", options.top,
                           space.campaign.designs(), limits_text(options.limits), wrong,
                           space.text);
}

std::string compare_certificate(const RandomSpace& space, std::uint64_t seed) {
  FullSweep sweep;
  DesignOptions options = random_question(space, seed, sweep, false);
  options.certificate = true;
  const DesignAnswer found = search_design(space.campaign, options);
  const std::string text = design_certificate(space.campaign, options, found);
  if (found.evidence.is_by_choice) {
    return text.empty() ? "" : "a certificate of limits that chose mappings";
  }
  auto certificate = check::parse_design_certificate(text, "certificate");
  const check::DesignVerdict verdict = check::check_design(certificate, {});
  return verdict.problems.empty()
             ? ""
             : fmt::format("{} {} {}{}: {}\n{}\n{}", to_string(options.objective),
                           options.wanted == Wanted::kFront ? "front" : "top", options.top,
                           limits_text(options.limits), verdict.problems.front(), space.text, text);
}

std::string compare_enclosures(const RandomSpace& space, std::uint64_t seed,
                               std::int64_t& compared) {
  Rng rng{seed};
  DesignSpace designs{space.campaign.machines.front(), false};
  const DesignObjective objective = random_objective(rng);  // of layers: EDP is that of each
  LayerOptima optima{space.campaign, space.campaign.questions.front(), {}};
  for (int tries = 0; tries < 4; ++tries) {
    DesignBox box = designs.all();
    std::vector<std::size_t> member;
    for (std::size_t a = 0; a < box.size(); ++a) {
      const std::size_t values = box[a].size();
      const bool branch = !designs.axes()[a].branched.empty();
      const std::size_t one = rng.below(values);
      const std::size_t other = branch ? one : rng.below(values);
      box[a] = {std::min(one, other), std::max(one, other)};
      member.push_back(box[a].low + rng.below(box[a].size()));
    }
    const auto enclosure = designs.enclosure(box);
    if (!enclosure) {
      continue;
    }
    const Arch arch = designs.arch(member);
    const DesignMachine composite{0, box, *enclosure, designs.excepted(enclosure->most)};
    if (optima.area(enclosure->least).value_or(0) > optima.area(arch).value_or(0)) {
      return "an enclosure has more area than a design\n" + space.text;
    }
    for (std::size_t l = 0; l < optima.layers().size(); ++l) {
      const double bound = optima.search(composite, l, objective.function, {}).value().lower;
      const auto figures = optimum(arch, *optima.layers()[l].layer, objective.function);
      const double value =
          figures ? objective.function.value(figures->first, figures->second) : HUGE_VAL;
      ++compared;
      if (bound > value * (1 + kRounding)) {
        return fmt::format("{}: an enclosure costs {}, a design {}\n{}", to_string(objective),
                           bound, value, space.text);
      }
    }
  }
  return "";
}

}  // namespace mapsim
