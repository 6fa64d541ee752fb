// SPDX-License-Identifier: Apache-2.0
#include "validate/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "validate/device/flush.hpp"
#include "validate/device/nvtx.hpp"
#include "validate/loaded.hpp"
#include "validate/rounded_check.hpp"

namespace mapsim {
namespace {

constexpr int kAlgorithms = 8;     // of cuBLASLt
constexpr std::int64_t kMore = 8;  // launches: more than lie between asking and beginning
constexpr Bytes kLibraryWorkspace{32 * 1024 * 1024};  // what NVIDIA recommends on Hopper

// A first run, announced.
class Attempt {
 public:
  Attempt(const MeasureOptions& options, std::string label)
      : options_{&options}, label_{std::move(label)} {
    tell(true);
  }
  ~Attempt() { tell(false); }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

 private:
  void tell(bool begins) const {
    if (options_->attempt) {
      options_->attempt(label_, begins);
    }
  }
  const MeasureOptions* options_;
  std::string label_;
};

// One thing to time.
struct Contender {
  std::string name;
  MeasuredKernel* result = nullptr;
  std::function<void()> launch;
  SamplePlan plan{};
  std::vector<RoundTimes> turns{};
};

// One of the library's kernels.
struct Way {
  std::string name;
  std::function<void()> launch;
};

class Session {
 public:
  Session(const DeviceTools& tools, const KernelSpec& problem, std::span<const BuiltKernel> kernels,
          const MeasureOptions& options)
      : tools_{&tools},
        device_{tools.device},
        problem_{&problem},
        kernels_{kernels},
        options_{&options},
        operands_{*tools.device, problem, most_workspace(kernels)} {
    if (options.protocol.cold) {
      flush_.emplace(*device_, options.flush);
    }
    while (std::ssize(events_) < std::max<std::int64_t>(options.protocol.most_samples, 3) + 1) {
      events_.emplace_back(*device_);
    }
  }

  ProblemMeasurement run() {
    result_.kernels.resize(kernels_.size());
    check_all();
    if (!options_->check_only && !lost_) {
      time_all();
    }
    return std::move(result_);
  }

 private:
  static Bytes most_workspace(std::span<const BuiltKernel> kernels) {
    Bytes most{0};
    for (const BuiltKernel& kernel : kernels) {
      most = std::max(most, kernel.source.workspace);
    }
    return most;
  }
  void say(const std::string& what) const {
    if (options_->progress) {
      options_->progress(what);
    }
  }

  // Whether `attempt` went well; else `result` says what went wrong. A device that is lost ends
  // all.
  template <class Attempt>
  bool survives(MeasuredKernel& result, const Attempt& attempt) {
    if (lost_) {
      return false;
    }
    try {
      attempt();
      return result.refusal.empty();
    } catch (const DeviceError& error) {
      result.refusal = error.what();
      result.lost = lost_ = error.lost();
      return false;
    }
  }

  void check_all() {
    const WholeOperands whole = whole_operands(*problem_, kOperandSeed);
    const ExactCheck check{*problem_, whole, kOperandSeed + 1};
    const GpuPrecision precision = problem_->problem.precision;
    operands_.upload(encoded(whole.a, precision), encoded(whole.b, precision));
    const auto verify = [&](MeasuredKernel& result, const std::function<void()>& launch) {
      operands_.poison();
      launch();
      device_->synchronize();
      result.refusal = check.wrong(operands_.result()).value_or("");
    };
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      MeasuredKernel& result = result_.kernels[i];
      const std::string name = to_string(kernels_[i].spec.kernel);
      say(fmt::format("checking {} of {}: {}", i + 1, kernels_.size(), name));
      const bool is_right = survives(result, [&] {
        auto loaded =
            std::make_unique<Loaded>(*device_, kernels_[i], operands_.arguments(kernels_[i].spec));
        verify(result, [&] {
          const NvtxRange range{kernels_[i].label};
          const Attempt attempt{*options_, kernels_[i].label};
          loaded->launch();
          device_->synchronize();
        });
        loaded_.push_back(std::move(loaded));
      });
      if (is_right) {
        contenders_.push_back(
            {name, &result, [kernel = loaded_.back().get()] { kernel->launch(); }});
      }
    }
    if (options_->library && tools_->cublas != nullptr && !lost_) {
      check_library(verify);
    }
  }

