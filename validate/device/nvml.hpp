// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/units.hpp"

namespace mapsim {

// The state of a GPU at one moment. What the device does not tell is zero or absent.
struct DeviceState {
  Hertz clock{0};  // of the SMs
  Hertz memory_clock{0};
  std::uint64_t throttle = 0;               // why the clock is not higher: bits, throttle_words()
  Milliwatts power{0};                      // of the board, a mean over some 25 to 100 ms
  std::optional<std::int64_t> energy_mj{};  // since the driver was loaded
};

// NVML, the library of nvidia-smi, by dlopen: it needs no context, and nothing here changes a
// setting. Its calls cost 10 us to some milliseconds.
class Nvml {
 public:
  // Of the device with this PCI bus id, or of the only one there is. `library` empty:
  // libnvidia-ml.so.1. Nothing: there is no NVML, or it does not know the device; `why` says so.
  static std::optional<Nvml> open(const std::string& bus, const std::string& library,
                                  std::string& why);
  std::string driver() const;  // "580.159.04"
  DeviceState state() const;

 private:
  struct Api;
  std::shared_ptr<const Api> api_;
};

// "power cap, thermal"; "" where nothing slows the clock. Idleness and clocks that somebody set are
// left out.
std::string throttle_words(std::uint64_t reasons);

}  // namespace mapsim
