// SPDX-License-Identifier: Apache-2.0
#include "campaign/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "campaign/report_energy.hpp"
#include "core/diagnostic.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"

namespace mapsim {

namespace {

constexpr double kPicojoule = 1e-12;

std::string joined(const std::vector<std::string>& words, const char* separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

// A name for links and files: small letters, digits, hyphens; unlike all before it.
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
  std::set<std::string> used_;
};

// A column of numbers in the unit with the prefix that suits the largest.
struct Scale {
  double factor = 1;
  std::string title;
};
Scale scale_of(const std::string& quantity, const std::string& unit, double most) {
  const ChartAxis axis = ChartAxis::from_zero(quantity, unit, most);
  return {axis.factor(), axis.title()};
}

// What differs between the designs of a study: paths, each a column.
std::vector<std::string> setting_paths(const Study& study) {
  std::vector<std::string> paths;
  for (const DesignResult& design : study.designs) {
    for (const auto& [path, value] : design.settings) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
        paths.push_back(path);
      }
    }
  }
  return paths;
}

// Numbers with a unit sort as numbers where all of a column have the same one.
TableCell setting_cell(const DesignResult& design, const std::string& path) {
  const auto at = std::find_if(design.settings.begin(), design.settings.end(),
                               [&path](const auto& setting) { return setting.first == path; });
  return at == design.settings.end() ? TableCell{} : TableCell{at->second};
}

// Columns that say nothing are left out: nothing in them, or how often or how many for naught.
void drop_idle_columns(PageTable& table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const std::string& key = table.columns[column].key;
    const std::optional<double> usual = key == "count"     ? std::optional{1.0}
                                        : key == "missing" ? std::optional{0.0}
                                                           : std::nullopt;
    const bool idle = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      const auto* number = std::get_if<double>(&row[column]);
      return std::holds_alternative<std::monostate>(row[column]) ||
             (number != nullptr && usual && *number == *usual);
    });
    if (idle) {
      table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
      for (auto& row : table.rows) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
      }
    }
  }
}

PageTable designs_table(const Study& study, const std::string& name) {
  const std::vector<std::string> paths = setting_paths(study);
  double most_energy = 0;
  double most_seconds = 0;
  double most_edp = 0;
  for (const DesignResult& design : study.designs) {
    most_energy = std::max(most_energy, design.energy_pj() * kPicojoule);
    most_edp = std::max(most_edp, design.energy_pj() * kPicojoule * design.seconds());
    most_seconds = std::max(most_seconds, design.seconds());
  }
  const Scale energy = scale_of("energy", "J", most_energy);
  const Scale latency = scale_of("latency", "s", most_seconds);
  const Scale edp = scale_of("EDP", "J\u00b7s", most_edp);
  std::set<std::string> front;
  for (const DesignPoint& point : design_points(study)) {
    if (point.on_front) {
      front.insert(point.name);
    }
  }
  PageTable table{name, "", {{"design", "design"}, {"arch", "machine", true}}, {}};
  for (const std::string& path : paths) {
    table.columns.push_back({path, short_path(path), true});
  }
  for (const auto& [key, title] : {std::pair<std::string, std::string>{"energy", energy.title},
                                   {"latency", latency.title},
                                   {"edp", edp.title},
                                   {"area", "area (mm²)"},
                                   {"utilization", "use of MACs (%)"},
                                   {"missing", "layers missing"}}) {
    table.columns.push_back({key, title});
  }
  table.columns.push_back({"front", "front", true});
  for (const DesignResult& design : study.designs) {
    const auto missing = std::count_if(design.layers.begin(), design.layers.end(),
                                       [](const LayerResult& layer) { return !layer.energy_pj; });
    const auto figure = [&](double value) { return missing == 0 ? TableCell{value} : TableCell{}; };
    std::vector<TableCell> row{static_cast<double>(design.number), design.arch};
    for (const std::string& path : paths) {
      row.push_back(setting_cell(design, path));
    }
    const double joules = design.energy_pj() * kPicojoule;
    row.insert(row.end(),
               {figure(joules / energy.factor), figure(design.seconds() / latency.factor),
                figure(joules * design.seconds() / edp.factor),
                design.area_mm2 ? TableCell{*design.area_mm2} : TableCell{},
                figure(100 * design.utilization()), static_cast<double>(missing)});
    row.push_back(front.contains(fmt::format("{}", design.number)) ? TableCell{"front"}
                                                                   : TableCell{});
    table.rows.push_back(std::move(row));
  }
  drop_idle_columns(table);
  table.caption = fmt::format(
      "The {} designs on {}{}; those without figures have no mapping of some layer.",
      study.designs.size(), layers_name(study),
      study.network.empty() ? ", each layer once" : ", each layer as often as it occurs");
  return table;
}

