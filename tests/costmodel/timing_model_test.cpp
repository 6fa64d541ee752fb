// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/rng.hpp"
#include "costmodel/timing/model.hpp"
#include "costmodel/timing/systolic.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim::timing_model_test {
namespace {

SystolicTiming random_timing(Rng& rng, const Arch& arch) {
  const auto flip = [&rng] { return rng.below(2) == 0; };
  return {
      static_cast<FanoutId>(rng.below(arch.fanouts.size())), flip(), flip(), flip(), false, flip()};
}

ArrayUse random_use(Rng& rng, const Workload& workload) {
  ArrayUse use = idle_array(workload);
  for (PerDim<std::int64_t>* along : {&use.x, &use.y}) {
    for (std::int64_t& instances : *along) {
      instances = rng.below(3) == 0 ? 2 + static_cast<std::int64_t>(rng.below(3)) : 1;
    }
  }
  return use;
}

// The definition: every other tensor moves along an axis of its own, on which all instances want
// the same of it and the fanout hands it on.
bool may_move(const Problem& problem, FanoutId array, const PerDim<std::int64_t>& along,
              TensorId tensor) {
  const Tensor& moves = problem.workload().tensors[tensor];
  const Fanout& fanout = problem.arch().fanouts[array];
  const bool handed_on = moves.role == Role::kOutput ? fanout.spatial_reduction
                                                     : fanout.multicast.contains(moves.role);
  bool may = true;
  for (const DimId d : along.ids()) {
    may = may && (along[d] == 1 || (handed_on && !moves.dims().contains(d)));
  }
  return may;
}

bool may_stay_by_definition(const Problem& problem, FanoutId array, const ArrayUse& use,
                            TensorId stays) {
  std::vector<TensorId> others;
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (t != stays) {
      others.push_back(t);
    }
  }
  const auto x = [&](std::size_t i) { return may_move(problem, array, use.x, others[i]); };
  const auto y = [&](std::size_t i) { return may_move(problem, array, use.y, others[i]); };
  return others.empty() || (others.size() == 1 && (x(0) || y(0))) ||
         (others.size() == 2 && ((x(0) && y(1)) || (y(0) && x(1))));
}

TEST(ArrayModel, LetsATensorStayIfTheOthersMoveEachAlongAnAxisOfItsOwn) {
  int able = 0;
  int unable = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomCase random = random_case(seed);
    if (random.arch.fanouts.empty()) {
      continue;
    }
    Rng rng{seed};
    const SystolicTiming timing = random_timing(rng, random.arch);
    random.arch.compute.timing = timing;
    const Problem problem{random.arch, random.workload};
    const ArrayUse use = random_use(rng, random.workload);
    const TensorSet found = timing_model(problem.arch()).array->may_stay(problem, use);
    for (const TensorId t : random.workload.tensors.ids()) {
      const bool may = may_stay_by_definition(problem, timing.array, use, t);
      ASSERT_EQ(found.contains(t), may) << "seed " << seed;
      ++(may ? able : unable);
    }
  }
  EXPECT_GT(able, 300);
  EXPECT_GT(unable, 300);
}

// Equal folds one after the other, in the order in which sums come first and are resumed then.
double by_sequence(const Problem& problem, const SystolicTiming& timing, const ArraySize& used,
                   const EqualFolds& folds) {
  const Fanout& array = problem.arch().fanouts[timing.array];
  const ArraySize span = timing.full_folds ? ArraySize{array.y, array.x} : used;
  const bool sums = folds.stays == problem.workload().output();
  const auto run = [&](Stays stays, double times) {
    const Fold fold = make_fold(static_cast<std::int64_t>(folds.cycles / folds.folds), span.rows,
                                span.columns, static_cast<std::int64_t>(folds.points), stays);
    return repeat(timing, sequence_of(fold), static_cast<std::int64_t>(times));
  };
  FoldSequence all = run(sums ? Stays::kSums : Stays::kOperand, sums ? folds.fresh : folds.folds);
  if (sums && folds.fresh < folds.folds) {
    all = join(timing, all, run(Stays::kResumedSums, folds.folds - folds.fresh));
  }
  return static_cast<double>(time_of(all).total().count() - slip(timing));
}

// With more folds, fewer of them fresh or more points an array is not done sooner, and in no case
// sooner than if nothing stays, or than its steps are done. Searches and bounds build on that.
TEST(ArrayModel, TakesTheSumOverEqualFoldsAndMoreOfThemNoLess) {
  int sums = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    RandomCase random = random_case(seed % 400);
    if (random.arch.fanouts.empty()) {
      continue;
    }
    Rng rng{seed};
    const auto draw = [&rng](std::size_t most) { return 1 + static_cast<double>(rng.below(most)); };
    const SystolicTiming timing = random_timing(rng, random.arch);
    random.arch.compute.timing = timing;
    const Problem problem{random.arch, random.workload};
    const TimingModel& model = timing_model(problem.arch());
    const ArraySize used = size_of(random_use(rng, random.workload));
    const auto stays = static_cast<TensorId>(rng.below(random.workload.tensors.size()));
    EqualFolds folds{stays, 0, draw(6), 1, draw(5)};
    folds.fresh = stays == random.workload.output() ? draw(static_cast<std::size_t>(folds.folds))
                                                    : folds.folds;
    folds.cycles = folds.folds * draw(20);
    const double time = model.array->cycles(problem, used, folds);
    ASSERT_EQ(time, by_sequence(problem, timing, used, folds)) << "seed " << seed;
    sums += stays == random.workload.output() ? 1 : 0;
    EqualFolds nothing;
    nothing.cycles = folds.cycles;
    EXPECT_GE(time, model.array->cycles(problem, used, nothing)) << "seed " << seed;
    EXPECT_GE(time, model.cycles_of_steps(problem, folds.cycles)) << "seed " << seed;
    EqualFolds more = folds;
    more.points += 1;
    EXPECT_GE(model.array->cycles(problem, used, more), time) << "seed " << seed;
    more = folds;
    more.fresh = std::max(more.fresh - 1, 1.0);
    EXPECT_GE(model.array->cycles(problem, used, more), time) << "seed " << seed;
    more = folds;
    more.folds += 1;
    more.fresh += 1;
    EXPECT_GE(model.array->cycles(problem, used, more), time * (1 - 1e-12)) << "seed " << seed;
  }
  EXPECT_GT(sums, 300);
}

TEST(TimingModel, OfAMachineWithoutOneIsItsSteps) {
  const RandomCase random = random_case(1);
  const Problem problem{random.arch, random.workload};
  const TimingModel& model = timing_model(problem.arch());
  EXPECT_EQ(model.array, nullptr);
  EXPECT_FALSE(model.is_engine);
  EXPECT_EQ(model.time(problem, make_nest(random.workload, random.mapping), 7).total(),
            Cycles{7 * problem.arch().compute.issue_interval});
  EXPECT_EQ(model.cycles_of_steps(problem, 7), 7);
}

}  // namespace
}  // namespace mapsim::timing_model_test
