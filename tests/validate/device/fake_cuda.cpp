// SPDX-License-Identifier: Apache-2.0
// A CUDA driver, NVRTC, NVML and cuBLAS for tests: one shared library that has the few entry points
// mapsim looks up, over host memory. NVRTC's "cubin" is the kernel text; a launch reads the problem
// from its constants and computes the product plainly; events tell times of a model with noise.
// What it does is set by the environment variable FAKE_CUDA, words between semicolons:
//   wrong=TEXT  kernels whose text contains TEXT give one wrong element
//   lost=TEXT   their launch ends the context, as an illegal address does
//   image=TEXT  they cannot be loaded
//   hang=TEXT   they never end: the process is killed, as somebody who waits would do
//               (both also of "cublasGemmEx" and "cublasLt 0", the first heuristic)
//   coarse=TEXT they add up in half precision
//   spill=TEXT  the compiler says 300 registers of them
//   slow=N      everything takes N times as long on the device
//   throttle    the clock is a fifth lower in the last quarter of every 10 ms
//   sms=N       instead of 132
//   gpus        NVML sees two
//   options     the compiler adds its options to FAKE_CUDA_LOG, a line each
// FAKE_CUDA_LOG names a file to which every launch, event and fill is added, a line each.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fake_kernel.hpp"

namespace {

using namespace fake;

struct Module {
  std::string text;
};
struct Function {
  const Module* module = nullptr;
  std::string entry;
  double time = 0;   // of a launch
  std::string line;  // of the log
  bool is_lost = false, hangs = false, is_wrong = false, is_coarse = false;
};
struct Event {
  double at = 0;  // seconds
};
struct Program {
  std::string text;
};
struct Flush {  // the arguments of validate/device/flush.cpp
  const void* in;
  void* out;
  long long pieces;
};

// The device works on what it was given while the host goes on; a launch takes the host time, too.
// When the device has nothing to do, it waits for the host, and an event is then in the past at
// once.
constexpr double kLaunch = 2.5e-6;  // seconds of the host

struct State {
  double now = 0;   // until when the device is busy
  double host = 0;  // the host's time
  double slow = 1;
  bool throttles = false;
  int error = 0;  // of a lost context
  std::uint64_t noise = 1;
  std::vector<std::unique_ptr<Function>> functions;
};
State& state() {
  static State instance;
  return instance;
}

// The value of a word of FAKE_CUDA; "" where it is not there; "1" where it has none.
std::string setting(const std::string& name) {
  const char* all = std::getenv("FAKE_CUDA");
  std::string rest = std::string{";"} + (all != nullptr ? all : "") + ";";
  const std::size_t at = rest.find(";" + name);
  if (at == std::string::npos) {
    return "";
  }
  const std::size_t begin = at + 1 + name.size();
  return rest[begin] == '=' ? rest.substr(begin + 1, rest.find(';', begin) - begin - 1) : "1";
}
bool applies(const std::string& name, const std::string& text) {
  const std::string what = setting(name);
  return !what.empty() && text.find(what) != std::string::npos;
}

void log_line(const std::string& line) {
  if (const char* path = std::getenv("FAKE_CUDA_LOG")) {
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fputs((line + "\n").c_str(), file);
      std::fclose(file);
    }
  }
}

bool is_throttled() {
  const double in_period = state().now - 10e-3 * static_cast<long long>(state().now / 10e-3);
  return state().throttles && in_period > 7.5e-3;
}
double clock_share() { return is_throttled() ? 0.8 : 1.0; }

// The host asks for something, and the device begins with it when it can.
void take_time(double seconds) {
  state().host += seconds;
  state().now = std::max(state().now, state().host);
}
int wait() {
  state().host = std::max(state().host, state().now);
  return state().error;
}

// Larger tiles are faster, with some scatter from tile to tile, and noise of half a per cent.
double time_of(const std::string& t) {
  const double macs = static_cast<double>(number(t, "kM") * number(t, "kN")) *
                      static_cast<double>(number(t, "kK") * number(t, "kBatch"));
  const double tile = static_cast<double>(number(t, "kBlockM") + number(t, "kBlockN"));
  const double scatter =
      1 + 0.02 * static_cast<double>((number(t, "kWarpM") * 7 + number(t, "kStages") * 5 +
                                      number(t, "kSplit") * 3 + number(t, "kRaster")) %
                                     5);
  return 4e-6 + macs / 150e12 * (1 + 64 / tile) * scatter * (flag(t, "kNaive") ? 8 : 1);
}

