// SPDX-License-Identifier: Apache-2.0
#include "mapper/nvdla/search.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "core/arithmetic.hpp"
#include "mapper/haste.hpp"
#include "mapper/mapspace/sample_statistics.hpp"
#include "mapper/nvdla/schedules.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// The objective of the second search: the least other figure among the schedules with the least
// first one.
Objective tie_breaker(const Objective& objective, const Cost& best) {
  Objective other = objective;
  if (!objective.function.uses_latency()) {
    other.function = Objective::kLatency.function;
    other.max_energy = best.energy.total;
  } else {
    other.function = Objective::kEnergy.function;
    other.max_latency = latency_of(objective.mode, best.latency);
  }
  return other;
}

// What merging `count` groups takes for each position of the output, over all merges: all
// quantities that a schedule's time, energy and capacity grow with and that depend on the merge.
struct Merge {
  std::int64_t count = 1;  // in one merge; affects capacity, and kernel groups that pass in turn
  // Including groups of zeros; features in the buffer, and `count` times weights
  std::int64_t groups = 1;
  std::int64_t operations = 1;    // atomic operations per filter element
  std::int64_t input_words = 1;   // from memory
  std::int64_t output_words = 1;  // to memory
  std::int64_t post_cycles = 0;   // in the units behind the array
  bool is_no_worse_than(const Merge& other) const {
    return count <= other.count && groups <= other.groups && operations <= other.operations &&
           input_words <= other.input_words && output_words <= other.output_words &&
           post_cycles <= other.post_cycles;
  }
};

Merge merge_of(const Problem& problem, const LayerView& view, std::int64_t count) {
  const Workload& workload = problem.workload();
  const auto bound = [&](std::optional<DimId> dim) {
    return dim ? workload.dims[*dim].bound : std::int64_t{1};
  };
  const auto& timing = std::get<NvdlaTiming>(problem.arch().compute.timing);
  const Fanout& array = problem.arch().fanouts[timing.array];
  const std::int64_t word = problem.arch().levels[LevelId{0}].word.count();
  const std::int64_t channels = count * bound(view.channel);
  const std::int64_t kernels = count * bound(view.kernel);
  const std::int64_t merges = ceil_div(bound(view.group), count);
  Merge merge{count, merges * count,
              merges * ceil_div(channels, array.y) * ceil_div(kernels, array.x)};
  merge.input_words = merges * ceil_div(channels * workload.tensors[view.input].bits.count(), word);
  merge.output_words =
      merges * ceil_div(kernels * workload.tensors[workload.output()].bits.count(), word);
  merge.post_cycles =
      timing.post_throughput > 0 ? merges * ceil_div(kernels, timing.post_throughput) : 0;
  return merge;
}

// Adds the merges of every number of groups, without those for which a smaller merge is no worse in
// everything: with its smaller tiles it can run every schedule of theirs.
void add_merged(const Problem& problem, const LayerView& view, std::vector<Form>& forms) {
  const std::int64_t groups = view.group ? problem.workload().dims[*view.group].bound : 1;
  std::vector<Merge> kept;
  for (std::int64_t n = 1; n <= groups; ++n) {
    const Merge merge = merge_of(problem, view, n);
    const bool needless = std::any_of(kept.begin(), kept.end(), [&](const Merge& smaller) {
      return smaller.is_no_worse_than(merge);
    });
    if (!needless) {
      kept.push_back(merge);
    }
  }
  for (const Merge& merge : kept) {
    if (merge.count > 1) {
      forms.push_back({FormKind::kMerged, merge.count});
    }
  }
}

}  // namespace

std::vector<Form> forms_of(const Problem& problem, Frames frames) {
  const auto& timing = std::get<NvdlaTiming>(problem.arch().compute.timing);
  const std::optional<LayerView> view = view_layer(problem.workload());
  std::vector<Form> forms{Form{}};
  if (!view || problem.workload().form != Form{} || timing.mode == NvdlaMode::kSheet) {
    return forms;  // the workbook chooses by itself
  }
  if (timing.winograd) {
    forms.push_back({FormKind::kWinograd, 1});
  }
  if (timing.image_input) {
    forms.push_back({FormKind::kImage, 1});
  }
  if (view->convolution) {
    add_merged(problem, *view, forms);
  }
  const std::int64_t most = frames == Frames::kBatches ? timing.most_batch : 1;
  for (std::int64_t n = 2; !view->convolution && n <= most; n *= 2) {
    forms.push_back({FormKind::kBatch, n});
  }
  return forms;
}