// Every row of every study.
PageTable points_table(const std::vector<Study>& studies, const std::string& name) {
  double most_energy = 0;
  double most_seconds = 0;
  std::size_t rows = 0;
  for (const Study& study : studies) {
    for (const DesignResult& design : study.designs) {
      rows += design.layers.size();
      for (const LayerResult& layer : design.layers) {
        most_energy = std::max(most_energy, layer.energy_pj.value_or(0) * kPicojoule);
        if (design.clock_hz > 0) {
          most_seconds =
              std::max(most_seconds, static_cast<double>(layer.cycles) / design.clock_hz);
        }
      }
    }
  }
  const Scale energy = scale_of("energy", "J", most_energy);
  const Scale latency = scale_of("latency", "s", most_seconds);
  PageTable table{
      name,
      rows == 1 ? "The one point." : fmt::format("All {} points, one layer each.", rows),
      {{"question", "question", true},
       {"design", "design"},
       {"arch", "machine", true},
       {"network", "network", true},
       {"layer", "layer", true},
       {"count", "times"},
       {"energy", energy.title},
       {"latency", latency.title},
       {"utilization", "use of MACs (%)"},
       {"bottleneck", "limited by", true},
       {"gap", "gap (%)"},
       {"status", "status", true},
       {"reason", "reason", true}},
      {}};
  for (const Study& study : studies) {
    for (const DesignResult& design : study.designs) {
      for (const LayerResult& layer : design.layers) {
        const bool mapped = layer.energy_pj.has_value();
        const auto figure = [mapped](double value) {
          return mapped ? TableCell{value} : TableCell{};
        };
        const auto words = [](const std::string& text) {
          return text.empty() ? TableCell{} : TableCell{text};
        };
        table.rows.push_back(
            {study.question(), static_cast<double>(design.number), design.arch,
             words(study.network), layer.layer, static_cast<double>(layer.count),
             figure(layer.energy_pj.value_or(0) * kPicojoule / energy.factor),
             figure(static_cast<double>(layer.cycles) / design.clock_hz / latency.factor),
             figure(100 * layer.utilization), words(layer.bottleneck),
             layer.gap ? TableCell{100 * *layer.gap} : TableCell{},
             layer.status.empty() ? TableCell{"not computed"} : TableCell{layer.status},
             words(layer.reason)});
      }
    }
  }
  drop_idle_columns(table);
  return table;
}

std::string extreme(const Study& study, const char* what,
                    const std::function<double(const DesignPoint&)>& measure,
                    const std::string& unit) {
  const std::vector<DesignPoint> points = design_points(study);
  const auto least = std::min_element(
      points.begin(), points.end(),
      [&](const DesignPoint& a, const DesignPoint& b) { return measure(a) < measure(b); });
  return fmt::format("least {} {} (design {})", what, si_text(measure(*least), unit, 4),
                     least->name);
}

std::vector<std::string> findings(const Study& study) {
  const auto complete =
      std::count_if(study.designs.begin(), study.designs.end(),
                    [](const DesignResult& design) { return design.is_complete(); });
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
      best->mac_units > 0
          ? fmt::format(": {:.1f} % of the MAC units' time is used", 100 * best->utilization())
          : "");
  if (study.designs.size() > 1) {
    text +=
        fmt::format(" Of all designs: {}, {}",
                    extreme(
                        study, "energy", [](const DesignPoint& p) { return p.energy; }, "J"),
                    extreme(study, "latency", [](const DesignPoint& p) { return p.seconds; }, "s"));
    if (best->area_mm2) {
      text +=
          ", " +
          extreme(study, "area", [](const DesignPoint& p) { return p.area.value_or(0); }, "mm²");
    }
    text += ".";
  }
  if (const DesignResult::Streams streams = best->streams(); streams.count > 0) {
    text += fmt::format(
        " {} operators that only move data take {:.1f} % of the time and {:.1f} % of the energy.",
        streams.count, 100 * streams.time, 100 * streams.energy);
  }
  return {text};
}

std::string reasons(const Study& study) {
  std::map<std::string, int> counts;
  for (const DesignResult& design : study.designs) {
    for (const LayerResult& layer : design.layers) {
      if (!layer.energy_pj) {
        ++counts[layer.status.empty() ? "not computed yet" : layer.reason];
      }
    }
  }
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [reason, count] : counts) {
    sorted.emplace_back(-count, reason);
  }
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, sorted.size()); ++i) {
    text += fmt::format("{}{} \u00d7 {}", text.empty() ? "Points without a mapping: " : "; ",
                        -sorted[i].first, sorted[i].second);
  }
  return text.empty() ? text : text + (sorted.size() > 5 ? "; and others." : ".");
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
  if (!mappings.empty()) {
    const std::string of = fmt::format("design {}", design.number);
    section.parts.emplace_back(
        Listing{"Mappings of " + (study.designs.size() == 1 ? design.arch : of), mappings});
  }
}

