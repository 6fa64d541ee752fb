// SPDX-License-Identifier: Apache-2.0
// A network as chains of einsums: sums over chains, and trees chosen together for a product.
#include "campaign/fused_network.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "mapper/front.hpp"
#include "tests/mapper/brute_chain.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::fused_network_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const ChainProgress kNoProgress = [](const GraphChains&, std::size_t) {};

// Chains of tiny_chain() on the machine of the first one.
struct TinyNetwork {
  Arch arch;
  FusedNetwork fused;
  std::vector<std::vector<TreePoint>> fronts;  // of trees, and of layers one by one
};

// All sums of a point of each.
std::vector<TreePoint> sums_of(const std::vector<TreePoint>& some,
                               const std::vector<TreePoint>& others) {
  std::vector<TreePoint> sums;
  for (const TreePoint& a : some) {
    for (const TreePoint& b : others) {
      sums.push_back({a.energy + b.energy, a.cycles + b.cycles});
    }
  }
  return sums;
}
// The layers of a chain, of which the first ones are smaller than its einsums, beside a stream that
// takes about as much as they save.
void add_layers(const Arch& arch, const TinyChain& tiny, std::uint64_t seed, UnfusedNodes& nodes,
                std::vector<TreePoint>& front) {
  nodes.streams.push_back({Bits{static_cast<std::int64_t>(seed % 7) * 40}, Bits{8}});
  const auto streams = streams_of(arch, nodes);
  std::vector<TreePoint> layers{{streams.energy, static_cast<std::int64_t>(streams.cycles)}};
  for (std::size_t e = 0; e < tiny.chain.einsums.size(); ++e) {
    Workload layer = tiny.chain.einsums[e];
    if (e + 1 < tiny.chain.einsums.size()) {
      std::int64_t& bound = layer.dims.begin()->bound;
      bound = std::max<std::int64_t>(1, bound / 2);
    }
    nodes.layers.push_back({layer.name, layer, 1});
    std::vector<TreePoint> points;
    const Problem problem{arch, layer};
    for (const FrontPoint& point : search_front(Mapspace{problem, {}}, {}).points) {
      points.push_back({point.value, point.measure});
    }
    layers = sums_of(layers, points);
  }
  front.insert(front.end(), layers.begin(), layers.end());
}

TinyNetwork tiny_network(const std::vector<std::uint64_t>& seeds) {
  std::int64_t trees = 0;
  TinyNetwork network{tiny_chain(seeds.front()).arch, {}, {}};
  for (const std::uint64_t seed : seeds) {
    const TinyChain tiny = tiny_chain(seed);
    network.fronts.push_back(front_by_force(network.arch, tiny.chain, true, trees));
    const auto count = static_cast<std::int64_t>(network.fronts.size());
    network.fused.graph.chains.push_back({tiny.chain, count, {}});
  }
  network.fused.streams = {Picojoules{100}, Cycles{7}};
  network.fused.rides = {Picojoules{50}, Cycles{3}};
  network.fused.rides_apart = {Picojoules{150}, Cycles{11}};
  return network;
}

// ... of each chain that has a tree; the others are in no sum.
void add_layers(TinyNetwork& network, std::uint64_t seed) {
  for (std::size_t i = 0; i < network.fronts.size(); ++i, seed += 2) {
    if (!network.fronts[i].empty()) {
      add_layers(network.arch, tiny_chain(seed), seed, network.fused.graph.chains[i].unfused,
                 network.fronts[i]);
    }
  }
}

