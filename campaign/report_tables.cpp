// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "campaign/report.hpp"
#include "campaign/report_energy.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

// A column of numbers in the unit with the prefix that suits the largest.
struct Scale {
  double factor = 1;
  std::string title;
};
Scale scale_of(const std::string& quantity, const std::string& unit, double most) {
  const ChartAxis axis = ChartAxis::from_zero(quantity, unit, most);
  return {axis.factor(), axis.title()};
}

// Of all designs of a table.
struct Scales {
  Scale energy, latency, edp;
};
Scales scales_of(const std::vector<std::vector<const DesignResult*>>& listed) {
  double most_energy = 0;
  double most_seconds = 0;
  double most_edp = 0;
  for (const auto& designs : listed) {
    for (const DesignResult* const design : designs) {
      const double joules = design->energy_pj() * kPicojoule;
      most_energy = std::max(most_energy, joules);
      most_seconds = std::max(most_seconds, design->seconds());
      most_edp = std::max(most_edp, joules * design->seconds());
    }
  }
  return {scale_of("energy", "J", most_energy), scale_of("latency", "s", most_seconds),
          scale_of("EDP", "J\u00b7s", most_edp)};
}

// Numbers with a unit sort as numbers where all of a column have the same one.
TableCell setting_cell(const DesignResult& design, const std::string& path) {
  const std::string value = setting_value(design, path);
  return value.empty() ? TableCell{} : TableCell{value};
}

void drop_column(PageTable& table, std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) {
    row.erase(row.begin() + at);
  }
}

// Columns that say nothing are left out: nothing in them, or how often or how many for naught.
void drop_idle_columns(PageTable& table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const std::string& key = table.columns[column].key;
    constexpr double kNone = -1;  // below all numbers
    const double usual = key == "count" ? 1 : key == "missing" ? 0 : kNone;
    const bool idle = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      const auto* number = std::get_if<double>(&row[column]);
      return std::holds_alternative<std::monostate>(row[column]) ||
             (number != nullptr && *number == usual);
    });
    if (idle) {
      drop_column(table, column);
    }
  }
}

// What is not chosen jointly for a network's EDP.
TableCell chosen_cell(const Study& study, const DesignResult& design) {
  return study.is_network_edp() && design.is_complete() && !design.edp_lower_bound
             ? TableCell{"by layer"}
             : TableCell{};
}

// Rows, those shown, and the most that one of these takes.
struct Extent {
  std::size_t rows = 0, shown = 0;
  double energy = 0, seconds = 0;
};
Extent extent_of(const std::vector<Study>& studies) {
  Extent most;
  for (const Study& study : studies) {
    for (const DesignResult& design : study.designs) {
      most.rows += design.sums.layers;
      most.shown += design.layers.size();
      for (const LayerResult& layer : design.layers) {
        most.energy = std::max(most.energy, layer.energy_pj.value_or(0) * kPicojoule);
        if (design.clock_hz > 0) {
          most.seconds =
              std::max(most.seconds, static_cast<double>(layer.cycles) / design.clock_hz);
        }
      }
    }
  }
  return most;
}

// Of all rows one question: in the caption, not in a column. Of one campaign not a word.
void say_question_once(const std::vector<Study>& studies, PageTable& table) {
  const bool one = std::all_of(studies.begin(), studies.end(), [&studies](const Study& study) {
    return study.question() == studies.front().question();
  });
  if (one) {
    table.caption.pop_back();
    table.caption = fmt::format("{}: {}.", table.caption, studies.front().question());
    drop_column(table, 0);
  }
  const auto is_same = [&studies](const Study& study) {
    return study.campaign == studies.front().campaign;
  };
  if (std::all_of(studies.begin(), studies.end(), is_same)) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].key == "campaign") {
        drop_column(table, i);
        break;
      }
    }
  }
}

// "The one point.", "All 12 points, one layer each.", or how many of them and which.
std::string points_caption(const Extent& points) {
  if (points.rows == 1) {
    return "The one point.";
  }
  return points.shown == points.rows
             ? fmt::format("All {} points, one layer each.", points.rows)
             : fmt::format(
                   "Of {} points, one layer each, the {} of the designs on the fronts and "
                   "with the least objectives; 'mapsim results --csv' prints all.",
                   points.rows, points.shown);
}

std::string designs_caption(const Study& study, std::size_t listed) {
  const std::string which =
      listed == study.designs.size()
          ? fmt::format("The {} designs", listed)
          : fmt::format("Of {} designs the {} on the front and with the least {},",
                        study.designs.size(), listed, study.objective);
  return fmt::format(
      "{} on {}{}; those without figures have no mapping of some layer.", which, layers_name(study),
      study.network.empty() ? ", each layer once" : ", each layer as often as it occurs");
}

}  // namespace

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

std::string setting_value(const DesignResult& design, const std::string& path) {
  const auto at = std::find_if(design.settings.begin(), design.settings.end(),
                               [&path](const auto& setting) { return setting.first == path; });
  return at == design.settings.end() ? "" : at->second;
}

