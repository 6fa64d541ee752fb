// SPDX-License-Identifier: Apache-2.0
// Classes of spatial unrollings without a list: boxes bound all of their members, and what is
// generated best bound first is what a list sorts.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "mapper/branch/best_first.hpp"
#include "mapper/branch/class_source.hpp"
#include "mapper/branch/unrolling_intervals.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/counting/counting.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/deadline.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/symmetry.hpp"
#include "random_space.hpp"
#include "workloads/conv.hpp"
#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::branch_test {
namespace {

using Tuple = UnrollingClasses::Tuple;

std::string drawn(Rng& rng, const std::vector<std::string>& of) { return of[rng.below(of.size())]; }

// Up to three fanouts between four levels, with and without multicast and reduction, additions that
// cost something, sums that are wider than results, ports, and rooms of any size.
Arch random_machine(Rng& rng) {
  std::string text = "name: machine\nnodes:\n";
  double energy = 64;
  for (int l = 0; l < 4; ++l) {
    const std::string room = l == 0 ? "unlimited" : std::to_string(8 * (2 + rng.below(100))) + " b";
    text += "  - {storage: L" + std::to_string(l) + ", capacity: " + room +
            ", energy: {read: " + std::to_string(energy) +
            " pJ/b, write: " + std::to_string(energy / 2) + " pJ/b}" +
            drawn(rng, {"", ", bandwidth: {shared: 8 b/cycle}", ", bandwidth: {read: 4 b/cycle}"}) +
            "}\n";
    energy /= static_cast<double>(1 + rng.below(5));
    if (l > 0 && rng.below(3) > 0) {
      text += "  - {fanout: F" + std::to_string(l) + ", x: " + drawn(rng, {"2", "4"}) +
              ", y: " + drawn(rng, {"2", "3"}) +
              drawn(rng, {"", ", multicast: [input]", ", multicast: [input, weight]"}) +
              drawn(rng, {"", ", spatial_reduction: true",
                          ", spatial_reduction: true, reduction_energy: 900 pJ"}) +
              "}\n";
    }
  }
  return parse_arch(text + "  - {compute: MAC, energy: 1 pJ}\n", "machine");
}

Workload random_layer(Rng& rng) {
  Precision precision;
  if (rng.below(2) == 0) {
    precision.partial = Bits{32};
  }
  switch (rng.below(4)) {
    case 0:
      return gemm("gemm", {4, 6, 8, {}, false}, precision);
    case 1:
      return einsum("window_in_output", "Z[n][2*p+r] += A[n][p] * B[r]",
                    {{"n", 4}, {"p", 6}, {"r", 4}}, precision);
    default: {
      ConvShape shape;
      shape.in_channels = 2;
      shape.out_channels = 4;
      shape.kernel = {2, 2};
      shape.stride = {1 + static_cast<std::int64_t>(rng.below(2)), 1};
      shape.input = {4 * shape.stride[0] + 1, 5};
      return conv2d("conv", shape, precision);
    }
  }
}

SearchCase random_case(std::uint64_t seed) {
  Rng rng{seed};
  switch (seed % 4) {
    case 0:
      return random_space(seed, 100'000'000);
    case 1:
      return random_systolic_space(seed, 100'000'000);
    default:
      return {{random_machine(rng), random_layer(rng)}, {}};
  }
}

Objective random_objective(std::uint64_t seed) {
  Objective objective = seed % 3 == 0   ? Objective::kEnergy
                        : seed % 3 == 1 ? Objective::kEdp
                                        : Objective::kLatency;
  objective.mode = seed % 5 == 0 ? LatencyMode::kRamped : LatencyMode::kSteady;
  return objective;
}

std::vector<Tuple> list_tuples(const UnrollingClasses& classes) {
  std::vector<Tuple> tuples{{}};
  std::vector<PackedFactors> products{{}};
  for (const FanoutId f : classes.choices().ids()) {
    std::vector<Tuple> longer;
    std::vector<PackedFactors> longer_products;
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      for (std::size_t c = 0; c < classes.choices()[f].size(); ++c) {
        PackedFactors product = products[i];
        const FanoutChoice& choice = classes.choices()[f][c];
        if (!classes.primes().multiply(product, classes.primes().pack(choice.factors))) {
          continue;
        }
        for (std::int64_t way = 0; way < (classes.is_by_way() ? choice.assignments : 1); ++way) {
          longer.push_back(tuples[i]);
          longer.back().choices[index_of(f)] = static_cast<std::uint32_t>(c);
          longer.back().ways[index_of(f)] = static_cast<std::uint32_t>(way);
          longer_products.push_back(product);
        }
      }
    }
    tuples = longer;
    products = longer_products;
  }
  return tuples;
}

