// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "app/option.hpp"
#include "app/space.hpp"
#include "app/startable_threads.hpp"
#include "app/trace_file.hpp"
#include "app/watch.hpp"
#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "check/certificate.hpp"
#include "check/sealed_file.hpp"
#include "check/stop.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/branch/partial_folds.hpp"
#include "mapper/front.hpp"
#include "mapper/least_busiest.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nvdla/search.hpp"
#include "mapper/shared_budget.hpp"
#include "mapper/supported.hpp"
#include "mapper/unfolded.hpp"
#include "report/certificate.hpp"
#include "report/constraints.hpp"
#include "report/front.hpp"
#include "report/json.hpp"
#include "report/sparse.hpp"
#include "report/text.hpp"
#include "report/why.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

// The folder for the points' mappings: made if it has to be, before the search.
void make_folder(const std::string& folder) {
  std::error_code error;
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, error);
  }
  if (error) {
    throw UsageError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  }
}

void save_mappings(const std::string& folder, const Problem& problem, const Front& front) {
  for (std::size_t i = 0; i < front.points.size() && !folder.empty(); ++i) {
    OutputFile file{fmt::format("{}/point_{:03}.yaml", folder, i + 1)};
    const FrontPoint& point = front.points[i];
    file.write(print_mapping(problem.arch(), workload_of(problem, point), point.mapping));
  }
}

void check_certificate(const SearchArguments& arguments) {
  if (arguments.certificate_file.empty()) {
    return;
  }
  if (arguments.strategy != "exact") {
    throw UsageError("only the strategy exact proves anything; leave out --certificate");
  }
}

// How a result with a certificate is answered: first the result.
struct Saying {
  const Say& say;
  Watch& watch;
  const SearchOptions& options;
  check::Stop::Clock::time_point start = check::Stop::Clock::now();
  SharedBudget budget{options};
};

// Some searches use up all of a budget. A tenth of it is for the certificate, if there is to be
// one.
SearchOptions of_search(const SearchArguments& arguments, SearchOptions options) {
  constexpr double kOfSearch = 0.9;
  options.budget.seconds *= arguments.certificate_file.empty() ? 1 : kOfSearch;
  return options;
}

// When a certificate must be there: a moment after the search was interrupted, or after its budget.
check::Stop end_of_proof(const Saying& saying) {
  using Clock = check::Stop::Clock;
  using Wait = std::chrono::duration<double>;
  constexpr double kMoment = 0.05;  // of all threads together
  check::Stop stop{saying.options.stop};
  const double budget = saying.options.budget.seconds;
  if (saying.watch.stop()) {
    stop.end = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(Wait{kMoment / saying.options.threads});
  } else if (constexpr double kYear = 3e7; budget < kYear) {
    stop.end = std::max(Clock::now(),
                        saying.start + std::chrono::duration_cast<Clock::duration>(Wait{budget})) +
               std::chrono::duration_cast<Clock::duration>(Wait{kMoment});
  }
  return stop;
}

// `remark`: what the proof, empty if there is none, does not show of what was searched for.
void prove_afterwards(const std::string& path, OutputFile& file, const Saying& saying,
                      const std::function<std::string(check::Stop)>& prove,
                      const std::function<std::string(const std::string&)>& remark,
                      Answer& answer) {
  if (path.empty()) {
    return;
  }
  const check::Stop stop = end_of_proof(saying);
  saying.watch.turn_to({"working out the certificate", "leave it out"});
  saying.say(answer.text);
  answer.text.clear();
  const std::string proof = prove(stop);
  if (!proof.empty()) {
    file.write(proof);
  } else {
    file.remove();  // of another search
  }
  const bool interrupted = proof.empty() && saying.watch.stop();
  const std::string said =
      interrupted ? fmt::format("interrupted: no certificate in {}", path) : remark(proof);
  answer.remark += (answer.remark.empty() || said.empty() ? "" : "\n") + said;
  answer.code = interrupted ? kInterrupted : answer.code;
}