// The least value of all choices of one tree a chain, chains without a mapping left out.
double least_by_force(const TinyNetwork& network, const ObjectiveFunction& function) {
  std::vector<std::pair<double, double>> sums{{150, 10}};  // streams, and sums that ride
  for (std::size_t i = 0; i < network.fronts.size(); ++i) {
    const auto count = static_cast<double>(network.fused.graph.chains[i].count);
    std::vector<std::pair<double, double>> more;
    for (const TreePoint& point : network.fronts[i]) {
      for (const auto& [energy, cycles] : sums) {
        more.emplace_back(energy + count * point.energy,
                          cycles + count * static_cast<double>(point.cycles));
      }
    }
    sums = more.empty() ? sums : std::move(more);
  }
  double least = kInfinity;
  for (const auto& [energy, cycles] : sums) {
    least = std::min(least, function.value(energy, cycles));
  }
  return least;
}

// ... and what it is if each chain has the tree that is best for itself.
double value_by_chain(const TinyNetwork& network, const ObjectiveFunction& function) {
  double energy = 150;
  double cycles = 10;
  for (std::size_t i = 0; i < network.fronts.size(); ++i) {
    const auto count = static_cast<double>(network.fused.graph.chains[i].count);
    const auto value = [&](const TreePoint& point) {
      return function.value(point.energy, static_cast<double>(point.cycles));
    };
    const auto best = std::min_element(
        network.fronts[i].begin(), network.fronts[i].end(),
        [&](const TreePoint& a, const TreePoint& b) { return value(a) < value(b); });
    if (best != network.fronts[i].end()) {
      energy += count * best->energy;
      cycles += count * static_cast<double>(best->cycles);
    }
  }
  return function.value(energy, cycles);
}

TEST(FusedNetwork, ChoosesTheTreesThatBruteForceChooses) {
  int joint_is_better = 0;
  int unfused = 0;
  const auto check = [&](std::uint64_t first, const TinyNetwork& network) {
    for (const ObjectiveFunction& function :
         {ObjectiveFunction::product(1, 1), ObjectiveFunction::product(1, 2),
          ObjectiveFunction::product(2, 1)}) {
      SearchOptions options;
      options.objective = Objective{function};
      FusedNetwork fused = network.fused;
      fused.objective = options.objective;
      choose_trees_jointly(network.arch, {}, options, kNoProgress, fused);
      const FusedTotals sums = totals(fused);
      const double least = least_by_force(network, function);
      const double value = function.value(sums.best.energy, sums.best.cycles);
      EXPECT_NEAR(value, least, 1e-9 * least) << "seed " << first << " " << to_string(function);
      ASSERT_TRUE(fused.joint.has_value());
      EXPECT_TRUE(fused.joint->proven);
      EXPECT_NEAR(sums.lower_bound, least, 1e-9 * least);
      EXPECT_LE(value, function.value(sums.on_chip.energy, sums.on_chip.cycles) * (1 + 1e-9));
      EXPECT_LE(function.value(sums.on_chip.energy, sums.on_chip.cycles),
                function.value(sums.spilled.energy, sums.spilled.cycles) * (1 + 1e-9));
      joint_is_better += least < value_by_chain(network, function) * (1 - 1e-9) ? 1 : 0;
      for (const UnfusedChain& apart : fused.apart) {
        unfused += apart.chosen ? 1 : 0;
      }
    }
  };
  std::map<std::uint64_t, TinyNetwork> networks;
  for (const std::uint64_t first : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U, 2'000'020U}) {
    check(first,
          networks.emplace(first, tiny_network({first, first + 2, first + 4})).first->second);
  }
  EXPECT_EQ(unfused, 0);
  for (auto& [first, network] : networks) {
    add_layers(network, first);
    check(first, network);
  }
  EXPECT_GT(joint_is_better, 0);
  EXPECT_GT(unfused, 5);
  EXPECT_LT(unfused, 40);  // of 45
}

Network small_graph() {
  return parse_network(
      "name: small\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs:\n  image: {shape: [1, 4, 8, 8]}\ngraph:\n"
      "  - {name: one, conv2d: {out_channels: 4, kernel: 3, padding: 1}, in: image,"
      " epilogue: [relu]}\n"
      "  - {name: two, conv2d: {out_channels: 2, kernel: 1}, in: one}\n"
      "  - {name: pool, op: MaxPool, in: two, kernel: 2, stride: 2}\n"
      "  - {name: three, conv2d: {out_channels: 8, kernel: 1}, in: pool}\n",
      "small.yaml");
}

