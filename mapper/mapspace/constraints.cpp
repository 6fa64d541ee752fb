// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/constraints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "mapper/mapspace/presets.hpp"
#include "mapper/mapspace/rule_values.hpp"
#include "mapper/mapspace/rules_reader.hpp"
#include "mapper/mapspace/unrolling.hpp"

namespace mapsim {
namespace {

const Words kAxes{"X", "Y"};  // in the order of Axis
const Words kKeys{"tiling",  "one_loop_per_dim", "dataflow", "factors", "pieces",  "tiles",
                  "spatial", "unroll",           "keep",     "bypass",  "extents", "loops"};

class ConstraintsReader {
 public:
  ConstraintsReader(Reader& reader, const Document& document, const Problem& problem)
      : reader_{reader},
        document_{document},
        problem_{problem},
        arch_{problem.arch()},
        workload_{problem.workload()},
        dims_{names_of(workload_.dims)},
        levels_{names_of(arch_.levels)},
        used_(workload_.dims.size(), 1) {}

  // `imperfect`: whatever the file says.
  Constraints read(bool imperfect) {
    Constraints constraints;
    is_asked_for_imperfect_ = imperfect;
    read_into(constraints);
    return constraints;
  }

  std::vector<LackingRule> lacking() const { return lacking_; }

 private:
  // Rules without the key above them. False: there are none.
  bool has_rules_without_heading() {
    const std::vector<Entry>& entries = reader_.root().entries;
    const auto rule = std::find_if(entries.begin(), entries.end(), [](const Entry& entry) {
      return std::find(kKeys.begin(), kKeys.end(), entry.key.text) != kKeys.end();
    });
    if (rule == entries.end()) {
      return false;
    }
    reader_.error(rule->key,
                  fmt::format("'{}' belongs below a line 'mapspace:', indented", rule->key.text));
    return true;
  }

  void read_into(Constraints& constraints) {
    if (has_rules_without_heading()) {
      return;
    }
    const Node* node = reader_.fields(reader_.root(), {"mapspace"}).require("mapspace");
    if (node == nullptr) {
      return;
    }
    const Fields fields = reader_.fields(*node, kKeys);
    if (const auto tiling = reader_.choice(fields.find("tiling"), {"uneven", "even"}, "tiling")) {
      constraints.even = *tiling == 1;
    }
    if (!of_preset_) {
      constraints.factors = read_factors(fields);
    }
    imperfect_ = constraints.factors.imperfect;
    if (const auto once = reader_.boolean(fields.find("one_loop_per_dim"))) {
      constraints.one_loop_per_dim = *once;
      if (*once && imperfect_ && !is_asked_for_imperfect_) {  // else the caller refuses it
        reader_.error(*fields.find("one_loop_per_dim"), "one_loop_per_dim needs factors: perfect");
      }
    }
    if (const Node* spatial = fields.find("spatial")) {
      constraints.spatial = read_spatial(*spatial);
    }
    read_keeps(fields.find("keep"), KeepRule::kKeep, constraints);
    read_keeps(fields.find("bypass"), KeepRule::kBypass, constraints);
    if (const Node* dataflow = fields.find("dataflow")) {
      read_dataflow(*dataflow, constraints);
    }
    for (const auto& [at, word] : read_rules(reader_, problem_, fields, constraints)) {
      note(*at, "", word);
    }
  }

  // Notes a word that means no dim, in a rule or in the dataflow `preset`.
  void note(const Node& at, const std::string& preset, const std::string& word) {
    const std::string place = place_of(at);
    const auto same = [&](const LackingRule& rule) { return rule.place == place; };
    auto rule = std::find_if(lacking_.begin(), lacking_.end(), same);
    if (rule == lacking_.end()) {
      rule = lacking_.insert(rule, {place, preset, {}});
    }
    if (std::find(rule->dims.begin(), rule->dims.end(), word) == rule->dims.end()) {
      rule->dims.push_back(word);
    }
  }

  std::string place_of(const Node& at) const {
    const Diagnostic place = diagnose(document_, at, 0, "");
    return fmt::format("{}:{}:{}: {}", place.file, place.line, place.column, place.path);
  }

  Factors read_factors(const Fields& fields) {
    Factors factors;
    const Node* written = fields.find("factors");
    factors.imperfect =
        reader_.choice(written, {"perfect", "imperfect", "balanced"}, "factors").value_or(0) > 0 ||
        is_asked_for_imperfect_;
    for (const char* key : {"pieces", "tiles"}) {
      if (fields.find(key) != nullptr && !factors.imperfect) {
        reader_.error(*fields.find(key), fmt::format("{} needs factors: imperfect", key));
      }
    }
    if (const Node* pieces = fields.find("pieces")) {
      factors.pieces = reader_.integer(pieces, 1, kMaxInteger).value_or(0);
    }
    if (const Node* tiles = fields.find("tiles")) {
      factors.tiles = read_tiles(*tiles);
    }
    const std::size_t count = extents(workload_, factors);
    if (factors.imperfect && count > kMostExtents) {
      reader_.error(fields.place("factors"),
                    fmt::format("{} extents are too many ({} at most); pieces: 64, say, takes of "
                                "ceil(bound / n) those with n up to 64",
                                count, kMostExtents));
    }
    return factors;
  }

