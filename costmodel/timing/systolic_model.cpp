// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <variant>

#include "costmodel/timing/systolic.hpp"

namespace mapsim {

namespace {

const SystolicTiming& systolic_of(const Arch& arch) {
  return std::get<SystolicTiming>(arch.compute.timing);
}

// Rows and columns that waves cross.
struct Span {
  double rows = 1;
  double columns = 1;
};

Span span_of(const Arch& arch, const SystolicTiming& timing, const ArraySize& used) {
  const Fanout& array = arch.fanouts[timing.array];
  return timing.full_folds
             ? Span{static_cast<double>(array.y), static_cast<double>(array.x)}
             : Span{static_cast<double>(used.rows), static_cast<double>(used.columns)};
}

// Load of the first fold, the intervals between folds, and the last one with its last wave. Sums
// that come for the first time are not shifted in, and one of them is the first fold; where in the
// order the others are resumed does not matter, as every fold is as busy as any other.
double cycles_of_folds(const Problem& problem, const ArraySize& used, const EqualFolds& folds) {
  const SystolicTiming& timing = systolic_of(problem.arch());
  const Span span = span_of(problem.arch(), timing, used);
  const bool sums = folds.stays == problem.workload().output();
  const double work = folds.cycles / folds.folds;
  const double shift = span.rows * folds.points;
  const double leaves = (sums ? shift : span.rows) + span.columns - 2;
  const double busy = timing.hides_drain ? std::max(work, sums ? shift : 0.0) : work + leaves;
  const bool hidden = timing.hides_load || (timing.hides_drain && sums);
  const double next = busy + (hidden ? std::max(0.0, shift - busy) : shift);
  const double between = sums ? (folds.fresh - 1) * busy + (folds.folds - folds.fresh) * next
                              : (folds.folds - 1) * next;
  return (sums ? 0 : shift) + between + work + leaves - static_cast<double>(slip(timing));
}

double least_array_cycles(const Problem& problem, const ArraySize& used,
                          const PerDim<std::int64_t>& bounds, TensorSet may_stay) {
  const SystolicTiming& timing = systolic_of(problem.arch());
  const auto [rows, columns] = span_of(problem.arch(), timing, used);
  auto steps = static_cast<double>(problem.arch().compute.issue_interval);
  for (const std::int64_t bound : bounds) {
    steps *= static_cast<double>(bound);
  }
  double least = std::numeric_limits<double>::infinity();
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (!may_stay.contains(t)) {
      continue;
    }
    const LeastFolds least_of = least_folds(problem, timing.array, bounds, t);
    const bool sums = t == problem.workload().output();
    const double load = sums ? 0 : rows * (timing.hides_load ? 1 : least_of.elements);
    // Sums leave after rows * elements + columns - 2 cycles: of one column, the more folds the
    // sooner, and there are no more folds than elements.
    const bool narrow = sums && columns < 2 && !timing.hides_drain;
    const double shifted = timing.hides_drain ? 1 : least_of.elements;
    const double drain = sums ? (narrow ? rows - 1 : rows) * shifted : 0;
    const double skew = narrow ? 0 : sums ? columns - 2 : rows + columns - 2;
    least =
        std::min(least, steps + load + drain + skew * (timing.hides_drain ? 1 : least_of.folds));
  }
  return least - static_cast<double>(slip(timing));
}

// An array takes no less than the steps of its instances but for the number of the first cycle.
double cycles_of_array(const Problem& problem, double cycles) {
  return cycles - static_cast<double>(slip(systolic_of(problem.arch())));
}

Padding tile_padding(const Problem& problem, std::int64_t used, TensorId tensor) {
  const SystolicTiming& timing = systolic_of(problem.arch());
  const Fanout& array = problem.arch().fanouts[timing.array];
  return is_padded(problem, timing, tensor) ? padding_of(array.x * array.y, used) : Padding{};
}

std::vector<std::string> array_facts(const Arch& arch) {
  return {"systolic in " + arch.fanouts[systolic_of(arch).array].name};
}

constexpr ArrayModel kArray{
    .may_stay =
        [](const Problem& problem, const ArrayUse& use) {
          return may_stay(problem, systolic_of(problem.arch()), use);
        },
    .obstacle =
        [](const Problem& problem, const Nest& nest) {
          return obstacle_of(problem, systolic_of(problem.arch()), nest);
        },
    .cycles = cycles_of_folds,
    .least_cycles = least_array_cycles,
    .padding = tile_padding,
    .partial_folds =
        [](const Arch& arch) {
          return systolic_of(arch).full_folds ? PartialFolds::kTime : PartialFolds::kFloor;
        },
    .axes_matter = true,
};

constexpr TimingModel kSystolic{
    .machine = "systolic array",
    .machines = "systolic arrays",
    .word = "systolic",
    .has_dataflow = true,
    .hands_on = true,
    .facts = array_facts,
    .time = [](const Problem& problem, const Nest& nest,
               std::int64_t) { return systolic_time(problem, systolic_of(problem.arch()), nest); },
    .cycles_of_steps = cycles_of_array,
    .paddings = [](const Problem& problem, const Nest& nest,
                   const Counts&) { return paddings(problem, systolic_of(problem.arch()), nest); },
    .pads = [](const Arch& arch, LevelId level) { return !is_in_array(arch, level); },
    .array = &kArray,
};

}  // namespace

const TimingModel& model_of(const SystolicTiming&) { return kSystolic; }

}  // namespace mapsim
