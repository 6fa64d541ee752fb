// SPDX-License-Identifier: Apache-2.0
#include "report/sparse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "costmodel/accesses.hpp"
#include "costmodel/sparse/model.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

std::string amount(double value) {
  return std::round(value) == value && value < 1e15 ? grouped(static_cast<std::int64_t>(value))
                                                    : fmt::format("{:.6g}", value);
}

// Tensors whose zeros take nothing somewhere, and nothing says where they are.
std::string lower_bound_note(const Problem& problem) {
  std::vector<std::string> ideal;
  for (const TensorId t : problem.workload().tensors.ids()) {
    bool is_ideal = problem.sparse() == nullptr;
    for (const LevelId l : problem.arch().levels.ids()) {
      is_ideal = is_ideal || problem.sparse()->format(l, t).ideal;
    }
    if (is_ideal && problem.workload().tensors[t].density < 1) {
      ideal.push_back(problem.workload().tensors[t].name);
    }
  }
  return ideal.empty() ? ""
                       : fmt::format(
                             "density without a format ({}): a lower bound; nothing is "
                             "charged for where the zeros are (docs/sparsity.md)\n",
                             fmt::join(ideal, ", "));
}

}  // namespace

std::string sparse_text(const Problem& problem, const Cost& cost) {
  const std::string note = lower_bound_note(problem);
  if (!cost.sparse) {
    return note;
  }
  const SparseModel& model = *problem.sparse();
  std::vector<std::vector<std::string>> rows{
      {"", "format", "access", "made", "gated", "skipped", "format bits"}};
  for (const LevelId l : problem.arch().levels.ids()) {
    const Fits& fits = model.machine().levels[l].fits;
    for (const TensorId t : problem.workload().tensors.ids()) {
      if (!cost.counts.levels[l][t].kept) {
        continue;
      }
      std::string name = problem.arch().levels[l].name + " " + problem.workload().tensors[t].name;
      const bool is_sure = !is_compressed(model.format(l, t)) || fits.when == FitsWhen::kWorst;
      std::string format =
          to_string(model.format(l, t)) + (is_sure ? "" : ", fits " + to_string(fits));
      for (const Access access : kAccesses) {
        const SparseAccess& at = cost.sparse->levels[l][t].total[static_cast<std::size_t>(access)];
        if (at.actual + at.gated + at.skipped > 0) {
          rows.push_back({std::exchange(name, ""), std::exchange(format, ""), rule_of(access).name,
                          amount(at.actual), amount(at.gated), amount(at.skipped),
                          amount(at.format_bits)});
        }
      }
    }
  }
  const SparseCounts& counts = *cost.sparse;
  rows.push_back({problem.arch().compute.name, "", "MAC", amount(counts.operations),
                  amount(counts.gated), amount(counts.skipped), ""});
  return "zeros: stored elements on average over data sets, all instances\n" + table(rows) + note;
}

}  // namespace mapsim
