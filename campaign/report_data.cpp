// SPDX-License-Identifier: Apache-2.0
#include "campaign/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "campaign/input_widths.hpp"
#include "campaign/report_energy.hpp"
#include "campaign/report_select.hpp"
#include "campaign/store.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

// A row by the names of its columns.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& columns) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      places_[columns[i]] = i;
    }
  }
  // NULL where there is no such column.
  const Cell& cell(const Record& row, const char* column) const {
    static const Cell kNull;
    const auto place = places_.find(column);
    return place == places_.end() ? kNull : row[place->second];
  }
  std::string text(const Record& row, const char* column) const {
    const auto* value = std::get_if<std::string>(&cell(row, column));
    return value == nullptr ? "" : *value;
  }
  std::int64_t whole(const Record& row, const char* column) const {
    const auto* value = std::get_if<std::int64_t>(&cell(row, column));
    return value == nullptr ? 0 : *value;
  }
  std::optional<double> number(const Record& row, const char* column) const {
    const Cell& value = cell(row, column);
    if (const auto* real = std::get_if<double>(&value)) {
      return *real;
    }
    const auto* whole = std::get_if<std::int64_t>(&value);
    return whole == nullptr ? std::nullopt : std::optional{static_cast<double>(*whole)};
  }

 private:
  std::map<std::string, std::size_t> places_;
};

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Kernels take seconds, not cycles.
bool is_on_gpu(const Reader& reader, const Record& row) {
  return reader.number(row, "latency_seconds") && !reader.number(row, "latency_cycles");
}

// Of choices of all mappings of a network.
constexpr const char* kLowerBound = "network_lower_bound";

// What sums are made of; the rest of a row is ten times as much.
const std::vector<std::string> kSummed{"campaign",
                                       "number",
                                       "arch",
                                       "settings",
                                       "network",
                                       "layer",
                                       "count",
                                       "objective",
                                       "latency",
                                       "limits",
                                       "strategy",
                                       "constraints",
                                       "status",
                                       "reason",
                                       "energy_pj",
                                       "macs",
                                       "utilization",
                                       "latency_cycles",
                                       "latency_cycles_ramped",
                                       "latency_seconds",
                                       "clock_hz",
                                       "area_mm2",
                                       "mac_units"};

LayerResult summed_layer(const Reader& reader, const Record& row) {
  LayerResult layer;
  layer.layer = reader.text(row, "layer");
  layer.count = reader.whole(row, "count");
  layer.status = reader.text(row, "status");
  layer.reason = reader.text(row, "reason");
  layer.energy_pj = reader.number(row, "energy_pj");
  const bool ramped = reader.text(row, "latency") == "ramped";
  layer.cycles = is_on_gpu(reader, row)
                     ? picoseconds(reader.number(row, "latency_seconds").value_or(0))
                     : reader.whole(row, ramped ? "latency_cycles_ramped" : "latency_cycles");
  layer.macs = reader.whole(row, "macs");
  layer.utilization = reader.number(row, "utilization").value_or(0);
  return layer;
}

LayerResult layer_of(const Reader& reader, const Record& row) {
  LayerResult layer = summed_layer(reader, row);
  layer.bottleneck = reader.text(row, "bottleneck");
  layer.ops = reader.number(row, "ops").value_or(0);
  layer.bytes = reader.number(row, "bytes").value_or(0);
  layer.peak_ops = reader.number(row, "peak_ops_per_second");
  layer.peak_bytes = reader.number(row, "peak_bytes_per_second");
  layer.gap = reader.number(row, "gap");
  layer.mapping = reader.text(row, "mapping");
  layer.design_id = reader.text(row, "design");
  layer.workload_id = reader.text(row, "workload");
  if (const std::string breakdown = reader.text(row, "breakdown"); !breakdown.empty()) {
    layer.energy = energy_parts(Json::parse(breakdown));
  }
  return layer;
}

