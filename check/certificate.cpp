// SPDX-License-Identifier: Apache-2.0
#include "check/certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "arch/load.hpp"
#include "check/engine.hpp"
#include "check/graph.hpp"
#include "check/mask_files.hpp"
#include "check/sealed_file.hpp"
#include "core/file_kind.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/objective_range.hpp"
#include "costmodel/timing/model.hpp"
#include "workloads/load.hpp"

namespace mapsim::check {

namespace {

const Words kCertificateKeys{"certificate", "tool",     "objective", "inputs", "architecture",
                             "workload",    "mapspace", "rules",     "value",  "lower_bound",
                             "tie",         "form",     "mapping",   "points", "bounds",
                             "gap",         "digest",   "masks"};
const Words kArguments{"floor", "relaxation", "search"};  // in the order of Argument
constexpr const char* kOthers = "others";
constexpr const char* kNothingFits = "nothing fits";

std::string measure_unit(const Goal& goal) {
  return goal.kind == Goal::Kind::kCurve ? " b" : goal.ties_by_energy() ? " pJ" : " cycles";
}

class CertificateReader {
 public:
  explicit CertificateReader(const Document& document) : document_{document}, reader_{document} {}

  Certificate read() {
    const Fields fields = reader_.fields(document_.root, kCertificateKeys);
    reader_.integer(fields.require("certificate"), 1, 1);
    const auto tool = reader_.text(fields.require("tool"), "a name and a version");
    for (const char* key : {"architecture", "workload", "mapspace", "rules"}) {
      fields.require(key);
    }
    const Node* objective = fields.require("objective");
    reader_.finish();

    Arch arch = parse_arch(value_of(document_, "architecture"), document_.file);
    const Goal goal = read_goal(*objective, arch);
    reader_.finish();
    Problem problem{std::move(arch),
                    parse_proven_workload(value_of(document_, "workload"), document_.file)};
    Certificate read{document_.file, *tool, std::move(problem), goal, {}, {}, {}, 0, 0, {}};
    read.rules_text = lines_of(document_, "rules");
    read.size = read_size(*fields.find("mapspace"));
    read.records_inputs = fields.has("inputs");
    if (const Node* masks = fields.find("masks")) {
      compare_masks(reader_, *masks, read.problem.workload());
    } else if (const std::string unproven = unproven_mask(read.problem.workload());
               !unproven.empty()) {
      reader_.error(*fields.find("workload"), unproven);
    }
    read.rules = read_rules(reader_, *fields.find("rules"), read.problem);
    if (read.rules.schedules && !runs_on_engine(read.problem.workload())) {
      reader_.error(*fields.find("workload"), "the engine runs convolutions and matrix products");
    }
    if (read.rules.schedules && read.is_curve()) {
      reader_.error(*objective, "the checker does not know curves of an engine's schedules");
    }
    reader_.finish();
    const TimingModel& model = timing_model(read.problem.arch());
    if (read.rules.imperfect && model.array != nullptr &&
        (goal.needs_time() || read.problem.leakage(Cycles{1}) > Picojoules{0})) {
      reader_.error(*objective,
                    fmt::format("the checker does not know the times of {} with imperfect factors",
                                model.machines));
    }
    if (const std::string obstacle =
            range_obstacle(goal.function, read.problem.arch(), {read.problem.workload()});
        !obstacle.empty()) {
      reader_.error(*objective, obstacle);
    }
    (read.is_front() ? read_points(fields, read) : read_best(fields, read));
    reader_.finish();
    return read;
  }

 private:
  // Decimal digits without leading zeros, of any number: exact counts are large.
  std::string read_size(const Node& node) {
    const std::string size = reader_.text(&node, "a number of mappings").value_or(kNotCounted);
    const bool number = size == "0" || (!size.empty() && size.front() != '0' &&
                                        size.find_first_not_of("0123456789") == std::string::npos);
    if (!number && size != kNotCounted) {
      reader_.error(node, fmt::format("{} is neither a number of mappings nor '{}'", quoted(size),
                                      kNotCounted));
    }
    return size;
  }