TEST(FusedNetwork, AddsUpChainsByLatencyAndWeightedSums) {
  const Network network = small_graph();
  const Arch arch = load_arch(source_path("configs/arch/nvdla_like_1024.yaml"));
  for (const Objective& objective :
       {Objective::kEnergy, Objective::kLatency, Objective{ObjectiveFunction::weighted_sum(20)}}) {
    SearchOptions options;
    options.objective = objective;
    FusedNetwork fused = search_fused(arch, network, {}, options, kNoProgress);
    ASSERT_EQ(fused.graph.chains.size(), 2U);
    ASSERT_EQ(fused.graph.streams.size(), 1U);
    const double streams = objective.function.value(
        fused.streams.energy.count(), static_cast<double>(fused.streams.latency.count()));
    EXPECT_GT(streams, 0);
    double best = streams;
    double spilled = streams;
    for (const NetworkChain& chain : fused.graph.chains) {
      const auto count = static_cast<double>(chain.count);
      best += count * value_of(objective, *search_chain(arch, chain.chain, {}, options).cost);
      spilled += count *
                 value_of(objective, *search_chain(arch, chain.chain, {1, 0, false}, options).cost);
    }
    const FusedTotals sums = totals(fused);
    EXPECT_NEAR(objective.function.value(sums.best.energy, sums.best.cycles), best, 1e-9 * best);
    EXPECT_NEAR(objective.function.value(sums.spilled.energy, sums.spilled.cycles), spilled,
                1e-9 * spilled);
    EXPECT_NEAR(sums.lower_bound, best, 1e-9 * best);
    EXPECT_TRUE(sums.proven);
    EXPECT_FALSE(fused.joint.has_value());
  }
}

// What is no better than layers one by one is not answered: here the chain makes the padding of its
// second einsum, which the layer reads for nothing.
TEST(FusedNetwork, LeavesLayersUnfusedWhereThatIsLess) {
  const Network network = parse_network(
      "name: small\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs:\n  image: {shape: [1, 8, 8, 8]}\ngraph:\n"
      "  - {name: one, conv2d: {out_channels: 8, kernel: 1}, in: image}\n"
      "  - {name: two, conv2d: {out_channels: 8, kernel: 3, padding: 1}, in: one}\n"
      "  - {name: three, conv2d: {out_channels: 4, kernel: 1}, in: image}\n",
      "small.yaml");
  int unfused_is_best = 0;
  int trees_are_best = 0;
  for (const char* machine : {"teaching", "nvdla_like_1024"}) {
    const Arch arch = load_arch(source_path("configs/arch/") + machine + ".yaml");
    for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp,
                                       Objective{ObjectiveFunction::weighted_sum(20)}}) {
      SearchOptions options;
      options.objective = objective;
      const FusedNetwork fused = search_fused(arch, network, {}, options, kNoProgress);
      ASSERT_EQ(fused.found.size(), 2U);
      const auto value = [&](const FusedTotals::Figures& figures) {
        return objective.function.value(figures.energy, figures.cycles);
      };
      FusedTotals::Figures layers;
      for (const NetworkLayer& layer : network.layers) {
        const Problem problem{arch, layer.workload};
        const Cost cost = *search_exact(Mapspace{problem, {}}, options).cost;
        layers.energy += cost.energy.total.count();
        layers.cycles += static_cast<double>(cost.latency.steady.count());
      }
      const FusedTotals sums = totals(fused);
      EXPECT_TRUE(sums.proven);
      EXPECT_LE(value(sums.best), value(layers) * (1 + 1e-9)) << machine;
      EXPECT_NEAR(sums.lower_bound, value(sums.best), 1e-8 * sums.lower_bound);
      ASSERT_TRUE(sums.unfused.has_value());
      EXPECT_NEAR(sums.unfused->energy, fused.unfused.energy.count(), 1e-9 * sums.unfused->energy);
      if (!fused.joint) {
        const double tree =
            value_of(objective, *search_chain(arch, fused.graph.chains[0].chain, {}, options).cost);
        EXPECT_NEAR(value(sums.unfused.value()), value(layers), 1e-9 * value(layers));
        EXPECT_NEAR(value(*best_of(fused, 0)), std::min(tree, value(*fused.apart[0].figures)),
                    1e-9 * tree);
      }
      const bool is_unfused = fused.apart[0].chosen.has_value();
      unfused_is_best += is_unfused ? 1 : 0;
      trees_are_best += is_unfused ? 0 : 1;
      const std::string text = fused_network_text(arch, network, fused);
      if (is_unfused && !fused.joint) {
        EXPECT_THAT(text, HasSubstr("proven: fusion brings nothing"));
      }
    }
  }
  EXPECT_GT(unfused_is_best, 0);
  EXPECT_GT(trees_are_best, 3);
}

