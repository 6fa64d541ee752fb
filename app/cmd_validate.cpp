// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <variant>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_device.hpp"
#include "app/gpu_request.hpp"
#include "app/measurement_file.hpp"
#include "app/startable_threads.hpp"
#include "app/validate_report.hpp"
#include "app/watch.hpp"
#include "arch/gpu_load.hpp"
#include "mapper/gpu/search.hpp"
#include "report/chart.hpp"
#include "report/gpu.hpp"
#include "validate/counters.hpp"
#include "validate/device/flush.hpp"
#include "validate/measurements.hpp"
#include "validate/workload_problem.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

constexpr const char* kReplay = "replay=";
constexpr Seconds kWarmUpAgain{1};

// A workload and what its rows have in common.
struct Subject {
  std::string name;
  KernelSpec spec;
  GpuMeasurement row;  // without kernel and times
};

Subject subject_of(const ValidateArguments& arguments, const Gpu& gpu, const std::string& path) {
  const Workload workload = load_workload(path);
  const auto spec = kernel_problem(
      gpu, workload,
      request_of(arguments.precision, is_convolution(workload) ? std::string{} : arguments.layout));
  if (const auto* reason = std::get_if<std::string>(&spec)) {
    throw UsageError(path + ": " + *reason);
  }
  Subject subject{workload.name, std::get<KernelSpec>(spec), {}};
  subject.row.gpu = gpu.name;
  subject.row.problem = subject.spec.problem;
  subject.row.convolution = convolution_text(subject.spec);
  subject.row.cold = arguments.cold;
  return subject;
}

GpuMeasurement row_of(const Subject& subject, const KernelSpec& spec) {
  GpuMeasurement row = subject.row;
  row.kernel = spec.kernel;
  row.naive = spec.naive;
  return row;
}

GpuPath generated_path(const ValidateArguments& arguments) {
  return path_named(arguments.path).value_or(GpuPath::kWmma);
}

std::vector<KernelSpec> candidates_of(const ValidateArguments& arguments, const Gpu& gpu,
                                      const Subject& subject) {
  CandidateOptions options;
  options.top = static_cast<std::size_t>(arguments.top);
  options.sample = static_cast<std::size_t>(arguments.sample);
  options.seed = static_cast<std::uint64_t>(arguments.seed);
  const GemmProblem& problem = subject.spec.problem;
  std::vector<KernelSpec> chosen = choose_candidates(
      gpu, subject.spec, kernel_set(gpu, problem, generated_path(arguments)), options);
  const auto naive = naive_candidate(gpu, subject.spec);
  if (const auto* spec = std::get_if<KernelSpec>(&naive)) {
    chosen.push_back(*spec);
  }
  return chosen;
}

void take(const KernelTiming& timing, GpuMeasurement& row) {
  row.median = timing.median;
  row.first_quartile = timing.first_quartile;
  row.third_quartile = timing.third_quartile;
  row.least = timing.least;
  row.runs = timing.samples;
  row.clock = timing.clock;
  row.memory_clock = timing.memory_clock;
  row.throttle = throttle_words(timing.throttle);
  row.watts = timing.watts;
  row.host_bound = timing.host_bound;
  row.origin += timing.host_bound ? "; a launch takes the host longer than this" : "";
  if (timing.left_out + timing.normalised > 0) {
    row.origin +=
        fmt::format("; {} samples left out, {} normalised", timing.left_out, timing.normalised);
  }
}

// On the GPU of this machine.
class DeviceRun {
 public:
  DeviceRun(const ValidateArguments& arguments, const Gpu& gpu, MeasurementFile& file,
            ValidationNotes& notes)
      : arguments_{&arguments},
        gpu_{&gpu},
        file_{&file},
        notes_{&notes},
        open_{open_device(arguments.tools, gpu, !arguments.no_library)} {
    notes.notes = open_.notes;
    TimingProtocol& protocol = options_.protocol;
    protocol.rounds = arguments.rounds;
    protocol.total = arguments.per_kernel;
    protocol.warm_up = Seconds{std::min(protocol.warm_up.count(), arguments.per_kernel.count())};
    protocol.device_warm_up = arguments.warm_up;
    protocol.cold = arguments.cold;
    protocol.seed = static_cast<std::uint64_t>(arguments.seed);
    options_.check_only = arguments.once;
    if (arguments.cold) {
      auto flush = open_.compile(flush_source());
      if (const auto* reason = std::get_if<std::string>(&flush)) {
        throw UsageError("what empties the L2 cache does not compile: " + *reason);
      }
      options_.flush = std::get<CompiledKernel>(std::move(flush)).image;
    }
    options_.attempt = [this](const std::string& what, bool begins) {
      begins ? file_->begin(what) : file_->end();
    };
    options_.barred = [this](const std::string& what) { return is_barred(what); };
    options_.progress = [this](const std::string& what) { watch_.say(name_ + ": " + what); };
  }

