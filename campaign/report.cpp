// SPDX-License-Identifier: Apache-2.0
#include "campaign/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "arch/load.hpp"
#include "campaign/joint.hpp"
#include "campaign/report_energy.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/stepper.hpp"
#include "report/widths.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

// A name for links and files: small letters, digits, hyphens; unlike all before it, and
// short enough for a file with a suffix.
class Names {
 public:
  std::string of(const std::string& words) {
    std::string name;
    for (const char c : words) {
      const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      const bool large = c >= 'A' && c <= 'Z';
      if (kept || large) {
        name += large ? static_cast<char>(c - 'A' + 'a') : c;
      } else if (!name.empty() && name.back() != '-') {
        name += '-';
      }
    }
    name.resize(std::min(name.size(), kMostLetters));
    while (name.ends_with('-')) {
      name.pop_back();
    }
    name = name.empty() || (name[0] >= '0' && name[0] <= '9') ? "r-" + name : name;
    std::string unique = name;
    for (int i = 2; !used_.insert(unique).second; ++i) {
      unique = fmt::format("{}-{}", name, i);
    }
    return unique;
  }

 private:
  static constexpr std::size_t kMostLetters = 120;
  std::set<std::string> used_;
};

std::string extreme(const StudyPoints& points, const char* what,
                    const std::function<double(const DesignPoint&)>& measure,
                    const std::string& unit) {
  const auto least = std::min_element(
      points.points.begin(), points.points.end(),
      [&](const DesignPoint& a, const DesignPoint& b) {  // of equals one that none beats
        return std::tuple{measure(a), a.seconds, a.energy, a.area.value_or(0)} <
               std::tuple{measure(b), b.seconds, b.energy, b.area.value_or(0)};
      });
  return fmt::format("least {} {} (design {})", what, si_text(measure(*least), unit, 4),
                     least->name);
}

// How the mappings of a network were chosen for its EDP.
std::vector<std::string> choices(const Study& study, const StudyPoints& points) {
  std::vector<std::string> texts;
  if (!study.is_network_edp()) {
    return texts;
  }
  std::size_t jointly = 0;
  double gap = 0;
  for (const DesignResult* const design : points.designs) {
    jointly += design->edp_lower_bound ? 1U : 0U;
    gap = std::max(gap, design->edp_gap().value_or(0));
  }
  const auto some = [&](std::size_t count) {
    return count == points.designs.size() ? std::string{} : fmt::format(" (on {} designs)", count);
  };
  if (jointly > 0) {
    texts.push_back(fmt::format(
        "The mappings of all layers{} are chosen jointly for the least EDP of the network{}: {}.",
        study.unpriced.empty() ? "" : " that have a price", some(jointly), least_choice_text(gap)));
  }
  if (const std::size_t rest = points.designs.size() - jointly; rest > 0) {
    texts.push_back(fmt::format(
        "Each layer has the mapping with the least EDP of that layer alone{}. Mappings chosen "
        "jointly, as mapsim sweep does with strategies that prove, may have a lower EDP in total.",
        some(rest)));
  }
  return texts;
}

std::vector<std::string> findings(const Study& study, const StudyPoints& points) {
  const std::size_t complete = points.designs.size();
  const DesignResult* const best = study.best();
  if (best == nullptr) {
    return {"No design has a mapping of every layer: nothing to draw."};
  }
  std::string text = fmt::format(
      "{} needs {} and {} for {}{}.",
      study.designs.size() == 1 ? best->name()
                                : fmt::format("Of {} designs the best is {} ({}). It", complete,
                                              best->number, best->name()),
      si_text(best->energy_pj() * kPicojoule, "J", 4), si_text(best->seconds(), "s", 4),
      layers_name(study),
      best->utilization() > 0
          ? fmt::format(": {:.1f} % of the MAC units' time is used", 100 * best->utilization())
          : "");
  if (study.designs.size() > 1) {
    text += fmt::format(
        " Of all designs: {}, {}",
        extreme(
            points, "energy", [](const DesignPoint& p) { return p.energy; }, "J"),
        extreme(points, "latency", [](const DesignPoint& p) { return p.seconds; }, "s"));
    if (points.points.front().area) {
      text +=
          ", " +
          extreme(points, "area", [](const DesignPoint& p) { return p.area.value_or(0); }, "mm²");
    }
    text += ".";
  }
  if (const DesignResult::Streams streams = best->streams(); streams.count > 0) {
    text += fmt::format(
        " {} memory-bound operators take {:.1f} % of the time and {:.1f} % of the energy.",
        streams.count, 100 * streams.time, 100 * streams.energy);
  }
  std::vector<std::string> all{text};
  for (std::string& choice : choices(study, points)) {
    all.push_back(std::move(choice));
  }
  return all;
}

