// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mapper/counting/why_empty.hpp"
#include "mapper/least_busiest.hpp"
#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

std::string need_text(const std::string& reason, std::int64_t need) {
  if (reason == "energy limit") {
    return energy_text(Picojoules{static_cast<double>(need)});
  }
  if (reason == "latency limit") {
    return grouped(need) + " cycles";
  }
  if (reason.find(": nothing that ") != std::string::npos) {
    return "no size would";
  }
  const bool is_capacity = reason.find("capacity") != std::string::npos;
  return is_capacity ? bytes_text(Bits{need}) : grouped(need) + " instances";
}

// What is proven beyond that, or not: decision 18.
std::string free_boundaries_text(const Certificate& proof, const Objective& objective) {
  if (proof.status == Proof::kOptimal) {
    return proof.bound_but_for_free_boundaries ? "(not every mapping of this value was searched: "
                                                 "one may be better in the other figure)\n"
                                               : "";
  }
  return proof.bound_but_for_free_boundaries
             ? fmt::format(
                   "(no mapping without free tile boundaries is below {}; those with them are too "
                   "many to search)\n",
                   objective_text(objective, *proof.bound_but_for_free_boundaries))
             : std::string{};
}

}  // namespace

std::string objective_text(const Objective& objective, double value) {
  if (objective.function.is_energy()) {
    return energy_text(Picojoules{value});
  }
  if (objective.function.is_latency()) {
    return fmt::format("{} cycles", grouped(static_cast<std::int64_t>(value)));
  }
  return fmt::format("{:.4g} {}", value, objective.function.unit("pJ", "cycles", " x "));
}

// "best 557.5 uJ; none of the 12 mappings ... is below 418.5 uJ (gap 33.2 %)". The gap is the best
// value over the bound, minus 1.
std::string bounded_text(const Certificate& proof, const Objective& objective,
                         const std::string& none) {
  const double value = proof.lower_bound * (1 + proof.gap);
  const double best = objective.function.is_latency() ? std::round(value) : value;
  return fmt::format("best {}; none {} is below {} (gap {})\n", objective_text(objective, best),
                     none, objective_text(objective, proof.lower_bound), percent(proof.gap));
}

std::string progress_text(const Objective& objective, const Progress& progress) {
  std::string text;
  if (progress.best) {
    text += fmt::format(", best {}", objective_text(objective, *progress.best));
  }
  if (progress.best && progress.lower_bound > 0) {
    text += fmt::format(", bound {}, gap {}", objective_text(objective, progress.lower_bound),
                        percent(*progress.best / progress.lower_bound - 1));
  }
  const double rate =
      progress.seconds > 0 ? static_cast<double>(progress.labels) / progress.seconds : 0;
  const std::string total =
      progress.unrollings_total > 0 ? fmt::format(" of {}", progress.unrollings_total) : "";
  return text + fmt::format(", {}{} unrollings, {} labels/s", progress.unrollings, total,
                            grouped(static_cast<std::int64_t>(rate)));
}

// What is proven of a systolic array whose folds may leave a remainder.
std::string folds_text(const Certificate& proof, const Objective& objective,
                       const std::string& over) {
  const std::string name = to_string(objective);
  const auto text = [&](double value) { return objective_text(objective, value); };
  const std::string all = over + ", nor with folds that leave a remainder and take less time,";
  std::string found = proof.status == Proof::kOptimal
                          ? fmt::format("proven optimal: none {} has a lower {} than {}\n", all,
                                        name, text(proof.lower_bound)) +
                                free_boundaries_text(proof, objective)
                          : "not proven: " + bounded_text(proof, objective, all);
  if (!proof.divisors->value) {
    return found + "(without a remainder nothing fits)\n";
  }
  return found + fmt::format("(the best without a remainder: {}; none is below {})\n",
                             text(*proof.divisors->value), text(proof.divisors->lower_bound));
}

std::string mappings_text(const Mapspace& space, const std::string& size) {
  return fmt::format("the {}{}mappings ({} factors{}) in the mapspace",
                     size.empty() ? "" : short_decimal(size) + " ",
                     space.constraints().even ? "even " : "",
                     space.constraints().factors.imperfect ? "imperfect" : "perfect",
                     size.empty() ? ", not counted" : "");
}

std::string certificate_text(const Mapspace& space, const Objective& objective,
                             const SearchResult& result) {
  const Certificate& proof = result.certificate;
  const std::string over = proof.schedules ? fmt::format("of the engine's {} schedules",
                                                         short_decimal(proof.mapspace_size))
                                           : "of " + mappings_text(space, proof.mapspace_size);
  const std::string name = to_string(objective);
  if (proof.divisors) {
    return folds_text(proof, objective, over);
  }
  switch (proof.status) {
    case Proof::kOptimal:
      return fmt::format("proven optimal: none {} has a lower {} than {}\n", over, name,
                         objective_text(objective, proof.lower_bound)) +
             free_boundaries_text(proof, objective);
    case Proof::kInfeasible:
      return fmt::format("proven: nothing fits {}\n", over);
    case Proof::kBounded:
      return (result.interrupted || proof.bound_but_for_free_boundaries ||
                      space.problem().sparse() != nullptr
                  ? "not proven: "
                  : "proven to the requested gap: ") +
             bounded_text(proof, objective, over) + free_boundaries_text(proof, objective);
    case Proof::kNone:
      return fmt::format("no proof: the best seen {}\n", over);
  }
  return "";
}

