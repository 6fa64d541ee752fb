// SPDX-License-Identifier: Apache-2.0
// What a report shows of a search for the best design of a space.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "campaign/json_figures.hpp"
#include "campaign/report.hpp"
#include "campaign/report_energy.hpp"
#include "report/chart.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

DesignResult design_of(const Json& json) {
  DesignResult design;
  design.number = static_cast<std::size_t>(whole_at(json, "design"));
  design.arch = machine_name(json, "arch");
  for (const auto& [path, value] : json.at("settings").items()) {
    design.settings.emplace_back(path, value.is_string() ? value.get<std::string>() : value.dump());
  }
  design.clock_hz = clock_of(json);
  design.area_mm2 = number(json, "area_mm2");
  design.sums.energy_pj = figure_at(json, "energy_pj");
  design.sums.cycles = whole_at(json, "latency_cycles");
  return design;
}

ObjectiveFunction function_of(const std::string& objective) {
  const auto parsed = parse_objective_function(objective == "sum-edp" ? "edp" : objective);
  if (const auto* const problem = std::get_if<std::string>(&parsed)) {
    throw Unreadable{"objective: " + *problem};
  }
  return std::get<ObjectiveFunction>(parsed);
}

// Steps of which no figure is known are no bars.
std::vector<DesignStep> steps_of(const Json& json, const std::optional<double>& area) {
  std::vector<DesignStep> steps;
  for (const Json& entry : json) {
    const auto most = number(entry, "most_share");
    if (!most) {
      continue;
    }
    DesignStep step{short_path(entry.at("axis")), entry.at("value"), *most - 1, std::nullopt,
                    entry.at("excluded").get<std::string>().empty()};
    if (const auto other = number(entry, "area_mm2"); other && area && *area > 0) {
      step.area_change = *other / *area - 1;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

// "7 valued in full, 300 excluded by a bound": what carried the proof.
std::string proof_text(const Json& designs) {
  std::vector<std::string> parts;
  for (const auto& [key, what] : {std::pair{"valued", "valued in full"},
                                  {"excluded_by_bound", "excluded by a bound"},
                                  {"excluded_by_area", "excluded by their area"},
                                  {"excluded_by_limit", "excluded by a limit"},
                                  {"infeasible", "excluded, since a layer does not fit"},
                                  {"unreadable",
                                   "excluded, since their values contradict each "
                                   "other"},
                                  {"open", "not decided"}}) {
    if (const double count = figure_at(designs, key); count > 0) {
      parts.push_back(fmt::format("{} {}", count_text(count), what));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string remark_of(const Json& json) {
  const std::string total = count_text(figure_at(json.at("designs"), "total"));
  if (json.at("proven").get<bool>()) {
    const auto gap = number(json, "gap_allowed").value_or(0);
    const auto limits = {"max_area_mm2", "max_energy_pj", "max_latency_seconds", "max_power_mw"};
    const bool any = std::any_of(limits.begin(), limits.end(), [&json](const char* key) {
      return number(json, key).has_value();
    });
    return fmt::format("proven: no other of the {} designs {}is better{}", total,
                       any ? "keeps the limits and " : "",
                       gap > 0 ? fmt::format(" by more than {}", percent(gap)) : "");
  }
  return fmt::format("stopped early: the best found of {} designs", total);
}

}  // namespace

DesignSearchResult design_search_of(const Json& json) {
  DesignSearchResult result;
  result.campaign = json.at("campaign");
  result.is_front = json.at("wanted") == "front";
  FoundDesigns& found = result.found;
  found.objective = json.at("objective");
  found.function = function_of(found.objective);
  found.remark = remark_of(json);
  found.title = result.is_front
                    ? fmt::format("{}: {} against area", result.campaign, found.objective)
                    : fmt::format("{}: one step from the best design", result.campaign);
  for (const Json& answer : json.at("answers")) {
    result.answers.push_back(design_of(answer));
    const DesignResult& design = result.answers.back();
    found.designs.push_back(
        {design.number, design.name(), figure_at(answer, "value"), design.area_mm2});
  }
  if (!result.answers.empty()) {
    found.steps = steps_of(json.at("steps"), result.answers.front().area_mm2);
  }
  result.proof = proof_text(json.at("designs"));
  for (const Json& edge : json.at("edges")) {
    result.edges.push_back(fmt::format("{} (its {} value is {})", short_path(edge.at("axis")),
                                       edge.at("end").get<std::string>(),
                                       edge.at("value").get<std::string>()));
  }
  return result;
}

namespace {

std::string csv_of_front(const DesignSearchResult& result) {
  std::string csv =
      fmt::format("design,{},area_mm2,energy_j,latency_s\n", csv_field(result.found.objective));
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    const DesignResult& design = result.answers[i];
    csv += fmt::format("{},{},{},{},{}\n", csv_field(result.found.designs[i].numbered()),
                       result.found.to_si(result.found.designs[i].value),
                       design.area_mm2 ? fmt::format("{}", *design.area_mm2) : "",
                       design.energy_pj() * kPicojoule, design.seconds());
  }
  return csv;
}

PageFigure front_figure(const DesignSearchResult& result, const std::string& name) {
  const std::string caption = fmt::format(
      "The {} of designs of {} against their area, {}. Numbers are those of the designs.",
      result.found.objective, result.campaign, result.found.remark);
  return {name,
          caption,
          design_front_svg(result.found),
          csv_of_front(result),
          {designs_link(result.source, result.campaign), ""}};
}

PageFigure steps_figure(const DesignSearchResult& result, const std::string& name) {
  const FoundDesigns& found = result.found;
  std::string csv = fmt::format("axis,value,{}_change,area_change,allowed\n", found.objective);
  for (const DesignStep& step : found.steps) {
    csv += fmt::format("{},{},{},{},{}\n", csv_field(step.axis), csv_field(step.value), step.change,
                       step.area_change ? fmt::format("{}", *step.area_change) : "",
                       step.is_allowed ? 1 : 0);
  }
  const std::string caption = fmt::format(
      "One step from the best design, {}: the next value of one axis in place of its own, all "
      "others kept.",
      found.designs.front().numbered());
  return {name, caption, design_steps_svg(found), csv};
}

PageTable answers_table(const DesignSearchResult& result, const std::string& name) {
  const FoundDesigns& found = result.found;
  PageTable table{name,
                  result.is_front ? "The designs of the front." : "The best designs.",
                  {{"design", "design"}, {"arch", "machine", true}},
                  {}};
  for (const auto& [path, value] : result.answers.front().settings) {
    table.columns.push_back({path, short_path(path), true});
  }
  double most_value = 0;
  double most_joules = 0;
  double most_seconds = 0;
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    most_value = std::max(most_value, found.to_si(found.designs[i].value));
    most_joules = std::max(most_joules, result.answers[i].energy_pj() * kPicojoule);
    most_seconds = std::max(most_seconds, result.answers[i].seconds());
  }
  const ChartAxis value = ChartAxis::from_zero(found.objective, found.si_unit(), most_value);
  const ChartAxis energy = ChartAxis::from_zero("energy", "J", most_joules);
  const ChartAxis latency = ChartAxis::from_zero("latency", "s", most_seconds);
  table.columns.insert(table.columns.end(), {{"value", value.title()},
                                             {"energy", energy.title()},
                                             {"latency", latency.title()},
                                             {"area", "area (mm\u00b2)"}});
  for (std::size_t i = 0; i < result.answers.size(); ++i) {
    const DesignResult& design = result.answers[i];
    std::vector<TableCell> row{static_cast<double>(design.number), design.arch};
    for (const auto& [path, own] : result.answers.front().settings) {
      row.emplace_back(setting_value(design, path));
    }
    row.insert(row.end(), {found.to_si(found.designs[i].value) / value.factor(),
                           design.energy_pj() * kPicojoule / energy.factor(),
                           design.seconds() / latency.factor(),
                           design.area_mm2 ? TableCell{*design.area_mm2} : TableCell{}});
    table.rows.push_back(std::move(row));
    table.links.push_back({designs_link(result.source, result.campaign), ""});
  }
  return table;
}

}  // namespace

std::string design_search_svg(const std::string& json) {
  const DesignSearchResult result = design_search_of(Json::parse(json));
  return standalone(result.is_front ? design_front_svg(result.found)
                                    : design_steps_svg(result.found));
}

Section design_search_section(const DesignSearchResult& result,
                              const std::function<std::string(const std::string&)>& name_of) {
  const FoundDesigns& found = result.found;
  const std::string title =
      result.is_front ? fmt::format("{}: designs by {} and area", result.campaign, found.objective)
                      : fmt::format("{}: the best design by {}", result.campaign, found.objective);
  Section section{name_of(title), title, {}, {}};
  if (result.answers.empty()) {
    section.paragraphs = {"No design can be used: " + result.proof + "."};
    return section;
  }
  const DesignResult& best = result.answers.front();
  section.paragraphs.push_back(
      fmt::format("The best design is {}: {} {}, with {} and {} for all layers{}.",
                  found.designs.front().numbered(), found.objective,
                  si_text(found.to_si(found.designs.front().value), found.si_unit(), 4),
                  si_text(best.energy_pj() * kPicojoule, "J", 4), si_text(best.seconds(), "s", 4),
                  best.area_mm2 ? fmt::format(", on {:.4g} mm\u00b2", *best.area_mm2) : ""));
  std::string remark = found.remark;
  remark[0] = remark.starts_with('p') ? 'P' : 'S';
  section.paragraphs.push_back(fmt::format("{}. Of them: {}.", remark, result.proof));
  if (!result.edges.empty()) {
    section.paragraphs.push_back(
        fmt::format("The best design lies at an edge of the space, which may end too early: {}.",
                    fmt::join(result.edges, ", ")));
  }
  const auto has_area = [](const FoundDesign& design) { return design.area.value_or(0) > 0; };
  if (result.is_front && std::any_of(found.designs.begin(), found.designs.end(), has_area)) {
    section.parts.emplace_back(front_figure(result, name_of(result.campaign + " front")));
  }
  if (!found.steps.empty()) {
    section.parts.emplace_back(steps_figure(result, name_of(result.campaign + " steps")));
  }
  section.parts.emplace_back(answers_table(result, name_of(result.campaign + " designs table")));
  return section;
}

}  // namespace mapsim