std::string front_proof_remark(const std::string& file, const std::string& proof,
                               const Front& front) {
  if (proof.empty()) {
    return fmt::format("{}: no certificate in {}",
                       front.complete ? "the checker cannot follow the proof"
                                      : "stopped early, which proves nothing",
                       file);
  }
  const double gap = check::parse_certificate(proof, "the certificate").gap;
  return gap > 0 ? fmt::format(
                       "--certificate: the file proves no more than that nothing is better "
                       "by {:.2g} % in both figures",
                       100 * gap)
                 : std::string{};
}

Answer front_answer(const SearchArguments& arguments, const Provenance& origin,
                    const Mapspace& space, const SearchOptions& options, const Saying& saying) {
  FrontSubject subject{options.objective, std::nullopt};
  if (!arguments.curve.empty()) {
    const auto wrong = taken(parse_curve_capacity(arguments.curve, space.problem().arch()),
                             [&](const CurveCapacity& capacity) { subject.capacity = capacity; });
    if (wrong) {
      throw UsageError("--curve: " + *wrong);
    }
  }
  OutputFile picture{arguments.svg};
  OutputFile certificate{arguments.certificate_file};
  check_certificate(arguments);
  make_folder(arguments.mapping_file);
  const SearchOptions limited = of_search(arguments, options);
  const Front front = subject.capacity ? search_curve(space, limited, *subject.capacity)
                                       : search_front(space, limited);
  save_mappings(arguments.mapping_file, space.problem(), front);
  picture.write(front_svg(space, subject, front));
  Answer answer;
  answer.text = arguments.output.json
                    ? front_json(origin, space, subject, options, front)
                    : warning_lines(origin.warnings) + front_text(space, subject, front);
  answer.code = saying.watch.stop() && !front.complete ? kInterrupted
                                                       : (front.points.empty() ? kNegative : kDone);
  const bool shown = front.complete || space.constraints().factors.imperfect;  // with a gap
  prove_afterwards(
      arguments.certificate_file, certificate, saying,
      [&](check::Stop stop) {
        return shown ? front_certificate_file(origin, space, subject, front, options.threads, stop)
                     : std::string{};
      },
      [&](const std::string& proof) {
        return front_proof_remark(arguments.certificate_file, proof, front);
      },
      answer);
  return answer;
}

// Where the file shows less than the search has found.
std::string weaker_proof_remark(const std::string& proof, const Objective& objective,
                                const SearchResult& result) {
  if (result.certificate.schedules || proof.empty()) {
    return {};
  }
  const std::string head = proof.substr(0, proof.find("\nbounds:")) + "\nbounds: []\n";
  const check::Certificate claimed =
      check::parse_certificate(head + check::seal(head), "the certificate");
  if (!(claimed.lower_bound < result.certificate.lower_bound * (1 - check::kTolerance))) {
    const bool ties = claimed.goal.kind == check::Goal::Kind::kTies || !objective.exact_ties;
    return ties || result.certificate.status != Proof::kOptimal
               ? ""
               : "--certificate: the file does not prove the second figure";
  }
  if (!(claimed.lower_bound > 0)) {
    return "--certificate: there was not time enough for the file to prove anything";
  }
  return fmt::format("--certificate: the file proves no more than {}{}",
                     check::value_text(claimed.lower_bound, claimed.goal),
                     result.best ? fmt::format(", a gap of {:.2g} %",
                                               100 * (claimed.value / claimed.lower_bound - 1))
                                 : std::string{});
}

using Search = std::function<SearchResult()>;
using Prove = std::function<std::string(const SearchResult&, check::Stop)>;  // the certificate

