// SPDX-License-Identifier: Apache-2.0
#include "plan/given.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/reader.hpp"

namespace mapsim {

namespace {

class GivenReader {
 public:
  GivenReader(Reader& reader, const Soc& soc, const PlanAnswer& answer)
      : reader_{reader}, soc_{soc}, answer_{answer}, taken_(answer.operations.all.size(), false) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      nodes_.push_back(answer.operations.node(i).name);
    }
    for (const Engine& engine : soc.engines) {
      engines_.push_back(engine.name);
    }
  }

  std::vector<PlanStep> read() {
    const Fields top = reader_.fields(reader_.root(), {"name", "plan"});
    if (const Node* list = top.require("plan")) {
      for (const Node* item : reader_.items(*list, "a list of groups")) {
        read_group(*item);
      }
      check_all(*list);
    }
    std::sort(steps_.begin(), steps_.end(), [this](const PlanStep& a, const PlanStep& b) {
      return answer_.groups.all[a.choice].anchor < answer_.groups.all[b.choice].anchor;
    });
    return std::move(steps_);
  }

 private:
  void read_group(const Node& item) {
    const Fields fields =
        reader_.fields(item, {"nodes", "engine", "precision", "format", "elided"});
    std::vector<std::size_t> operations;
    if (const Node* list = fields.require("nodes")) {
      operations = reader_.choice_list(list, nodes_, "node that does something");
    }
    const auto engine = reader_.choice(fields.require("engine"), engines_, "engine");
    const bool elided = reader_.boolean(fields.find("elided")).value_or(false);
    if (operations.empty() || !engine) {
      return;
    }
    std::sort(operations.begin(), operations.end());
    for (const std::size_t i : operations) {
      if (taken_[i]) {
        reader_.error(item, fmt::format("{} is in another group already", nodes_[i]));
      }
      taken_[i] = true;
    }
    const auto group = group_of(operations, elided);
    if (!group) {
      reader_.error(item, why_none(operations, elided));
      return;
    }
    const auto place = place_of(fields, item, *engine);
    if (!place) {
      return;
    }
    const Price& price = answer_.prices[*group][*place];
    if (!price.problem.empty()) {
      reader_.error(item, fmt::format("it does not run there: {}", price.problem));
      return;
    }
    steps_.push_back({*group, *place});
  }

  std::optional<std::size_t> group_of(const std::vector<std::size_t>& operations,
                                      bool elided) const {
    for (std::size_t g = 0; g < answer_.groups.all.size(); ++g) {
      std::vector<std::size_t> own = answer_.groups.all[g].operations;
      std::sort(own.begin(), own.end());
      if (own == operations && answer_.groups.all[g].elided == elided) {
        return g;
      }
    }
    return std::nullopt;
  }

  std::string why_none(const std::vector<std::size_t>& operations, bool elided) const {
    std::string why = elided ? "no concat that can be elided" : "no rule makes these one kernel";
    for (const FusionObstacle& obstacle : answer_.groups.obstacles) {
      if (std::binary_search(operations.begin(), operations.end(), obstacle.operation)) {
        why += fmt::format("; {}: {}", nodes_[obstacle.operation], obstacle.what);
      }
    }
    return why;
  }

  std::optional<std::size_t> place_of(const Fields& fields, const Node& item, std::size_t engine) {
    const auto precision = fields.has("precision")
                               ? reader_.text(fields.find("precision"), "a precision")
                               : std::nullopt;
    const auto format =
        fields.has("format") ? reader_.text(fields.find("format"), "a format") : std::nullopt;
    for (std::size_t p = 0; p < answer_.places.size(); ++p) {
      const Place& place = answer_.places[p];
      if (place.engine == engine && (!precision || width_name(place.width) == *precision) &&
          (!format || place.format == *format)) {
        return p;
      }
    }
    const std::string why = why_no_place(engine, precision, format.value_or(""));
    if (told_.insert(why).second) {  // else the whole plan is in another precision
      reader_.error(item, why);
    }
    return std::nullopt;
  }

  // Which precisions and formats the engine has instead.
  std::string why_no_place(std::size_t engine, const std::optional<std::string>& precision,
                           const std::string& format) const {
    std::set<std::string> widths;
    Words places;
    for (const Place& place : answer_.places) {
      if (place.engine == engine) {
        widths.insert(width_name(place.width));
        places.push_back(fmt::format("{}{}{}", width_name(place.width),
                                     place.format.empty() ? "" : " ", place.format));
      }
    }
    const bool is_width = precision && !widths.contains(*precision);
    return fmt::format("{} is planned in {}, not in {}{}{}{}", engines_[engine],
                       fmt::join(places, ", "), precision.value_or(""),
                       precision && !format.empty() ? " " : "", format,
                       is_width ? fmt::format("; --precision {} plans in that", *precision) : "");
  }

  void check_all(const Node& list) {
    Words missing;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i]) {
        missing.push_back(nodes_[i]);
      }
    }
    if (!missing.empty()) {
      reader_.error(list, fmt::format("in no group: {}", fmt::join(missing, ", ")));
    }
  }

  Reader& reader_;
  const Soc& soc_;
  const PlanAnswer& answer_;
  Words nodes_, engines_;
  std::vector<bool> taken_;
  std::set<std::string> told_;  // of precisions and formats that an engine has not
  std::vector<PlanStep> steps_;
};

}  // namespace

std::vector<PlanStep> load_given_plan(const std::string& path, const Soc& soc,
                                      const PlanAnswer& answer) {
  const Document document = read_yaml(path);
  Reader reader{document};
  std::vector<PlanStep> steps = GivenReader{reader, soc, answer}.read();
  if (reader.errors() == 0 && !walk(answer.problem, {1, 0, 0, {}}, steps)) {
    reader.error(reader.root(), "a tensor has no way from where it is made to where it is read");
  }
  reader.finish();
  return steps;
}

std::string plan_file(const Soc& soc, const Network& network, const PlanAnswer& answer) {
  std::string text =
      fmt::format("# {} on {}: groups in the order in which they run.\nname: {}\nplan:\n",
                  network.name, soc.name, network.name);
  for (const PlannedGroup& each : answer.plan.groups) {
    const Group& group = answer.groups.all[each.group];
    const Place& place = answer.places[each.place];
    Words nodes;
    for (const std::size_t i : group.operations) {
      nodes.push_back(answer.operations.node(i).name);
    }
    text +=
        fmt::format("  - {{nodes: [{}], engine: {}, precision: {}{}{}}}\n", fmt::join(nodes, ", "),
                    soc.engines[place.engine].name, width_name(place.width),
                    place.format.empty() ? "" : ", format: " + place.format,
                    group.elided ? ", elided: true" : "");
  }
  return text;
}

}  // namespace mapsim