void pass_time(double seconds) {
  state().noise = state().noise * 6364136223846793005ULL + 1442695040888963407ULL;
  const double noise = 1 + 0.005 * (static_cast<double>(state().noise >> 40) / 16777216.0 - 0.5);
  state().now += seconds * state().slow * noise / clock_share();
}

}  // namespace

void fake::ask(double seconds) { take_time(seconds); }
void fake::pass(double seconds) { pass_time(seconds); }
void fake::log(const std::string& line) { log_line(line); }
bool fake::breaks(const std::string& name) {
  if (applies("hang", name)) {
    std::raise(SIGKILL);
  }
  if (applies("lost", name)) {
    state().error = 719;
  }
  return state().error != 0;
}
bool fake::is_poisoned(const unsigned char* at) { return at[0] == 0xFF && at[1] == 0xFF; }

extern "C" {

int cuInit(unsigned) {
  state().error = 0;  // as a new process
  const std::string slow = setting("slow");
  state().slow = slow.empty() ? 1 : std::atof(slow.c_str());
  state().throttles = !setting("throttle").empty();
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuGetErrorName(int error, const char** text) {
  *text = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_INVALID_IMAGE";
  return 0;
}
int cuGetErrorString(int error, const char** text) {
  *text = error == 719 ? "unspecified launch failure" : "device kernel image is invalid";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int) {
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::snprintf(name, static_cast<std::size_t>(size), "Fake H200");
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const std::string sms = setting("sms");
  switch (attribute) {
    case 16:
      *value = sms.empty() ? 132 : std::atoi(sms.c_str());
      return 0;
    case 38:
      *value = 60 << 20;
      return 0;
    case 75:
      *value = 9;
      return 0;
    case 76:
      *value = 0;
      return 0;
    case 97:
      *value = 227 << 10;
      return 0;
    case 13:
      *value = 1980000;
      return 0;
    default:
      return 1;
  }
}
int cuDeviceGetPCIBusId(char* id, int size, int) {
  std::snprintf(id, static_cast<std::size_t>(size), "0000:01:00.0");
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{141} << 30;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &state();
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return wait(); }
int cuModuleLoadData(void** module, const void* image) {
  // Of a kernel text its constants and entries, which is all that is looked at, again and again.
  const std::string text = static_cast<const char*>(image);
  const std::size_t constants = text.find("struct Spec {");
  auto* loaded = new Module{text.substr(constants == std::string::npos ? 0 : constants)};
  if (state().error != 0 || applies("image", loaded->text)) {
    delete loaded;
    return state().error != 0 ? state().error : 200;
  }
  *module = loaded;
  return 0;
}
int cuModuleUnload(void* module) {
  delete static_cast<Module*>(module);
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const auto* loaded = static_cast<const Module*>(module);
  if (loaded->text.find(std::string{name} + "(") == std::string::npos) {
    return 500;  // not found
  }
  const std::string& text = loaded->text;
  const std::string line =
      std::string{"launch "} + name + " " + std::to_string(number(text, "kBlockM")) + "x" +
      std::to_string(number(text, "kBlockN")) + " " + std::to_string(number(text, "kStages"));
  state().functions.push_back(std::make_unique<Function>(
      Function{loaded, name, time_of(text), line, applies("lost", text), applies("hang", text),
               applies("wrong", text), applies("coarse", text)}));
  *function = state().functions.back().get();
  return 0;
}
int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return 0;
}
int cuFuncSetAttribute(void*, int attribute, int value) {
  return (attribute == 8 && value <= 227 << 10) || (attribute == 9 && value == 100) ? 0 : 1;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned, unsigned, unsigned block_x, unsigned,
                   unsigned, unsigned, void*, void** parameters, void**) {
  const auto* kernel = static_cast<const Function*>(function);
  if (state().error != 0 || grid_x == 0 || block_x == 0 || block_x > 1024) {
    return state().error != 0 ? state().error : 1;
  }
  ask(kLaunch);
  if (kernel->entry == "mapsim_flush") {
    log_line("flush " + std::to_string(static_cast<const Flush*>(parameters[0])->pieces * 16));
    pass(60e-6);
    return 0;
  }
  if (kernel->entry.starts_with("micro_")) {
    struct Micro {
      const void* in;
      void* out;
      long long count;
      long long* cycles;
    };
    if (long long* cycles = static_cast<const Micro*>(parameters[0])->cycles) {
      *cycles = 1'830'000;
    }
    pass(kernel->entry == "micro_empty" ? 2e-6 : 1e-3);
    return 0;
  }
  log_line(kernel->line);
  if (kernel->hangs) {
    std::raise(SIGKILL);
  }
  if (kernel->is_lost) {
    state().error = 719;
    return 0;  // as the device does: the next wait says so
  }
  if (kernel->entry.find("reduce") != std::string::npos) {
    pass(2e-6);
    return 0;
  }
  const auto* arguments = static_cast<const Arguments*>(parameters[0]);
  if (is_poisoned(arguments->c)) {  // results are looked at only after that
    multiply(kernel->module->text, *arguments, kernel->is_wrong, kernel->is_coarse);
  }
  pass(kernel->time);
  return 0;
}
int cuMemAlloc_v2(unsigned long long* pointer, std::size_t bytes) {
  *pointer = reinterpret_cast<unsigned long long>(std::calloc(bytes, 1));
  return *pointer == 0 ? 2 : state().error;
}
int cuMemFree_v2(unsigned long long pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return state().error;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return state().error;
}
int cuMemsetD8Async(unsigned long long to, unsigned char byte, std::size_t count, void*) {
  if (byte != 0) {  // it is zero from the beginning
    std::memset(reinterpret_cast<void*>(to), byte, count);
  }
  log_line("fill " + std::to_string(count));
  ask(kLaunch);
  pass(static_cast<double>(count) / 2e12);
  return state().error;
}
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return 0;
}
int cuEventRecord(void* event, void*) {
  ask(0);
  static_cast<Event*>(event)->at = state().now;
  log_line("record");
  return state().error;
}
int cuEventQuery(void* event) {
  const bool is_past = static_cast<Event*>(event)->at <= state().host;
  return state().error != 0 ? state().error : is_past ? 0 : 600;
}
int cuEventSynchronize(void*) { return wait(); }
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  *milliseconds =
      static_cast<float>(1e3 * (static_cast<Event*>(to)->at - static_cast<Event*>(from)->at));
  return state().error;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}