  // Our kernels on numbers that are rounded.
  void check_rounding(const RandomOperands& operands) {
    const RoundedCheck check{*problem_, operands.a, operands.b, kOperandSeed};
    for (Contender& contender : contenders_) {
      if (contender.result == &result_.library) {
        continue;  // its roundings, of tf32 above all, are its own
      }
      say("checking roundings of " + contender.name);
      survives(*contender.result, [&] {
        operands_.poison();
        contender.launch();
        device_->synchronize();
        contender.result->refusal = check.wrong(operands_.result()).value_or("");
      });
    }
    std::erase_if(contenders_, [](const Contender& c) { return !c.result->refusal.empty(); });
  }

  // Every way that the library has: the plain call, and what cuBLASLt's heuristics put first. One
  // that is refused or wrong counts only if none is right.
  template <class Verify>
  void check_library(const Verify& verify) {
    MeasuredKernel& result = result_.library;
    if (const auto reason = Cublas::unsupported(problem_->problem)) {
      result.refusal = *reason;
      return;
    }
    GemmProblem problem = problem_->problem;
    cuda::Pointer a = operands_.a().at();
    cuda::Pointer b = operands_.b().at();
    if (problem_->conv) {
      prepare_matrices(problem, a, b);
    }
    const auto c = operands_.c().at();
    std::vector<Way> ways{
        {"cublasGemmEx", [=, this] { tools_->cublas->multiply(problem, a, b, c); }}};
    for (const Cublas::Algorithm& algorithm :
         tools_->cublas->algorithms(problem, kAlgorithms, kLibraryWorkspace)) {
      if (library_workspace_.size() == Bytes{0}) {
        library_workspace_ = DeviceMemory{*device_, kLibraryWorkspace};
      }
      const auto workspace = library_workspace_.at();
      ways.push_back({algorithm.name(),
                      [=, this] { tools_->cublas->multiply(algorithm, a, b, c, workspace); }});
    }
    std::erase_if(
        ways, [&](const Way& way) { return options_->barred && options_->barred(label_of(way)); });
    std::string first_refusal = ways.empty() ? "nothing of it may run" : "";
    for (Way& way : ways) {
      result.refusal.clear();
      const bool is_right = survives(result, [&] {
        if (problem_->conv) {
          operands_.poison();  // what it computes is another matrix: speed alone counts
          attempt(way);
        } else {
          verify(result, [&] { attempt(way); });
        }
      });
      if (is_right) {
        library_ways_.push_back(std::move(way));
      } else if (first_refusal.empty()) {
        first_refusal = result.refusal;
      }
      if (lost_) {
        result.detail = way.name;
        return;
      }
    }
    result.refusal = library_ways_.empty() ? first_refusal : "";
    if (!library_ways_.empty()) {
      contenders_.push_back({"cuBLAS", &result, library_ways_.front().launch});
    }
  }

  std::string label_of(const Way& way) const { return options_->library_label + " " + way.name; }
  void attempt(const Way& way) const {
    const Attempt attempt{*options_, label_of(way)};
    way.launch();
    device_->synchronize();
  }

  // The fastest of the library's ways.
  void choose_way(Contender& contender) {
    Seconds best{1e9};
    const Way* fastest = &library_ways_.front();
    for (const Way& way : library_ways_) {
      contender.launch = way.launch;
      contender.result->detail = way.name;  // to be blamed
      const Seconds time = once(contender, 3);
      if (time < best) {
        best = time;
        fastest = &way;
      }
    }
    contender.launch = fastest->launch;
    contender.result->detail = fastest->name;
  }

