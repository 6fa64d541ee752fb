// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/watch.hpp"
#include "campaign/sweep.hpp"

namespace mapsim {

namespace {

// Where there is no terminal, logs get a line this often.
constexpr double kLogSeconds = 60;

ExitCode code_of(const SweepSummary& summary) {
  if (summary.interrupted) {
    return kInterrupted;
  }
  if (!summary.failures.empty()) {
    return kInternal;
  }
  return summary.tally.mapped == 0 ? kNegative : kDone;
}

}  // namespace

Answer run(const SweepArguments& arguments) {
  const Campaign campaign = load_campaign(arguments.campaign);
  Watch watch{{"sweeping", "stop; the same command goes on from here"}};
  SweepOptions options;
  options.database = arguments.database;
  options.shard = static_cast<std::size_t>(arguments.shard - 1);
  options.shards = static_cast<std::size_t>(arguments.shards);
  options.threads = arguments.threads;
  options.stop = &watch.stop();
  options.progress = [&watch, logged = 0.0](const SweepProgress& progress) mutable {
    watch.say(progress_text(progress));
    if (!watch.visible() && progress.seconds >= logged + kLogSeconds) {
      logged = progress.seconds;
      fmt::print(stderr, "sweeping{}\n", progress_text(progress));
    }
  };
  const SweepSummary summary = sweep(campaign, options);
  return {code_of(summary), summary_text(campaign, summary)};
}

}  // namespace mapsim