// Sums that cannot be made show that a figure was damaged: no campaign lasts so long.
void check_sums(const std::string& database, const DesignResult& design, const LayerResult& layer) {
  constexpr double kMostCycles = 9e18;
  const double added = static_cast<double>(layer.count) * static_cast<double>(layer.cycles);
  const char* const problem =
      static_cast<double>(design.sums.cycles) + added > kMostCycles ? "cycles without end"
      : layer.energy_pj && design.clock_hz <= 0                     ? "an energy without a clock"
                                                                    : nullptr;
  if (problem != nullptr) {
    throw ConfigError{
        {{database, 0, 0, "",
          fmt::format("damaged: layer {} of design {} has {}", layer.layer, design.number, problem),
          ""}}};
  }
}

// In words; empty on a GPU, where kernels have a precision of their own, and of operators that only
// move data.
std::string widths_in(const Reader& reader, const Record& row, InputWidths& widths) {
  if (is_on_gpu(reader, row) || reader.text(row, "status") == "priced") {
    return "";
  }
  const std::optional<Widths>& one = widths.of(reader.text(row, "workload"));
  return one ? widths_text(*one) : "";
}

DesignResult design_of(const Reader& reader, const Record& row, std::size_t number) {
  DesignResult design;
  design.number = number;
  design.arch = reader.text(row, "arch");
  const Json settings = Json::parse(reader.text(row, "settings"));
  for (const auto& [path, value] : settings.items()) {
    design.settings.emplace_back(path, value_text(value));
  }
  return design;
}

// Settings that all designs of a machine share say nothing in the name of each: said once.
void fix_settings(Study& study) {
  std::map<std::string, std::vector<DesignResult*>> machines;
  for (DesignResult& design : study.designs) {
    machines[design.arch].push_back(&design);
  }
  for (const auto& [arch, designs] : machines) {
    const auto shared = [&designs = designs](const std::pair<std::string, std::string>& setting) {
      return std::all_of(designs.begin(), designs.end(), [&setting](const DesignResult* other) {
        return std::count(other->settings.begin(), other->settings.end(), setting) > 0;
      });
    };
    const auto settings = designs.front()->settings;
    for (const auto& setting : settings) {
      if (study.designs.size() > 1 && shared(setting)) {
        study.fixed.push_back((machines.size() > 1 ? arch + ": " : "") + short_path(setting.first) +
                              " " + setting.second);
        for (DesignResult* design : designs) {
          std::erase(design->settings, setting);
        }
      }
    }
  }
}

// Puts the rows of a database into studies, in the order of its points.
class StudyReader {
 public:
  StudyReader(const std::string& database, const std::string& campaign)
      : path_{database}, campaign_{campaign}, store_{database, Store::Open::kExisting} {}

  std::vector<Study> read(const std::vector<std::size_t>& wanted) {
    std::vector<std::string> columns = kSummed;
    if (store_.has_choices()) {
      columns.emplace_back(kLowerBound);
    }
    const Reader summed{columns};
    const std::vector<Store::Listed> campaigns = store_.campaigns();
    for (const Store::Listed& listed : campaigns) {
      points_of_design_.emplace(listed.campaign, listed.points_of_design);
    }
    store_.read({chosen_, campaign_, columns, {}}, [&](const Record& row) { add(summed, row); });
    for (Study& study : studies_) {
      fix_settings(study);
      study.unpriced = store_.unpriced(study.campaign, study.network);
      for (const Store::Listed& listed : campaigns) {
        study.unlisted +=
            listed.campaign == study.campaign ? static_cast<std::size_t>(listed.unlisted) : 0U;
      }
    }
    read_layers(wanted);
    for (Study& study : studies_) {
      study.stepped = stepped_layer(study);
    }
    return std::move(studies_);
  }

 private:
  void add(const Reader& reader, const Record& row) {
    std::vector<std::string> key;
    for (const char* column :
         {"campaign", "network", "objective", "latency", "limits", "constraints", "strategy"}) {
      key.push_back(reader.text(row, column));
    }
    const auto [place, is_new] = places_.try_emplace(key, studies_.size());
    if (is_new) {
      studies_.push_back({key[0], key[1], key[2], key[3], key[4], key[5], key[6], {}});
    }
    Study& study = studies_[place->second];
    // Points are sorted by design.
    const auto number =
        static_cast<std::size_t>(reader.whole(row, "number") / points_of_design_.at(key[0]));
    if (study.designs.empty() || study.designs.back().number != number) {
      study.designs.push_back(design_of(reader, row, number));
    }
    DesignResult& design = study.designs.back();
    if (is_on_gpu(reader, row)) {  // or a chip, which has several clocks
      design.clock_hz = kPicoseconds;
    } else if (const auto clock = reader.number(row, "clock_hz")) {
      design.clock_hz = *clock;
      design.area_mm2 = reader.number(row, "area_mm2");
      design.mac_units = reader.whole(row, "mac_units");
    }
    design.edp_lower_bound = reader.number(row, kLowerBound);
    const LayerResult layer = summed_layer(reader, row);
    check_sums(path_, design, layer);
    design.sums.add(layer);
    design.points.push_back(reader.whole(row, "number"));
    study.count(layer);
  }