// 4 channels of 8 x 8 pixels: with a sum of branches behind two einsums, and in front of one.
Network residual_graph() {
  return parse_network(
      "name: small\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs:\n  image: {shape: [1, 4, 8, 8]}\ngraph:\n"
      "  - {name: one, conv2d: {out_channels: 4, kernel: 3, padding: 1}, in: image}\n"
      "  - {name: two, conv2d: {out_channels: 4, kernel: 1}, in: one}\n"
      "  - {name: sum, op: Add, in: [two, image]}\n"
      "  - {name: three, conv2d: {out_channels: 8, kernel: 1}, in: sum}\n",
      "small.yaml");
}

// Layer by layer the sum reads both branches and writes; fused it reads the other one.
TEST(FusedNetwork, LetsASumOfBranchesRide) {
  const Network network = residual_graph();
  const Arch arch = load_arch(source_path("configs/arch/nvdla_like_1024.yaml"));
  constexpr Bits kBranch{4 * 8 * 8 * 8};
  for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
    SearchOptions options;
    options.objective = objective;
    const FusedNetwork fused = search_fused(arch, network, {}, options, kNoProgress);
    ASSERT_EQ(fused.graph.chains.size(), 2U);
    EXPECT_TRUE(fused.graph.streams.empty());
    const StreamCost apart = stream_cost(arch, kBranch * 2, kBranch);
    const StreamCost other = stream_cost(arch, kBranch, Bits{0});
    FusedTotals::Figures best{other.energy.count(), static_cast<double>(other.latency.count())};
    FusedTotals::Figures spilled{apart.energy.count(), static_cast<double>(apart.latency.count())};
    for (const ChainComparison& found : fused.found) {
      best.energy += found.fused.cost->energy.count();
      best.cycles += static_cast<double>(found.fused.cost->latency.count());
      spilled.energy += found.spilled.cost->energy.count();
      spilled.cycles += static_cast<double>(found.spilled.cost->latency.count());
    }
    const FusedTotals sums = totals(fused);
    EXPECT_NEAR(sums.best.energy, best.energy, 1e-9 * best.energy);
    EXPECT_EQ(sums.best.cycles, best.cycles);
    EXPECT_NEAR(sums.spilled.energy, spilled.energy, 1e-9 * spilled.energy);
    EXPECT_EQ(sums.spilled.cycles, spilled.cycles);
    const double least = objective.function.value(best.energy, best.cycles);
    EXPECT_TRUE(sums.proven);
    EXPECT_NEAR(sums.lower_bound, least, 1e-9 * least);
    EXPECT_THAT(fused_network_text(arch, network, fused), HasSubstr("\n1 sum of branches: "));
  }
}

