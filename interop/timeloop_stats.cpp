// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "core/diagnostic.hpp"
#include "core/document.hpp"
#include "core/text_stream.hpp"
#include "interop/foreign_yaml.hpp"
#include "workloads/einsum.hpp"

namespace mapsim {

namespace {

// "    Scalar reads (per-instance)              : 3072", "MACCs = 1024" -> its key and its value.
struct Line {
  std::size_t indent = 0;
  std::string key;
  std::string value;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

Line line_of(const std::string& text) {
  const std::size_t indent = text.find_first_not_of(' ');
  const std::size_t equals = text.find(" = ");
  const std::size_t end = std::min({text.find(':'), equals, text.size()});
  const std::size_t value = end == equals ? end + 3 : end + 1;
  return {indent == std::string::npos ? 0 : indent, trimmed(text.substr(0, end)),
          value < text.size() ? trimmed(text.substr(value)) : ""};
}

using Values = std::map<std::string, std::string>;

// The figures of a file by place: of a level, of a tensor at it, of a network.
class StatsReader {
 public:
  StatsReader(const std::string& text, std::string file, const TimeloopDesign& design)
      : file_{std::move(file)}, design_{design} {
    split(text);
  }

  TimeloopResult read() {
    TimeloopResult result;
    const TimeloopMachine& machine = design_.machine;
    for (std::size_t l = 0; l < machine.storages.size(); ++l) {
      const TimeloopStorage& storage = machine.storages[l];
      const std::string place = "=== " + storage.name;
      TimeloopResult::Level level;
      // Timeloop leaves out a level that keeps nothing.
      if (!design_.blocks[l].keep.empty() || has(place, "", "Cycles")) {
        level.cycles = whole(place, "", "Cycles");
      }
      for (const Tensor& tensor : design_.workload.tensors) {
        level.tensors.push_back(tensor_result(place, tensor.name, result.energy));
        level.networks.push_back(network_result(storage, tensor.name, result.energy));
      }
      result.levels.push_back(std::move(level));
    }
    const std::string compute = "=== " + machine.compute_name;
    const bool old = has("Summary Stats", "", "MACCs");  // of 2020 and before
    const char* computes = old                                    ? "MACCs"
                           : has(compute, "", "Computes (total)") ? "Computes (total)"
                                                                  : "Algorithmic Computes (total)";
    result.computes = whole(old ? "Summary Stats" : compute, "", computes);
    result.energy += number(compute, "", "Energy (total)");
    result.cycles = whole("Summary Stats", "", "Cycles");
    return result;
  }

 private:
  // A place begins with "=== NAME ===" or "A <==> B". What is said of a place again, below
  // "Operational Intensity Stats", is known already.
  void split(const std::string& text) {
    std::istringstream lines = stream_of(text);
    std::string place, tensor;
    bool again = false;
    for (std::string line; std::getline(lines, line);) {
      const Line at = line_of(line);
      const bool summary = at.indent == 0 && at.key == "Summary Stats";
      const bool network = at.indent == 0 && at.key.find(" <==> ") != std::string::npos;
      again = !summary && (again || at.key == "Operational Intensity Stats");
      if (summary || network || at.key.starts_with("=== ")) {
        place = at.key.substr(0, std::min(at.key.find(" ===", 4), at.key.size()));
        tensor.clear();
      } else if (at.value.empty() && is_tensor(at.key)) {
        tensor = at.key;
      } else if (!again && !at.value.empty()) {
        values_[place][tensor].emplace(at.key, at.value);
      }
    }
  }

  bool is_tensor(const std::string& name) const {
    return std::any_of(design_.workload.tensors.begin(), design_.workload.tensors.end(),
                       [&](const Tensor& each) { return each.name == name; });
  }

  const std::string* find(const std::string& place, const std::string& tensor,
                          const std::string& key) const {
    const auto at = values_.find(place);
    if (at == values_.end()) {
      return nullptr;
    }
    const auto of = at->second.find(tensor);
    if (of == at->second.end()) {
      return nullptr;
    }
    const auto value = of->second.find(key);
    return value == of->second.end() ? nullptr : &value->second;
  }

  bool has(const std::string& place, const std::string& tensor, const std::string& key) const {
    return find(place, tensor, key) != nullptr;
  }

  double number(const std::string& place, const std::string& tensor, const std::string& key) const {
    const std::string* text = find(place, tensor, key);
    char* end = nullptr;
    const double value = text == nullptr ? 0 : std::strtod(text->c_str(), &end);
    if (text == nullptr || end == text->c_str()) {
      throw ConfigError{{{file_, 0, 0, "",
                          fmt::format("no '{}' of {}{}; is it the stats.txt that timeloop-model or "
                                      "timeloop-mapper wrote for this design?",
                                      key, place.starts_with("=== ") ? place.substr(4) : place,
                                      tensor.empty() ? "" : " for " + tensor),
                          ""}}};
    }
    return value;
  }

  // A count, which is exact as a double.
  std::int64_t whole(const std::string& place, const std::string& tensor,
                     const std::string& key) const {
    const double value = number(place, tensor, key);
    if (!(value >= 0 && value <= static_cast<double>(kMaxOperations))) {
      throw ConfigError{{{file_, 0, 0, "",
                          fmt::format("'{}' of {} is {}, which is no count up to 2^53", key,
                                      place.starts_with("=== ") ? place.substr(4) : place, value),
                          ""}}};
    }
    return static_cast<std::int64_t>(value);
  }

  std::optional<TimeloopTensorResult> tensor_result(const std::string& place,
                                                    const std::string& tensor,
                                                    double& total) const {
    if (!has(place, tensor, "Scalar reads (per-instance)")) {
      return std::nullopt;  // bypassed there
    }
    const auto each = [&](const char* key) { return whole(place, tensor, key); };
    TimeloopTensorResult result{each("Utilized capacity"), each("Scalar reads (per-instance)"),
                                each("Scalar fills (per-instance)"),
                                each("Scalar updates (per-instance)"),
                                number(place, tensor, "Energy (total)")};
    total += result.energy;
    return result;
  }

  // The network below a storage, or below the point that is another name of its fanout.
  std::optional<TimeloopNetworkResult> network_result(const TimeloopStorage& storage,
                                                      const std::string& tensor,
                                                      double& total) const {
    Words names = storage.fanout_names;
    names.push_back(storage.name);
    for (const std::string& name : names) {
      for (const auto& [place, values] : values_) {
        if (place.starts_with(name + " <==> ") && has(place, tensor, "Ingresses")) {
          TimeloopNetworkResult result{number(place, tensor, "Ingresses"),
                                       number(place, tensor, "Link transfers"),
                                       number(place, tensor, "Energy (total)"),
                                       number(place, tensor, "Link transfer energy (total)")};
          total += result.energy + result.link_energy;
          return result;
        }
      }
    }
    return std::nullopt;
  }

  std::string file_;
  const TimeloopDesign& design_;
  std::map<std::string, std::map<std::string, Values>> values_;  // by place and tensor
};

}  // namespace

TimeloopResult parse_timeloop_stats(const std::string& text, const std::string& filename,
                                    const TimeloopDesign& design) {
  return StatsReader{text, filename, design}.read();
}

TimeloopResult read_timeloop_stats(const std::string& path, const TimeloopDesign& design) {
  return parse_timeloop_stats(read_yaml_text(path), path, design);
}

}  // namespace mapsim
