// SPDX-License-Identifier: Apache-2.0
#include "validate/device/microbenchmarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <variant>

#include "core/arithmetic.hpp"
#include "core/csv.hpp"
#include "validate/operands.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kProbeThreads = 512;  // 16 warps: 4 per partition of an SM
constexpr std::int64_t kRuns = 9;
constexpr double kSpan = 2e-3;    // seconds between two events, at least about
constexpr Seconds kBusyFirst{2};  // an idle chip has a fifth of its clock
constexpr Seconds kBusyAgain{50e-3};
constexpr std::int64_t kChains = 8;  // independent sums of a warp, or loads in flight
constexpr Bytes kStream{std::int64_t{1} << 30};
constexpr Bytes kSharedBuffer{32 * 1024};

// What each kernel gets; its text declares the same.
struct Arguments {
  const void* in = nullptr;
  void* out = nullptr;
  long long count = 0;     // of 16 B pieces, or of turns
  void* cycles = nullptr;  // of the first block, where rates are per cycle
};
constexpr const char* kArguments = R"(
struct Arguments { const void* in; void* out; long long count; long long* cycles; };
// The SM's own clock from all threads' beginning to their last stores.
__device__ __forceinline__ long long begin_cycles() { __syncthreads(); return clock64(); }
__device__ __forceinline__ void end_cycles(const Arguments& arguments, long long begin) {
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *arguments.cycles = clock64() - begin;
}
)";

// %: fragment types and extents. Sums are stored at the end, so that nothing is left out.
constexpr const char* kMma = R"(
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;
extern "C" __global__ void __launch_bounds__(512) micro_mma(Arguments arguments) {{
  wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {fragment}, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {fragment}, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {sum}> sums[8];
  const {operand}* in = static_cast<const {operand}*>(arguments.in);
  wmma::load_matrix_sync(a, in, {k});
  wmma::load_matrix_sync(b, in, {k});  // N <= M: as many elements are there
#pragma unroll
  for (int i = 0; i < 8; ++i) wmma::fill_fragment(sums[i], static_cast<{sum}>(0));
  const long long begin = begin_cycles();
  for (long long turn = 0; turn < arguments.count; ++turn) {{
#pragma unroll
    for (int i = 0; i < 8; ++i) wmma::mma_sync(sums[i], a, b, sums[i]);
  }}
  {sum}* out = static_cast<{sum}*>(arguments.out) +
               (static_cast<long long>(blockIdx.x) * 16 + threadIdx.x / 32) * 8 * {m} * {n};
#pragma unroll
  for (int i = 0; i < 8; ++i) {{
    wmma::store_matrix_sync(out + i * {m} * {n}, sums[i], {n}, wmma::mem_row_major);
  }}
  end_cycles(arguments, begin);
}}
)";

// Neighbouring lanes read neighbouring 16 B, so that a warp's load takes its four wavefronts.
constexpr const char* kShared = R"(
extern "C" __global__ void __launch_bounds__(512) micro_shared(Arguments arguments) {
  __shared__ uint4 buffer[2048];
  for (int i = threadIdx.x; i < 2048; i += 512) buffer[i] = make_uint4(i, i, i, i);
  __syncthreads();
  unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(buffer));
  unsigned at = threadIdx.x * 16, sum = 0;
  const long long begin = begin_cycles();
  for (long long turn = 0; turn < arguments.count; ++turn) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      unsigned x, y, z, w;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(base + ((at + i * 8192) & 32767)));
      sum += x ^ y ^ z ^ w;
    }
    at += 512;
  }
  static_cast<unsigned*>(arguments.out)[blockIdx.x * 512 + threadIdx.x] = sum;
  end_cycles(arguments, begin);
}
)";