  // Kernels of a GPU are no mappings, and have no such text.
  std::optional<MappedLayer> stepped_layer(const Study& study) {
    const DesignResult* const best = study.best();
    const LayerResult* most = nullptr;
    if (best == nullptr) {
      return std::nullopt;
    }
    const auto energy = [](const LayerResult& one) {
      return static_cast<double>(one.count) * one.energy_pj.value_or(0);
    };
    for (const LayerResult& layer : best->layers) {
      if (layer.mapping.starts_with("mapping:") &&
          (most == nullptr || energy(layer) > energy(*most))) {
        most = &layer;
      }
    }
    if (most == nullptr) {
      return std::nullopt;
    }
    return MappedLayer{most->layer, store_.input_text(most->design_id),
                       store_.input_text(most->workload_id), most->mapping};
  }

  void read_layers(const std::vector<std::size_t>& wanted) {
    std::map<std::string, std::map<std::int64_t, DesignResult*>> places;  // campaign, point
    for (Study& study : studies_) {
      for (const std::size_t i : designs_to_read(study, studies_.size(), wanted)) {
        for (const std::int64_t point : study.designs[i].points) {
          places[study.campaign].emplace(point, &study.designs[i]);
        }
      }
    }
    const std::vector<std::string> columns = store_.columns(chosen_);
    const Reader reader{columns};
    for (auto& [campaign, points] : places) {
      std::vector<std::int64_t> numbers;
      for (const auto& [number, design] : points) {
        numbers.push_back(number);
      }
      store_.read({chosen_, campaign, columns, numbers}, [&, &campaign = campaign,
                                                          &points = points](const Record& row) {
        const auto asked = points.find(reader.whole(row, "number"));
        if (asked == points.end()) {
          throw ConfigError({Diagnostic{
              path_, 0, 0, "",
              fmt::format("damaged: campaign '{}' has a point that its grid does not have",
                          campaign),
              ""}});
        }
        std::vector<LayerResult>& layers = asked->second->layers;
        layers.push_back(layer_of(reader, row));
        layers.back().widths = widths_in(reader, row, widths_);
      });
    }
  }

  std::string path_, campaign_;
  Store store_;
  std::string chosen_ = store_.chosen_view();
  InputWidths widths_{store_};
  std::vector<Study> studies_;
  std::map<std::vector<std::string>, std::size_t> places_;  // of studies
  std::map<std::string, std::int64_t> points_of_design_;    // by campaign
};

}  // namespace

std::vector<Study> read_studies(const std::string& database, const std::string& campaign,
                                const std::vector<std::size_t>& wanted) {
  std::vector<Study> studies = StudyReader{database, campaign}.read(wanted);
  if (studies.empty()) {
    throw ConfigError{
        {{database, 0, 0, "",
          campaign.empty() ? "has no points" : "has no points of a campaign '" + campaign + "'",
          ""}}};
  }
  return studies;
}

void LayerSums::add(const LayerResult& layer) {
  const auto count = static_cast<double>(layer.count);
  const auto time = static_cast<double>(layer.cycles);
  ++layers;
  mapped += layer.energy_pj ? 1U : 0U;
  proven += layer.status == "optimal" ? 1U : 0U;
  fastest += layer.status == "fastest" ? 1U : 0U;
  priced += layer.status == "priced" ? 1U : 0U;
  missing += layer.status.empty() ? 1U : 0U;
  energy_pj += count * layer.energy_pj.value_or(0);
  cycles += layer.count * layer.cycles;
  macs += count * static_cast<double>(layer.macs);
  used += count * layer.utilization * time;
  if (layer.status == "priced") {
    streams += layer.count;
    stream_cycles += count * time;
    stream_pj += count * layer.energy_pj.value_or(0);
  }
}

