// SPDX-License-Identifier: Apache-2.0
#include "validate/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "validate/device/nvtx.hpp"
#include "validate/operands.hpp"

namespace mapsim {
namespace {

constexpr unsigned char kPoison = 0xFF;  // NaN in every floating format, -1 in whole numbers
constexpr std::uint64_t kOperandSeed = 1;

// What a problem's kernels share on the device.
class Operands {
 public:
  Operands(const CudaDevice& device, const KernelSpec& spec, Bytes workspace)
      : device_{&device},
        buffers_{kernel_buffers(spec)},
        a_{device, buffers_.a},
        b_{device, buffers_.b},
        c_{device, buffers_.c},
        workspace_{device, workspace} {}

  void upload(const std::vector<std::byte>& a, const std::vector<std::byte>& b) const {
    device_->upload(a_.at(), a);
    device_->upload(b_.at(), b);
  }
  KernelArguments arguments(const KernelSpec& spec) const {
    KernelArguments arguments = kernel_buffers(spec).arguments;
    arguments.a = std::bit_cast<const void*>(a_.at());
    arguments.b = std::bit_cast<const void*>(b_.at());
    arguments.c = std::bit_cast<void*>(c_.at());
    arguments.workspace = std::bit_cast<void*>(workspace_.at());
    return arguments;
  }
  void poison() const {
    device_->fill(c_.at(), kPoison, c_.size().count());
    if (workspace_.size() > Bytes{0}) {
      device_->fill(workspace_.at(), kPoison, workspace_.size().count());
    }
  }
  std::vector<std::byte> result() const {
    std::vector<std::byte> bytes;
    bytes.resize(static_cast<std::size_t>(c_.size().count()));
    device_->download(bytes, c_.at());
    return bytes;
  }
  const DeviceMemory& a() const { return a_; }
  const DeviceMemory& b() const { return b_; }
  const DeviceMemory& c() const { return c_; }

 private:
  const CudaDevice* device_;
  KernelBuffers buffers_;
  DeviceMemory a_, b_, c_, workspace_;
};

// A kernel of ours on the device.
class Loaded {
 public:
  Loaded(const CudaDevice& device, const BuiltKernel& built, const KernelArguments& arguments)
      : device_{&device}, built_{&built}, module_{device, built.image}, arguments_{arguments} {
    main_ = module_.kernel(built.source.entry, built.source.shared);
    if (!built.source.reduce_entry.empty()) {
      reduce_ = module_.kernel(built.source.reduce_entry, Bytes{0});
    }
  }
  void launch() const {
    const KernelSource& source = built_->source;
    device_->launch(main_, source.grid, source.threads, source.shared, &arguments_);
    if (!source.reduce_entry.empty()) {
      device_->launch(reduce_, source.reduce_grid, source.reduce_threads, Bytes{0}, &arguments_);
    }
  }

