// SPDX-License-Identifier: Apache-2.0
#include "mapper/nvdla/search.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "mapper/nvdla/schedules.hpp"
#include "mapper/tally.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

double value_of(const Objective& objective, const SearchResult& result, std::int64_t frames) {
  if (!result.cost) {
    return std::numeric_limits<double>::infinity();
  }
  const auto count = static_cast<double>(frames);
  const auto cycles = static_cast<double>(latency_of(objective.mode, result.cost->latency).count());
  return objective_value(objective, result.cost->energy.total.count() / count, cycles / count);
}

// Merging `count` groups: how many merges, and the atomic operations of them all per position and
// filter element.
struct Merge {
  std::int64_t count = 1;
  std::int64_t merges = 1;
  std::int64_t operations = 1;
  // No more operations, groups and zeros in a merge, groups of zeros in the last one.
  bool is_no_worse_than(const Merge& other) const {
    return operations <= other.operations && count <= other.count &&
           count * merges <= other.count * other.merges;
  }
};

// All divisors of the groups that let a merge fit one atomic operation along an axis, and other
// numbers that no merge is at least as good as.
void add_merged(const Problem& problem, const LayerView& view, std::vector<Form>& forms) {
  const auto bound = [&](std::optional<DimId> dim) {
    return dim ? problem.workload().dims[*dim].bound : std::int64_t{1};
  };
  const auto over = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const auto& timing = std::get<NvdlaTiming>(problem.arch().compute.timing);
  const Fanout& array = problem.arch().fanouts[timing.array];
  const std::int64_t groups = bound(view.group);
  std::vector<Merge> merges;
  for (std::int64_t n = 1; n <= groups; ++n) {
    const std::int64_t channels = n * bound(view.channel);
    const std::int64_t kernels = n * bound(view.kernel);
    if (n == 1 || channels <= array.y || kernels <= array.x) {
      const std::int64_t each = over(channels, array.y) * over(kernels, array.x);
      merges.push_back({n, over(groups, n), over(groups, n) * each});
    }
  }
  for (const Merge& merge : merges) {
    const bool needless = std::any_of(merges.begin(), merges.end(), [&](const Merge& other) {
      return other.count != merge.count && other.is_no_worse_than(merge);
    });
    if (merge.count > 1 && (groups % merge.count == 0 || !needless)) {
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

SearchResult search_nvdla(const Mapspace& space, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Problem& problem = space.problem();
  if (space.constraints() != Mapspace{problem, {}}.constraints()) {
    throw UnsupportedSearch("the schedules of an engine after NVDLA take no constraints");
  }
  check_engine(problem);
  const NvdlaSpace engine = nvdla_space(problem);
  const Tally tally = consider_all(
      problem, options, static_cast<std::int64_t>(engine.schedules.size()), [&](std::int64_t i) {
        return mapping_of(problem, engine.schedules[static_cast<std::size_t>(i)]);
      });
  SearchResult result = tally.result(problem);
  result.interrupted = is_stopped(options);
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
  double best_value = std::numeric_limits<double>::infinity();
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
    const double value = value_of(options.objective, result, together);
    tried.push_back({form, value});
    spent.seconds += result.statistics.seconds;
    spent.evaluations += result.statistics.evaluations;
    if (!best || value < best_value) {
      best_value = value;
      best.emplace(FormedResult{std::move(formed), std::move(result), {}});
    }
  }
  best->tried = std::move(tried);
  best->result.statistics = spent;
  return std::move(*best);
}

}  // namespace mapsim
