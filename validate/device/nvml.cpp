// SPDX-License-Identifier: Apache-2.0
#include "validate/device/nvml.hpp"

#include <array>

#include "validate/device/library.hpp"

namespace mapsim {
namespace {

// nvml.h, NVML_API_VERSION 12: nvmlReturn_t, nvmlClockType_t, nvmlClocksEventReasons.
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;

struct Reason {
  std::uint64_t bit;
  const char* word;
};
constexpr std::array kReasons{Reason{0x04, "power cap"},        Reason{0x08, "hardware slowdown"},
                              Reason{0x10, "sync boost"},       Reason{0x20, "thermal"},
                              Reason{0x40, "hardware thermal"}, Reason{0x80, "power brake"}};

}  // namespace

struct Nvml::Api {
  using Handle = struct NvmlDeviceTag*;
  SharedLibrary library;
  Handle device = nullptr;
  int (*init)() = nullptr;
  int (*by_bus)(const char* bus, Handle* device) = nullptr;
  int (*count)(unsigned int* devices) = nullptr;
  int (*by_index)(unsigned int index, Handle* device) = nullptr;
  const char* (*words)(int result) = nullptr;
  int (*driver)(char* text, unsigned int size) = nullptr;
  int (*clock)(Handle device, int type, unsigned int* megahertz) = nullptr;
  int (*reasons)(Handle device, unsigned long long* bits) = nullptr;
  int (*power)(Handle device, unsigned int* milliwatts) = nullptr;
  int (*energy)(Handle device, unsigned long long* millijoules) = nullptr;
};

std::optional<Nvml> Nvml::open(const std::string& bus, const std::string& path, std::string& why) {
  auto api = std::make_shared<Api>();
  api->library = SharedLibrary::open(
      path.empty() ? std::vector<std::string>{"libnvidia-ml.so.1",
                                              "/usr/local/nvidia/lib64/libnvidia-ml.so.1"}
                   : std::vector<std::string>{path},
      why);
  const SharedLibrary& library = api->library;
  if (!library) {
    return std::nullopt;
  }
  if (!library.find(api->init, "nvmlInit_v2") ||
      !library.find(api->by_bus, "nvmlDeviceGetHandleByPciBusId_v2") ||
      !library.find(api->clock, "nvmlDeviceGetClockInfo")) {
    why = library.name() + " is no NVML";
    return std::nullopt;
  }
  // The rest is not on every device, or has another name in some versions.
  library.find(api->words, "nvmlErrorString");
  library.find(api->driver, "nvmlSystemGetDriverVersion");
  if (!library.find(api->reasons, "nvmlDeviceGetCurrentClocksEventReasons")) {
    library.find(api->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  library.find(api->count, "nvmlDeviceGetCount_v2");
  library.find(api->by_index, "nvmlDeviceGetHandleByIndex_v2");
  library.find(api->power, "nvmlDeviceGetPowerUsage");
  library.find(api->energy, "nvmlDeviceGetTotalEnergyConsumption");
  int result = api->init();
  if (result == kSuccess) {
    result = api->by_bus(bus.c_str(), &api->device);
    // Virtual machines give the device another bus id; where there is one device, it is that.
    unsigned int devices = 0;
    if (result != kSuccess && api->count != nullptr && api->by_index != nullptr &&
        api->count(&devices) == kSuccess && devices == 1) {
      result = api->by_index(0, &api->device);
    }
  }
  if (result != kSuccess) {
    why = "NVML and the GPU at " + bus + ": " +
          (api->words != nullptr ? api->words(result) : std::to_string(result));
    return std::nullopt;
  }
  Nvml nvml;
  nvml.api_ = std::move(api);
  return nvml;
}

std::string Nvml::driver() const {
  std::array<char, 96> text{};
  const bool known = api_->driver != nullptr &&
                     api_->driver(text.data(), static_cast<unsigned int>(text.size())) == kSuccess;
  return known ? text.data() : "";
}

DeviceState Nvml::state() const {
  DeviceState state;
  unsigned int value = 0;
  if (api_->clock(api_->device, kClockSm, &value) == kSuccess) {
    state.clock = Hertz{1e6 * value};
  }
  if (api_->clock(api_->device, kClockMemory, &value) == kSuccess) {
    state.memory_clock = Hertz{1e6 * value};
  }
  if (api_->power != nullptr && api_->power(api_->device, &value) == kSuccess) {
    state.power = Milliwatts{static_cast<double>(value)};
  }
  unsigned long long wide = 0;
  if (api_->reasons != nullptr && api_->reasons(api_->device, &wide) == kSuccess) {
    state.throttle = wide;
  }
  if (api_->energy != nullptr && api_->energy(api_->device, &wide) == kSuccess) {
    state.energy_mj = static_cast<std::int64_t>(wide);
  }
  return state;
}

std::string throttle_words(std::uint64_t reasons) {
  std::string text;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) != 0) {
      text += text.empty() ? "" : ", ";
      text += reason.word;
    }
  }
  return text;
}

}  // namespace mapsim