  PerDim<std::vector<std::int64_t>> read_tiles(const Node& node) {
    PerDim<std::vector<std::int64_t>> tiles(workload_.dims.size());
    for (const Entry* entry : reader_.entries(node, "a map of dims to lists of extents")) {
      const auto index = reader_.choice(&entry->key, dims_, "dim");
      for (const Node* item : reader_.items(entry->value, "a list of extents")) {
        const std::int64_t bound =
            index ? workload_.dims[static_cast<DimId>(*index)].bound : kMaxInteger;
        const auto extent = reader_.integer(item, 1, bound);
        if (index && extent) {
          tiles[static_cast<DimId>(*index)].push_back(*extent);
        }
      }
    }
    return tiles;
  }

  // Reads the lines that a preset stands for, as if they were in the file. Faults of these lines on
  // this machine are reported at the preset.
  void read_dataflow(const Node& node, Constraints& constraints) {
    const auto preset = reader_.choice(&node, preset_names(), "dataflow");
    const auto lines = preset ? expand_preset(*preset, problem_, constraints) : std::nullopt;
    if (preset && !lines) {
      reader_.error(node,
                    fmt::format("{} has no level that may keep the stationary tensor", arch_.name));
    }
    if (!lines || lines->empty()) {
      return;
    }
    const Document document = parse_yaml("mapspace:\n" + *lines, node.text);
    Reader reader{document};
    ConstraintsReader lines_reader{reader, document, problem_};
    lines_reader.of_preset_ = true;
    lines_reader.read_into(constraints);
    for (const LackingRule& rule : lines_reader.lacking_) {
      for (const std::string& word : rule.dims) {
        note(node, node.text, word);
      }
    }
    try {
      reader.finish();
    } catch (const ConfigError& wrong) {
      reader_.error(node, fmt::format("{} is not possible here: {}", node.text,
                                      wrong.diagnostics().front().message));
    }
  }

  Unrolling read_spatial(const Node& spatial) {
    const Words fanouts = names_of(arch_.fanouts);
    Unrolling unrolling;
    for (const Entry* entry : reader_.entries(spatial, "a map of fanouts")) {
      if (const auto id = reader_.choice(&entry->key, fanouts, "fanout")) {
        read_fanout(static_cast<FanoutId>(*id), entry->value, unrolling);
      }
    }
    std::sort(unrolling.begin(), unrolling.end(), in_canonical_order);
    return unrolling;
  }

  static bool in_canonical_order(const Unroll& a, const Unroll& b) {
    return std::tuple{index_of(a.fanout), a.axis, index_of(a.dim)} <
           std::tuple{index_of(b.fanout), b.axis, index_of(b.dim)};
  }

  void read_fanout(FanoutId fanout, const Node& node, Unrolling& unrolling) {
    const Fields axes = reader_.fields(node, kAxes);
    const std::size_t before = unrolling.size();
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      if (const Node* dims = axes.find(to_string(axis))) {
        read_axis(fanout, axis, *dims, unrolling);
      }
    }
    if (unrolling.size() == before) {
      // Named without factors, a fanout is idle; a factor of 1 records that.
      unrolling.push_back({DimId{0}, fanout, Axis::kX, 1});
    }
  }

  void read_axis(FanoutId fanout, Axis axis, const Node& node, Unrolling& unrolling) {
    const Fanout& hardware = arch_.fanouts[fanout];
    std::int64_t left = hardware.size(axis);
    for (const Entry* entry : reader_.entries(node, "a map of dims to factors")) {
      const auto index = reader_.choice(&entry->key, dims_, "dim");
      const auto factor = reader_.integer(&entry->value, 1, kMaxInteger);
      if (!index || !factor) {
        continue;
      }
      const auto dim = static_cast<DimId>(*index);
      if (*factor > 1 && !may_unroll(workload_, hardware.dims(axis), dim)) {
        reader_.error(entry->key, fmt::format("{} may not be unrolled along {} of {}",
                                              dims_[*index], to_string(axis), hardware.name));
      }
      if (*factor > left) {
        reader_.error(entry->value,
                      fmt::format("{} of {} has {} instances; this takes more", to_string(axis),
                                  hardware.name, hardware.size(axis)));
        return;
      }
      left /= *factor;
      check_divides(dim, *factor, entry->value);
      unrolling.push_back({dim, fanout, axis, *factor});
    }
  }