  // One mapping, and a bound per unrolling.
  void read_best(const Fields& fields, Certificate& read) {
    read.value = read_value(fields.require("value"), read.goal);
    read.lower_bound = read_value(fields.require("lower_bound"), read.goal);
    const bool tied = read.goal.kind == Goal::Kind::kTies;
    const Node* tie = tied ? fields.require("tie") : nullptr;
    if (const Entry* mapping = entry_of(document_.root, "mapping")) {
      const double second = tie != nullptr ? read_number(*tie, measure_unit(read.goal)) : 0;
      const int end = line_behind(document_, mapping->key.line);
      read.points.push_back(
          read_point(document_.root, end, read, {read.value, second}, mapping->key.line));
    }
    if (read.rules.schedules) {
      refuse("bounds");
    } else if (const Node* bounds = fields.require("bounds")) {
      const bool is_none = bounds->kind == Node::Kind::kSequence && bounds->items.empty();
      for (const Node* item :
           is_none ? std::vector<const Node*>{} : reader_.items(*bounds, "a list of bounds")) {
        read.claims.push_back(read_claim(*item, read));
      }
    }
    refuse(tied ? "points" : "tie");
    refuse("points");
    refuse("gap");
  }

  // Of a front or a curve: {value: 756 pJ, measure: 5 cycles, mapping: ...}
  void read_points(const Fields& fields, Certificate& read) {
    const Node* list = fields.require("points");
    for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
      const Fields point = reader_.fields(list->items[i], {"value", "measure", "form", "mapping"});
      const Node* value = point.require("value");
      const Node* measure = point.require("measure");
      if (value != nullptr && measure != nullptr && point.require("mapping") != nullptr) {
        const int line = list->items[i].line;
        const int end =
            i + 1 < list->items.size() ? list->items[i + 1].line : line_behind(document_, line);
        read.points.push_back(read_point(
            list->items[i], end, read,
            {read_value(value, read.goal), read_number(*measure, measure_unit(read.goal))}, line));
      }
    }
    const Node* gap = fields.find("gap");
    if (gap != nullptr && read.rules.imperfect) {
      read.gap = read_number(*gap, "");
    } else {
      refuse("gap");  // all paths are searched, which needs no gap
    }
    for (const char* key : {"value", "lower_bound", "tie", "form", "mapping", "bounds"}) {
      refuse(key);
    }
  }

  void refuse(const char* key) {
    if (const Entry* entry = entry_of(document_.root, key)) {
      reader_.error(entry->key, fmt::format("{} is not allowed with this objective", quoted(key)));
    }
  }

  // `map` holds a mapping, up to the line `end`; the form is right above it, unless it is that of
  // the layer.
  Point read_point(const Node& map, int end, const Certificate& read, Figures figures, int line) {
    const Entry* entry = entry_of(map, "form");
    const Form form = entry == nullptr ? Form{} : parse_form(entry->value.text).value_or(Form{});
    const Problem& problem = read.problem;
    const std::optional<Workload> workload = in_form(problem.workload(), form);
    if (!workload || (entry != nullptr && !read.rules.schedules)) {
      reader_.error(entry->value, "the layer has no form " + quoted(entry->value.text));
      reader_.finish();
    }
    const int begin = (entry != nullptr ? entry : entry_of(map, "mapping"))->key.line;
    Mapping mapping =
        parse_mapping(cut_out(document_, begin, end), document_.file, problem.arch(), *workload);
    return {std::move(mapping), figures, line, form};
  }