// `several`: campaigns in the report.
Section study_section(const Study& study, bool several, const std::vector<std::size_t>& wanted,
                      Names& names, StudyColours& colours) {
  const std::string of =
      (several && !study.campaign.empty() ? study.campaign + ", " : std::string{}) +
      layers_name(study);
  const std::string title = fmt::format("{}: {}", of, study.question());
  const std::string prefix = of + study.question().substr(std::string{"least"}.size());
  Section section{names.of(title), title, findings(study), {}};
  if (const std::string text = reasons(study); !text.empty()) {
    section.paragraphs.push_back(text);
  }
  if (!study.fixed.empty()) {
    section.paragraphs.push_back("All designs: " + joined(study.fixed, ", ") + ".");
  }
  if (!study.unpriced.empty()) {
    section.paragraphs.push_back(
        "In no sum, as nothing is known of them: " + joined(study.unpriced, ", ") + ".");
  }
  if (design_points(study).size() > 1) {
    section.parts.emplace_back(designs_figure(study, names.of(prefix + " designs")));
    section.parts.emplace_back(
        design_energy_figure(study, names.of(prefix + " designs energy"), colours));
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
    section.parts.emplace_back(designs_table(study, names.of(prefix + " designs table")));
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
  for (const MeasuredResult& measured : input.measured) {
    add(measured.gpu);
  }
  return joined(titles, "; ");
}

std::string counts_text(const std::vector<Study>& studies) {
  std::size_t points = 0;
  std::size_t mapped = 0;
  std::size_t proven = 0;
  std::size_t priced = 0;
  std::size_t missing = 0;
  std::set<std::pair<std::string, std::size_t>> designs;
  for (const Study& study : studies) {
    for (const DesignResult& design : study.designs) {
      designs.emplace(study.campaign, design.number);
      for (const LayerResult& layer : design.layers) {
        ++points;
        mapped += layer.energy_pj ? 1U : 0U;
        proven += layer.status == "optimal" ? 1U : 0U;
        priced += layer.status == "priced" ? 1U : 0U;
        missing += layer.status.empty() ? 1U : 0U;
      }
    }
  }
  return fmt::format(
      "{} point{} of {} design{}: {} with a mapping, {} of them proven optimal{}{}{}.",
      grouped(static_cast<std::int64_t>(points)), points == 1 ? "" : "s", designs.size(),
      designs.size() == 1 ? "" : "s", grouped(static_cast<std::int64_t>(mapped - priced)),
      grouped(static_cast<std::int64_t>(proven)),
      priced > 0 ? fmt::format("; {} move data only", priced) : "",
      points > mapped + missing ? fmt::format("; {} without", points - mapped - missing) : "",
      missing > 0 ? fmt::format("; {} not computed yet", missing) : "");
}

void check_designs(const ReportInput& input) {
  for (const std::size_t number : input.designs) {
    std::size_t most = 0;
    bool found = false;
    for (const Study& study : input.results.studies) {
      for (const DesignResult& design : study.designs) {
        most = std::max(most, design.number);
        found = found || design.number == number;
      }
    }
    if (!found) {
      throw ConfigError{
          {{input.sources.empty() ? "" : input.sources.front(), 0, 0, "",
            fmt::format("no design {}; they are numbered from 1 to {}", number, most), ""}}};
    }
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
    page.sections.push_back(study_section(studies[i], several, input.designs, names, colours));
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
    Section section{names.of(title), title, {}, {}};
    if (histogram.counts.empty()) {
      section.paragraphs.emplace_back("No mapping met keeps the machine as busy as was asked.");
    } else {
      section.parts.emplace_back(
          histogram_figure(histogram, names.of(histogram.workload + " histogram")));
    }
    page.sections.push_back(std::move(section));
  }
  for (const FrontResult& front : input.results.fronts) {
    const std::string title =
        fmt::format("{} on {}: energy against latency", front.workload, front.arch);
    Section section{names.of(title), title, {}, {}};
    if (front.points.empty()) {
      section.paragraphs.emplace_back("No mapping fits.");
    } else {
      section.parts.emplace_back(front_figure(front, names.of(front.workload + " front")));
    }
    page.sections.push_back(std::move(section));
  }
  for (const MeasuredResult& measured : input.measured) {
    const std::string title = fmt::format("{}: predicted against measured", measured.gpu);
    page.sections.push_back(
        {names.of(title),
         title,
         {"Measurements: " + measured.source + "."},
         {predictions_figure(measured, names.of(measured.gpu + " predicted"))}});
  }
  if (!studies.empty()) {
    page.sections.push_back(
        {names.of("points"), "All points", {}, {points_table(studies, names.of("points table"))}});
  }
  page.footer =
      fmt::format("Made by mapsim {} from {}.", tool_version(), joined(input.sources, ", "));
  return page;
}

}  // namespace mapsim