std::string reasons(const Study& study) {
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [reason, count] : study.reasons) {
    sorted.emplace_back(-static_cast<std::int64_t>(count), reason);
  }
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, sorted.size()); ++i) {
    text += fmt::format("{}{} \u00d7 {}", text.empty() ? "Points without a mapping: " : "; ",
                        -sorted[i].first, sorted[i].second);
  }
  return text.empty() ? text : text + (sorted.size() > 5 ? "; and others." : ".");
}

// Of a mapping whose texts can be read again: those of a mapsim to come may say more.
std::optional<PageStepper> stepper_of(const MappedLayer& mapped, const std::string& machine,
                                      const std::string& name) {
  try {
    Arch arch = parse_arch(mapped.arch, machine);
    arch.name = machine;
    Workload layer = parse_workload(mapped.workload, mapped.layer);
    layer.name = mapped.layer;
    const Problem problem{std::move(arch), parse_form(mapped.mapping, "mapping", layer)};
    const Mapping mapping =
        parse_mapping(mapped.mapping, "mapping", problem.arch(), problem.workload());
    const Evaluation evaluation = evaluate(problem, mapping);
    const auto* cost = std::get_if<Cost>(&evaluation);
    return cost == nullptr ? std::nullopt
                           : std::optional{mapsim::stepper_of(problem, mapping, *cost, name)};
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

void add_design(Section& section, const Study& study, const DesignResult& design,
                const std::string& prefix, Names& names, StudyColours& colours) {
  if (design.layers.size() > 1) {
    section.parts.emplace_back(layers_figure(study, design, names.of(prefix + " layers"), colours));
  }
  section.parts.emplace_back(
      breakdown_figure(study, design, names.of(prefix + " energy"), colours));
  if (has_roofline(design)) {
    section.parts.emplace_back(roofline_figure(study, design, names.of(prefix + " roofline")));
  }
  std::string mappings;
  for (const LayerResult& layer : design.layers) {
    mappings += layer.mapping.empty() ? "" : fmt::format("# {}\n{}\n", layer.layer, layer.mapping);
  }
  if (&design == study.best() && study.stepped) {
    if (auto stepper = stepper_of(*study.stepped, design.arch, names.of(prefix + " steps"))) {
      section.parts.emplace_back(std::move(*stepper));
    }
  }
  if (!mappings.empty()) {
    const std::string of = fmt::format("design {}", design.number);
    section.parts.emplace_back(
        Listing{"Mappings of " + (study.designs.size() == 1 ? design.arch : of), mappings});
  }
}

// One, or none where no result says its widths.
std::vector<std::string> widths_paragraphs(std::vector<std::string> of_layers) {
  std::erase(of_layers, "");
  return of_layers.empty() ? std::vector<std::string>{}
                           : std::vector{"Widths: " + counted_widths(of_layers) + "."};
}

// `several`: campaigns in the report.
Section study_section(const Study& study, bool several, std::size_t rows,
                      const std::vector<std::size_t>& wanted, Names& names, StudyColours& colours) {
  const StudyPoints points = design_points(study);
  const std::string of =
      (several && !study.campaign.empty() ? study.campaign + ", " : std::string{}) +
      layers_name(study);
  const std::string title = fmt::format("{}: {}", of, study.question());
  const std::string prefix = of + study.question().substr(std::string{"least"}.size());
  Section section{names.of(title), title, findings(study, points), {}};
  if (const std::string text = reasons(study); !text.empty()) {
    section.paragraphs.push_back(text);
  }
  std::vector<std::string> widths;  // of one design that is shown: all have the same layers
  const auto shown =
      std::find_if(study.designs.begin(), study.designs.end(),
                   [](const DesignResult& design) { return !design.layers.empty(); });
  for (std::size_t i = 0; shown != study.designs.end() && i < shown->layers.size(); ++i) {
    widths.push_back(shown->layers[i].widths);
  }
  for (const std::string& text : widths_paragraphs(std::move(widths))) {
    section.paragraphs.push_back(text);
  }
  if (study.unlisted > 0) {
    section.paragraphs.push_back(
        fmt::format("{} designs of the campaign have no results here and are in no figure.",
                    grouped(static_cast<std::int64_t>(study.unlisted))));
  }
  if (!study.fixed.empty()) {
    section.paragraphs.push_back("All designs: " + joined(study.fixed, ", ") + ".");
  }
  if (!study.unpriced.empty()) {
    section.paragraphs.push_back("In no sum, as nothing is known of them: " +
                                 joined(study.unpriced, ", ") + "; all figures are of the rest.");
  }
  if (points.points.size() > 1) {
    section.parts.emplace_back(designs_figure(study, points, names.of(prefix + " designs")));
    section.parts.emplace_back(
        design_energy_figure(study, points, names.of(prefix + " designs energy"), colours));
  }
  if (auto figure = sensitivity_figure(study, names.of(prefix + " sensitivity"))) {
    section.parts.emplace_back(std::move(*figure));
  }
  const DesignResult* const best = study.best();
  if (best != nullptr) {
    add_design(section, study, *best, prefix, names, colours);
  }
  for (const DesignResult& design : study.designs) {
    const bool asked =
        std::find(wanted.begin(), wanted.end(), design.number) != wanted.end() && &design != best;
    if (asked && design.clock_hz > 0) {
      add_design(section, study, design, fmt::format("{} design {}", prefix, design.number), names,
                 colours);
    }
  }
  if (study.designs.size() > 1) {
    section.parts.emplace_back(
        designs_table(study, points, rows, names.of(prefix + " designs table")));
  }
  return section;
}

std::string title_of(const ReportInput& input) {
  if (!input.title.empty()) {
    return input.title;
  }
  const JsonResults& results = input.results;
  std::vector<std::string> titles;
  const auto add = [&titles](const std::string& title) {
    if (std::find(titles.begin(), titles.end(), title) == titles.end()) {
      titles.push_back(title);
    }
  };
  for (const Study& study : results.studies) {
    add(study.campaign.empty()
            ? fmt::format("{} on {}", layers_name(study), study.designs.front().arch)
            : study.campaign);
  }
  for (const HistogramResult& histogram : results.histograms) {
    add(fmt::format("{} on {}", histogram.workload, histogram.arch));
  }
  for (const FrontResult& front : results.fronts) {
    add(fmt::format("{} on {}", front.workload, front.arch));
  }
  for (const DesignSearchResult& search : results.design_searches) {
    add(search.campaign);
  }
  for (const MeasuredResult& measured : input.measured) {
    add(measured.gpu);
  }
  return joined(titles, "; ");
}

std::string counts_text(const std::vector<Study>& studies) {
  LayerSums all;
  std::set<std::tuple<std::string, std::string, std::size_t>> designs;  // of JSON one a machine
  for (const Study& study : studies) {
    for (const DesignResult& design : study.designs) {
      designs.emplace(study.campaign, study.campaign.empty() ? design.arch : "", design.number);
      all.layers += design.sums.layers;
      all.mapped += design.sums.mapped;
      all.proven += design.sums.proven;
      all.fastest += design.sums.fastest;
      all.priced += design.sums.priced;
      all.missing += design.sums.missing;
    }
  }
  const auto& [points, mapped, proven, fastest, priced, missing] =
      std::tie(all.layers, all.mapped, all.proven, all.fastest, all.priced, all.missing);
  return fmt::format(
      "{} point{} of {} design{}: {} with a mapping, {} of them proven optimal{}{}{}{}.",
      grouped(static_cast<std::int64_t>(points)), points == 1 ? "" : "s", designs.size(),
      designs.size() == 1 ? "" : "s", grouped(static_cast<std::int64_t>(mapped - priced)),
      grouped(static_cast<std::int64_t>(proven)),
      fastest > 0 ? fmt::format(", {} the fastest of all kernels", fastest) : "",
      priced > 0 ? fmt::format("; {} of memory-bound operators", priced) : "",
      points > mapped + missing ? fmt::format("; {} without", points - mapped - missing) : "",
      missing > 0 ? fmt::format("; {} not computed yet", missing) : "");
}

void check_designs(const ReportInput& input) {
  for (const std::size_t number : input.designs) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;
    bool found = false;
    for (const Study& study : input.results.studies) {
      for (const DesignResult& design : study.designs) {
        least = std::min(least, design.number);
        most = std::max(most, design.number);
        found = found || design.number == number;
      }
    }
    if (!found) {
      throw ConfigError{
          {{input.sources.empty() ? "" : input.sources.front(), 0, 0, "",
            fmt::format("no design {}; they are numbered from {} to {}", number, least, most),
            ""}}};
    }
  }
}

void add_design_searches(Page& page, const std::vector<DesignSearchResult>& all, Names& names) {
  for (const DesignSearchResult& search : all) {
    page.sections.push_back(design_search_section(
        search, [&names](const std::string& words) { return names.of(words); }));
  }
}

void add_measured(Page& page, const std::vector<MeasuredResult>& all, Names& names) {
  for (const MeasuredResult& measured : all) {
    const std::string title = fmt::format("{}: predicted against measured", measured.gpu);
    page.sections.push_back(
        {names.of(title),
         title,
         {"Measurements: " + measured.source + "."},
         {predictions_figure(measured, names.of(measured.gpu + " predicted"))}});
  }
}

}  // namespace