// .cg: cached in L2 only. Each block begins elsewhere, so that they do not march in step.
constexpr const char* kRead = R"(
extern "C" __global__ void __launch_bounds__(512) micro_read(Arguments arguments) {
  const char* in = static_cast<const char*>(arguments.in);
  const long long threads = 512ll * gridDim.x, all = arguments.count;
  unsigned sum = 0;
  for (long long at = 512ll * blockIdx.x + threadIdx.x; at < all; at += 8 * threads) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const long long piece = at + i * threads;
      unsigned x = 0, y = 0, z = 0, w = 0;
      if (piece < all) {
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(in + piece * 16));
      }
      sum += x ^ y ^ z ^ w;
    }
  }
  if (sum == 0x9E3779B9u) static_cast<unsigned*>(arguments.out)[0] = sum;
}
extern "C" __global__ void __launch_bounds__(512) micro_l2(Arguments arguments) {
  const char* in = static_cast<const char*>(arguments.in);
  const long long pieces = arguments.count;  // a power of two
  unsigned sum = 0;
  const long long first = (blockIdx.x * 7919ll * 512 + threadIdx.x) & (pieces - 1);
  for (long long turn = 0; turn < pieces / 512 / 8; ++turn) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      unsigned x, y, z, w;
      const long long piece = (first + (turn * 8 + i) * 512) & (pieces - 1);
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(in + piece * 16));
      sum += x ^ y ^ z ^ w;
    }
  }
  if (sum == 0x9E3779B9u) static_cast<unsigned*>(arguments.out)[0] = sum;
}
extern "C" __global__ void __launch_bounds__(512) micro_copy(Arguments arguments) {
  const uint4* in = static_cast<const uint4*>(arguments.in);
  uint4* out = static_cast<uint4*>(arguments.out);
  const long long threads = 512ll * gridDim.x;
  for (long long at = 512ll * blockIdx.x + threadIdx.x; at < arguments.count; at += threads) {
    out[at] = in[at];
  }
}
extern "C" __global__ void __launch_bounds__(512) micro_empty(Arguments) {}
)";

struct MmaTypes {
  GpuPrecision precision;
  const char* operand;
  const char* fragment;
  const char* sum;
};
constexpr std::array kMmaTypes{
    MmaTypes{GpuPrecision::kF16, "half", "half", "float"},
    MmaTypes{GpuPrecision::kF16Acc16, "half", "half", "half"},
    MmaTypes{GpuPrecision::kBf16, "__nv_bfloat16", "__nv_bfloat16", "float"},
    MmaTypes{GpuPrecision::kTf32, "float", "wmma::precision::tf32", "float"},
    MmaTypes{GpuPrecision::kS8, "signed char", "signed char", "int"},
    MmaTypes{GpuPrecision::kF64, "double", "double", "double"}};

KernelSource source_of(const std::string& entry, const std::string& text) {
  KernelSource source;
  source.entry = entry;
  source.text = kArguments + text;
  return source;
}

std::string mma_text(const MmaTypes& types) {
  const GemmTile f = wmma_fragments(types.precision).front();
  return fmt::format(fmt::runtime(kMma), fmt::arg("m", f.m), fmt::arg("n", f.n), fmt::arg("k", f.k),
                     fmt::arg("operand", types.operand), fmt::arg("fragment", types.fragment),
                     fmt::arg("sum", types.sum));
}

std::int64_t whole(double value) {
  return static_cast<std::int64_t>(std::clamp(std::ceil(value), 1.0, 1000.0));
}

class Bench {
 public:
  Bench(const DeviceTools& tools, const Gpu& gpu, const Compile& compile,
        const std::function<void(const std::string&)>& progress)
      : tools_{&tools},
        device_{tools.device},
        gpu_{&gpu},
        compile_{&compile},
        progress_{progress},
        start_{*tools.device},
        stop_{*tools.device} {}

  std::vector<Microbenchmark> run() {
    // Before anything is measured: while a compiler runs, the device falls asleep.
    for (const KernelSource& source : microbenchmark_sources(*gpu_)) {
      if (progress_) {
        progress_("compiling " + source.entry);
      }
      images_.emplace(source.entry + source.text, (*compile_)(source));
    }
    for (const MmaTypes& types : kMmaTypes) {
      const double rate = gpu_->rate(types.precision, GpuPath::kWmma);
      if (rate > 0) {
        figure({"mma", to_string(types.precision), 0, "MAC/cycle/SM", rate},
               [&](Microbenchmark& out) { mma(types, out); });
      }
    }
    figure({"shared read", "", 0, "B/cycle/SM", 128}, [&](Microbenchmark& out) { shared(out); });
    figure({"l2 read", "", 0, "B/s", gpu_->l2_bandwidth.count()},
           [&](Microbenchmark& out) { l2(out); });
    figure({"dram read", "", 0, "B/s", gpu_->dram_bandwidth.count()},
           [&](Microbenchmark& out) { dram("micro_read", 1, out); });
    figure({"dram copy", "", 0, "B/s", gpu_->dram_bandwidth.count()},
           [&](Microbenchmark& out) { dram("micro_copy", 2, out); });
    figure({"launch", "", 0, "s", 0}, [&](Microbenchmark& out) { launch(out); });
    return std::move(figures_);
  }

 private:
  template <class Measure>
  void figure(Microbenchmark out, const Measure& measure) {
    if (progress_) {
      progress_("measuring " + out.what + " " + out.precision);
    }
    if (!lost_) {
      try {
        measure(out);
      } catch (const DeviceError& error) {
        out.refusal = error.what();
        lost_ = error.lost();
      }
    } else {
      out.refusal = "the device failed before";
    }
    figures_.push_back(std::move(out));
  }

