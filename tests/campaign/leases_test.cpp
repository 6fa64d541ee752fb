// SPDX-License-Identifier: Apache-2.0
// Sweeps of one database at the same time: each point is computed by one of them.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/campaign/sweeps.hpp"

namespace mapsim::leases_test {
namespace {

using std::chrono::milliseconds;

class Leases : public Sweeps {
 protected:
  // 24 designs, 48 points.
  Campaign many() const {
    return campaign(
        "    grid:\n"
        "      nodes.Buffer.capacity: [64 B, 128 B, 256 B, 512 B, 1 KiB, 2 KiB, 4 KiB, 8 KiB]\n"
        "      nodes.PEs.x: [1, 2, 4]\n",
        "objectives: [energy, edp]\n");
  }
  SweepSummary sweep_for(const Campaign& campaign, const std::string& name, milliseconds lease,
                         const std::function<void(const SweepProgress&)>& progress = {}) const {
    SweepOptions options;
    options.database = path(name);
    options.threads = 1;
    options.lease = lease;
    if (progress) {
      options.progress = progress;
    }
    return sweep(campaign, options);
  }
  static PointKey key_of(const Campaign& campaign, std::size_t number) {
    const PointIndex index = point_index(campaign, number);
    return {load(design(campaign, index.design)).content.id,
            layer_content(campaign.layers[index.layer]).id,
            question_content(campaign, campaign.questions[index.question]).id};
  }
  // Somebody who takes a lease and then does nothing.
  static void take(Store& store, const PointKey& key, milliseconds term) {
    Store::Leasing leasing{store, "somebody", term};
    EXPECT_EQ(leasing.take(key), Store::Lease::kOurs);
    leasing.commit();
  }
  std::int64_t leases_left(const std::string& name) const {
    Database database{path(name)};
    Statement count{database, "SELECT count(*) FROM leases"};
    count.step();
    return count.whole(0);
  }
};

// With a long term, so that none expires on a busy machine.
TEST_F(Leases, DivideThePointsAmongSweeps) {
  const Campaign asked = many();
  std::vector<SweepSummary> summaries(3);
  {
    std::vector<std::jthread> sweeps;
    for (SweepSummary& summary : summaries) {
      sweeps.emplace_back([&] { summary = sweep_for(asked, "a.sqlite", milliseconds{600'000}); });
    }
  }
  std::size_t computed = 0;
  for (const SweepSummary& summary : summaries) {
    const SweepProgress& progress = summary.progress;
    EXPECT_EQ(progress.known + progress.computed + progress.elsewhere, 48);
    EXPECT_EQ(progress.planned, progress.computed);
    EXPECT_EQ(summary.statistics.missing, 0) << "each waits for the points of the others";
    computed += progress.computed;
  }
  EXPECT_EQ(computed, 48) << "no point twice";
  EXPECT_EQ(leases_left("a.sqlite"), 0);
  run(asked, "alone.sqlite");
  EXPECT_EQ(answers("a.sqlite"), answers("alone.sqlite"));
}

TEST_F(Leases, ExpireWhereNobodyRenewsThem) {
  const Campaign asked = many();
  Store store{path("a.sqlite"), Store::Open::kOrNew};
  take(store, key_of(asked, 5), milliseconds{400});
  const auto start = std::chrono::steady_clock::now();
  const SweepSummary summary = sweep_for(asked, "a.sqlite", milliseconds{5000});
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds{300});
  EXPECT_EQ(summary.progress.computed, 48);
  EXPECT_EQ(summary.progress.elsewhere, 0);
}

TEST_F(Leases, KeepOthersFromAPointUntilItIsAnswered) {
  const Campaign asked = many();
  run(asked, "alone.sqlite");
  Store store{path("a.sqlite"), Store::Open::kOrNew};
  const PointKey key = key_of(asked, 5);
  take(store, key, milliseconds{600'000});
  // The other one answers when all else is done.
  bool is_answered = false;
  const auto answer = [&](const SweepProgress& progress) {
    if (progress.computed == 47 && !is_answered) {
      is_answered = true;
      store.add_result(key, without_mapping("made up", "by another sweep", 0));
    }
  };
  const SweepSummary summary = sweep_for(asked, "a.sqlite", milliseconds{5000}, answer);
  EXPECT_EQ(summary.progress.computed, 47);
  EXPECT_EQ(summary.progress.elsewhere, 1);
  EXPECT_THAT(summary_text(asked, summary), testing::HasSubstr("47 computed in "));
  EXPECT_THAT(summary_text(asked, summary),
              testing::HasSubstr(", 1 by other sweeps at the same time\n"));
  EXPECT_EQ(cell("a.sqlite", 5, "status"), Cell{"made up"});
}

// Its term is over three times while the sweep waits; it would be somebody else's then.
TEST_F(Leases, AreRenewedWhileTheirSweepLives) {
  const Campaign asked = many();
  Store store{path("a.sqlite"), Store::Open::kOrNew};
  const std::string holder = "a sweep";
  const PointKey key = key_of(asked, 0);
  {
    Store::Leasing leasing{store, holder, milliseconds{200}};
    EXPECT_EQ(leasing.take(key), Store::Lease::kOurs);
    leasing.commit();
  }
  store.renew_leases(holder, milliseconds{600'000});
  std::this_thread::sleep_for(milliseconds{250});
  {
    Store::Leasing leasing{store, "another", milliseconds{200}};
    EXPECT_EQ(leasing.take(key), Store::Lease::kTheirs);
  }
  store.release_leases(holder);
  Store::Leasing leasing{store, "another", milliseconds{200}};
  EXPECT_EQ(leasing.take(key), Store::Lease::kOurs);
}

// A sweep that is stopped leaves its points to the others at once.
TEST_F(Leases, AreGivenBackByASweepThatIsStopped) {
  const Campaign asked = many();
  std::atomic<bool> stop{false};
  SweepOptions options;
  options.database = path("a.sqlite");
  options.lease = milliseconds{600'000};
  options.stop = &stop;
  options.progress = [&](const SweepProgress& progress) { stop = progress.computed > 0; };
  const SweepSummary stopped = sweep(asked, options);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_LT(stopped.progress.computed, 48);
  EXPECT_EQ(leases_left("a.sqlite"), 0);
  const SweepSummary rest = sweep_for(asked, "a.sqlite", milliseconds{600'000});
  EXPECT_EQ(rest.progress.computed, 48 - stopped.progress.computed);
}

// Where nobody can stop it, none is asked.
TEST_F(Leases, TakeNoFlagToStop) {
  EXPECT_EQ(sweep_for(grid(), "a.sqlite", milliseconds{5000}).progress.computed, 8);
}

}  // namespace
}  // namespace mapsim::leases_test