  // A convolution's matrices as if they were in memory, in rows of multiples of 16 B: the pass that
  // makes A is not timed, so this is a ceiling that no implicit GEMM is owed.
  void prepare_matrices(GemmProblem& problem, cuda::Pointer& a, cuda::Pointer& b) {
    const std::int64_t piece = 16 / operand_size(problem.precision).count();
    const std::int64_t run = (problem.k + piece - 1) / piece * piece;
    problem.a = MatrixLayout::kRow;
    problem.b = MatrixLayout::kColumn;
    problem.run_a = problem.run_b = run;
    problem.stored_a = std::nullopt;
    const auto fill = [&](DeviceMemory& memory, std::int64_t rows) {
      const std::int64_t elements = problem.batch * rows * run;
      memory = DeviceMemory{*device_, operand_size(problem.precision) * elements};
      device_->upload(memory.at(), random_operand(elements, problem.precision, kOperandSeed));
      return memory.at();
    };
    a = fill(matrix_a_, problem.m);
    b = fill(matrix_b_, problem.n);
  }

  void time_all() {
    const RandomOperands sparse = sparse_operands(*problem_, kOperandSeed);
    operands_.upload(sparse.a, sparse.b);
    check_rounding(sparse);
    check_rounding(operands_.upload_random(problem_->problem.precision));
    if (!contenders_.empty() && !lost_) {
      say("warming up the GPU");
      survives(*contenders_.front().result,
               [&] { keep_busy(contenders_.front(), options_->protocol.device_warm_up); });
    }
    for (Contender& contender : contenders_) {
      say("warming up " + contender.name);
      survives(*contender.result, [&] {
        if (contender.result == &result_.library) {
          choose_way(contender);
        }
        prepare(contender);
      });
    }
    std::erase_if(contenders_, [](const Contender& c) { return !c.result->refusal.empty(); });
    const auto rounds = plan_rounds(options_->protocol, contenders_.size());
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      say(fmt::format("round {} of {}", round + 1, rounds.size()));
      for (const std::size_t index : rounds[round]) {
        Contender& contender = contenders_[index];
        if (contender.result->refusal.empty()) {
          survives(*contender.result,
                   [&] { take_turn(contender, static_cast<std::int64_t>(round)); });
        }
      }
    }
    if (contenders_.empty() || lost_) {
      return;
    }
    const std::vector<double> drifts =
        drift(static_cast<std::int64_t>(rounds.size()), contenders_.front().turns);
    for (Contender& contender : contenders_) {
      if (contender.result->refusal.empty()) {
        contender.result->timing = summarise(options_->protocol, contender.turns, drifts);
      }
    }
  }