  const std::string& image(const KernelSource& source) const {
    const auto& compiled = images_.at(source.entry + source.text);
    if (const auto* reason = std::get_if<std::string>(&compiled)) {
      throw DeviceError(source.entry + " does not compile: " + *reason);
    }
    return std::get<CompiledKernel>(compiled).image;
  }

  // Seconds of so many launches. One before them is not timed: the device does not wait for the
  // host between the events.
  template <class Launch>
  double span(const Launch& launch, std::int64_t batch, std::vector<double>* clocks) const {
    launch();
    start_.record();
    for (std::int64_t i = 0; i < batch; ++i) {
      launch();
    }
    stop_.record();
    if (clocks != nullptr && tools_->nvml != nullptr) {
      clocks->push_back(tools_->nvml->state().clock.count());
    }
    stop_.wait();
    return stop_.since(start_).count();
  }

  // Median seconds of a launch, of nine times as many as take kSpan, after as many as take a while.
  double time(const DeviceKernel& kernel, std::int64_t blocks, const Arguments& arguments,
              Microbenchmark& out, std::int64_t batch = 1) {
    const auto launch = [&] {
      device_->launch(kernel, {blocks, 1, 1}, kProbeThreads, Bytes{0}, &arguments);
    };
    double busy = 0;
    double once = 0;
    for (; busy < busy_.count(); batch = std::max(batch, whole(kSpan / once))) {
      const double passed = span(launch, batch, nullptr);
      once = passed / real(batch);
      busy += passed;
    }
    busy_ = kBusyAgain;
    std::vector<double> times;
    std::vector<double> clocks;
    for (std::int64_t run = 0; run < kRuns; ++run) {
      times.push_back(span(launch, batch, &clocks) / real(batch));
    }
    std::sort(times.begin(), times.end());
    std::sort(clocks.begin(), clocks.end());
    out.clock = Hertz{clocks.empty() ? 0 : quantile(clocks, 0.5)};
    return quantile(times, 0.5);
  }

  // Of one block, as its SM counts them: a clock that somebody tells is not needed.
  double cycles(const DeviceMemory& counter, double seconds, Microbenchmark& out) const {
    std::array<std::byte, 8> bytes{};
    device_->download(bytes, counter.at());
    const auto counted = static_cast<double>(std::bit_cast<long long>(bytes));
    if (out.clock == Hertz{0} && seconds > 0) {
      out.clock = Hertz{counted / seconds};
    }
    return counted;
  }

  void mma(const MmaTypes& types, Microbenchmark& out) {
    const GemmTile f = wmma_fragments(types.precision).front();
    const DeviceModule module{*device_, image(source_of("micro_mma", mma_text(types)))};
    constexpr std::int64_t kTurns = 10'000;  // some ms
    const std::int64_t warps = gpu_->sms * kProbeThreads / 32;
    const std::vector<std::byte> operand = random_operand(f.m * f.k, types.precision, 1);
    const DeviceMemory in{*device_, Bytes{std::ssize(operand)}};
    const DeviceMemory sums{*device_, Bytes{warps * kChains * f.m * f.n * 8}};
    device_->upload(in.at(), operand);
    const DeviceMemory counter{*device_, Bytes{8}};
    const double seconds = time(module.kernel("micro_mma", Bytes{0}), gpu_->sms,
                                arguments(in, sums, kTurns, &counter), out);
    out.value = real(kTurns * kChains * f.m * f.n * f.k * kProbeThreads / 32) /
                cycles(counter, seconds, out);
  }

  void shared(Microbenchmark& out) {
    const DeviceModule module{*device_, image(source_of("micro_shared", kShared))};
    constexpr std::int64_t kTurns = 4096;
    const DeviceMemory sums{*device_, Bytes{gpu_->sms * kProbeThreads * 4}};
    const DeviceMemory counter{*device_, Bytes{8}};
    const double seconds = time(module.kernel("micro_shared", Bytes{0}), gpu_->sms,
                                arguments(DeviceMemory{}, sums, kTurns, &counter), out);
    out.value = real(kTurns * kChains * kProbeThreads * 16) / cycles(counter, seconds, out);
  }

  void l2(Microbenchmark& out) {
    const DeviceModule module{*device_, image(source_of("micro_l2", kRead))};
    // A power of two of at most half of it, as Hopper's and Ampere's are two halves.
    const auto half =
        static_cast<std::uint64_t>(std::max(gpu_->l2_size.count() / 2, std::int64_t{1} << 18));
    const auto bytes = static_cast<std::int64_t>(std::bit_floor(half));
    const DeviceMemory in{*device_, Bytes{bytes}};
    const DeviceMemory sums{*device_, Bytes{16}};
    device_->fill(in.at(), 0, bytes);
    const std::int64_t blocks = 2 * gpu_->sms;
    const double seconds =
        time(module.kernel("micro_l2", Bytes{0}), blocks, arguments(in, sums, bytes / 16), out);
    out.value = real(blocks * bytes) / seconds;
  }

