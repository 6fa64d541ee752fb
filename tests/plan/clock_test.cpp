// SPDX-License-Identifier: Apache-2.0
#include "plan/clock.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "check/plan_proof.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "plan/throughput.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::clock_test {
namespace {

using ::testing::HasSubstr;

constexpr int kLeast = 20;
constexpr double kMilliwatts = 1e3;   // in a watt
constexpr double kPicojoules = 1e12;  // in a joule

// Power by step, growing or as it likes; the step by one question after the other from the top.
TEST(HighestStep, IsTheOneBelowWhichAllKeepTheLimit) {
  int most_asked = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng{seed};
    const bool grows = seed % 3 != 0;
    std::vector<double> power(kFullClock + 1);
    const double constant = 100 * rng.uniform();
    const double exponent = 3 * rng.uniform();
    for (int step = kLeast; step <= kFullClock; ++step) {
      const double share = share_of_step(step);
      power[static_cast<std::size_t>(step)] =
          grows ? constant + 200 * std::pow(share, exponent) : 300 * rng.uniform();
    }
    if (rng.below(10) == 0) {
      power[kLeast + rng.below(70)] = std::numeric_limits<double>::infinity();
    }
    const double full = power.back();
    const double most = full * (0.05 + 0.94 * rng.uniform());
    std::set<int> asked;
    const auto found = highest_step(full, most, [&](int step) {
      EXPECT_TRUE(step >= kLeast && step < kFullClock) << step;
      EXPECT_TRUE(asked.insert(step).second) << step;
      return power[static_cast<std::size_t>(step)];
    });
    const int step = found.value_or(kLeast - 1);
    EXPECT_GT(power[static_cast<std::size_t>(step + 1)], most) << seed;
    if (found) {
      EXPECT_LE(power[static_cast<std::size_t>(step)], most) << seed;
    }
    if (grows && std::isfinite(power[kLeast])) {
      most_asked = std::max(most_asked, static_cast<int>(asked.size()));
    }
  }
  EXPECT_LE(most_asked, 13);
}

// With 8 b, so without Winograd kernels, whose turn at a lower clock makes power jump.
Network network(int batch) {
  return parse_network(
      "name: n\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs: {x: {shape: [" +
          std::to_string(batch) +
          ", 256, 28, 28]}}\ngraph:\n"
          "  - {name: a, conv2d: {out_channels: 512, kernel: 3, padding: 1}, in: x, epilogue: "
          "[relu]}\n"
          "  - {name: b, conv2d: {out_channels: 512, kernel: 3, padding: 1}, in: a, epilogue: "
          "[relu]}\n"
          "  - {name: c, conv2d: {out_channels: 256, kernel: 1}, in: b}\n"
          "  - {name: d, op: Add, in: [c, x], epilogue: [relu]}\n",
      "n.yaml");
}

Soc chip() { return load_soc(source_path("configs/arch/a100_40gb.yaml")); }

// A chip whose file says this clock, without a limit.
Soc at_clock(Soc soc, double share) {
  soc.power = Milliwatts{0};
  Gpu& gpu = std::get<Gpu>(soc.engines.front().machine);
  gpu = at_clock_share(gpu, share);
  return soc;
}

double watts(const Load& total) { return total.energy / kPicojoules / total.latency; }

PlanAnswer planned(const Soc& soc, const Network& of, const PlanOptions& options = {}) {
  return make_plan(soc, of, options, "chip.yaml", "n.yaml");
}

TEST(Clock, FallsToTheHighestAtWhichTheBestPlanKeepsTheLimit) {
  const Network of = network(64);
  Soc soc = chip();
  const PlanAnswer full = planned(at_clock(soc, 1), of);
  EXPECT_EQ(full.clock_share, 1);
  ASSERT_GT(watts(full.plan.total), 250);
  for (const PlanObjective objective : {PlanObjective::kLatency, PlanObjective::kEnergy}) {
    PlanOptions options;
    options.objective = objective;
    for (const double most : {120.0, 180.0, 250.0}) {
      soc.power = Milliwatts{most * kMilliwatts};
      const PlanAnswer lower = planned(soc, of, options);
      ASSERT_EQ(lower.misfit, "");
      ASSERT_LT(lower.clock_share, 1) << most;
      EXPECT_LE(watts(lower.plan.total), most);
      EXPECT_GT(watts(lower.plan.total), 0.95 * most);
      EXPECT_TRUE(lower.limits.empty());
      // As the best plan on a chip of that clock, and the next clock is too high.
      const PlanAnswer same = planned(at_clock(soc, lower.clock_share), of, options);
      EXPECT_EQ(lower.plan.total, same.plan.total);
      const PlanAnswer above = planned(at_clock(soc, lower.clock_share + 0.01), of, options);
      EXPECT_GT(watts(above.plan.total), most);
      EXPECT_THAT(plan_text(soc, of, options, lower), HasSubstr("; a100_40gb allows "));
      EXPECT_THAT(plan_text(soc, of, options, lower),
                  HasSubstr("% of the full clock; at all of it "));
    }
  }
  // The same limit by the option.
  PlanOptions options;
  options.max_power = 200;
  soc.power = Milliwatts{0};
  const double by_option = planned(soc, of, options).clock_share;
  soc.power = Milliwatts{200 * kMilliwatts};
  EXPECT_EQ(by_option, planned(soc, of).clock_share);
}