  // Refuses unknown kinds of objectives by name.
  Goal read_goal(const Node& node, Arch& arch) {
    Goal goal;
    std::pair<double, double>
        powers;  // what certificates of mapsim 0.1 have in place of a function
    std::optional<std::size_t> tied_by;
    for (const Entry* entry : reader_.entries(node, "a function and limits")) {
      const std::string& key = entry->key.text;
      if (key == "function") {
        goal.function = read_function(entry->value);
      } else if (key == "energy" || key == "latency") {
        (key == "energy" ? powers.first : powers.second) = read_number(entry->value, "");
      } else if (key == "mode") {
        goal.ramped = reader_.choice(&entry->value, {"steady", "ramped"}, "latency") == 1;
      } else if (key == "max_energy") {
        goal.max_energy = read_number(entry->value, " pJ");
      } else if (key == "max_latency") {
        goal.max_latency = read_number(entry->value, " cycles");
      } else if (key == "ties" || key == "front") {
        tied_by = key == "ties" ? reader_.choice(&entry->value, {"latency", "energy"}, "figure")
                                : tied_by;
        if (key == "front") {
          reader_.choice(&entry->value, {"latency"}, "figure");
        }
        goal.kind = key == "ties" ? Goal::Kind::kTies : Goal::Kind::kFront;
      } else if (key == "curve") {
        goal.kind = Goal::Kind::kCurve;
        read_curve(entry->value, goal, arch);
      } else {
        reader_.error(entry->key, fmt::format("this certificate needs the objective's {}, which "
                                              "the checker does not know",
                                              quoted(key)));
      }
    }
    if (powers != std::pair{0.0, 0.0}) {
      goal.function = ObjectiveFunction::product(powers.first, powers.second);
    }
    const bool is_tied_by_energy = tied_by == 1U;
    if (goal.kind == Goal::Kind::kTies &&
        (is_tied_by_energy ? goal.function.uses_energy() : goal.function.uses_latency())) {
      reader_.error(node,
                    "only the objectives energy and latency have ties, which the other one breaks");
    }
    return goal;
  }

  ObjectiveFunction read_function(const Node& node) {
    const Parsed<ObjectiveFunction> parsed = parse_objective_function(node.text);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
      reader_.error(node, fmt::format("{} is no objective: {}", quoted(node.text), *wrong));
      reader_.finish();
    }
    return std::get<ObjectiveFunction>(parsed);
  }

  // {level: GLB, role: weight}: a curve holds for every size of this capacity.
  void read_curve(const Node& node, Goal& goal, Arch& arch) {
    constexpr Bits kPlenty{std::int64_t{1} << 52};
    const Words roles{to_string(Role::kInput), to_string(Role::kWeight), to_string(Role::kOutput)};
    const Fields fields = reader_.fields(node, {"level", "role"});
    const auto level = reader_.choice(fields.require("level"), names_of(arch.levels), "level");
    if (const auto role = reader_.choice(fields.find("role"), roles, "role")) {
      goal.role = static_cast<Role>(*role);
    }
    if (!level) {
      return;
    }
    goal.level = static_cast<LevelId>(*level);
    Capacity& capacity = arch.levels[goal.level].capacity;
    if (goal.role && capacity.per_role.contains(*goal.role)) {
      capacity.per_role[*goal.role] = kPlenty;
    } else if (!goal.role && capacity.per_role.empty()) {
      capacity.shared = kPlenty;
    } else {
      reader_.error(node, "the level has no such capacity");
    }
  }

