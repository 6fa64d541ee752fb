// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/units.hpp"

namespace mapsim {

// The state of a GPU at one moment. Figures that the device does not report are 0 or absent.
struct DeviceState {
  Hertz clock{0};  // of the SMs
  Hertz memory_clock{0};
  std::uint64_t throttle = 0;               // why the clock is not higher: bits, throttle_words()
  Milliwatts power{0};                      // of the board, a mean over some 25 to 100 ms
  std::optional<std::int64_t> energy_mj{};  // since the driver was loaded
};

// NVML, the library of nvidia-smi, loaded by dlopen. It needs no context, and nothing here changes
// a setting. A call takes 10 us to some milliseconds.
class Nvml {
 public:
  // For the device with this PCI bus id, or for the only device. `library` empty:
  // libnvidia-ml.so.1. Nothing: there is no NVML, or it does not know the device; `why` gets the
  // reason.
  static std::optional<Nvml> open(const std::string& bus, const std::string& library,
                                  std::string& why);
  std::string driver() const;  // "580.159.04"
  DeviceState state() const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
};

// The reasons of DeviceState::throttle: "power cap, thermal"; "" if nothing lowers the clock.
// Idleness and clocks that a user has set are left out.
std::string throttle_words(std::uint64_t reasons);

}  // namespace mapsim