void Study::count(const LayerResult& layer) {
  if (!layer.energy_pj) {
    ++reasons[layer.status.empty() ? "not computed yet" : layer.reason];
  }
}

void Study::sum_up() {
  reasons.clear();
  for (DesignResult& design : designs) {
    design.sums = {};
    for (const LayerResult& layer : design.layers) {
      design.sums.add(layer);
      count(layer);
    }
  }
}

double DesignResult::seconds() const {
  return clock_hz > 0 ? static_cast<double>(cycles()) / clock_hz : 0;
}

double DesignResult::value(const ObjectiveFunction& function) const {
  return function.scaled(function.value(energy_pj(), static_cast<double>(cycles())), 1, clock_hz);
}

DesignResult::Streams DesignResult::streams() const {
  const double whole = std::max(1.0, static_cast<double>(cycles()));
  return {sums.streams, sums.stream_cycles / whole,
          sums.stream_pj > 0 ? sums.stream_pj / sums.energy_pj : 0};
}

double DesignResult::utilization() const {
  const auto whole = static_cast<double>(cycles());
  if (whole <= 0) {
    return 0;
  }
  return mac_units > 0 ? sums.macs / (static_cast<double>(mac_units) * whole) : sums.used / whole;
}

std::string DesignResult::name() const {
  std::string text = arch;
  for (const auto& [path, value] : settings) {
    text.append(", ").append(short_path(path)).append(" ").append(value);
  }
  return text;
}

std::string short_path(const std::string& path) {
  for (const std::string_view usual : {"nodes.", "gpu.", "soc."}) {
    if (path.starts_with(usual)) {
      return path.substr(usual.size());
    }
  }
  return path;
}

std::int64_t picoseconds(double seconds) { return std::llround(seconds * kPicoseconds); }

Objective Study::goal() const {
  // Of a stream of frames the latency is the time from one frame to the next.
  const auto parsed = parse_objective(objective == "throughput" ? "latency" : objective);
  Objective goal =
      std::holds_alternative<Objective>(parsed) ? std::get<Objective>(parsed) : Objective::kEnergy;
  goal.mode = latency == "ramped" ? LatencyMode::kRamped : LatencyMode::kSteady;
  return goal;
}

std::optional<double> DesignResult::edp_gap() const {
  const double edp = energy_pj() * static_cast<double>(cycles());
  return edp_lower_bound && edp > *edp_lower_bound * (1 + kRounding)
             ? std::optional{edp / *edp_lower_bound - 1}
             : std::nullopt;
}

bool Study::is_network_edp() const {
  return !campaign.empty() && !network.empty() &&
         goal().function == ObjectiveFunction::product(1, 1) &&
         std::none_of(designs.begin(), designs.end(),
                      [](const DesignResult& design) { return design.sums.fastest > 0; });
}

std::string Study::question() const {
  std::string text = (objective == "throughput" ? "most " : "least ") + objective;
  // "energy 5 pJ, latency 20 ms"
  for (std::size_t at = 0; at < limits.size() && limits != "none";) {
    const std::size_t end = std::min(limits.find(", ", at), limits.size());
    const std::size_t value = std::min(limits.find(' ', at), end);
    text += ", " + limits.substr(at, value - at) + " at most" + limits.substr(value, end - value);
    at = end + 2;
  }
  text += constraints.empty() || constraints == "none" ? "" : ", " + constraints;
  text += latency == "ramped" ? ", ramped latency" : "";
  return text;
}

const DesignResult* Study::best() const {
  const Objective objective_of_sums = goal();
  const DesignResult* best = nullptr;
  double least = 0;
  for (const DesignResult& design : designs) {
    if (!design.is_complete() || design.sums.layers == 0) {
      continue;
    }
    const double value = design.value(objective_of_sums.function);
    // Of equals the faster, then the one that needs less.
    const auto rest = [](const DesignResult& one) {
      return std::pair{one.seconds(), one.energy_pj()};
    };
    if (best == nullptr || value < least || (value == least && rest(design) < rest(*best))) {
      best = &design;
      least = value;
    }
  }
  return best;
}

}  // namespace mapsim
