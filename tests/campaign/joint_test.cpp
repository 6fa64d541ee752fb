// SPDX-License-Identifier: Apache-2.0
// Mappings of all layers chosen together for the least product of total energy and total latency.
#include "campaign/joint.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "campaign/network.hpp"
#include "core/rng.hpp"
#include "mapper/front.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::joint_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kConfigs = source_path("configs/");

// Energy and cycles.
using Point = std::pair<double, double>;
struct Layer {
  double count = 1;
  std::vector<Point> points;
};

const Point& least(const std::vector<Point>& points, const ObjectiveFunction& function) {
  return *std::min_element(points.begin(), points.end(), [&](const Point& a, const Point& b) {
    return function.value(a.first, a.second) < function.value(b.first, b.second);
  });
}

double least_product(const std::vector<Layer>& layers) {
  std::vector<Point> sums{{0, 0}};
  for (const Layer& layer : layers) {
    std::vector<Point> more;
    for (const auto& [energy, cycles] : layer.points) {
      for (const Point& sum : sums) {
        more.emplace_back(sum.first + layer.count * energy, sum.second + layer.count * cycles);
      }
    }
    sums = std::move(more);
  }
  const Point best = least(sums, ObjectiveFunction::product(1, 1));
  return best.first * best.second;
}

std::vector<Layer> random_layers(Rng& rng) {
  std::vector<Layer> layers(1 + rng.below(4));
  for (Layer& layer : layers) {
    layer.count = 1 + static_cast<double>(rng.below(3));
    const double energy = std::pow(10, static_cast<double>(rng.below(6)));
    const double cycles = std::pow(10, static_cast<double>(rng.below(4)));
    for (std::uint64_t i = 1 + rng.below(6); i > 0; --i) {
      layer.points.emplace_back(energy * (1 + static_cast<double>(rng.below(90)) / 30),
                                cycles * (1 + static_cast<double>(rng.below(90)) / 30));
    }
  }
  return layers;
}

// Answers from lists of points, nothing being known before; at most this many questions a layer.
TEST(JointEdp, IsTheLeastOfAllChoices) {
  constexpr std::size_t kMostQuestions = 40;
  Rng rng{3};
  for (int tries = 0; tries < 300; ++tries) {
    const std::vector<Layer> layers = random_layers(rng);
    std::vector<JointLayer> asked(layers.size());
    for (std::size_t l = 0; l < layers.size(); ++l) {
      asked[l].count = layers[l].count;
    }
    JointEdp joint{std::move(asked)};
    std::size_t questions = 0;
    for (auto next = joint.next(); next; next = joint.next()) {
      ASSERT_LT(++questions, kMostQuestions * layers.size()) << "case " << tries;
      const auto& [energy, cycles] = least(layers[next->layer].points, next->function());
      const double value = next->function().value(energy, cycles);
      joint.learn(*next, {value, value, energy, cycles});
    }
    const double best = least_product(layers);
    EXPECT_NEAR(joint.value(), best, 1e-11 * best) << "case " << tries;
    EXPECT_NEAR(joint.lower(), best, 2e-11 * best) << "case " << tries;
  }
}

// A machine on which time and energy are worth different mappings: narrow ports of cheap levels.
Arch random_machine(Rng& rng) {
  const auto power_of_two = [&rng](std::uint64_t most) { return 1 << rng.below(most); };
  // Drawn one after the other: arguments are evaluated in any order.
  const int register_read = power_of_two(3);
  const int buffer_write = power_of_two(3);
  const int buffer_read = power_of_two(3);
  const int capacity = 16 * power_of_two(5);
  const int dram_read = power_of_two(6);
  const int dram_bandwidth = power_of_two(4);
  return parse_arch(
      fmt::format(
          "name: tiny\nclock: 1 GHz\nnodes:\n"
          "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
          "    bandwidth: {{shared: {} B/cycle}}\n    energy: {{read: {} pJ/B, write: 20 pJ/B}}\n"
          "  - storage: Buffer\n    word: 8 b\n    capacity: {} B\n"
          "    bandwidth: {{read: {} B/cycle, write: {} B/cycle}}\n"
          "    energy: {{read: 3 pJ/B, write: 3 pJ/B}}\n"
          "  - fanout: PEs\n    x: 4\n    y: 2\n    spatial_reduction: true\n"
          "  - storage: Registers\n    word: 8 b\n    capacity: 8 B\n"
          "    energy: {{read: {} pJ/B, write: 1 pJ/B}}\n"
          "  - compute: MAC\n    energy: 1 pJ\n",
          dram_bandwidth, dram_read, capacity, buffer_read, buffer_write, register_read),
      "tiny.yaml");
}

