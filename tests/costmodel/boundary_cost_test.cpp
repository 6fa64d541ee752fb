// SPDX-License-Identifier: Apache-2.0
// The cost rule of a boundary against energy() and latency(), with flows that the simulator
// counted.
#include "costmodel/boundary_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/rng.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/reference/simulate.hpp"
#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim::boundary_cost_test {
namespace {

// Energies and ports, none of them round numbers only.
void give_figures(Arch& arch, Rng& rng) {
  const auto draw = [&rng] { return 0.1 + rng.uniform(); };
  const auto port = [&rng]() -> std::optional<BitsPerCycle> {
    constexpr double kRates[]{0.7, 3, 8, 64, 100.5};
    return rng.below(2) == 0 ? std::nullopt : std::optional{BitsPerCycle{kRates[rng.below(5)]}};
  };
  for (const LevelId l : arch.levels.ids()) {
    Storage& level = arch.levels[l];
    level.energy = {PicojoulesPerBit{draw()}, PicojoulesPerBit{draw()}, PicojoulesPerBit{draw()}};
    level.bandwidth =
        rng.below(2) == 0 ? Bandwidth{port(), port(), {}, {}} : Bandwidth{{}, {}, port(), {}};
    level.bandwidth.link = index_of(l) > 0 ? port() : std::nullopt;
    level.double_buffered = rng.below(2) == 0;
    level.streamed = !level.double_buffered && rng.below(3) == 0;
  }
  for (Fanout& fanout : arch.fanouts) {
    fanout.reduction_energy = Picojoules{draw()};
  }
  arch.compute.energy = Picojoules{draw()};
}

double real(std::int64_t count) { return static_cast<double>(count); }

EndFlow parent_flow(const AccessCounts& n, bool output) {
  return output ? EndFlow{real(n.updates), real(n.readbacks)} : EndFlow{real(n.reads), 0};
}
EndFlow child_flow(const AccessCounts& n, bool output) {
  return output ? EndFlow{real(n.drains), real(n.fills)} : EndFlow{real(n.fills), 0};
}

// Every boundary of a mapping, charged by the rule for the flows of its counts.
class Charged {
 public:
  Charged(const Problem& problem, const Counts& counts)
      : problem_{problem},
        counts_{counts},
        ports_{ports_of(problem.arch())},
        sum_(resources({true, true}, ports_.size()), 0.0) {
    for (const TensorId t : problem.workload().tensors.ids()) {
      std::optional<LevelId> parent;
      for (const LevelId l : counts.levels.ids()) {
        if (counts.levels[l][t].kept) {
          if (parent) {
            charge(t, *parent, l);
          }
          parent = l;
        }
      }
      charge(t, *parent, std::nullopt);
    }
    sum_[0] += problem.mac_energy().count() * real(counts.macs);
  }

  double energy_pj() const { return sum_[0]; }
  Cycles port_time(LevelId level, PortKind kind) const {
    for (std::size_t q = 0; q < ports_.size(); ++q) {
      if (ports_[q].level == level && ports_[q].kind == kind) {
        const double cycles = transfer_cycles(sum_[1 + q], BitsPerCycle{ports_[q].bits_per_cycle});
        return Cycles{static_cast<std::int64_t>(cycles)};
      }
    }
    return Cycles{-1};
  }
  Cycles edges() const { return Cycles{static_cast<std::int64_t>(sum_.back())}; }

 private:
  void charge(TensorId t, LevelId parent, std::optional<LevelId> child) {
    const bool output = t == problem_.workload().output();
    const Tensor& tensor = problem_.workload().tensors[t];
    const TensorCounts& above = counts_.levels[parent][t];
    const Boundary boundary{t,
                            parent,
                            child,
                            output && above.down_bits == tensor.bits,
                            real(counts_.levels[LevelId{0}][t].footprint),
                            {},
                            {}};
    const BoundaryCost cost{problem_, boundary, ports_, {true, true}};
    BoundaryFlow flow;
    flow.parent = parent_flow(above.total, output);
    flow.busy_parent = parent_flow(above.busiest, output);
    if (child) {
      const TensorCounts& below = counts_.levels[*child][t];
      flow.child = child_flow(below.total, output);
      flow.busy_child = child_flow(below.busiest, output);
      flow.tile = real(below.footprint);
    }
    for (const FanoutId f : counts_.networks.ids()) {
      const Arch& arch = problem_.arch();
      if (arch.is_above(parent, f) && !(child && arch.is_above(*child, f))) {
        flow.networks_pj += network_pj(cost, f, t, output);
      }
    }
    EXPECT_TRUE(cost.charge(flow, sum_.data(), 1));
  }

  double network_pj(const BoundaryCost& cost, FanoutId f, TensorId t, bool output) const {
    const NetworkEnergy energy = network_energy(problem_, f, output);
    double pj = 0;
    if (output) {
      pj += cost.network_pj({energy.addition_pj, 0}, {real(counts_.reductions[f])});
    }
    const NetworkCounts& at = counts_.networks[f][t];
    if (at.words > 0) {
      const double routed = real(at.routed);
      pj += cost.network_pj({0, energy.hop_pj},
                            {real(at.received), real(at.words), real(at.returns),
                             real(at.received) / routed, real(at.half_hops) / 2 / routed});
    }
    return pj;
  }