  void dram(const char* entry, int directions, Microbenchmark& out) {
    const DeviceModule module{*device_, image(source_of(entry, kRead))};
    const DeviceMemory in{*device_, kStream};
    const DeviceMemory copy{*device_, directions > 1 ? kStream : Bytes{16}};
    device_->fill(in.at(), 0, in.size().count());
    const double seconds = time(module.kernel(entry, Bytes{0}), 4 * gpu_->sms,
                                arguments(in, copy, kStream.count() / 16), out);
    out.value = directions * real(kStream.count()) / seconds;
  }

  void launch(Microbenchmark& out) {
    const DeviceModule module{*device_, image(source_of("micro_empty", kRead))};
    out.value = time(module.kernel("micro_empty", Bytes{0}), gpu_->sms, Arguments{}, out, 500);
  }

  static Arguments arguments(const DeviceMemory& in, const DeviceMemory& out, long long count,
                             const DeviceMemory* cycles = nullptr) {
    return {std::bit_cast<const void*>(in.at()), std::bit_cast<void*>(out.at()), count,
            cycles != nullptr ? std::bit_cast<void*>(cycles->at()) : nullptr};
  }

  const DeviceTools* tools_;
  const CudaDevice* device_;
  const Gpu* gpu_;
  const Compile* compile_;
  std::function<void(const std::string&)> progress_;
  DeviceEvent start_, stop_;
  std::map<std::string, std::variant<CompiledKernel, std::string>> images_;
  std::vector<Microbenchmark> figures_;
  Seconds busy_ = kBusyFirst;  // untimed work before the next figure
  bool lost_ = false;
};

}  // namespace

std::vector<Microbenchmark> microbenchmarks(
    const DeviceTools& tools, const Gpu& gpu, const Compile& compile,
    const std::function<void(const std::string&)>& progress) {
  return Bench{tools, gpu, compile, progress}.run();
}

std::vector<KernelSource> microbenchmark_sources(const Gpu& gpu) {
  std::vector<KernelSource> sources;
  for (const MmaTypes& types : kMmaTypes) {
    if (gpu.rate(types.precision, GpuPath::kWmma) > 0) {
      sources.push_back(source_of("micro_mma", mma_text(types)));
    }
  }
  sources.push_back(source_of("micro_shared", kShared));
  for (const char* entry : {"micro_read", "micro_l2", "micro_copy", "micro_empty"}) {
    sources.push_back(source_of(entry, kRead));
  }
  return sources;
}

std::string microbenchmarks_csv(const std::string& gpu, const std::string& driver,
                                const std::vector<Microbenchmark>& figures) {
  std::string text =
      "# mapsim microbenchmarks 1\n"
      "gpu,driver,sm_clock_mhz,what,precision,value,unit,architecture,share,refusal\n";
  for (const Microbenchmark& figure : figures) {
    const auto known = [](double value) { return value > 0 ? fmt::format("{:.6g}", value) : ""; };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_cell(gpu), csv_cell(driver),
                        known(figure.clock.count() / 1e6), csv_cell(figure.what), figure.precision,
                        known(figure.value), figure.unit, known(figure.architecture),
                        known(figure.architecture > 0 ? figure.value / figure.architecture : 0),
                        csv_cell(figure.refusal));
  }
  return text;
}

std::string microbenchmarks_json(const std::string& head, const std::string& gpu,
                                 const std::string& driver,
                                 const std::vector<Microbenchmark>& figures) {
  const auto known = [](double value) {
    return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json{};
  };
  auto json = nlohmann::ordered_json::parse(head);
  json["gpu"] = gpu;
  json["driver"] = driver;
  json["figures"] = nlohmann::ordered_json::array();
  for (const Microbenchmark& figure : figures) {
    json["figures"].push_back(
        {{"what", figure.what},
         {"precision", figure.precision.empty() ? nlohmann::ordered_json{}
                                                : nlohmann::ordered_json(figure.precision)},
         {"value", known(figure.value)},
         {"unit", figure.unit},
         {"architecture", known(figure.architecture)},
         {"sm_clock_hz", known(figure.clock.count())},
         {"refusal", figure.refusal.empty() ? nlohmann::ordered_json{}
                                            : nlohmann::ordered_json(figure.refusal)}});
  }
  return json.dump(2) + "\n";
}

}  // namespace mapsim