  // Whether all problems are done.
  bool run(const std::vector<Subject>& subjects) {
    for (const Subject& subject : subjects) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
      if (watch_.stop() || lost_ ||
          (arguments_->budget && passed.count() > arguments_->budget->count())) {
        return false;
      }
      name_ = subject.name;
      measure_subject(subject);
    }
    return !lost_;
  }
  bool any_wrong() const { return any_wrong_; }

 private:
  void refuse(const std::string& what, const std::string& reason, bool lost) {
    notes_->refusals.push_back(what + ": " + reason);
    any_wrong_ = any_wrong_ || lost || reason.starts_with("wrong");
    if (lost) {
      file_->note_lost(what, reason);
      lost_ = true;
    } else {
      file_->note_refused(what, reason);
    }
  }

  // Whether it must not be tried again; then that is reported.
  bool is_barred(const std::string& what) {
    const std::string* reason = file_->lost(what);
    if (reason != nullptr) {
      notes_->refusals.push_back(what + ": not tried again: " + *reason);
      any_wrong_ = true;
    }
    return reason != nullptr;
  }

  // Those that are not in the file yet.
  std::vector<KernelSpec> missing(const Subject& subject) {
    std::vector<KernelSpec> left;
    const std::vector<KernelSpec> candidates = candidates_of(*arguments_, *gpu_, subject);
    if (candidates.empty()) {
      KernelSpec spec = subject.spec;
      const GpuPath path = generated_path(*arguments_);
      spec.kernel = fixed_tiles(*gpu_, spec.problem, path).front();
      notes_->refusals.push_back(fmt::format("{}: no {} kernel: {}", subject.name, to_string(path),
                                             not_generated(*gpu_, spec).value_or("none is legal")));
      any_wrong_ = true;
    }
    for (const KernelSpec& spec : candidates) {
      const std::string what = measured_what(row_of(subject, spec));
      if (!is_barred(what) && (arguments_->once || !file_->has(what))) {
        left.push_back(spec);
      }
    }
    return left;
  }

  void measure_subject(const Subject& subject) {
    const std::vector<KernelSpec> left = missing(subject);
    options_.library_label = measured_what(subject.row);
    options_.library = open_.cublas && !arguments_->once && !file_->has(options_.library_label) &&
                       !is_barred(options_.library_label);
    if (left.empty() && !options_.library) {
      return;
    }
    watch_.say(name_ + ": compiling");
    std::vector<BuiltKernel> runnable;
    for (BuiltKernel& kernel : build_kernels(*gpu_, left, open_.compile, threads_)) {
      const GpuMeasurement row = row_of(subject, kernel.spec);
      kernel.label = measured_what(row);
      if (!kernel.note.empty() && std::exchange(keeps_cubins_, false)) {
        notes_->notes.push_back("compiled kernels are not kept: " + kernel.note);
      }
      if (kernel.refusal.empty()) {
        runnable.push_back(std::move(kernel));
      } else {
        refuse(kernel.label, kernel.refusal, false);
      }
    }
    try {
      keep(subject, runnable, measure(open_.tools(), subject.spec, runnable, options_));
      // Between problems the GPU rests while kernels are compiled.
      Seconds& warm_up = options_.protocol.device_warm_up;
      warm_up = std::min(warm_up, kWarmUpAgain);
    } catch (const DeviceError& error) {
      notes_->refusals.push_back(fmt::format("{}: {}", subject.name, error.what()));
      lost_ = error.lost();
      any_wrong_ = true;
    }
  }

  void keep(const Subject& subject, const std::vector<BuiltKernel>& kernels,
            const ProblemMeasurement& measured) {
    std::vector<GpuMeasurement> rows;
    const auto take_one = [&](GpuMeasurement row, const MeasuredKernel& result, Bytes shared) {
      row.driver = open_.driver;
      row.origin = open_.origin + (result.detail.empty() ? "" : "; " + result.detail);
      row.shared = shared;
      if (result.timing && result.timing->samples > 0) {
        take(*result.timing, row);
        rows.push_back(std::move(row));
      } else if (!result.refusal.empty()) {
        const bool is_way = result.lost && !result.detail.empty();
        refuse(measured_what(row) + (is_way ? " " + result.detail : ""), result.refusal,
               result.lost);
      }
    };
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      take_one(row_of(subject, kernels[i].spec), measured.kernels[i], kernels[i].source.shared);
    }
    take_one(subject.row, measured.library, Bytes{0});
    file_->add(rows);
  }

  const ValidateArguments* arguments_;
  const Gpu* gpu_;
  MeasurementFile* file_;
  ValidationNotes* notes_;
  int threads_ = threads_to_use(arguments_->threads);  // that compile
  Watch watch_{{"validating", "stop after this problem"}};
  OpenDevice open_;
  MeasureOptions options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string name_;
  bool keeps_cubins_ = true;
  bool lost_ = false;
  bool any_wrong_ = false;
};