 private:
  const CudaDevice* device_;
  const BuiltKernel* built_;
  DeviceModule module_;
  KernelArguments arguments_;
  DeviceKernel main_, reduce_;
};

// One thing to time.
struct Contender {
  std::string name;
  MeasuredKernel* result = nullptr;
  std::function<void()> launch;
  SamplePlan plan{};
  std::vector<RoundTimes> turns{};
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
        operands_{*tools.device, problem, most_workspace(kernels)},
        start_{*tools.device},
        stop_{*tools.device} {
    if (options.protocol.cold) {
      flush_ = DeviceMemory{*device_, device_->info().l2 * 2};
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
          loaded->launch();
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

  template <class Verify>
  void check_library(const Verify& verify) {
    MeasuredKernel& result = result_.library;
    if (const auto reason = Cublas::unsupported(problem_->problem)) {
      result.refusal = *reason;
      return;
    }
    GemmProblem problem = problem_->problem;
    cuda::Pointer a = operands_.a().at();
    if (problem_->conv) {
      prepare_matrix(problem, a);
    }
    const auto launch = [this, problem, a] {
      tools_->cublas->multiply(problem, a, operands_.b().at(), operands_.c().at());
    };
    const bool is_right = survives(result, [&] {
      if (problem_->conv) {
        operands_.poison();  // what it computes is another matrix: speed alone counts
        launch();
        device_->synchronize();
      } else {
        verify(result, launch);
      }
    });
    if (is_right) {
      contenders_.push_back({"cuBLAS", &result, launch});
    }
  }

  // A convolution's matrix A as if it were in memory: the pass that makes it is not timed, so this
  // is a ceiling that no implicit GEMM is owed.
  void prepare_matrix(GemmProblem& problem, cuda::Pointer& a) {
    problem.a = MatrixLayout::kRow;
    problem.b = MatrixLayout::kColumn;
    problem.run_a = problem.run_b = problem.stored_a = std::nullopt;
    const std::int64_t elements = problem.batch * problem.m * problem.k;
    matrix_ = DeviceMemory{*device_, operand_size(problem.precision) * elements};
    a = matrix_.at();
    device_->upload(a, random_operand(elements, problem.precision, kOperandSeed));
  }

  void time_all() {
    const GemmProblem& p = problem_->problem;
    const std::int64_t size = operand_size(p.precision).count();
    operands_.upload(
        random_operand(operands_.a().size().count() / size, p.precision, kOperandSeed),
        random_operand(operands_.b().size().count() / size, p.precision, kOperandSeed + 1));
    for (Contender& contender : contenders_) {
      say("warming up " + contender.name);
      survives(*contender.result, [&] { prepare(contender); });
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

  // Time per launch of `batch` of them.
  Seconds sample(const Contender& contender, std::int64_t batch, bool looks, RoundTimes* turn) {
    if (options_->protocol.cold) {
      device_->fill(flush_.at(), 0, flush_.size().count());
    }
    start_.record();
    for (std::int64_t i = 0; i < batch; ++i) {
      contender.launch();
    }
    stop_.record();
    if (looks && tools_->nvml != nullptr) {  // while the device is at work
      const DeviceState state = tools_->nvml->state();
      turn->clock = state.clock;
      turn->memory_clock = state.memory_clock;
      turn->throttle = state.throttle;
      turn->watts = state.power.count() * 1e-3;
    }
    stop_.wait();
    return Seconds{stop_.since(start_).count() / static_cast<double>(batch)};
  }

  // How long it takes, roughly, and the untimed runs.
  void prepare(Contender& contender) {
    Seconds once = sample(contender, 1, false, nullptr);
    once = std::min(once, sample(contender, 1, false, nullptr));
    const TimingProtocol& protocol = options_->protocol;
    const double time = std::max(once.count(), 1e-7);
    const auto runs =
        static_cast<std::int64_t>(std::min(protocol.warm_up.count() / time, 10'000.0));
    if (runs > 0) {
      const bool cold = protocol.cold;  // single runs: a cold sample is of one launch
      for (std::int64_t i = 0; i < (cold ? std::min<std::int64_t>(runs, 100) : 1); ++i) {
        once = std::min(once, sample(contender, cold ? 1 : runs, false, nullptr));
      }
    }
    contender.plan = plan_samples(protocol, once);
  }

  void take_turn(Contender& contender, std::int64_t round) {
    const NvtxRange range{contender.name};
    RoundTimes turn;
    turn.round = round;
    sample(contender, contender.plan.batch, false, nullptr);  // code and data are there again
    for (std::int64_t i = 0; i < contender.plan.samples; ++i) {
      const bool is_last = i + 1 == contender.plan.samples;
      turn.times.push_back(sample(contender, contender.plan.batch, is_last, &turn));
    }
    contender.turns.push_back(std::move(turn));
  }

  const DeviceTools* tools_;
  const CudaDevice* device_;
  const KernelSpec* problem_;
  std::span<const BuiltKernel> kernels_;
  const MeasureOptions* options_;
  Operands operands_;
  DeviceMemory flush_, matrix_;
  DeviceEvent start_, stop_;
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

void warm_up(const DeviceTools& tools, const BuiltKernel& kernel, const TimingProtocol& protocol) {
  const Operands operands{*tools.device, kernel.spec, kernel.source.workspace};
  const Loaded loaded{*tools.device, kernel, operands.arguments(kernel.spec)};
  const DeviceEvent start{*tools.device};
  const DeviceEvent stop{*tools.device};
  start.record();
  Seconds since{0};
  for (std::int64_t batch = 1; since < protocol.device_warm_up;
       batch = std::min(2 * batch, std::int64_t{64})) {
    for (std::int64_t i = 0; i < batch; ++i) {
      loaded.launch();
    }
    stop.record();
    stop.wait();
    since = stop.since(start);
  }
}

}  // namespace mapsim