std::int64_t count_schedules(const Problem& problem, Frames frames) {
  std::vector<Form> forms;
  for (const Form form : forms_of(problem, frames)) {
    if (form.kind != FormKind::kMerged) {
      forms.push_back(form);
    }
  }
  const std::optional<LayerView> view = view_layer(problem.workload());
  const auto& timing = std::get<NvdlaTiming>(problem.arch().compute.timing);
  const std::int64_t groups = view && view->group && timing.mode != NvdlaMode::kSheet
                                  ? problem.workload().dims[*view->group].bound
                                  : 1;
  for (std::int64_t n = 2; n <= groups; ++n) {
    forms.push_back({FormKind::kMerged, n});
  }
  std::int64_t count = 0;
  for (const Form form : forms) {
    if (std::optional<Workload> workload = in_form(problem.workload(), form)) {
      count +=
          nvdla_space(Problem{problem.arch(), std::move(*workload)}, LatencyMode::kSteady).size;
    }
  }
  return count;
}

SearchResult search_nvdla(const Mapspace& space, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Problem& problem = space.problem();
  if (space.constraints() != Mapspace{problem, {}}.constraints()) {
    throw UnsupportedSearch("the schedules of an NVDLA-like engine take no constraints");
  }
  check_engine(problem);
  const NvdlaSpace engine = nvdla_space(problem, options.objective.mode);
  SearchOptions asked = options;
  const std::int64_t all = std::ssize(engine.schedules);
  // Schedules are few; without any time, the first ones until one fits.
  std::int64_t count = Haste::is_over_before(options.budget) ? std::min<std::int64_t>(all, 1) : all;
  const auto search = [&] {
    return consider_all(problem, asked, count,
                        [&](std::int64_t i) {
                          return mapping_of(problem, engine.schedules[static_cast<std::size_t>(i)]);
                        })
        .result(problem);
  };
  SearchResult result = search();
  while (count < all && !result.cost) {
    count = std::min(all, 2 * count);
    result = search();
  }
  if (options.objective.exact_ties && result.cost) {
    asked.objective = tie_breaker(options.objective, *result.cost);
    result = search();
  }
  result.interrupted = count < all || is_stopped(options);
  result.certificate.mapspace_size = std::to_string(engine.size);
  result.certificate.schedules = true;
  if (!result.interrupted) {
    result.certificate.status = result.cost ? Proof::kOptimal : Proof::kInfeasible;
    result.certificate.lower_bound = result.cost ? objective_value(options.objective, *result.cost)
                                                 : std::numeric_limits<double>::infinity();
  }
  result.statistics.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

FormedResult search_forms(const Problem& problem, const SearchOptions& options, Frames frames) {
  std::optional<FormedResult> best;
  ObjectiveValue best_value;
  std::vector<TriedForm> tried;
  Statistics spent;
  for (const Form form : forms_of(problem, frames)) {
    std::optional<Workload> workload = in_form(problem.workload(), form);
    if (!workload) {
      continue;
    }
    Problem formed{problem.arch(), std::move(*workload)};
    SearchResult result = search_nvdla(Mapspace{formed, {}}, options);
    result.form = form;
    const std::int64_t together = form.kind == FormKind::kBatch ? form.count : 1;
    const ObjectiveValue value = objective_value_of(options.objective, result, together);
    tried.push_back({form, value.value});
    spent.seconds += result.statistics.seconds;
    spent.evaluations += result.statistics.evaluations;
    if (!best || is_better(options.objective, value, best_value)) {
      best_value = value;
      best.emplace(FormedResult{std::move(formed), std::move(result), {}});
    }
  }
  best->tried = std::move(tried);
  best->result.certificate.mapspace_size = std::to_string(count_schedules(problem, frames));
  best->result.statistics = spent;
  return std::move(*best);
}

}  // namespace mapsim
