// SPDX-License-Identifier: Apache-2.0
#include "mapsim/written_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/figures.hpp"
#include "validate/candidates.hpp"
#include "validate/workload_problem.hpp"

namespace mapsim {
namespace {

// Whether this is a form as kernel_problem() takes it.
bool is_written(const GemmForm& form) {
  return form.tensor_cores && !form.problem.pruned_b && form.passes.empty();
}

std::vector<KernelSpec> chosen_of(const WrittenRequest& request, const KernelSpec& problem,
                                  const std::vector<GpuPath>& paths) {
  std::vector<KernelChoice> all;
  for (const GpuPath path : paths) {
    const std::vector<KernelChoice> set = kernel_set(request.gpu, problem.problem, path);
    all.insert(all.end(), set.begin(), set.end());
  }
  CandidateOptions options;
  options.top = request.top;
  options.sample = 0;
  options.fixed = false;
  return choose_candidates(request.gpu, problem, all, options);
}

// By path, what a kernel lacks that could run; where none could, the first of the set.
std::string why_none(const Gpu& gpu, const KernelSpec& problem, const std::vector<GpuPath>& paths) {
  std::vector<std::pair<std::string, std::string>> reasons;  // by paths
  for (const GpuPath path : paths) {
    const std::vector<KernelChoice> set = kernel_set(gpu, problem.problem, path);
    KernelSpec spec = problem;
    const auto legal = std::find_if(set.begin(), set.end(), [&](const KernelChoice& kernel) {
      return !illegal(gpu, problem.problem, kernel);
    });
    if (set.empty()) {
      continue;
    }
    spec.kernel = legal == set.end() ? set.front() : *legal;
    const std::string reason = not_generated(gpu, spec).value_or("");
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& entry) { return entry.second == reason; });
    if (known == reasons.end()) {
      reasons.emplace_back(to_string(path), reason);
    } else {
      known->first += fmt::format(", {}", to_string(path));
    }
  }
  std::string text;
  for (const auto& [path, reason] : reasons) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", path, reason);
  }
  return text;
}

}  // namespace

std::optional<std::string> why_not_written(const Gpu& gpu,
                                           const std::variant<KernelSpec, std::string>& problem,
                                           const GemmForm& form, const KernelChoice& kernel) {
  if (kernel.path == GpuPath::kSimt) {
    return "it runs without tensor cores, for which no kernels are written";
  }
  if (form.problem.pruned_b) {
    return "kernels of sparse tensor cores are not written";
  }
  if (!form.passes.empty()) {
    return "it needs another pass: " + form.passes.front().what;
  }
  if (const auto* reason = std::get_if<std::string>(&problem)) {
    return *reason;
  }
  KernelSpec spec = std::get<KernelSpec>(problem);
  spec.kernel = kernel;
  return not_generated(gpu, spec);
}

std::variant<WrittenKernels, std::string> written_kernels(const WrittenRequest& request) {
  const Gpu& gpu = request.gpu;
  const auto forms = gemm_forms(gpu, request.workload, request.request);
  const auto problem = kernel_problem(gpu, request.workload, request.request);
  if (const auto* reason = std::get_if<std::string>(&forms)) {
    return *reason;
  }
  if (const auto* reason = std::get_if<std::string>(&problem)) {
    return *reason;
  }
  KernelSpec spec = std::get<KernelSpec>(problem);
  spec.epilogue = request.epilogue;
  const auto& all = std::get<0>(forms);
  GpuSearchOptions options;
  options.path = request.path;
  options.top = 1;
  const GpuSearchResult search = search_kernels(gpu, all, options);
  const auto form = std::find_if(all.begin(), all.end(), is_written);
  std::vector<GpuPath> paths = searched_paths(gpu, *form, request.path);
  WrittenKernels written;
  written.best = chosen_of(request, spec, paths);
  const auto is_first = [&] {
    return !written.best.empty() && !search.ranked.empty() &&
           is_written(all[search.ranked.front().form]) &&
           search.ranked.front().kernel == written.best.front().kernel;
  };
  if (!is_first() && !request.path && !request.run_time_sizes) {
    paths.push_back(GpuPath::kWmma);
    written.best = chosen_of(request, spec, paths);
  }
  if (written.best.empty()) {
    return fmt::format("no kernel for {} can be written: {}", gpu.name, why_none(gpu, spec, paths));
  }
  written.form = static_cast<std::size_t>(form - all.begin());
  written.time = rank_kernel(gpu, all, written.form, written.best.front().kernel).total;
  if (!is_first() && !search.ranked.empty()) {
    const RankedKernel& first = search.ranked.front();
    written.before = {first, why_not_written(gpu, spec, all[first.form], first.kernel)
                                 .value_or("another one has the same prediction")};
  }
  return written;
}

std::string more_text(Seconds time, Seconds than) {
  return fmt::format("{:+.1f} %", 100 * (time.count() / than.count() - 1));
}

std::string before_text(const WrittenKernels& written) {
  if (!written.before) {
    return "";
  }
  const RankedKernel& first = written.before->ranked;
  return fmt::format(
      "{} is predicted to be faster ({}, this one {}: {}), but mapsim does not write it: {}",
      to_string(first.kernel), scaled(first.total.count(), "s"), scaled(written.time.count(), "s"),
      more_text(written.time, first.total), written.before->why);
}

}  // namespace mapsim