// Of each choice the boxes that hold it, from the root of its tree down.
std::vector<std::vector<std::uint32_t>> holders(branch::BoxTree& tree, std::size_t choices) {
  std::vector<std::vector<std::uint32_t>> of_choice(choices);
  std::vector<std::uint32_t> path;
  const auto walk = [&](auto&& self, std::uint32_t box) -> void {
    path.push_back(box);
    if (tree[box].choice != branch::FactorBox::kNone) {
      of_choice[tree[box].choice] = path;
    } else {
      tree.split(box);
      self(self, tree[box].left);
      self(self, tree[box].right);
    }
    path.pop_back();
  };
  for (const auto& root : {tree.idle(), tree.busy()}) {
    if (root) {
      walk(walk, *root);
    }
  }
  return of_choice;
}

// Every combination of boxes that hold the choices of a class is no better than the class itself.
TEST(Boxes, BoundAllTheirMembers) {
  std::size_t checked = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = random_case(seed);
    const Mapspace space{random.problem, random.constraints};
    const Objective objective = random_objective(seed);
    exact::ClassBounds bounds(space, objective);
    const UnrollingClasses& classes = space.classes();
    PerTensor<exact::TensorUse> uses;
    for (const Tensor& tensor : random.problem.workload().tensors) {
      uses.push_back(exact::use_of(random.problem.workload(), tensor));
    }
    std::vector<branch::BoxTree> trees;
    std::vector<std::vector<std::vector<std::uint32_t>>> holding;
    for (const FanoutId f : classes.choices().ids()) {
      trees.emplace_back(classes, f, uses);
      holding.push_back(holders(trees.back(), classes.choices()[f].size()));
    }
    std::map<Tuple, exact::ObjectiveKey> of_boxes;
    std::vector<Tuple> tuples = list_tuples(classes);
    const std::size_t step = 1 + tuples.size() / 40;
    for (std::size_t i = 0; i < tuples.size(); i += step) {
      const exact::ObjectiveKey bound = bounds.of(classes.unrolling_class(tuples[i])).key;
      const auto combine = [&](auto&& self, std::size_t fanout, Tuple& boxes) -> void {
        if (fanout == trees.size()) {
          const auto [least, is_new] = of_boxes.try_emplace(boxes);
          if (is_new) {
            exact::UnrollingBound::Boxes of_fanouts;
            for (std::size_t f = 0; f < trees.size(); ++f) {
              of_fanouts.push_back(&trees[f][boxes.choices[f]]);
            }
            least->second = bounds.of(of_fanouts);
          }
          ASSERT_LE(least->second, bound)
              << "of a class with bound " << bound.first << ", " << bound.second << ", boxes "
              << least->second.first << ", " << least->second.second;
          ++checked;
          return;
        }
        for (const std::uint32_t box : holding[fanout][tuples[i].choices[fanout]]) {
          boxes.choices[fanout] = box;
          self(self, fanout + 1, boxes);
        }
      };
      Tuple boxes{};
      combine(combine, 0, boxes);
    }
  }
  EXPECT_GT(checked, 20'000U);
}