Answer best_answer(const SearchArguments& arguments, const Provenance& origin,
                   const Mapspace& space, const SearchOptions& options, const Saying& saying,
                   const std::vector<TriedForm>& forms, const Search& search, const Prove& prove) {
  OutputFile mapping_file{arguments.mapping_file};
  OutputFile certificate{arguments.certificate_file};
  TraceFile trace{arguments.trace};
  check_certificate(arguments);

  const SearchResult result = search();
  if (result.best) {
    mapping_file.write(
        print_mapping(space.problem().arch(), space.problem().workload(), *result.best));
  }
  Answer answer;
  std::optional<std::vector<Relief>> reliefs;
  if (arguments.why && result.cost && !result.interrupted) {
    reliefs = what_would_help(space, saying.budget.rest(), *result.cost);
  }
  if (arguments.output.json) {
    answer.text = search_json(origin, space, arguments.strategy, options, result, reliefs, forms);
  } else {
    answer.text = warning_lines(origin.warnings);
    answer.text += arguments.print_constraints ? constraints_text(space) + '\n' : "";
    answer.text += search_text(space, options.objective, result) + forms_text(forms);
    if (!arguments.certificate_file.empty() && exact::has_partial_folds(space, options.objective)) {
      answer.text +=
          "(--certificate: folds that leave a remainder or cross lines of the image were not "
          "searched; without it they are)\n";
    }
    if (arguments.explain_energy && result.cost) {
      answer.text += '\n' + explain_energy_text(space.problem(), *result.cost);
    }
    answer.text += reliefs ? '\n' + relief_text(options.objective, *reliefs) : "";
  }
  answer.code =
      result.interrupted && saying.watch.stop() ? kInterrupted : (result.best ? kDone : kNegative);
  if (result.best && result.cost && trace.wanted()) {
    saying.watch.turn_to({"writing the trace", "leave it out"});
    add_trace(trace, arguments.trace, arguments.output.json,
              trace.write(origin, space.problem(), *result.best, *result.cost, saying.watch.stop()),
              answer);
  } else {
    trace.remove();
  }
  prove_afterwards(
      arguments.certificate_file, certificate, saying,
      [&](check::Stop stop) { return prove(result, stop); },
      [&](const std::string& proof) {
        return weaker_proof_remark(proof, options.objective, result);
      },
      answer);
  return answer;
}

bool is_engine(const Arch& arch) { return timing_model(arch).is_engine; }

// What is of chains, or of a figure that is not drawn.
void refuse_without_use(const SearchArguments& arguments) {
  if (arguments.fusion != FusionLimits{}) {
    throw UsageError(
        fmt::format("--max-group and --shared-loops are for chains, and {} is one layer; "
                    "configs/chains has chains",
                    arguments.workload));
  }
  if (!arguments.svg.empty() && !arguments.pareto && arguments.curve.empty()) {
    throw UsageError("--svg: it draws a front or a curve; give --pareto or --curve, too");
  }
}

void check_budget(const SearchArguments& arguments) {
  if (arguments.strategy != "exact" && arguments.budget.labels != Budget{}.labels) {
    throw UsageError(
        "--budget-labels: only the strategy exact has labels; limit the others with --budget or "
        "--evaluations");
  }
  if (arguments.budget.gap > 0 &&
      (arguments.strategy != "exact" || arguments.pareto || !arguments.curve.empty())) {
    throw UsageError("--gap: only a search of the strategy exact for one mapping has a gap");
  }
}

// Nothing can be left out of an engine's schedules.
void check_engine_options(const SearchArguments& arguments, bool is_front) {
  if (!arguments.constraints.empty() || arguments.even || arguments.imperfect) {
    throw UsageError(
        "an NVDLA-like engine has schedules of its own, every one of which is evaluated "
        "(docs/nvdla.md); leave out constraints, --even and --imperfect");
  }
  if (is_front && arguments.batches) {
    throw UsageError("--batches: the points of fronts and curves process one frame");
  }
}

// An NVDLA-like engine: the best schedule of the best form of the layer.
Answer engine_answer(const SearchArguments& arguments, const Provenance& origin,
                     const Problem& problem, const SearchOptions& options, const Saying& saying) {
  const Frames frames = frames_of(problem.arch(), arguments.batches);
  const FormedResult found = search_forms(problem, options, frames);
  const Mapspace space{found.problem, {}};
  return best_answer(
      arguments, origin, space, options, saying, found.tried, [&] { return found.result; },
      [&](const SearchResult&, check::Stop) {
        return schedules_certificate_file(origin, problem, frames, options.objective, found);
      });
}

