// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/places.hpp"
#include "app/space.hpp"
#include "app/startable_threads.hpp"
#include "app/watch.hpp"
#include "campaign/report.hpp"
#include "campaign/sqlite.hpp"
#include "campaign/warnings.hpp"
#include "design/certificate.hpp"
#include "design/search.hpp"

namespace mapsim {

namespace {

// That of the space where it has one.
DesignObjective objective_of(const DesignArguments& arguments, const Campaign& campaign) {
  if (arguments.objective) {
    return *arguments.objective;
  }
  const std::optional<DesignObjective> own = space_objective(campaign);
  if (!own) {
    throw UsageError(
        fmt::format("{}: has several objectives; choose one with --objective", arguments.space));
  }
  return *own;
}

// Rows are about the layers and questions of the space.
void check_database(const DesignArguments& arguments, const Campaign& campaign,
                    const DesignObjective& objective) {
  if (!arguments.work.empty()) {
    throw UsageError(fmt::format(
        "--db: a database has results for the layers that {} names; name {} in that file, not here",
        arguments.space, arguments.work.front()));
  }
  std::vector<std::string> asked;
  for (const Question& question : campaign.questions) {
    asked.push_back(to_string(question.objective));
    if (question.objective == Objective{objective.function, false, question.objective.mode}) {
      return;
    }
  }
  throw UsageError(fmt::format("--db: {} asks for {}; add {} to its objectives", arguments.space,
                               fmt::join(asked, ", "), to_string(objective.function)));
}

DesignOptions options_of(const DesignArguments& arguments, const Campaign& campaign) {
  DesignOptions options;
  options.objective = objective_of(arguments, campaign);
  options.limits = arguments.limits;
  options.wanted = arguments.front ? Wanted::kFront : Wanted::kBest;
  options.top = arguments.top;
  options.gap = arguments.budget.gap;
  options.seconds = arguments.budget.seconds;
  options.bytes = arguments.budget.bytes;
  options.threads = threads_to_use(arguments.threads);
  options.certificate = !arguments.certificate_file.empty();
  return options;
}

}  // namespace

Answer run(const DesignArguments& arguments) {
  const Campaign campaign = load_design_space(arguments.space, arguments.work, shipped_configs());
  OutputFile machine{arguments.arch_file};
  OutputFile proof{arguments.certificate_file};
  OutputFile picture{arguments.svg};
  DesignOptions options = options_of(arguments, campaign);
  std::optional<DesignAnswers> answers;
  if (const std::string why = options.certificate ? why_no_certificate(campaign, options) : "";
      !why.empty()) {
    throw UnsupportedSearch(fmt::format("{}: {}", arguments.space, why));
  }
  Watch watch;
  options.stop = &watch.stop();
  options.progress = [&](const DesignProgress& progress) {
    watch.say(design_progress_text(options, progress));
  };
  if (!arguments.database.empty()) {
    check_database(arguments, campaign, options.objective);
    try {
      answers.emplace(campaign, arguments.database, &watch.stop());
    } catch (const DatabaseInterrupted&) {
      return {kInterrupted, "", "interrupted before the search began"};
    }
    options.answers = &*answers;
  }
  const DesignAnswer result = search_design(campaign, options);

  Answer answer{
      result.interrupted && watch.stop() ? kInterrupted : (result.best() ? kDone : kNegative), ""};
  Provenance origin{"design", {input_file("campaign", arguments.space)}};
  for (const std::string& path : arguments.work) {
    origin.inputs.push_back(input_file("work", path));
  }
  origin.warnings = campaign_warnings(campaign);
  if (answers && answers->is_cut_off()) {
    answer.remark = fmt::format("{}: another process held it; not every answer was written",
                                arguments.database);
  }
  if (result.best() && !arguments.arch_file.empty()) {
    machine.write(best_arch_text(campaign, result));
  }
  const std::string json = design_json(origin, campaign, options, result);
  if (!arguments.svg.empty()) {
    picture.write(design_search_svg(json));
  }
  if (options.certificate) {
    const std::string text = design_certificate(campaign, options, result);
    text.empty() ? proof.remove() : proof.write(text);
    if (text.empty()) {
      answer.remark = "no certificate: " + why_no_certificate(options, result);
    }
  }
  answer.text = arguments.output.json
                    ? json
                    : warning_lines(origin.warnings) + design_text(campaign, options, result);
  remark_warnings(origin.warnings, answer);
  return answer;
}

}  // namespace mapsim
