// SPDX-License-Identifier: Apache-2.0
#include "report/certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <vector>

#include "arch/print.hpp"
#include "check/check.hpp"
#include "costmodel/mapping_text.hpp"
#include "report/certificate_subject.hpp"
#include "report/constraints.hpp"
#include "workloads/masks.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

// `also`: what else is claimed of it, as an entry; or nothing.
std::string objective_line(const Objective& objective, const std::string& also) {
  std::string text = fmt::format("objective: {{function: {}{}{}", to_string(objective.function),
                                 also.empty() ? "" : ", ", also);
  if (objective.mode != LatencyMode::kSteady) {
    text += fmt::format(", mode: {}", to_string(objective.mode));
  }
  if (objective.max_energy) {
    text += fmt::format(", max_energy: {} pJ", objective.max_energy->count());
  }
  if (objective.max_latency) {
    text += fmt::format(", max_latency: {} cycles", objective.max_latency->count());
  }
  return text + "}\n";
}

std::string allowed_text(const Allowed& allowed) {
  return allowed.values.empty() ? fmt::format("{{min: {}, max: {}}}", allowed.least, allowed.most)
                                : fmt::format("[{}]", fmt::join(allowed.values, ", "));
}

// {K: [2, 4]}
std::string factor_rules(const Workload& workload, const std::vector<FactorRule>& rules) {
  std::vector<std::string> factors;
  for (const FactorRule& factor : rules) {
    factors.push_back(
        fmt::format("{}: {}", workload.dims[factor.dim].name, allowed_text(factor.factors)));
  }
  return fmt::format("{{{}}}", fmt::join(factors, ", "));
}