int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  *device = &state();
  return std::strcmp(bus, "0000:01:00.0") == 0 ? 0 : 6;  // not found
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = setting("gpus").empty() ? 1 : 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &state();
  return index == 0 ? 0 : 2;
}
const char* nvmlErrorString(int) { return "fake error"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "999.1");
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* megahertz) {
  *megahertz = type == 1 ? static_cast<unsigned>(1830 * clock_share()) : 3201;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = is_throttled() ? 0x4 : 0x1;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 500000;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = 1;
  return 0;
}

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{source};
  return 0;
}
int nvrtcCompileProgram(void*, int count, const char* const* options) {
  for (int i = 0; i < count && !setting("options").empty(); ++i) {
    log_line(std::string{"compiled with "} + options[i]);
  }
  return 0;
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = static_cast<Program*>(program)->text.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(void* program, char* image) {
  std::strcpy(image, static_cast<Program*>(program)->text.c_str());
  return 0;
}
// Registers as the accumulators suggest.
static std::string compiler_log(const std::string& text) {
  const long long sums = number(text, "kWarpM") * number(text, "kWarpN") / 32;
  const std::string used = applies("spill", text) ? "300" : std::to_string(60 + sums);
  std::string all;
  const std::string before = "extern \"C\" __global__ void __launch_bounds__(";
  for (std::size_t at = text.find(before); at != std::string::npos;
       at = text.find(before, at + 1)) {
    const std::size_t begin = text.find('\n', at) + 1;
    all += "ptxas info    : Function properties for " +
           text.substr(begin, text.find('(', begin) - begin) +
           "\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : "
           "Used " +
           used + " registers, used 1 barriers\n";
  }
  return all;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = compiler_log(static_cast<Program*>(program)->text).size() + 1;
  return 0;
}
int nvrtcGetProgramLog(void* program, char* log) {
  std::strcpy(log, compiler_log(static_cast<Program*>(program)->text).c_str());
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}
const char* nvrtcGetErrorString(int) { return "fake NVRTC error"; }
}