  static void launch(const Contender& contender, std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) {
      contender.launch();
    }
  }

  void keep_busy(const Contender& contender, Seconds time) {
    if (time <= Seconds{0}) {
      return;
    }
    events_[0].record();
    Seconds since{0};
    for (std::int64_t batch = 1; since < time; batch = std::min(2 * batch, std::int64_t{64})) {
      launch(contender, batch);
      events_[1].record();
      events_[1].wait();
      since = events_[1].since(events_[0]);
    }
  }

  // The device's state, asked for while it is at work.
  void look(RoundTimes* turn) const {
    if (turn != nullptr && tools_->nvml != nullptr) {
      const DeviceState state = tools_->nvml->state();
      turn->clock = state.clock;
      turn->memory_clock = state.memory_clock;
      turn->throttle = state.throttle;
      turn->watts = state.power.count() * 1e-3;
    }
  }

  // Time of one launch, with nothing of its data in the L2 cache. The flush is before it in the
  // queue, so the device does not wait for the host between the events.
  Seconds cold_sample(const Contender& contender, RoundTimes* turn) {
    (*flush_)();
    events_[0].record();
    contender.launch();
    events_[1].record();
    look(turn);
    events_[1].wait();
    return events_[1].since(events_[0]);
  }

  // Batches one behind the other, an event after each. All are asked for before any is waited for,
  // and the first is not timed (code and data are there again after it): the device does not wait
  // for the host, but where a launch takes longer there than the kernel. Then it is done with what
  // is timed when a few more have been asked for, and the times are the host's.
  std::vector<Seconds> hot_samples(const Contender& contender, const SamplePlan& plan,
                                   RoundTimes* turn) {
    launch(contender, plan.batch);
    events_[0].record();
    const auto samples = static_cast<std::size_t>(plan.samples);
    for (std::size_t i = 1; i <= samples; ++i) {
      launch(contender, plan.batch);
      events_[i].record();
    }
    if (turn != nullptr && plan.batch > 1) {
      launch(contender, kMore);
      turn->host_bound = events_[samples].passed();
    }
    look(turn);
    events_[samples].wait();
    std::vector<Seconds> times;
    for (std::size_t i = 1; i <= samples; ++i) {
      times.emplace_back(events_[i].since(events_[i - 1]).count() /
                         static_cast<double>(plan.batch));
    }
    return times;
  }

  std::vector<Seconds> samples(const Contender& contender, const SamplePlan& plan,
                               RoundTimes* turn) {
    if (!flush_) {
      return hot_samples(contender, plan, turn);
    }
    std::vector<Seconds> times;
    cold_sample(contender, nullptr);  // code is there again
    for (std::int64_t i = 1; i <= plan.samples; ++i) {
      times.push_back(cold_sample(contender, i == plan.samples ? turn : nullptr));
    }
    return times;
  }

  // The least of a few: about how long it takes.
  Seconds once(const Contender& contender, std::int64_t runs) {
    const std::vector<Seconds> times = samples(contender, {runs, 1}, nullptr);
    return *std::min_element(times.begin(), times.end());
  }

  // The untimed runs, and from them the plan.
  void prepare(Contender& contender) {
    const TimingProtocol& protocol = options_->protocol;
    Seconds time = once(contender, 2);
    const auto runs = static_cast<std::int64_t>(
        std::min(protocol.warm_up.count() / std::max(time.count(), 1e-7), 10'000.0));
    if (runs > 1 && flush_) {
      time = std::min(time, once(contender, std::min<std::int64_t>(runs, 64)));
    } else if (runs > 1) {  // as many before as are timed
      time = std::min(time, hot_samples(contender, {1, runs / 2}, nullptr).front());
    }
    contender.plan = plan_samples(protocol, time);
  }

  void take_turn(Contender& contender, std::int64_t round) {
    const NvtxRange range{contender.name};
    RoundTimes turn;
    turn.round = round;
    turn.times = samples(contender, contender.plan, &turn);
    contender.turns.push_back(std::move(turn));
  }

  const DeviceTools* tools_;
  const CudaDevice* device_;
  const KernelSpec* problem_;
  std::span<const BuiltKernel> kernels_;
  const MeasureOptions* options_;
  Operands operands_;
  DeviceMemory matrix_a_, matrix_b_, library_workspace_;
  std::vector<Way> library_ways_;
  std::optional<CacheFlush> flush_;  // cold: before every run
  std::deque<DeviceEvent> events_;   // they stay where they are
  std::vector<std::unique_ptr<Loaded>> loaded_;
  std::vector<Contender> contenders_;
  ProblemMeasurement result_;
  bool lost_ = false;
};

}  // namespace

ProblemMeasurement measure(const DeviceTools& tools, const KernelSpec& problem,
                           std::span<const BuiltKernel> kernels, const MeasureOptions& options) {
  return Session{tools, problem, kernels, options}.run();
}

}  // namespace mapsim
