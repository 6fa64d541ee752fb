// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/places.hpp"
#include "app/space.hpp"
#include "app/startable_threads.hpp"
#include "app/watch.hpp"
#include "campaign/mpi.hpp"
#include "campaign/sqlite.hpp"
#include "campaign/sweep.hpp"
#include "campaign/warnings.hpp"
#include "plan/campaign_chip.hpp"

namespace mapsim {

namespace {

// Where there is no terminal, logs get a line this often.
constexpr double kLogSeconds = 60;

// By Open MPI's mpirun, or by Slurm's srun --mpi=pmix, as one of several.
bool is_started_by_mpi() {
  const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size != nullptr ? std::atoi(size) > 1 : std::getenv("PMIX_RANK") != nullptr;
}

void join(std::optional<MpiJob>& job) {
  const std::string module = mpi_module();
  if (module.empty()) {
    throw UsageError(
        "started by mpirun, but built without MPI; install libopenmpi-dev and openmpi-bin and "
        "build again, or divide the campaign with --shard");
  }
  try {
    job.emplace(module);
  } catch (const MpiUnavailable& error) {
    throw UsageError(
        fmt::format("started by mpirun, but MPI cannot be loaded: {}; install openmpi-bin, or "
                    "divide the campaign with --shard",
                    error.what()));
  }
}

ExitCode code_of(const SweepSummary& summary) {
  if (summary.interrupted) {
    return kInterrupted;
  }
  if (!summary.failures.empty()) {
    return kInternal;
  }
  return summary.statistics.mapped == 0 || summary.short_of_memory > 0 ? kNegative : kDone;
}

}  // namespace

Answer run(const SweepArguments& arguments) {
  const int threads = is_started_by_mpi() ? 1 : threads_to_use(arguments.threads);
  // Before MPI, whose threads must not get the signals.
  Watch watch{{"sweeping", "stop; the same command goes on from here"}};
  std::optional<MpiJob> job;
  if (is_started_by_mpi()) {
    join(job);
  }
  Budget budget;
  budget.bytes = arguments.bytes.value_or(budget.bytes);
  const ReadChip read_chip = chip_reader(shipped_configs(), arguments.bytes);
  if (job && job->rank() != 0) {
    job->work(arguments.campaign, shipped_configs(), read_chip, budget, watch.stop());
    return {};
  }
  Campaign campaign = load_campaign(arguments.campaign, shipped_configs(), read_chip);
  campaign.budget.bytes = budget.bytes;
  SweepOptions options;
  options.database = arguments.database;
  options.shard = {static_cast<std::size_t>(arguments.shard - 1),
                   static_cast<std::size_t>(arguments.shards)};
  options.threads = threads;
  options.remote = job ? job->remote() : Remote{};
  options.stop = &watch.stop();
  options.waiting = say_waiting;
  options.progress = [&watch, logged = 0.0](const SweepProgress& progress) mutable {
    watch.say(progress_text(progress));
    if (!watch.visible() && progress.seconds >= logged + kLogSeconds) {
      logged = progress.seconds;
      fmt::print(stderr, "sweeping{}\n", progress_text(progress));
    }
  };
  const std::vector<std::string> warnings = campaign_warnings(campaign);
  SweepSummary summary;
  try {
    summary = sweep(campaign, options);
  } catch (const DatabaseInterrupted&) {
    return {kInterrupted, "", "interrupted; the same command goes on from here"};
  }
  Answer answer{code_of(summary), ""};
  if (arguments.output.json) {
    answer.text = summary_json({"sweep", {input_file("campaign", arguments.campaign)}, warnings},
                               campaign, summary);
  } else {
    answer.text = summary_text(campaign, summary) + warning_lines(warnings);
  }
  remark_warnings(warnings, answer);
  return answer;
}

}  // namespace mapsim