TEST(FusedNetwork, IsNotSearchedForEveryObjective) {
  Objective objective = Objective::kLatency;
  EXPECT_EQ(fused_network_obstacle(objective), "");
  EXPECT_EQ(fused_network_obstacle(Objective::kEdp), "");
  objective = Objective::kEnergy;
  objective.exact_ties = true;
  EXPECT_THAT(fused_network_obstacle(objective), HasSubstr("ties"));
}

// The Pareto-optimal sums of all choices, where each copy of a chain has a point of its own.
std::vector<fusion::HullPoint> sums_of_copies(const TinyNetwork& network) {
  std::vector<fusion::HullPoint> sums{{150, 10}};  // streams, and sums that ride
  for (std::size_t i = 0; i < network.fronts.size(); ++i) {
    for (std::int64_t copy = 0; copy < network.fused.graph.chains[i].count; ++copy) {
      std::vector<fusion::HullPoint> more;
      for (const TreePoint& point : network.fronts[i]) {
        for (const fusion::HullPoint& sum : sums) {
          more.push_back(
              {sum.energy + point.energy, sum.cycles + static_cast<double>(point.cycles)});
        }
      }
      std::ranges::sort(more, [](const auto& a, const auto& b) {
        return std::pair{a.cycles, a.energy} < std::pair{b.cycles, b.energy};
      });
      std::vector<fusion::HullPoint> front;
      for (const fusion::HullPoint& sum : more) {
        if (front.empty() || sum.energy < front.back().energy) {
          front.push_back(sum);
        }
      }
      sums = front.empty() ? sums : std::move(front);
    }
  }
  return sums;
}

// Within limits copies of a chain may have different trees. The bound is below every choice, the
// choice is one, and what is called proven is the least.
TEST(FusedNetwork, KeepsLimitsAsBruteForceDoes) {
  int asked = 0, proven = 0, divided = 0, none = 0;
  double widest = 0;
  for (std::uint64_t first = 2'000'000; first < 2'000'000 + 2 * tried_of(20U); first += 2) {
    TinyNetwork network = tiny_network({first, first + 2, first + 4});
    if (first % 4 == 0) {
      add_layers(network, first);
    }
    const std::vector<fusion::HullPoint> sums = sums_of_copies(network);
    for (int question = 0; question < 8; ++question) {
      const double share = 0.9 * question / 7;  // beyond 0: of the way from one end to the other
      const double cycles = sums.front().cycles * (question == 0 ? 0.99 : 1) +
                            share * (sums.back().cycles - sums.front().cycles);
      const double energy = sums.back().energy + share * (sums.front().energy - sums.back().energy);
      SearchOptions options;
      options.objective = question % 3 == 0   ? Objective::kEnergy
                          : question % 3 == 1 ? Objective::kLatency
                                              : Objective::kEdp;
      if (question % 3 != 1) {
        options.objective.max_latency = Cycles{std::llround(cycles)};
      }
      if (question % 3 == 1 || question == 5) {
        options.objective.max_energy = Picojoules{energy};
      }
      const auto& [function, ties, mode, max_energy, max_latency] = options.objective;
      double least = kInfinity;
      for (const fusion::HullPoint& sum : sums) {
        if (is_within_limits(options.objective, sum.energy, sum.cycles)) {
          least = std::min(least, function.value(sum.energy, sum.cycles));
        }
      }
      FusedNetwork fused = network.fused;
      fused.objective = options.objective;
      choose_trees_jointly(network.arch, {}, options, kNoProgress, fused);
      const FusedTotals found = totals(fused);
      const std::string what = fmt::format("seed {} question {}", first, question);
      ++asked;
      ASSERT_TRUE(fused.joint.has_value());
      EXPECT_LE(found.lower_bound, least * (1 + 1e-9)) << what;
      if (!found.within_limits) {
        ++none;
        // With one limit the choice at its end is known.
        EXPECT_TRUE(std::isinf(least) || (max_energy && max_latency)) << what;
        EXPECT_LE(found.proven, std::isinf(least)) << what;
        continue;
      }
      const double value = function.value(found.best.energy, found.best.cycles);
      EXPECT_TRUE(is_within_limits(options.objective, found.best.energy, found.best.cycles))
          << what;
      EXPECT_GE(value, least * (1 - 1e-9)) << what;
      EXPECT_TRUE(!found.proven || value <= least * (1 + 1e-9)) << what;
      proven += found.proven ? 1 : 0;
      divided += fused.graph.chains.size() > network.fused.graph.chains.size() ? 1 : 0;
      widest = std::max(widest, value / least - 1);
    }
  }
  RecordProperty("widest", fmt::format("{:.3g}", widest));
  EXPECT_GE(none, asked / 16);
  EXPECT_GE(proven, asked / 4);
  EXPECT_GE(divided, asked / 16);
  EXPECT_LT(widest, 0.2);
}