// The same classes in the same order as a list of all, sorted by bound, time and order of lists,
// has them; of alike ones the first.
TEST(BestFirst, GeneratesWhatAListOfAllSorts) {
  std::size_t generated = 0;
  for (std::uint64_t seed = 300; seed < 380; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = random_case(seed);
    const Mapspace space{random.problem, random.constraints};
    const Objective objective = random_objective(seed);
    if (space.class_count() > 1'000) {
      continue;
    }
    const exact::UnrollingTasks classes(space, objective);
    exact::ClassBounds bounds(space, objective);
    const branch::Symmetry symmetry(space);
    branch::BestFirst all(space, symmetry, bounds);
    exact::ObjectiveKey limit;
    for (const std::size_t unrolling_class : classes.by_bound()) {
      if (classes.representative()[unrolling_class] != unrolling_class ||
          !(classes.bound(unrolling_class).first < exact::kInfinity)) {
        continue;
      }
      ASSERT_LE(all.bound(), classes.bound(unrolling_class));
      const auto tuple = all.next(limit, [] { return false; });
      ASSERT_TRUE(tuple);
      const UnrollingClass found = space.classes().unrolling_class(*tuple);
      ASSERT_EQ(found.first, classes.unrolling(unrolling_class).first);
      EXPECT_EQ(found.assignments, classes.unrolling(unrolling_class).assignments);
      ++generated;
    }
    EXPECT_FALSE(all.next(limit, [] { return false; }));
  }
  EXPECT_GT(generated, 1'000U);
}

TEST(BestFirst, LeavesOutWhatIsWorseThanTheLimitAndBoundsIt) {
  const SearchCase random = random_case(42);
  const Mapspace space{random.problem, random.constraints};
  const exact::UnrollingTasks classes(space, Objective::kEdp);
  const std::vector<std::size_t> order = classes.by_bound();
  const exact::ObjectiveKey limit = classes.bound(order[order.size() / 3]);
  exact::ClassBounds bounds(space, Objective::kEdp);
  const branch::Symmetry symmetry(space);
  branch::BestFirst within(space, symmetry, bounds);
  std::size_t found = 0;
  while (within.next(limit, [] { return false; })) {
    ++found;
  }
  EXPECT_GT(found, 2U);
  EXPECT_LT(found, order.size() / 2);
  EXPECT_FALSE(within.is_stopped());
  EXPECT_TRUE(exact::worse(within.bound(), limit));
}

// Of a front: the same classes as a list has, but for those that a point covers in both figures.
TEST(BestFirst, OfAFrontGeneratesWhatNoPointRulesOut) {
  Objective objective = Objective::kEnergy;
  objective.exact_ties = true;  // both figures count
  std::size_t generated = 0;
  std::size_t ruled_out = 0;
  for (std::uint64_t seed = 300; seed < 380; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = random_case(seed);
    const Mapspace space{random.problem, random.constraints};
    if (space.class_count() > 1'000 || random.problem.is_timed_by_model()) {
      continue;
    }
    const exact::UnrollingTasks classes(space, objective);
    const std::vector<std::size_t> order = classes.by_bound();
    const exact::ObjectiveKey best = classes.bound(order.front());
    exact::Incumbent front = exact::Incumbent::front(false);
    front.insert({best.first, best.second * 2});
    front.insert({best.first * 1.2, best.second});
    exact::ClassBounds bounds(space, objective);
    const branch::Symmetry symmetry(space);
    branch::BestFirst left(space, symmetry, bounds);
    for (const std::size_t unrolling_class : order) {
      if (classes.representative()[unrolling_class] != unrolling_class) {
        continue;
      }
      if (front.rules_out(classes.bound(unrolling_class))) {
        ++ruled_out;
        continue;
      }
      const auto tuple = left.next(front, [] { return false; });
      ASSERT_TRUE(tuple);
      EXPECT_EQ(space.classes().unrolling_class(*tuple).first,
                classes.unrolling(unrolling_class).first);
      ++generated;
    }
    EXPECT_FALSE(left.next(front, [] { return false; }));
  }
  EXPECT_GT(generated, 100U);
  EXPECT_GT(ruled_out, 1'000U);
}

TEST(BestFirst, FindsClassesWithoutTimeIfAskedTo) {
  const SearchCase random = random_case(42);
  const Mapspace space{random.problem, random.constraints};
  exact::ClassBounds bounds(space, Objective::kEnergy);
  const branch::Symmetry symmetry(space);
  branch::BestFirst hasty(space, symmetry, bounds);
  const auto over = [] { return true; };
  const auto first = hasty.next({}, over, true);
  const auto second = hasty.next({}, over, true);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_FALSE(hasty.is_stopped());
  EXPECT_FALSE(hasty.next({}, over, false));
  EXPECT_TRUE(hasty.is_stopped());
  EXPECT_GT(hasty.bound().first, 0);
}

// Imperfect factors: the unrollings that a list has, each once, best bound first, so no node's
// bound is above that of an unrolling in it.
TEST(UnrollingIntervals, GenerateWhatAListHas) {
  std::size_t generated = 0;
  int ruled = 0;
  for (std::uint64_t seed = 300; seed < 460; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = seed % 2 == 0 ? random_case(seed) : random_ruled_space(seed);
    Constraints constraints{.spatial = random.constraints.spatial,
                            .keeps = random.constraints.keeps,
                            .unroll = random.constraints.unroll};
    ruled += constraints.unroll.empty() ? 0 : 1;
    constraints.factors.imperfect = true;
    const Mapspace space{random.problem, constraints};
    const Objective objective =
        random.problem.is_timed_by_model() ? Objective::kEnergy : random_objective(seed);
    if (!space.is_listable() || space.class_count() > 1'500) {
      continue;
    }
    std::map<std::vector<std::tuple<FanoutId, Axis, DimId, std::int64_t>>, int> listed;
    const auto key_of = [](const UnrollingClass& unrolling_class) {
      std::vector<std::tuple<FanoutId, Axis, DimId, std::int64_t>> key;
      for (const Unroll& unroll : unrolling_class.first) {
        key.emplace_back(unroll.fanout, unroll.axis, unroll.dim, unroll.factor);
      }
      return key;
    };
    exact::ClassBounds bounds(space, objective);
    for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
      if (bounds.of(unrolling_class).key.first < exact::kInfinity) {
        listed[key_of(unrolling_class)] = 1;
      }
    }
    branch::UnrollingIntervals all(space, bounds);
    exact::ObjectiveKey before{0, 0};
    while (const std::optional<UnrollingClass> found = all.next({}, [] { return false; })) {
      const exact::ObjectiveKey key = bounds.of(*found).key;
      ASSERT_LE(before, key);
      before = key;
      ASSERT_EQ(listed[key_of(*found)]--, 1);
      ++generated;
    }
    for (const auto& [key, left] : listed) {
      ASSERT_EQ(left, 0);
    }
  }
  EXPECT_GT(generated, 5'000U);
  EXPECT_GT(ruled, 10);
}

// And not once time is over.
TEST(UnrollingClasses, AreCountedWithoutAList) {
  const std::atomic<bool> stop{true};
  SearchOptions over;
  over.stop = &stop;
  for (std::uint64_t seed = 500; seed < 560; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = seed % 3 == 0 ? random_ruled_space(seed) : random_case(seed);
    const Mapspace space{random.problem, random.constraints};
    const bool is_one = random.problem.arch().fanouts.empty();
    EXPECT_EQ(branch::count_soon(space, Deadline{over}).has_value(), is_one);
    const std::vector<UnrollingClass>& list = space.unrolling_classes();
    EXPECT_EQ(space.class_count(), std::ssize(list));
    mpz_class nests;
    std::int64_t unrollings = 0;
    nests::MappingCounter counter(space);
    for (const UnrollingClass& unrolling_class : list) {
      unrollings += unrolling_class.assignments;
      nests += counter.count(unrolling_class) *
               mpz_class{static_cast<long>(unrolling_class.assignments)};
    }
    EXPECT_EQ(space.unrolling_count(), unrollings);
    if (!space.is_ruled()) {
      EXPECT_EQ(mapspace_size(space), nests.get_str());
    }
  }
}

// Bounds of many primes, whose exponents need two words.
TEST(PrimeFields, MultiplyAndDivideByManyPrimes) {
  PerDim<std::int64_t> bounds;
  for (const std::int64_t bound : {2 * 3 * 5 * 7, 2 * 3 * 5, 30, 30, 42, 30, 6, 6, 6, 2, 2, 2}) {
    bounds.push_back(bound);
  }
  const PrimeFields primes(bounds);
  Rng rng{5};
  const auto draw = [&] {
    PerDim<std::int64_t> factors = bounds;
    for (std::int64_t& factor : factors) {
      for (const std::int64_t prime : {2, 3, 5, 7}) {
        factor /= factor % prime == 0 && rng.below(2) == 0 ? prime : 1;
      }
    }
    return factors;
  };
  int fitting = 0;
  for (int i = 0; i < 500; ++i) {
    const PerDim<std::int64_t> a = draw();
    PerDim<std::int64_t> b = draw();
    if (i % 2 == 0) {
      for (const DimId d : b.ids()) {
        b[d] = rng.below(12) == 0 ? b[d] : 1;
      }
    }
    bool fits = true;
    for (const DimId d : bounds.ids()) {
      fits = fits && bounds[d] % (a[d] * b[d]) == 0;
    }
    PackedFactors product = primes.pack(a);
    ASSERT_EQ(primes.multiply(product, primes.pack(b)), fits);
    if (fits) {
      ++fitting;
      for (const DimId d : bounds.ids()) {
        EXPECT_EQ(primes.left(product)[d], bounds[d] / (a[d] * b[d]));
      }
    }
    const PerDim<std::int64_t> left = primes.left(primes.common(primes.pack(a), primes.pack(b)));
    for (const DimId d : bounds.ids()) {
      EXPECT_EQ(left[d], bounds[d] / std::gcd(a[d], b[d]));
    }
  }
  EXPECT_GT(fitting, 20);
}

TEST(Symmetry, IsThatOfTheList) {
  std::size_t alike = 0;
  for (std::uint64_t seed = 600; seed < 720; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = random_case(seed);
    const Mapspace space{random.problem, random.constraints};
    if (space.class_count() > 400) {
      continue;
    }
    const std::vector<std::size_t> first = branch::symmetric_classes(space);
    std::vector<Tuple> tuples = list_tuples(space.classes());
    std::sort(tuples.begin(), tuples.end(),
              [&](const Tuple& a, const Tuple& b) { return space.classes().comes_before(a, b); });
    const branch::Symmetry symmetry(space);
    ASSERT_EQ(tuples.size(), first.size());
    for (std::size_t g = 0; g < tuples.size(); ++g) {
      EXPECT_EQ(symmetry.is_first(tuples[g]), first[g] == g);
      const std::vector<Tuple> others = symmetry.others(tuples[g]);
      alike += others.size();
      for (const Tuple& other : others) {
        const auto at = static_cast<std::size_t>(std::find(tuples.begin(), tuples.end(), other) -
                                                 tuples.begin());
        ASSERT_LT(at, first.size());
        EXPECT_EQ(first[at], first[g]);
      }
    }
  }
  EXPECT_GT(alike, 50U);
}

// A million classes, of which a search makes a few hundred.
TEST(ExactSearch, OfTwoWideFanoutsListsNothing) {
  const Arch arch = parse_arch(R"(name: two_fanouts
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 12 pJ/b, write: 12 pJ/b}}
  - {storage: GLB, capacity: 262144 B, energy: {read: 0.4 pJ/b, write: 0.4 pJ/b}}
  - {fanout: outer, x: 16, y: 16, multicast: [input, weight], spatial_reduction: true}
  - {storage: RF, capacity: 512 B, energy: {read: 0.06 pJ/b, write: 0.06 pJ/b}}
  - {fanout: inner, x: 16, y: 16, multicast: [input, weight], spatial_reduction: true}
  - {compute: MAC, energy: 1 pJ}
)",
                               "arch");
  const Problem problem{arch, gemm("gemm", {512, 512, 512, {}, false})};
  const Mapspace space{problem, {}};
  SearchOptions options;
  const SearchResult found = search_exact(space, options);
  EXPECT_EQ(found.certificate.status, Proof::kOptimal);
  EXPECT_GT(found.statistics.unrollings_total, 10'000);
  EXPECT_LT(found.classes.size(), 100U);
  ASSERT_TRUE(found.others_bound);
  EXPECT_GE(*found.others_bound, found.cost->energy.total.count());
}

}  // namespace
}  // namespace mapsim::branch_test