Page report_page(const ReportInput& input) {
  check_designs(input);
  Page page{title_of(input), {}, {}, ""};
  Names names;
  StudyColours colours;
  const std::vector<Study>& studies = input.results.studies;
  const bool several = std::any_of(studies.begin(), studies.end(), [&](const Study& study) {
    return !study.campaign.empty() && study.campaign != studies.front().campaign;
  });
  for (std::size_t i = 0; i < std::min(kMostStudiesDrawn, studies.size()); ++i) {
    page.sections.push_back(study_section(studies[i], several, kMostRows / studies.size(),
                                          input.designs, names, colours));
  }
  if (!studies.empty()) {
    page.paragraphs.push_back(counts_text(studies));
  }
  if (studies.size() > kMostStudiesDrawn) {
    page.paragraphs.push_back(
        fmt::format("The first {} of {} questions are drawn; all are in the table of points.",
                    kMostStudiesDrawn, studies.size()));
  }
  for (const HistogramResult& histogram : input.results.histograms) {
    const std::string title =
        fmt::format("{} on {}: mappings by energy", histogram.workload, histogram.arch);
    Section section{names.of(title), title, widths_paragraphs({histogram.widths}), {}};
    if (histogram.counts.empty()) {
      section.paragraphs.emplace_back("No sampled mapping reaches the requested utilization.");
    } else {
      section.parts.emplace_back(
          histogram_figure(histogram, names.of(histogram.workload + " histogram")));
    }
    page.sections.push_back(std::move(section));
  }
  for (const FrontResult& front : input.results.fronts) {
    const std::string title =
        fmt::format("{} on {}: energy against latency", front.workload, front.arch);
    Section section{names.of(title), title, widths_paragraphs({front.widths}), {}};
    if (front.points.empty()) {
      section.paragraphs.emplace_back("No mapping fits.");
    } else {
      section.parts.emplace_back(front_figure(front, names.of(front.workload + " front")));
    }
    page.sections.push_back(std::move(section));
  }
  add_design_searches(page, input.results.design_searches, names);
  add_measured(page, input.measured, names);
  if (studies.size() > 1) {
    page.sections.push_back(
        {names.of("sums"), "All sums", {}, {sums_table(studies, names.of("sums table"))}});
  }
  if (!studies.empty()) {
    page.sections.push_back(
        {names.of("points"), "Points", {}, {points_table(studies, names.of("points table"))}});
  }
  page.footer =
      fmt::format("Made by mapsim {} from {}.", tool_version(), joined(input.sources, ", "));
  return page;
}

}  // namespace mapsim