PageTable designs_table(const Study& study, const StudyPoints& points, std::size_t rows,
                        const std::string& name) {
  const std::vector<const DesignResult*> listed = listed_designs(study, points, rows, false);
  const std::vector<std::string> paths = setting_paths(study);
  const auto [energy, latency, edp] = scales_of({listed});
  std::set<std::string> front;
  for (const DesignPoint& point : points.points) {
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
                                   {"edp_gap", "EDP: not proven (%)"},
                                   {"utilization", "use of MACs (%)"},
                                   {"missing", "layers missing"}}) {
    table.columns.push_back({key, title});
  }
  table.columns.push_back({"chosen", "mappings chosen", true});
  table.columns.push_back({"front", "front", true});
  for (const DesignResult* const shown : listed) {
    const DesignResult& design = *shown;
    const std::size_t missing = design.sums.layers - design.sums.mapped;
    const auto figure = [&](double value) { return missing == 0 ? TableCell{value} : TableCell{}; };
    std::vector<TableCell> row{static_cast<double>(design.number), design.arch};
    for (const std::string& path : paths) {
      row.push_back(setting_cell(design, path));
    }
    const double joules = design.energy_pj() * kPicojoule;
    const std::optional<double> gap = design.edp_gap();
    row.insert(row.end(),
               {figure(joules / energy.factor), figure(design.seconds() / latency.factor),
                figure(joules * design.seconds() / edp.factor),
                design.area_mm2 ? TableCell{*design.area_mm2} : TableCell{},
                gap && std::isfinite(*gap) ? TableCell{100 * *gap} : TableCell{},
                figure(100 * design.utilization()), static_cast<double>(missing)});
    row.push_back(chosen_cell(study, design));
    row.push_back(front.contains(fmt::format("{}", design.number)) ? TableCell{"front"}
                                                                   : TableCell{});
    table.rows.push_back(std::move(row));
    table.links.push_back({designs_link(study.source, study.campaign), ""});
  }
  drop_idle_columns(table);
  table.caption = designs_caption(study, listed.size());
  return table;
}

PageTable sums_table(const std::vector<Study>& studies, const std::string& name) {
  std::vector<std::vector<const DesignResult*>> listed;
  for (const Study& study : studies) {
    listed.push_back(
        listed_designs(study, design_points(study), kMostRows / studies.size(), false));
  }
  const auto [energy, latency, edp] = scales_of(listed);
  PageTable table{
      name,
      "The sums of every network on every design that is listed, each layer as often as "
      "it occurs.",
      {{"objective", "objective", true},
       {"campaign", "campaign", true},
       {"network", "network", true},
       {"design", "design"},
       {"machine", "machine and settings", true},
       {"energy", energy.title},
       {"latency", latency.title},
       {"edp", edp.title},
       {"utilization", "use of MACs (%)"},
       {"missing", "layers missing"},
       {"chosen", "mappings chosen", true},
       {"best", "best", true}},
      {}};
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const Study& study = studies[i];
    const DesignResult* const best = study.best();
    for (const DesignResult* design : listed[i]) {
      const std::size_t missing = design->sums.layers - design->sums.mapped;
      const auto figure = [&](double value) {
        return missing == 0 ? TableCell{value} : TableCell{};
      };
      const double joules = design->energy_pj() * kPicojoule;
      table.rows.push_back(
          {study.question(), study.campaign.empty() ? TableCell{} : TableCell{study.campaign},
           layers_name(study), static_cast<double>(design->number), design->name(),
           figure(joules / energy.factor), figure(design->seconds() / latency.factor),
           figure(joules * design->seconds() / edp.factor), figure(100 * design->utilization()),
           static_cast<double>(missing), chosen_cell(study, *design),
           design == best ? TableCell{"best"} : TableCell{}});
      table.links.push_back({designs_link(study.source, study.campaign), ""});
    }
  }
  drop_idle_columns(table);
  say_question_once(studies, table);
  return table;
}

PageTable points_table(const std::vector<Study>& studies, const std::string& name) {
  const Extent most = extent_of(studies);
  const Scale energy = scale_of("energy", "J", most.energy);
  const Scale latency = scale_of("latency", "s", most.seconds);
  PageTable table{name,
                  points_caption(most),
                  {{"objective", "objective", true},
                   {"campaign", "campaign", true},
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
    const PageLinks links{designs_link(study.source, study.campaign), layers_link(study)};
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
            {study.question(), words(study.campaign), static_cast<double>(design.number),
             design.arch, words(study.network), layer.layer, static_cast<double>(layer.count),
             figure(layer.energy_pj.value_or(0) * kPicojoule / energy.factor),
             figure(static_cast<double>(layer.cycles) / design.clock_hz / latency.factor),
             figure(100 * layer.utilization), words(layer.bottleneck),
             layer.gap ? TableCell{100 * *layer.gap} : TableCell{},
             layer.status.empty() ? TableCell{"not computed"} : TableCell{layer.status},
             words(layer.reason)});
        table.links.push_back(links);
      }
    }
  }
  drop_idle_columns(table);
  say_question_once(studies, table);
  return table;
}

}  // namespace mapsim
