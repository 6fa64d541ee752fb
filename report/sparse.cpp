// SPDX-License-Identifier: Apache-2.0
#include "report/sparse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "costmodel/busiest.hpp"
#include "costmodel/sparse/count_sparse.hpp"
#include "costmodel/sparse/model.hpp"
#include "report/accesses.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

std::string amount(double value) {
  return std::round(value) == value && value < 1e15 ? grouped(static_cast<std::int64_t>(value))
                                                    : fmt::format("{:.6g}", value);
}

std::string names(const std::vector<std::string>& tensors) {
  return fmt::format("{}", fmt::join(tensors, ", "));
}

// Tensors with zeros that take nothing somewhere, and nothing says where they are.
std::vector<std::string> without_format(const Problem& problem) {
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
  return ideal;
}

// Operands at whose zeros the compute units take no time, though they learn of them from nobody.
std::vector<std::string> skipped_unseen(const Problem& problem) {
  std::vector<std::string> unseen;
  const SparseModel& model = *problem.sparse();
  const Workload& workload = problem.workload();
  for (const TensorId t : workload.tensors.ids()) {
    if (model.machine().when_zero == ZeroAct::kSkip && model.looks_at(t) &&
        !is_stated(model, LevelId{0}, t)) {
      unseen.push_back(workload.tensors[t].name);
    }
  }
  return unseen;
}

// Operands whose zeros lack the structure that the compute units take.
std::vector<std::string> without_structure(const Problem& problem) {
  std::vector<std::string> others;
  const Workload& workload = problem.workload();
  for (const TensorId t : workload.tensors.ids()) {
    if (workload.tensors[t].density < 1 && problem.sparse()->lacks_structure(workload, t)) {
      others.push_back(workload.tensors[t].name);
    }
  }
  return others;
}

bool skips(const Problem& problem) {
  const SparseModel& model = *problem.sparse();
  return model.stepped() < 1 ||
         std::any_of(
             model.machine().levels.begin(), model.machine().levels.end(),
             [](const StorageSparsity& level) {
               return std::any_of(
                   level.when_empty.begin(), level.when_empty.end(),
                   [](const Condition& condition) { return condition.act == ZeroAct::kSkip; });
             });
}

// Lanes that are packed over a dim along which only tensors have zeros that nobody skips.
std::vector<std::string> packing_nothing(const Problem& problem, const Mapping& mapping) {
  std::vector<std::string> notes;
  const Workload& workload = problem.workload();
  for (const NestLoop& loop : make_nest(workload, mapping).loops) {
    if (!loop.fanout || problem.arch().fanouts[*loop.fanout].balance != Balance::kPacked) {
      continue;
    }
    bool skipped = false;
    std::vector<std::string> others;
    for (const TensorId t : workload.tensors.ids()) {
      const Tensor& tensor = workload.tensors[t];
      if (t != workload.output() && tensor.dims().contains(loop.dim) && tensor.density < 1) {
        skipped = skipped || problem.sparse()->looks_at(t);
        others.push_back(tensor.name);
      }
    }
    if (!skipped && !others.empty()) {
      notes.push_back(fmt::format(
          "{} packs lanes over {}, but the compute units do not skip zeros of {} (when_zero), so "
          "that lanes take all places (docs/sparsity.md#time)",
          problem.arch().fanouts[*loop.fanout].name, workload.dims[loop.dim].name, names(others)));
    }
  }
  return notes;
}

// Which data sets a level's tiles are sure to fit in, unless in all.
std::string fits_text(const Problem& problem, const ActionRow& row) {
  const SparseModel& model = *problem.sparse();
  for (const LevelId l : problem.arch().levels.ids()) {
    for (const TensorId t : problem.workload().tensors.ids()) {
      const Fits& fits = model.machine().levels[l].fits;
      if (problem.arch().levels[l].name == row.node &&
          problem.workload().tensors[t].name == row.tensor && is_compressed(model.format(l, t)) &&
          fits.when != FitsWhen::kWorst) {
        return ", fits " + to_string(fits);
      }
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> zero_notes(const Problem& problem, const Mapping* mapping) {
  std::vector<std::string> notes;
  if (const auto ideal = without_format(problem); !ideal.empty()) {
    notes.push_back(
        fmt::format("density without a format ({}): a lower bound; nothing is charged for where "
                    "the zeros are (docs/sparsity.md)",
                    names(ideal)));
  }
  if (problem.sparse() == nullptr) {
    return notes;
  }
  if (const auto unseen = skipped_unseen(problem); !unseen.empty()) {
    notes.push_back(fmt::format(
        "the compute units skip zeros of {}, but no format says where they are: a lower bound of "
        "the time (docs/sparsity.md#conditions)",
        names(unseen)));
  }
  if (const auto others = without_structure(problem); !others.empty()) {
    const auto [kept, block] = problem.sparse()->machine().structure;
    notes.push_back(fmt::format(
        "{0} takes zeros of {1} only if they are 'structured {2}:{3}' along a dim of its sums: it "
        "stores and multiplies these as other numbers (docs/sparsity.md#conditions)",
        problem.arch().compute.name, names(others), kept, block));
  }
  const bool has_zeros =
      std::any_of(problem.workload().tensors.begin(), problem.workload().tensors.end(),
                  [](const Tensor& tensor) { return tensor.density < 1; });
  if (has_zeros && problem.arch().mac_units() > 1 && skips(problem)) {
    notes.emplace_back(
        "the time is that of the mean over instances; one of them may have more to do than the "
        "others (docs/sparsity.md#time)");
  }
  if (mapping != nullptr) {
    std::ranges::copy(packing_nothing(problem, *mapping), std::back_inserter(notes));
  }
  return notes;
}

// Nothing where no instance waits for another.
std::string busiest_text(const Problem& problem, const Mapping& mapping, const Cost& cost) {
  const std::optional<BusiestInstance> busiest = busiest_instance(problem, mapping, cost);
  if (!busiest) {
    return "";
  }
  return fmt::format(
      "busiest instance: {0}{1} {5} where the mean has {2}; it is done after {0}{3} cycles, "
      "steady{4}\n",
      busiest->exact ? "" : "at least ", amount(busiest->steps), amount(cost.sparse->steps),
      grouped(busiest->steady.count()), busiest->exact ? "" : " (a bound of the expected maximum)",
      busiest->steps == 1 ? "step" : "steps");
}

std::string sparse_text(const Problem& problem, const Mapping& mapping, const Cost& cost) {
  std::string note;
  for (const std::string& line : zero_notes(problem, &mapping)) {
    note += line + "\n";
  }
  if (!cost.sparse) {
    return note;
  }
  std::vector<std::vector<std::string>> rows{
      {"", "format", "access", "made", "gated", "skipped", "format bits", "energy"}};
  std::string last;
  for (const ActionRow& row : action_rows(problem, cost)) {
    if (row.action == "leak" || row.action == "add" || row.action == "hop") {
      continue;
    }
    const std::string name = row.node + (row.tensor.empty() ? "" : " " + row.tensor);
    const bool is_same = name == last;
    last = name;
    rows.push_back({is_same ? "" : name, is_same ? "" : row.format + fits_text(problem, row),
                    row.action, amount(row.made), amount(row.gated), amount(row.skipped),
                    row.tensor.empty() ? "" : amount(row.format_bits), energy_text(row.all())});
  }
  return "zeros: stored elements on average over data sets, all instances\n" + table(rows) +
         busiest_text(problem, mapping, cost) + note;
}

}  // namespace mapsim