// Which of the kernels that would be measured a file has none of.
void note_missing(const ValidateArguments& arguments, const Gpu& gpu,
                  const std::vector<Subject>& subjects, const std::vector<GpuMeasurement>& rows,
                  ValidationNotes& notes) {
  std::set<std::string> known;
  for (const GpuMeasurement& row : rows) {
    known.insert(measured_what(row));
  }
  for (const Subject& subject : subjects) {
    const std::vector<KernelSpec> candidates = candidates_of(arguments, gpu, subject);
    const auto missing = std::count_if(candidates.begin(), candidates.end(), [&](const auto& spec) {
      return !known.contains(measured_what(row_of(subject, spec)));
    });
    if (missing > 0) {
      notes.notes.push_back(
          fmt::format("{}: {} of the {} kernels that would be measured are not in the file",
                      subject.name, missing, candidates.size()));
    }
  }
}

void refuse_overwriting(const ValidateArguments& arguments) {
  std::vector<std::string> inputs{arguments.arch, arguments.counters};
  inputs.insert(inputs.end(), arguments.workloads.begin(), arguments.workloads.end());
  if (arguments.device.starts_with(kReplay)) {
    inputs.push_back(arguments.device.substr(std::string{kReplay}.size()));
  }
  std::vector<std::string> outputs{arguments.output.file, arguments.report, arguments.svg,
                                   arguments.measurements};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const std::string& input : inputs) {
      refuse_same_file(outputs[i], input);
    }
    for (std::size_t j = 0; j < i; ++j) {
      refuse_same_file(outputs[i], outputs[j]);
    }
  }
}

// The rows of these problems, and of one path, if one is given. Rows of cuBLAS and of the naive
// kernel belong to every path.
std::vector<GpuMeasurement> rows_of(const std::vector<GpuMeasurement>& all,
                                    const std::map<std::string, std::string>& names,
                                    std::optional<GpuPath> path) {
  std::vector<GpuMeasurement> rows;
  for (const GpuMeasurement& row : all) {
    const bool is_asked = !path || !row.kernel || row.naive || row.kernel->path == *path;
    if (is_asked && names.contains(problem_key(row))) {
      rows.push_back(row);
    }
  }
  return rows;
}

// The files that were read. Workloads after the first are numbered.
Provenance origin_of(const ValidateArguments& arguments) {
  Provenance origin{"validate", {input_file("arch", arguments.arch)}};
  for (std::size_t i = 0; i < arguments.workloads.size(); ++i) {
    origin.inputs.push_back(input_file(i == 0 ? "workload" : fmt::format("workload_{}", i + 1),
                                       arguments.workloads[i]));
  }
  if (arguments.device.starts_with(kReplay)) {
    origin.inputs.push_back(
        input_file("measurements", arguments.device.substr(std::string{kReplay}.size())));
  }
  return origin;
}

}  // namespace

Answer run(const ValidateArguments& arguments) {
  refuse_overwriting(arguments);
  const Gpu gpu = load_gpu(arguments.arch);
  std::vector<Subject> subjects;
  std::map<std::string, std::string> names;
  for (const std::string& path : arguments.workloads) {
    subjects.push_back(subject_of(arguments, gpu, path));
    names.try_emplace(problem_key(subjects.back().row), subjects.back().name);
  }
  ValidationNotes notes;
  Answer answer;
  std::vector<GpuMeasurement> rows;
  if (arguments.device.starts_with(kReplay)) {
    const std::string path = arguments.device.substr(std::string{kReplay}.size());
    rows = rows_of(parse_measurements(read_text(path), path), names, path_named(arguments.path));
    note_missing(arguments, gpu, subjects, rows, notes);
    answer.code = rows.empty() ? kNegative : kDone;
  } else {
    MeasurementFile file{arguments.measurements};
    DeviceRun on_device{arguments, gpu, file, notes};
    const bool is_done = on_device.run(subjects);
    rows = rows_of(file.rows(), names, generated_path(arguments));
    answer.code = !is_done ? kInterrupted : on_device.any_wrong() ? kNegative : kDone;
    answer.remark =
        is_done ? "" : "not all problems are measured; run it again with the same --measurements";
  }
  ValidationVerdict verdict = judge(gpu, rows, names);
  if (!arguments.counters.empty()) {
    const auto found =
        attach_counters(parse_counters(read_text(arguments.counters), arguments.counters), verdict);
    notes.notes.push_back(fmt::format("{}: counters of {} of {} kernels", arguments.counters, found,
                                      verdict.kernels));
  }
  if (!arguments.svg.empty()) {
    OutputFile{arguments.svg}.write(standalone(verdict_svg(gpu, verdict)));
  }
  const std::string text = verdict_text(gpu, verdict, notes);
  if (!arguments.report.empty()) {
    OutputFile{arguments.report}.write(
        arguments.report.ends_with(".html") ? verdict_html(gpu, verdict, notes) : text);
  }
  answer.text = arguments.output.json ? verdict_json(provenance_text(origin_of(arguments)), gpu,
                                                     verdict, notes.refusals)
                                      : text;
  return answer;
}

}  // namespace mapsim