TEST(Clock, IsTheFullOneWhereTheLimitDoesNotBind) {
  const Network of = network(64);
  Soc soc = chip();
  const PlanAnswer free = planned(at_clock(soc, 1), of);
  soc.power = Milliwatts{1.001 * watts(free.plan.total) * kMilliwatts};
  const PlanAnswer limited = planned(soc, of);
  EXPECT_EQ(limited.clock_share, 1);
  EXPECT_EQ(limited.plan.total, free.plan.total);
  EXPECT_EQ(limited.passes.front().total, free.passes.front().total);
  EXPECT_THAT(plan_text(soc, of, {}, limited), testing::Not(HasSubstr("full clock")));
}

TEST(Clock, IsSaidWhereNoneIsLowEnough) {
  const Network of = network(64);
  Soc soc = chip();
  soc.power = Milliwatts{30 * kMilliwatts};  // less than it draws at rest
  EXPECT_THAT(planned(soc, of).misfit,
              testing::MatchesRegex("at 20.0 % of the full clock: the least mean power of all "
                                    "plans is .*W, where a100_40gb allows 30.00 W"));
  PlanOptions options;
  options.max_latency = planned(at_clock(soc, 1), of).plan.total.latency * 1.01;
  soc.power = Milliwatts{200 * kMilliwatts};
  EXPECT_THAT(planned(soc, of, options).misfit,
              testing::MatchesRegex("at .* % of the full clock: the least latency of all plans is "
                                    ".*s"));
}

// The mix of a stream; the GPU is then always at work.
TEST(Clock, OfAStreamIsTheHighestAtWhichTheBestMixKeepsTheLimit) {
  const Network of = network(64);
  Soc soc = chip();
  const auto stream = [&](const Soc& on) {
    return make_stream(on, {&of}, {64}, {}, "chip.yaml", "n.yaml");
  };
  const auto power = [](const StreamAnswer& answer) {
    double sum = 0;
    for (const PlanShare& share : answer.mix) {
      sum += share.rate * share.plan.total.energy / kPicojoules;
    }
    return sum;
  };
  const StreamAnswer full = stream(at_clock(soc, 1));
  for (const double most : {150.0, 250.0}) {
    soc.power = Milliwatts{most * kMilliwatts};
    const StreamAnswer lower = stream(soc);
    ASSERT_LT(lower.clock_share, 1);
    EXPECT_LE(power(lower), most * (1 + 1e-9));
    EXPECT_GT(power(lower), 0.95 * most);
    EXPECT_NEAR(lower.rate, stream(at_clock(soc, lower.clock_share)).rate, 1e-9 * lower.rate);
    EXPECT_GT(power(stream(at_clock(soc, lower.clock_share + 0.01))), most);
    // More than at the full clock, where the engine would have to pause.
    EXPECT_GT(lower.rate, full.rate * most / power(full));
    EXPECT_THAT(stream_text(soc, of, lower), HasSubstr("% of the full clock; at all of it "));
  }
  soc.power = Milliwatts{1.001 * power(full) * kMilliwatts};
  EXPECT_EQ(stream(soc).clock_share, 1);
  EXPECT_EQ(stream(soc).rate, full.rate);
}

check::PlanVerdict checked(const nlohmann::json& certificate) {
  return check::check_plan(check::parse_plan_claim(certificate.dump(), "proof"));
}

TEST(Clock, IsInTheCertificateWithTheLimitThatThePlanKeeps) {
  const Network of = network(64);
  const Soc soc = chip();
  PlanOptions throughput;
  throughput.objective = PlanObjective::kThroughput;
  const StreamAnswer stream = make_stream(soc, {&of}, {64}, throughput, "chip.yaml", "n.yaml");
  for (const std::string& text : {plan_certificate(soc, of, {}, planned(soc, of)),
                                  stream_certificate(soc, of, throughput, stream)}) {
    const auto proof = nlohmann::json::parse(text);
    const auto forged = [&](const char* key, const nlohmann::json& value) {
      auto changed = proof;
      changed["plan_certificate"][key] = value;
      return checked(changed);
    };
    const check::PlanVerdict holds = checked(proof);
    EXPECT_THAT(holds.problems, testing::IsEmpty());
    EXPECT_THAT(holds.unverified, testing::Contains(HasSubstr("% of the full clock")));
    for (const double share : {-0.5, 0.0, 1.0, 1.2}) {
      EXPECT_THROW(forged("clock_share", share), ConfigError) << share;
    }
    EXPECT_THROW(forged("most_watts", "much"), ConfigError);
    if (proof["plan_certificate"].contains("stream")) {  // another power than its row has
      EXPECT_THROW(forged("most_watts", 200), ConfigError);
    } else {
      EXPECT_THAT(forged("most_watts", 200).problems,
                  testing::Contains(HasSubstr("and is to draw at most 200 W")));
    }
  }
}

}  // namespace
}  // namespace mapsim::clock_test