  double read_number(const Node& node, const std::string& unit) {
    const std::string text = reader_.text(&node, "a number").value_or("");
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || std::string(end, text.data() + text.size()) != unit ||
        !(value >= 0) || !(value < kInfinity)) {
      reader_.error(node, fmt::format("expected a number{}{}, not {}", unit.empty() ? "" : " of",
                                      unit, describe(node)));
    }
    return value;
  }

  double read_value(const Node* node, const Goal& goal) {
    if (node == nullptr || node->text == kNothingFits) {
      return kInfinity;
    }
    return read_number(*node, ' ' + unit_of(goal));
  }

  // {search: 756 pJ, spatial: {PEs: {K: 16, C: 2}}} or {others: 756 pJ}
  Claim read_claim(const Node& node, const Certificate& read) {
    const Workload& workload = read.problem.workload();
    const PerDim<std::int64_t> ones(workload.dims.size(), 1);
    const Words fanouts = names_of(read.problem.arch().fanouts);
    Claim claim{
        {SpatialFactors(fanouts.size(), ones), {}, 1}, Argument::kUnrollingBound, 0, node.line};
    if (read.problem.places_matter() || read.rules.imperfect) {
      claim.unrolling.axes = PerFanout<Rules::AxisFactors>(fanouts.size(), {ones, ones});
    }
    Words keys = kArguments;
    keys.insert(keys.end(), {"spatial", kOthers});
    const Fields fields = reader_.fields(node, keys);
    const Node* others = fields.find(kOthers);
    if (others != nullptr && node.entries.size() == 1) {
      claim.is_of_others = true;
      claim.bound = read_value(others, read.goal);
      return claim;
    }
    int bounds = 0;
    for (std::size_t by = 0; by < kArguments.size(); ++by) {
      if (const Node* bound = fields.find(kArguments[by])) {
        claim.by = static_cast<Argument>(by);
        claim.bound = read_value(bound, read.goal);
        ++bounds;
      }
    }
    if (bounds != 1) {
      reader_.error(node, fmt::format("expected one of {}", fmt::join(kArguments, ", ")));
    }
    if (const Node* spatial = fields.require("spatial")) {
      for (const Entry* entry : reader_.entries(*spatial, "a map of fanouts")) {
        if (const auto fanout = reader_.choice(&entry->key, fanouts, "fanout")) {
          read_instances(entry->value, workload, static_cast<FanoutId>(*fanout), claim.unrolling);
        }
      }
    }
    return claim;
  }

  // {K: 16, C: 2} or, where hops cost something, {X: {K: 16}, Y: {C: 2}}
  void read_instances(const Node& node, const Workload& workload, FanoutId fanout,
                      Unrolling& unrolling) {
    if (unrolling.axes.empty()) {
      read_factors(node, workload, unrolling.factors[fanout]);
      return;
    }
    const Fields fields = reader_.fields(node, {"X", "Y"});
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      PerDim<std::int64_t>& along = unrolling.axes[fanout][static_cast<std::size_t>(axis)];
      if (const Node* factors = fields.find(to_string(axis))) {
        read_factors(*factors, workload, along);
      }
      for (const DimId d : along.ids()) {
        unrolling.factors[fanout][d] *= along[d];
      }
    }
  }

  void read_factors(const Node& node, const Workload& workload, PerDim<std::int64_t>& factors) {
    for (const Entry* entry : reader_.entries(node, "a map of dims")) {
      const auto dim = reader_.choice(&entry->key, names_of(workload.dims), "dim");
      const auto factor = reader_.integer(&entry->value, 1, kMaxInteger);
      if (dim && factor) {
        factors[static_cast<DimId>(*dim)] = *factor;
      }
    }
  }

  const Document& document_;
  Reader reader_;
};

}  // namespace

namespace {

Certificate read_certificate_text(const Document& document) {
  check_seal(document);
  return CertificateReader{document}.read();
}

}  // namespace

Certificate load_certificate(const std::string& path) {
  return read_certificate_text(read_yaml(checked_file(path, {FileKind::kCertificate})));
}

Certificate parse_certificate(const std::string& text, const std::string& filename) {
  return read_certificate_text(parse_yaml(text, filename));
}

ClaimedFront Certificate::claimed_front() const {
  if (goal.kind == Goal::Kind::kValue) {
    return {{{lower_bound, 0}}, false, 0};
  }
  ClaimedFront front{{}, goal.kind == Goal::Kind::kTies, goal.ties_by_energy() ? kTolerance : 0};
  for (const Point& point : points) {
    front.points.push_back(point.figures);
  }
  return front;
}

std::string value_text(double value, const Goal& goal) {
  return value < kInfinity ? fmt::format("{} {}", value, unit_of(goal)) : kNothingFits;
}

std::string measure_text(double measure, const Goal& goal) {
  return fmt::format("{}{}", measure, measure_unit(goal));
}

std::string goal_text(const Goal& goal) {
  std::string text = to_string(goal.function);
  if (goal.kind != Goal::Kind::kValue) {
    text += goal.kind == Goal::Kind::kCurve   ? " over a capacity"
            : goal.kind == Goal::Kind::kFront ? " and latency"
            : goal.ties_by_energy()           ? ", then energy"
                                              : ", then latency";
  }
  text += goal.needs_time() ? goal.ramped ? " (ramped)" : " (steady)" : "";
  text += goal.max_energy ? fmt::format(", at most {} pJ", *goal.max_energy) : "";
  return text + (goal.max_latency ? fmt::format(", at most {} cycles", *goal.max_latency) : "");
}

std::string unit_of(const Goal& goal) { return goal.function.unit("pJ", "cycles", "*"); }

}  // namespace mapsim::check