// {dims: [K, C], factors: {K: [2, 4]}, max_dims: 1}
std::string axis_rule(const Workload& workload, const AxisRule& rule) {
  std::vector<std::string> entries;
  if (rule.dims) {
    entries.push_back("dims: " + dim_list(workload, *rule.dims));
  }
  if (!rule.factors.empty()) {
    entries.push_back("factors: " + factor_rules(workload, rule.factors));
  }
  if (rule.max_dims) {
    entries.push_back(fmt::format("max_dims: {}", *rule.max_dims));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string unroll_rules(const Problem& problem, const std::vector<UnrollRule>& rules) {
  std::string text = rules.empty() ? "" : "  unroll:\n";
  for (const UnrollRule& rule : rules) {
    text +=
        fmt::format("    {}: {{min_utilization: {}, X: {}, Y: {}}}\n",
                    problem.arch().fanouts[rule.fanout].name, rule.min_utilization,
                    axis_rule(problem.workload(), rule.x), axis_rule(problem.workload(), rule.y));
  }
  return text;
}

std::string extent_rules(const Problem& problem, const std::vector<ExtentRule>& rules) {
  std::string text = rules.empty() ? "" : "  extents:\n";
  for (const ExtentRule& rule : rules) {
    text += fmt::format("    - {{level: {}, tensor: {}, dim: {}, extents: {}{}}}\n",
                        problem.arch().levels[rule.level].name,
                        problem.workload().tensors[rule.tensor].name,
                        problem.workload().dims[rule.dim].name, allowed_text(rule.extents),
                        rule.done ? ", done: true" : "");
  }
  return text;
}

std::string loop_rules(const Problem& problem, const std::vector<LoopRule>& rules) {
  const Workload& workload = problem.workload();
  std::string text = rules.empty() ? "" : "  loops:\n";
  for (const LoopRule& rule : rules) {
    std::vector<std::string> entries;
    if (rule.level) {
      entries.push_back("level: " + problem.arch().levels[*rule.level].name);
    } else if (rule.fanout) {
      entries.push_back("fanout: " + problem.arch().fanouts[*rule.fanout].name);
    }
    if (rule.ordered) {
      std::vector<std::string> groups;
      for (const DimSet group : rule.order) {
        groups.push_back(dim_list(workload, group));
      }
      entries.push_back(fmt::format("order: [{}]", fmt::join(groups, ", ")));
    }
    if (!rule.factors.empty()) {
      entries.push_back("factors: " + factor_rules(workload, rule.factors));
    }
    if (!rule.rest.empty()) {
      entries.push_back("rest: " + dim_list(workload, rule.rest));
    }
    text += fmt::format("    - {{{}}}\n", fmt::join(entries, ", "));
  }
  return text;
}

std::string rules_text(const Mapspace& space) {
  std::string text =
      fmt::format("rules:\n  tiling: {}\n", space.constraints().even ? "even" : "uneven");
  text += space.constraints().one_loop_per_dim ? "  one_loop_per_dim: true\n" : "";
  text += space.constraints().factors.imperfect ? factor_lines(space) : "  factors: perfect\n";
  if (space.constraints().spatial) {
    text += spatial_rules(space.problem(), *space.constraints().spatial);
  }
  text += unroll_rules(space.problem(), space.constraints().unroll);
  text += extent_rules(space.problem(), space.constraints().extents);
  text += loop_rules(space.problem(), space.constraints().loops);
  return text + keep_rules(space, KeepRule::kKeep) + keep_rules(space, KeepRule::kBypass);
}

}  // namespace

std::string mapspace_rules(const Mapspace& space) { return rules_text(space); }

namespace {

std::string mapspace_line(const std::string& size) {
  return fmt::format("mapspace: \"{}\"\n", size.empty() ? check::kNotCounted : size);
}

// {K: 16, C: 2} or, where axes matter, {X: {K: 16}, Y: {C: 2}}
std::string instances_map(const Mapspace& space, const UnrollingClass& group, FanoutId f) {
  const Problem& problem = space.problem();
  if (!problem.places_matter() && !space.constraints().factors.imperfect) {
    return factors_map(problem.workload(), group.factors[f]);
  }
  const PerDim<std::int64_t> ones(problem.workload().dims.size(), 1);
  std::array along{ones, ones};
  for (const Unroll& unroll : group.first) {
    along[static_cast<std::size_t>(unroll.axis)][unroll.dim] *=
        unroll.fanout == f ? unroll.factor : 1;
  }
  return fmt::format("{{X: {}, Y: {}}}", factors_map(problem.workload(), along[0]),
                     factors_map(problem.workload(), along[1]));
}

// None says more than `most`: what the proof does not need takes the checker long.
std::string bounds_text(const Mapspace& space, const check::Goal& goal, const SearchResult& result,
                        double most) {
  constexpr std::array kArguments{"floor", "relaxation", "search"};  // in the order of Argument
  const Problem& problem = space.problem();
  std::string text;
  for (const ClassBound& bound : result.classes) {
    const UnrollingClass& group = bound.unrollings;
    std::vector<std::string> fanouts;
    for (const FanoutId f : group.factors.ids()) {
      if (factors_map(problem.workload(), group.factors[f]) != "{}") {
        fanouts.push_back(
            fmt::format("{}: {}", problem.arch().fanouts[f].name, instances_map(space, group, f)));
      }
    }
    text += fmt::format(
        "  - {{{}: {}, spatial: {{{}}}}}\n", kArguments[static_cast<std::size_t>(bound.by)],
        check::value_text(std::min(bound.bound, most), goal), fmt::join(fanouts, ", "));
  }
  if (result.others_bound) {
    text += fmt::format("  - {{others: {}}}\n",
                        check::value_text(std::min(*result.others_bound, most), goal));
  }
  return text.empty() ? "bounds: []\n" : "bounds:\n" + text;  // empty: no unrolling obeys the rules
}

}  // namespace

namespace {

check::Goal unit_goal(const Objective& objective) {
  check::Goal goal;  // for its unit
  goal.function = objective.function;
  return goal;
}

std::string head_text(const Objective& objective, const std::string& also) {
  return fmt::format("certificate: 1\ntool: mapsim {}\n{}", tool_version(),
                     objective_line(objective, also));
}

// What the claim is about. `layer`: the workload as YAML; an engine's needs its padding, too.
std::string subject_text(const Provenance& origin, const Arch& arch, const std::string& layer,
                         const std::string& rules, const std::vector<MaskFile>& masks = {}) {
  std::string text = subject_text(origin, arch, layer);
  if (!masks.empty()) {
    text += "masks:\n";
  }
  for (const MaskFile& mask : masks) {
    text += fmt::format("  {}: \"{:016x}\"\n", mask.tensor, mask.hash);
  }
  return text + rules;
}

// Of an engine's schedules.
std::string schedule_rules(Frames frames) {
  return fmt::format("rules:\n  schedules: nvdla\n  frames: {}\n",
                     frames == Frames::kOne ? "one" : "batches");
}

// An objective's `also` and the line that goes with it, where ties count.
std::string ties_entry(const Objective& objective) {
  return !objective.function.uses_energy() ? "ties: energy" : "ties: latency";
}
std::string tie_line(const Objective& objective, const Cost& cost, std::int64_t frames) {
  const auto count = static_cast<double>(frames);
  const auto cycles = static_cast<double>(latency_of(objective.mode, cost.latency).count());
  return !objective.function.uses_energy()
             ? fmt::format("tie: {} pJ\n", cost.energy.total.count() / count)
             : fmt::format("tie: {} cycles\n", cycles / count);
}

}  // namespace

namespace {

std::string proof_text(const Provenance& origin, const Mapspace& space, const Objective& objective,
                       const SearchResult& result, bool tied) {
  const Problem& problem = space.problem();
  const check::Goal goal = unit_goal(objective);
  const double value = result.cost ? objective_value(objective, *result.cost) : HUGE_VAL;
  std::string text = head_text(objective, tied ? ties_entry(objective) : "");
  text += fmt::format("value: {}\n", check::value_text(value, goal));
  if (tied) {
    text += tie_line(objective, *result.cost, 1);
  }
  text += fmt::format("lower_bound: {}\n", check::value_text(result.certificate.lower_bound, goal));
  text += mapspace_line(result.certificate.mapspace_size);
  if (result.best) {
    text += print_mapping(problem.arch(), problem.workload(), *result.best);
  }
  // Groups beyond it have no ties; more of some than of others proves nothing.
  const double most = tied ? HUGE_VAL : std::min(value, result.certificate.lower_bound);
  text += subject_text(origin, problem.arch(), print_workload(problem.workload()),
                       rules_text(space), masks_of(problem.workload())) +
          bounds_text(space, goal, result, most);
  return text + check::seal(text);
}

}  // namespace

namespace {

constexpr std::chrono::milliseconds kForAll{30};

// What the checker can prove of each claim of a file becomes that of the result. Returns the file's
// value.
double prove_bounds(const std::string& text, const check::CheckOptions& options,
                    SearchResult& proven) {
  const check::Certificate draft = check::parse_certificate(text, "the certificate");
  const std::vector<double> bounds = check::provable_bounds(draft, options);
  proven.certificate.lower_bound = draft.value;
  for (std::size_t g = 0; g < bounds.size(); ++g) {  // the others are last
    (g < proven.classes.size() ? proven.classes[g].bound : *proven.others_bound) = bounds[g];
    proven.certificate.lower_bound = std::min(proven.certificate.lower_bound, bounds[g]);
  }
  return draft.value;
}

}  // namespace

std::string certificate_file(const Provenance& origin, const Mapspace& space,
                             const Objective& objective, const SearchResult& result, int threads,
                             check::Stop stop) {
  const bool imperfect = space.constraints().factors.imperfect;
  const bool tied = !imperfect && objective.exact_ties &&
                    result.certificate.status == Proof::kOptimal &&
                    !result.certificate.bound_but_for_free_boundaries;
  const std::string text = proof_text(origin, space, objective, result, tied);
  if (!imperfect) {
    return text;
  }
  check::CheckOptions options;
  options.threads = threads;
  if (result.interrupted) {
    options.effort = {300, 0};
  }
  options.effort.stop = stop;
  SearchResult proven = result;
  double value = 0;
  // The checker reads the claims of the file, which takes 20 us each, or more.
  const std::size_t claims = result.classes.size() + (result.others_bound ? 1 : 0);
  const auto now = check::Stop::Clock::now();
  bool has_time = !stop.end || now + std::chrono::microseconds(20 * claims) < *stop.end;
  if (has_time) {
    value = prove_bounds(text, options, proven);
    has_time = proven.certificate.lower_bound > 0 || !stop.is_set();
  }
  if (!has_time && stop.end) {  // for each class; one claim about all takes little
    proven.classes.clear();
    proven.others_bound = 0;
    options.effort.stop.end = std::max(check::Stop::Clock::now(), *stop.end) + kForAll;
    value = prove_bounds(proof_text(origin, space, objective, proven, false), options, proven);
  }
  if (stop.is_cancelled()) {
    return {};
  }
  const bool optimal = result.cost && !(proven.certificate.lower_bound < value);
  if (objective.exact_ties && optimal && !result.interrupted) {
    const std::string with_ties = proof_text(origin, space, objective, proven, true);
    const double share =
        check::provable_share(check::parse_certificate(with_ties, "the certificate"), options);
    if (stop.is_cancelled()) {
      return {};
    }
    if (!(share < 1)) {
      return with_ties;
    }
  }
  return proof_text(origin, space, objective, proven, false);
}

std::string schedules_certificate_file(const Provenance& origin, const Problem& layer,
                                       Frames frames, const Objective& objective,
                                       const FormedResult& found) {
  const SearchResult& result = found.result;
  const std::int64_t together = result.form.kind == FormKind::kBatch ? result.form.count : 1;
  const auto count = static_cast<double>(together);
  double value = HUGE_VAL;
  if (result.cost) {
    const auto cycles =
        static_cast<double>(latency_of(objective.mode, result.cost->latency).count());
    value = objective.function.value(result.cost->energy.total.count() / count, cycles / count);
  }
  const bool tied = objective.exact_ties && result.cost && !result.interrupted;
  const check::Goal goal = unit_goal(objective);
  std::string text = head_text(objective, tied ? ties_entry(objective) : "");
  text += fmt::format("value: {}\n", check::value_text(value, goal));
  text += tied ? tie_line(objective, *result.cost, together) : "";
  text += fmt::format("lower_bound: {}\n", check::value_text(result.interrupted ? 0 : value, goal));
  text += mapspace_line(std::to_string(count_schedules(layer, frames)));
  if (result.best) {
    text += print_mapping(layer.arch(), found.problem.workload(), *result.best);
  }
  text += subject_text(origin, layer.arch(), print_layer(layer.workload()), schedule_rules(frames));
  return text + check::seal(text);
}

std::string front_certificate_file(const Provenance& origin, const Mapspace& space,
                                   const FrontSubject& subject, const Front& front, int threads,
                                   check::Stop stop) {
  const Arch& arch = space.problem().arch();
  Objective objective = subject.objective;
  std::string also = "front: latency";
  if (subject.capacity) {
    also = fmt::format("curve: {{level: {}{}}}", arch.levels[subject.capacity->level].name,
                       subject.capacity->role
                           ? fmt::format(", role: {}", to_string(*subject.capacity->role))
                           : std::string{});
  } else {
    objective.function = Objective::kEnergy.function;
  }
  std::string text = head_text(objective, also);
  const Problem& problem = space.problem();
  text += mapspace_line(front.mapspace_size);
  text += front.points.empty() ? "points: []\n" : "points:\n";
  for (const FrontPoint& point : front.points) {
    text += fmt::format("  - value: {}\n    measure: {} {}\n",
                        check::value_text(point.value, unit_goal(objective)), point.measure,
                        subject.capacity ? "b" : "cycles");
    const std::string mapping = print_mapping(arch, workload_of(problem, point), point.mapping);
    text += indented(indented(mapping));
  }
  const Workload& workload = problem.workload();
  text += front.schedules
              ? subject_text(origin, arch, print_layer(workload), schedule_rules(Frames::kOne))
              : subject_text(origin, arch, print_workload(workload), rules_text(space),
                             masks_of(workload));
  if (!space.constraints().factors.imperfect) {
    return text + check::seal(text);
  }
  check::CheckOptions options;
  options.threads = threads;
  if (!front.complete) {
    options.effort = {3'000, 0};
  }
  options.effort.stop = stop;
  const double share = check::provable_share(
      check::parse_certificate(text + check::seal(text), "the certificate"), options);
  if (!(share > 0) || stop.is_cancelled()) {
    return {};
  }
  text += share < 1 ? fmt::format("gap: {}\n", 1 / share - 1) : "";
  return text + check::seal(text);
}

}  // namespace mapsim