  // The product of a dim's factors over all fanouts must divide its bound.
  void check_divides(DimId dim, std::int64_t factor, const Node& at) {
    const std::int64_t bound = workload_.dims[dim].bound;
    const bool fits = factor <= bound / used_[dim];
    used_[dim] = fits ? used_[dim] * factor : bound;
    if (imperfect_ && fits) {
      return;
    }
    if (!fits || bound % used_[dim] != 0) {
      reader_.error(at, fmt::format("the factors of {} do not divide its bound {}",
                                    workload_.dims[dim].name, bound));
      used_[dim] = 1;
    }
  }

  void read_keeps(const Node* node, KeepRule rule, Constraints& constraints) {
    if (node == nullptr) {
      return;
    }
    const auto sets = tensor_words(workload_);
    const Words names = words_of(sets);
    constraints.keeps = constraints.keeps.empty() ? all_free() : constraints.keeps;
    for (const Entry* entry : reader_.entries(*node, "a map of levels to tensors")) {
      const auto index = reader_.choice(&entry->key, levels_, "level");
      TensorSet tensors;
      for (const std::size_t name : reader_.choice_list(&entry->value, names, "tensor")) {
        tensors = tensors | sets[name].second;
      }
      if (!index) {
        continue;
      }
      const auto level = static_cast<LevelId>(*index);
      for (const TensorId t : workload_.tensors.ids()) {
        if (tensors.contains(t)) {
          set_rule(level, t, rule, entry->value, constraints);
        }
      }
    }
  }

  PerLevel<PerTensor<KeepRule>> all_free() const {
    const PerTensor<KeepRule> free(workload_.tensors.size(), KeepRule::kFree);
    return PerLevel<PerTensor<KeepRule>>(arch_.levels.size(), free);
  }

  void set_rule(LevelId level, TensorId tensor, KeepRule rule, const Node& at,
                Constraints& constraints) {
    const std::string& level_name = arch_.levels[level].name;
    const std::string& tensor_name = workload_.tensors[tensor].name;
    if (rule == KeepRule::kKeep && !problem_.may_keep(level, tensor)) {
      reader_.error(
          at, fmt::format("the architecture does not let {} keep {}", level_name, tensor_name));
    } else if (rule == KeepRule::kBypass && problem_.must_keep(level, tensor)) {
      reader_.error(
          at, fmt::format("the architecture demands that {} keeps {}", level_name, tensor_name));
    } else if (constraints.keeps[level][tensor] != KeepRule::kFree &&
               constraints.keeps[level][tensor] != rule) {
      reader_.error(
          at, fmt::format("{} cannot both keep {} and be bypassed by it", level_name, tensor_name));
    }
    constraints.keeps[level][tensor] = rule;
  }

  Reader& reader_;
  const Document& document_;
  const Problem& problem_;
  const Arch& arch_;
  const Workload& workload_;
  Words dims_;
  Words levels_;
  bool of_preset_ = false;  // reads lines of a preset; factors are known then
  bool is_asked_for_imperfect_ = false;
  bool imperfect_ = false;
  PerDim<std::int64_t> used_;  // product of the factors of a dim so far
  std::vector<LackingRule> lacking_;
};

Constraints read_constraints(const Document& document, const Problem& problem,
                             std::vector<LackingRule>* lacking, bool imperfect) {
  Reader reader{document};
  ConstraintsReader constraints_reader{reader, document, problem};
  const Constraints constraints = constraints_reader.read(imperfect);
  reader.finish();
  if (lacking != nullptr) {
    *lacking = constraints_reader.lacking();
  }
  return constraints;
}

}  // namespace

std::string warning_of(const LackingRule& rule, const std::string& who) {
  const std::string dims = fmt::format("{}", fmt::join(rule.dims, ", "));
  return rule.preset.empty()
             ? fmt::format("{}: {} no {}: the rule is read without", rule.place, who, dims)
             : fmt::format("{}: {} no {}: the rest of {} is another dataflow", rule.place, who,
                           dims, rule.preset);
}

std::vector<std::string> warnings_of(const Problem& problem,
                                     const std::vector<LackingRule>& lacking) {
  std::vector<std::string> warnings = idle_axes(problem);
  for (const LackingRule& rule : lacking) {
    warnings.push_back(warning_of(rule, problem.workload().name + " has"));
  }
  return warnings;
}

Constraints load_constraints(const std::string& path, const Problem& problem,
                             std::vector<LackingRule>* lacking, bool imperfect) {
  return read_constraints(read_yaml(checked_file(path, {FileKind::kConstraints})), problem, lacking,
                          imperfect);
}

Constraints parse_constraints(const std::string& text, const std::string& filename,
                              const Problem& problem, std::vector<LackingRule>* lacking,
                              bool imperfect) {
  return read_constraints(parse_yaml(text, filename), problem, lacking, imperfect);
}

}  // namespace mapsim