// Each chain then has a mapping layer by layer, and the choice a bound.
TEST(FusedNetwork, StopsWithABoundWhenTimeIsOver) {
  TinyNetwork network = tiny_network({2'000'002});
  SearchOptions options;
  options.objective = Objective::kEdp;
  network.fused.objective = options.objective;
  options.budget.seconds = 0;
  choose_trees_jointly(network.arch, {}, options, kNoProgress, network.fused);
  const FusedTotals sums = totals(network.fused);
  EXPECT_FALSE(sums.proven);
  EXPECT_EQ(sums.missing, 0);
  EXPECT_GT(sums.best.energy, 0);
}

// Layers and chains have one budget, and little beyond it.
TEST(FusedNetwork, HasOneBudget) {
  const std::string configs = source_path("configs/");
  const Network network = load_network(configs + "networks/graphs/vgg19.yaml");
  SearchOptions options;
  options.budget.seconds = 0.1;
  const std::clock_t before = std::clock();
  const FusedNetwork fused = search_fused(load_arch(configs + "arch/simba_package.yaml"), network,
                                          {}, options, kNoProgress);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kSanitized ? 3 : 0.3);
  EXPECT_EQ(totals(fused).missing, 0);
}

// Whenever time is over: no chain, and no sum, is worse on chip than spilled, or fused than on
// chip. The search of fused trees alone, stopped, is often worse than layer by layer.
void expect_never_worse(const Network& network) {
  const Arch arch = load_arch(source_path("configs/arch/nvdla_like_1024.yaml"));
  int stopped = 0;
  for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp,
                                     Objective{ObjectiveFunction::weighted_sum(20)}}) {
    for (const double seconds : {0.0, 1e-3, 4e-3, 16e-3, 64e-3}) {
      SearchOptions options;
      options.objective = objective;
      options.budget.seconds = seconds;
      const FusedNetwork fused = search_fused(arch, network, {}, options, kNoProgress);
      const FusedTotals sums = totals(fused);
      EXPECT_EQ(sums.missing, 0);
      stopped += sums.proven ? 0 : 1;
      const auto value = [&](const FusedTotals::Figures& figures) {
        return objective.function.value(figures.energy, figures.cycles);
      };
      EXPECT_LE(value(sums.on_chip), value(sums.spilled));
      EXPECT_LE(value(sums.best), value(sums.on_chip));
      ASSERT_TRUE(sums.unfused.has_value());
      EXPECT_LE(value(sums.best), value(*sums.unfused));
      EXPECT_LE(sums.lower_bound, value(sums.best) * (1 + 1e-9));
      for (const ChainComparison& found : fused.found) {
        if (!fused.joint) {  // then each chain's tree was chosen for itself
          EXPECT_LE(value_of(objective, *found.fused.cost),
                    value_of(objective, *found.on_chip.cost));
        }
      }
    }
  }
  EXPECT_GT(stopped, 4);
}
TEST(FusedNetwork, IsNeverWorseThanLayerByLayer) {
  expect_never_worse(small_graph());
  expect_never_worse(residual_graph());
}

}  // namespace
}  // namespace mapsim::fused_network_test