// A convolution on a systolic array: the best of its own nests and of those of the layer unfolded.
Answer unfolded_answer(const SearchArguments& arguments, const Provenance& origin,
                       const Mapspace& space, const UnfoldedSpace& unfolded,
                       const SearchOptions& options, const Saying& saying) {
  const FormedResult found = search_both(space, unfolded, options);
  const bool direct = found.result.form == Form{};
  const Mapspace best{found.problem, direct ? space.constraints() : unfolded.constraints};
  return best_answer(
      arguments, origin, best, options, saying, found.tried, [&] { return found.result; },
      [](const SearchResult&, check::Stop) { return std::string{}; });
}

Answer mapping_answer(const SearchArguments& arguments, const Provenance& origin,
                      const Mapspace& space, const SearchOptions& options, const Saying& saying) {
  if (arguments.strategy == "exact" && options.partial_folds) {
    if (const auto unfolded = unfolded_space(space, options.objective)) {
      return unfolded_answer(arguments, origin, space, *unfolded, options, saying);
    }
  }
  return best_answer(
      arguments, origin, space, options, saying, {},
      [&] {
        const SearchOptions limited = of_search(arguments, options);
        SearchResult result = (*find_mapper(arguments.strategy))(space, limited);
        take_least_busiest(space, limited, result);
        return result;
      },
      [&](const SearchResult& result, check::Stop stop) {
        return certificate_file(origin, space, options.objective, result, options.threads, stop);
      });
}

}  // namespace

Answer run(const SearchArguments& arguments, const Say& say) {
  const Document machine = read_yaml(arguments.arch);
  if (describes_gpu(machine)) {
    return run_on_gpu(arguments, machine);
  }
  refuse_kernel_options(arguments.kernels);
  if (is_chain(arguments.workload)) {
    return run_on_chain(arguments);
  }
  refuse_without_use(arguments);
  const Problem problem{load_arch(arguments.arch), load_workload(arguments.workload)};
  Provenance origin{"search", input_files(arguments.arch, problem, arguments.workload)};
  const Constraints constraints = read_space(problem, arguments.constraints, arguments.even,
                                             arguments.imperfect, &origin.warnings);
  if (!arguments.constraints.empty()) {
    origin.inputs.push_back(input_file("constraints", arguments.constraints));
  }
  check_supported(problem, constraints, arguments.strategy);
  check_budget(arguments);

  frames_of(problem.arch(), arguments.batches);  // or says that there are none
  SearchOptions options;
  options.objective = complete(arguments.objective, problem.arch().clock);
  check_range(problem, options.objective);
  options.threads = arguments.strategy == "exhaustive" ? 1 : threads_to_use(arguments.threads);
  options.evaluations = arguments.evaluations;
  options.seed = static_cast<std::uint64_t>(arguments.seed);
  options.budget = arguments.budget;
  options.partial_folds = arguments.certificate_file.empty();  // beyond the mapspace
  Watch watch;
  options.stop = &watch.stop();
  if (watch.visible()) {
    options.progress = [&](const Progress& progress) {
      watch.say(progress_text(options.objective, progress));
    };
  }
  const Saying saying{say, watch, options};
  const bool is_front = arguments.pareto || !arguments.curve.empty();
  const bool on_engine = is_engine(problem.arch()) && arguments.strategy == "exact";
  if (on_engine) {
    check_engine_options(arguments, is_front);
  }
  if (on_engine && !is_front) {
    return engine_answer(arguments, origin, problem, options, saying);
  }
  if (arguments.output.json || is_front) {  // the text of one mapping has them in its table
    const std::vector<std::string> notes = zero_notes(problem);
    origin.warnings.insert(origin.warnings.end(), notes.begin(), notes.end());
  }
  const Mapspace space{problem, constraints};
  Answer answer = is_front ? front_answer(arguments, origin, space, options, saying)
                           : mapping_answer(arguments, origin, space, options, saying);
  remark_warnings(origin.warnings, answer);
  return answer;
}

}  // namespace mapsim
