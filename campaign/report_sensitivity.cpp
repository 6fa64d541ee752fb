// SPDX-License-Identifier: Apache-2.0
// What one setting is worth: the best design beside those of its campaign that differ in it alone.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "campaign/report.hpp"
#include "campaign/report_energy.hpp"
#include "report/chart.hpp"

namespace mapsim {

namespace {

// Of a setting, in the table: of more values every second one, or fewer, are listed.
constexpr std::size_t kMostValues = 500;

// Same machine, same values but for one path.
bool differs_only_in(const DesignResult& one, const DesignResult& other, const std::string& path) {
  if (one.arch != other.arch || one.settings.size() != other.settings.size()) {
    return false;
  }
  bool differs = false;
  for (const auto& [name, value] : one.settings) {
    const bool same = setting_value(other, name) == value;
    if (name != path && !same) {
      return false;
    }
    differs = differs || (name == path && !same);
  }
  return differs;
}

struct Variants {
  std::string path;
  std::vector<const DesignResult*> designs;
};

struct Measured {
  std::string name;
  double (*of)(const Study& study, const DesignResult& design);
};

const std::vector<Measured>& measures() {
  static const std::vector<Measured> kMeasures{
      {"energy", [](const Study&, const DesignResult& design) { return design.energy_pj(); }},
      {"latency", [](const Study&, const DesignResult& design) { return design.seconds(); }},
      {"objective", [](const Study& study, const DesignResult& design) {
         return design.value(study.goal().function);
       }}};
  return kMeasures;
}

double change(const Study& study, const Measured& measure, const DesignResult& design,
              const DesignResult& best) {
  const double before = measure.of(study, best);
  return before > 0 ? measure.of(study, design) / before - 1 : 0;
}

TornadoSwing swing_of(const Study& study, const Measured& measure, const Variants& variants,
                      const DesignResult& best) {
  TornadoSwing swing;
  for (const DesignResult* design : variants.designs) {
    const TornadoEnd end{change(study, measure, *design, best),
                         setting_value(*design, variants.path),
                         fmt::format("{}: ", design->number)};
    if (end.change < swing.low.change) {
      swing.low = end;
    } else if (end.change > swing.high.change) {
      swing.high = end;
    }
  }
  return swing;
}

std::vector<Variants> variants_of(const Study& study, const DesignResult& best) {
  std::vector<Variants> all;
  for (const std::string& path : setting_paths(study)) {
    Variants variants{path, {}};
    for (const DesignResult& design : study.designs) {
      if (design.is_complete() && differs_only_in(best, design, path)) {
        variants.designs.push_back(&design);
      }
    }
    if (!variants.designs.empty()) {
      all.push_back(std::move(variants));
    }
  }
  return all;
}

}  // namespace

std::optional<PageFigure> sensitivity_figure(const Study& study, const std::string& name) {
  const DesignResult* const best = study.best();
  std::vector<Variants> all = best == nullptr ? std::vector<Variants>{} : variants_of(study, *best);
  if (all.empty()) {
    return std::nullopt;
  }
  const auto worst = [&](const Variants& variants) {  // of the objective, which is measured last
    return swing_of(study, measures().back(), variants, *best).high.change;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Variants& a, const Variants& b) { return worst(a) > worst(b); });
  // Energy and latency are panels of their own already.
  const bool plain = study.objective == "energy" || study.objective == "latency";
  const std::size_t panels = measures().size() - (plain ? 1 : 0);
  std::vector<std::string> rows;
  std::vector<TornadoPanel> drawn;
  std::string csv = "setting,value,design,energy_change,latency_change,objective_change\n";
  for (std::size_t i = 0; i < panels; ++i) {
    const Measured& measure = measures()[i];
    drawn.push_back({i + 1 == measures().size() ? study.objective : measure.name, {}});
    for (const Variants& variants : all) {
      drawn.back().swings.push_back(swing_of(study, measure, variants, *best));
    }
  }
  for (const Variants& variants : all) {
    rows.push_back(
        fmt::format("{} ({})", short_path(variants.path), setting_value(*best, variants.path)));
    const std::size_t step = 1 + variants.designs.size() / kMostValues;
    for (std::size_t i = 0; i < variants.designs.size(); i += step) {
      const DesignResult* design = variants.designs[i];
      csv += fmt::format("{},{},{}", csv_field(variants.path),
                         csv_field(setting_value(*design, variants.path)), design->number);
      for (const Measured& measure : measures()) {
        csv += fmt::format(",{}", change(study, measure, *design, *best));
      }
      csv += "\n";
    }
  }
  const std::string caption = fmt::format(
      "What one setting is worth: design {} beside the designs of this campaign that differ from "
      "it in that setting alone. In brackets its own value; at the ends of a bar the value that "
      "changes the figure most, down and up.",
      best->number);
  return PageFigure{name,
                    caption,
                    tornado_svg(caption, rows, drawn),
                    csv,
                    {designs_link(study.source, study.campaign), ""}};
}

}  // namespace mapsim