// Nothing where no instance waits for another, or nothing is proven.
std::string busiest_bound_text(const Mapspace& space, const Objective& objective,
                               const SearchResult& result) {
  const Certificate& proof = result.certificate;
  const auto value = busiest_value(space.problem(), objective, *result.best, *result.cost);
  if (!value || proof.status == Proof::kNone || !(proof.lower_bound > 0)) {
    return "";
  }
  const double gap = value->value / proof.lower_bound - 1;
  const std::string figure =
      fmt::format("{} with the busiest instance: {}{}", to_string(objective),
                  value->exact ? "" : "at least ", objective_text(objective, value->value));
  return gap <= kRounding && value->exact ? fmt::format("({}, proven optimal, too)\n", figure)
                                          : fmt::format(
                                                "({}, {} above the bound on the mean over "
                                                "instances, which bounds this value, too)\n",
                                                figure, percent(std::max(0.0, gap)));
}

std::string forms_text(const std::vector<TriedForm>& forms) {
  if (forms.empty()) {
    return "";
  }
  std::vector<Row> rows;
  for (const TriedForm& tried : forms) {
    rows.push_back({to_string(tried.form), std::isfinite(tried.value)
                                               ? fmt::format("{:.6g}", tried.value)
                                               : "does not fit"});
  }
  const auto best =
      std::min_element(forms.begin(), forms.end(),
                       [](const TriedForm& a, const TriedForm& b) { return a.value < b.value; });
  const bool is_unfolded = std::any_of(forms.begin(), forms.end(), [](const TriedForm& tried) {
    return tried.form.kind == FormKind::kUnfolded;  // not on an engine, whose batches have frames
  });
  return fmt::format("objective{}, by form of the layer\n", is_unfolded ? "" : " per frame") +
         table(rows) +
         (best->form.kind == FormKind::kBatch
              ? fmt::format("the figures above are of a batch of {} frames\n", best->form.count)
              : "");
}

std::string infeasible_text(const InfeasibleReport& report, bool of_unrollings) {
  std::vector<std::pair<std::string, std::int64_t>> reasons(report.reasons.begin(),
                                                            report.reasons.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Row> rows{{"", of_unrollings ? "unrollings" : "times", "the smallest that would do"}};
  for (const auto& [reason, times] : reasons) {
    Row row{reason, of_unrollings && reason.ends_with(" limit") ? "all" : grouped(times)};
    if (const auto need = report.smallest_need.find(reason); need != report.smallest_need.end()) {
      row.push_back(need_text(reason, need->second));
    } else {
      row.emplace_back(reason.ends_with(" limit") ? "not known" : "enough as it is");
    }
    rows.push_back(row);
  }
  return "why mappings do not fit:\n" + table(rows);
}

std::string brief_infeasible_text(const InfeasibleReport& report) {
  Row reasons;
  for (const auto& [reason, times] : report.reasons) {
    const auto need = report.smallest_need.find(reason);
    reasons.push_back(
        need == report.smallest_need.end()
            ? reason
            : fmt::format("{} (at least {})", reason, need_text(reason, need->second)));
  }
  return reasons.empty() ? "no mapping obeys the constraints"
                         : fmt::format("nothing fits: {}", fmt::join(reasons, "; "));
}

std::string why_none_text(const Mapspace& space, const SearchResult& result) {
  if (result.certificate.mapspace_size == "0") {
    return why_empty(space);
  }
  const bool is_open = result.interrupted || result.certificate.status == Proof::kBounded;
  return is_open && result.infeasible.reasons.empty() ? "the search ended before it found a mapping"
                                                      : brief_infeasible_text(result.infeasible);
}

std::string statistics_text(const Statistics& statistics) {
  std::string text = fmt::format("searched in {}; mappings evaluated: {}",
                                 scaled(statistics.seconds, "s"), grouped(statistics.evaluations));
  if (statistics.states > 0) {
    text += fmt::format("; states: {}; labels: {}", grouped(statistics.states),
                        grouped(statistics.labels));
  }
  if (statistics.unrollings_total > 0) {
    text += fmt::format("; spatial unrollings: {} of {}", grouped(statistics.unrollings),
                        grouped(statistics.unrollings_total));
  }
  if (statistics.peak_bytes > 0) {
    text += fmt::format("; memory: {} at most",
                        bytes_text(Bits{8 * static_cast<std::int64_t>(statistics.peak_bytes)}));
  }
  return text + "\n";
}

std::string search_text(const Mapspace& space, const Objective& objective,
                        const SearchResult& result) {
  const Problem& problem = space.problem();
  std::string text = title_text(problem.arch(), problem.workload()) + "\n";
  if (result.interrupted) {
    text += "stopped before the proof was complete; the best so far:\n\n";
  }
  if (result.best && result.cost) {
    text += cost_text(problem, *result.best, *result.cost) + "\n" +
            certificate_text(space, objective, result) +
            busiest_bound_text(space, objective, result);
  } else {
    const std::string& size = result.certificate.mapspace_size;
    const bool is_open = result.interrupted || result.certificate.status == Proof::kBounded;
    text += fmt::format("no feasible mapping {} {}\n", is_open ? "found among" : "among",
                        mappings_text(space, size));
    if (size == "0") {
      text += why_empty(space) + '\n';
    } else if (!result.infeasible.reasons.empty()) {
      text += infeasible_text(result.infeasible, !result.classes.empty() || result.others_bound);
    }
  }
  if (result.statistics.out_of_memory > 0) {
    text += fmt::format(
        "out of memory {}: what did not fit was searched on a part of its tiles, and its bound is "
        "a weaker one; --memory gives more, constraints need less\n",
        result.statistics.out_of_memory == 1 ? "once"
                                             : grouped(result.statistics.out_of_memory) + " times");
  }
  return text + statistics_text(result.statistics);
}

}  // namespace mapsim