// Every mapping of three layers and an operator that only moves data.
TEST(JointEdp, OfANetworkIsTheLeastOverTheFrontsOfItsLayers) {
  Rng rng{5};
  int better = 0;
  for (int tries = 0; tries < 25; ++tries) {
    const Arch arch = random_machine(rng);
    Network network;
    for (int i = 0; i < 3; ++i) {
      const auto bound = [&rng] { return std::to_string(1 + rng.below(12)); };
      NetworkLayer layer;
      layer.name = "g" + std::to_string(i);
      layer.count = 1 + static_cast<std::int64_t>(rng.below(4));
      std::string text = "name: " + layer.name + "\ngemm: {m: " + bound();
      text += ", n: " + bound();
      text += ", k: " + bound() + "}\n";
      layer.workload = parse_workload(text, "g.yaml");
      network.layers.push_back(layer);
    }
    network.streams = {Stream{"pool", "MaxPool", Bits{800}, Bits{400}, 2}};
    const StreamCost moved = stream_cost(arch, Bits{800}, Bits{400});
    std::vector<Layer> layers{
        {2, {{moved.energy.count(), static_cast<double>(moved.latency.count())}}}};
    for (const NetworkLayer& layer : network.layers) {
      layers.push_back({static_cast<double>(layer.count), {}});
      const Problem problem{arch, layer.workload};
      for (const FrontPoint& point : search_front(Mapspace{problem, {}}, {}).points) {
        layers.back().points.emplace_back(point.value, static_cast<double>(point.measure));
      }
    }
    NetworkOptions options;
    options.search.objective = Objective::kEdp;
    const NetworkResult found = search_network(arch, network, options);
    options.search.threads = 3;
    const NetworkResult again = search_network(arch, network, options);
    const double best = least_product(layers);
    ASSERT_TRUE(found.joint);
    EXPECT_NEAR(found.joint->edp, best, 1e-9 * best) << "case " << tries;
    EXPECT_TRUE(found.joint->is_proven());
    EXPECT_LE(found.joint->edp, found.joint->by_layer);
    better += found.joint->edp < found.joint->by_layer * (1 - 1e-9) ? 1 : 0;
    const NetworkTotals sums = totals(arch, network, found, LatencyMode::kSteady);
    EXPECT_NEAR(sums.energy.count() * static_cast<double>(sums.latency.count()), best, 1e-9 * best);
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      EXPECT_EQ(found.layers[i].best, again.layers[i].best);
    }
  }
  EXPECT_GT(better, 2);
}

// A search that is cut short proves no choice; other strategies make none.
TEST(JointEdp, SaysWhatIsNotProven) {
  const Arch arch = load_arch(kConfigs + "arch/teaching.yaml");
  Network network = load_network(kConfigs + "networks/alexnet.yaml");
  NetworkOptions options;
  options.search.objective = Objective::kEdp;
  const auto text = [&] {
    return network_text(arch, network, options, search_network(arch, network, options));
  };
  EXPECT_THAT(text(), AllOf(HasSubstr("all layers together, least edp"),
                            HasSubstr("; no choice of mappings has less\n"),
                            HasSubstr("Every layer's mapping is proven optimal")));
  options.search.budget.labels = 1;
  const NetworkResult cut = search_network(arch, network, options);
  ASSERT_TRUE(cut.joint);
  EXPECT_FALSE(cut.joint->is_proven());
  EXPECT_FALSE(totals(arch, network, cut, LatencyMode::kSteady).proven);
  EXPECT_THAT(text(), Not(HasSubstr("no choice of mappings has less")));
  options.search.budget.labels = Budget{}.labels;
  options.strategy = "random";
  options.search.evaluations = 50;
  EXPECT_FALSE(search_network(arch, network, options).joint);
  EXPECT_THAT(text(), HasSubstr("layer by layer, least edp"));
}

// A share is kept however the searches of layers share it out, and one that ends early ends no
// other.
TEST(JointEdp, IsWithinTheGapAskedFor) {
  const Arch arch = load_arch(kConfigs + "arch/eyeriss_chip.yaml");
  const Network network = load_network(kConfigs + "networks/alexnet.yaml");
  NetworkOptions options;
  options.search.objective = Objective::kEdp;
  const double least = search_network(arch, network, options).joint->edp;
  for (const double gap : {0.2, 0.01, 0.001}) {
    options.search.budget.gap = gap;
    const JointChoice found = *search_network(arch, network, options).joint;
    EXPECT_LE(found.lower_bound, least * (1 + kRounding)) << gap;
    EXPECT_LE(found.edp, found.lower_bound * (1 + gap)) << gap;
  }
  options.search.budget.gap = 0;
  options.search.budget.labels = 100;
  const JointChoice cut = *search_network(arch, network, options).joint;
  EXPECT_LE(cut.lower_bound, least * (1 + kRounding));
  EXPECT_GT(cut.searches, 5);
}

// Schedules of an engine: nothing is known of them before a search.
TEST(JointEdp, OfAnEngineIsTheLeastOverTheFrontsOfItsLayers) {
  const Arch arch = load_arch(kConfigs + "arch/nv_small.yaml");
  Network network = load_network(kConfigs + "networks/alexnet.yaml");
  network.layers.resize(3);
  network.streams.clear();
  std::vector<Layer> layers;
  for (const NetworkLayer& layer : network.layers) {
    layers.push_back({static_cast<double>(layer.count), {}});
    const Problem problem{arch, layer.workload};
    for (const FrontPoint& point : search_front(Mapspace{problem, {}}, {}).points) {
      layers.back().points.emplace_back(point.value, static_cast<double>(point.measure));
    }
  }
  NetworkOptions options;
  options.search.objective = Objective::kEdp;
  const NetworkResult found = search_network(arch, network, options);
  ASSERT_TRUE(found.joint);
  EXPECT_TRUE(found.joint->is_proven());
  const double best = least_product(layers);
  EXPECT_NEAR(found.joint->edp, best, 1e-9 * best);
}

}  // namespace
}  // namespace mapsim::joint_test