  const Problem& problem_;
  const Counts& counts_;
  std::vector<Port> ports_;
  std::vector<double> sum_;
};

TEST(BoundaryCost, ChargesWhatEnergyAndLatencySayOfTheFlowsThatTheSimulatorCounts) {
  int ports = 0;
  int edges = 0;
  int hops = 0;
  int partial = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    RandomCase random = random_case(seed);
    Rng rng{seed};
    give_figures(random.arch, rng);
    const Problem problem(random.arch, random.workload);
    const Counts counts =
        simulate(problem, random.mapping, random_operands(random.workload, seed), kMaxCaseMacs)
            .counts;
    const Charged charged(problem, counts);
    const Energy energy = mapsim::energy(problem, counts);
    const Latency latency = mapsim::latency(problem, random.mapping, counts);
    ASSERT_NEAR(charged.energy_pj() / energy.total.count(), 1, 1e-12) << "seed " << seed << '\n'
                                                                      << describe(random);
    Cycles hidden = latency.resources.front().time + charged.edges();
    PerLevel<Cycles> shown(random.arch.levels.size());  // by depth
    for (const Resource& resource : latency.resources) {
      if (resource.kind != PortKind::kCompute) {
        ++ports;
        ASSERT_EQ(charged.port_time(resource.level, resource.kind), resource.time)
            << "seed " << seed << '\n'
            << describe(random);
        const Overlap& overlap = problem.overlap(resource.level);
        Cycles& time =
            overlap.hides(resource.kind) ? hidden : shown[static_cast<LevelId>(overlap.depth)];
        time = std::max(time, resource.time);
      }
    }
    for (const Cycles time : shown) {
      hidden += time;
    }
    ASSERT_EQ(hidden, latency.ramped) << "seed " << seed << '\n' << describe(random);
    edges += charged.edges() > Cycles{0} ? 1 : 0;
    for (const FanoutId f : energy.hops.ids()) {
      for (const Picojoules each : energy.hops[f]) {
        hops += each > Picojoules{0} ? 1 : 0;
      }
    }
    const TensorId output = random.workload.output();
    partial += counts.levels[LevelId{0}][output].down_bits != random.workload.tensors[output].bits;
  }
  EXPECT_GT(ports, 3'000);
  EXPECT_GT(edges, 300);
  EXPECT_GT(hops, 300);
  EXPECT_GT(partial, 100);
}

TEST(BoundaryCost, ChargesNoMoreForABoundOfAFlow) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    RandomCase random = random_case(seed);
    Rng rng{seed};
    give_figures(random.arch, rng);
    const Problem problem(random.arch, random.workload);
    const std::vector<Port> ports = ports_of(random.arch);
    const TensorId t = random.workload.output();
    const std::optional<LevelId> child =
        random.arch.levels.size() > 1 ? std::optional{random.arch.levels.last()} : std::nullopt;
    const double distinct = 1 + real(static_cast<std::int64_t>(rng.below(100)));
    const auto draw = [&] { return distinct * real(1 + static_cast<std::int64_t>(rng.below(3))); };
    BoundaryFlow flow;
    flow.parent = {draw(), draw()};
    flow.child = {draw(), draw()};
    flow.busy_parent = {draw(), draw()};
    flow.busy_child = {draw(), draw()};
    flow.tile = draw();
    const BoundaryCost cost{
        problem,
        Boundary{t, LevelId{0}, child, flow.parent.crossing == distinct, distinct, {}, {}},
        ports,
        {true, true}};
    std::vector<double> exact(resources({true, true}, ports.size()), 0.0);
    ASSERT_TRUE(cost.charge(flow, exact.data(), 1));
    BoundaryFlow less = flow;
    less.is_bound = true;
    for (EndFlow* end : {&less.parent, &less.child, &less.busy_parent, &less.busy_child}) {
      end->crossing *= rng.uniform();
      end->returning *= rng.uniform();
    }
    less.tile *= rng.uniform();
    std::vector<double> bound(exact.size(), 0.0);
    ASSERT_TRUE(cost.charge(less, bound.data(), 1)) << "seed " << seed;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      ASSERT_LE(bound[k], exact[k] * (1 + 1e-12)) << "seed " << seed << ", component " << k;
    }
  }
}

TEST(Accesses, PassThePortThatReadsOrTheOneThatWritesAndTheLinkAtTheChild) {
  for (const Access access : kAccesses) {
    EXPECT_NE(passes(access, PortKind::kRead), passes(access, PortKind::kWrite));
    EXPECT_TRUE(passes(access, PortKind::kShared));
    EXPECT_FALSE(passes(access, PortKind::kCompute));
    const bool links = access == Access::kFill || access == Access::kDrain;
    EXPECT_EQ(passes(access, PortKind::kLink), links);
  }
}

}  // namespace
}  // namespace mapsim::boundary_cost_test
