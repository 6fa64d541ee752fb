// SPDX-License-Identifier: Apache-2.0
#include "campaign/report_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "campaign/report_energy.hpp"
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
  const Cell& cell(const Record& row, const char* column) const { return row[places_.at(column)]; }
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

LayerResult layer_of(const Reader& reader, const Record& row) {
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
  layer.bottleneck = reader.text(row, "bottleneck");
  layer.ops = reader.number(row, "ops").value_or(0);
  layer.bytes = reader.number(row, "bytes").value_or(0);
  layer.peak_ops = reader.number(row, "peak_ops_per_second");
  layer.peak_bytes = reader.number(row, "peak_bytes_per_second");
  layer.gap = reader.number(row, "gap");
  layer.mapping = reader.text(row, "mapping");
  if (const std::string breakdown = reader.text(row, "breakdown"); !breakdown.empty()) {
    layer.energy = energy_parts(Json::parse(breakdown));
  }
  return layer;
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
    const auto shared = [&designs](const std::pair<std::string, std::string>& setting) {
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

}  // namespace

std::vector<Study> read_studies(const std::string& database, const std::string& campaign) {
  Store store{database, Store::Open::kExisting};
  const Reader reader{store.columns("answers")};
  std::vector<Study> studies;
  std::map<std::vector<std::string>, std::size_t> places;  // of studies
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> numbers;
  std::map<std::string, std::size_t> designs;  // of a campaign
  const auto read = [&](const Record& row) {
    std::vector<std::string> key;
    for (const char* column :
         {"campaign", "network", "objective", "latency", "limits", "constraints", "strategy"}) {
      key.push_back(reader.text(row, column));
    }
    const auto [place, is_new] = places.try_emplace(key, studies.size());
    if (is_new) {
      studies.push_back({key[0], key[1], key[2], key[3], key[4], key[5], key[6], {}});
    }
    Study& study = studies[place->second];
    const auto [number, is_new_design] = numbers.try_emplace(
        std::tuple{key[0], reader.text(row, "arch"), reader.text(row, "settings")}, 0);
    if (is_new_design) {
      number->second = ++designs[key[0]];
    }
    // Points are sorted by design.
    if (study.designs.empty() || study.designs.back().number != number->second) {
      study.designs.push_back(design_of(reader, row, number->second));
    }
    DesignResult& design = study.designs.back();
    if (const auto clock = reader.number(row, "clock_hz")) {
      design.clock_hz = is_on_gpu(reader, row) ? kPicoseconds : *clock;
      design.area_mm2 = reader.number(row, "area_mm2");
      design.mac_units = reader.whole(row, "mac_units");
    }
    design.layers.push_back(layer_of(reader, row));
  };
  store.read("answers", campaign, read);
  for (Study& study : studies) {
    fix_settings(study);
    study.unpriced = store.unpriced(study.campaign, study.network);
  }
  if (studies.empty()) {
    throw ConfigError{
        {{database, 0, 0, "",
          campaign.empty() ? "has no points" : "has no points of a campaign '" + campaign + "'",
          ""}}};
  }
  return studies;
}

bool DesignResult::is_complete() const {
  return std::all_of(layers.begin(), layers.end(),
                     [](const LayerResult& layer) { return layer.energy_pj.has_value(); });
}

double DesignResult::energy_pj() const {
  double sum = 0;
  for (const LayerResult& layer : layers) {
    sum += static_cast<double>(layer.count) * layer.energy_pj.value_or(0);
  }
  return sum;
}

std::int64_t DesignResult::cycles() const {
  std::int64_t sum = 0;
  for (const LayerResult& layer : layers) {
    sum += layer.count * layer.cycles;
  }
  return sum;
}

double DesignResult::seconds() const {
  return clock_hz > 0 ? static_cast<double>(cycles()) / clock_hz : 0;
}

DesignResult::Streams DesignResult::streams() const {
  Streams sum;
  for (const LayerResult& layer : layers) {
    if (layer.status == "priced") {
      const auto times = static_cast<double>(layer.count);
      sum.count += layer.count;
      sum.time += times * static_cast<double>(layer.cycles);
      sum.energy += times * layer.energy_pj.value_or(0);
    }
  }
  sum.time /= std::max(1.0, static_cast<double>(cycles()));
  sum.energy = sum.energy > 0 ? sum.energy / energy_pj() : 0;
  return sum;
}

double DesignResult::utilization() const {
  double macs = 0;
  double used = 0;  // time at full use
  for (const LayerResult& layer : layers) {
    const auto count = static_cast<double>(layer.count);
    macs += count * static_cast<double>(layer.macs);
    used += count * layer.utilization * static_cast<double>(layer.cycles);
  }
  const auto whole = static_cast<double>(cycles());
  if (whole <= 0) {
    return 0;
  }
  return mac_units > 0 ? macs / (static_cast<double>(mac_units) * whole) : used / whole;
}

std::string DesignResult::name() const {
  std::string text = arch;
  for (const auto& [path, value] : settings) {
    text.append(", ").append(short_path(path)).append(" ").append(value);
  }
  return text;
}

std::string short_path(const std::string& path) {
  for (const std::string_view usual : {"nodes.", "gpu."}) {
    if (path.starts_with(usual)) {
      return path.substr(usual.size());
    }
  }
  return path;
}

std::int64_t picoseconds(double seconds) { return std::llround(seconds * kPicoseconds); }

Objective Study::goal() const {
  const auto parsed = parse_objective(objective);
  Objective goal =
      std::holds_alternative<Objective>(parsed) ? std::get<Objective>(parsed) : Objective::kEnergy;
  goal.mode = latency == "ramped" ? LatencyMode::kRamped : LatencyMode::kSteady;
  return goal;
}

std::string Study::question() const {
  std::string text = "least " + objective;
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
    if (!design.is_complete() || design.layers.empty()) {
      continue;
    }
    // In seconds: designs may differ in their clocks.
    const double value =
        objective_value(objective_of_sums, design.energy_pj(), design.seconds() * 1e12);
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
