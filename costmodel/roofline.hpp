// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "core/units.hpp"
#include "costmodel/ports.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The peak rates of a machine; infinite if not limited.
struct Peak {
  double ops_per_second = 0;
  double bytes_per_second = 0;
};

enum class Limiter : std::uint8_t { kMath, kMemory };
const char* to_string(Limiter limiter);  // "math", "memory"

// The roofline (Williams, Waterman, Patterson, CACM 52(4), 2009) of some operations on some bytes:
// the slower of computing and moving decides, if the two overlap perfectly.
struct RooflineBound {
  double intensity = 0;  // operations per byte of the work
  double ridge = 0;      // ... from which on the machine is limited by math
  Seconds compute{0};
  Seconds transfer{0};
  Limiter limiter = Limiter::kMath;  // math where intensity >= ridge
  double math_utilization = 0;       // share of the whole time; 1 for the limiter
  double memory_utilization = 0;
  Seconds time() const { return compute < transfer ? transfer : compute; }
};
RooflineBound roofline_bound(double ops, double bytes, Peak peak);

// Utilisation above which a resource counts as limiting, in addition to the slowest one.
inline constexpr double kLimitingUtilization = 0.7;

struct TensorTraffic {
  std::int64_t elements = 0;  // as stored, without padding
  double bytes = 0;
  Seconds transfer{0};  // alone, through the slowest port that it must pass
};

// The port that a layer's tensors keep busy for longest, and its own roofline, per byte of the
// tensors that pass it.
struct SlowestPort {
  LevelId level{};
  PortKind kind{};
  double bytes_per_second = 0;
  double bytes = 0;
  double knee = 0;       // MACs per byte from which on the machine is limited by math
  double intensity = 0;  // MACs per byte of the work
};

// Bounds of a workload on a machine that no mapping can beat.
struct Roofline {
  std::int64_t ops = 0;              // bias included
  std::int64_t ops_per_mac = 0;      // one per operand: multiplications, and the addition
  PerTensor<TensorTraffic> tensors;  // weights include the bias
  double bytes = 0;
  double macs_per_second = 0;  // peak
  Peak peak;  // bandwidth: of this mix of tensors at the slowest port that all of it must pass
  RooflineBound bound;
  std::optional<SlowestPort> slowest;  // none: nothing limits the transfers
  // Lower bounds of what evaluate() reports, which counts padding as data and ignores a bias: full
  // use of the MAC units; each point once through the outermost ports, and through the ports of
  // each single-instance level that must keep it. NVDLA-like engines: the lesser of the layer and
  // its Winograd form; in the workbook's mode the workbook's cycles.
  Cycles least_cycles{0};
  Picojoules least_energy{0};  // each MAC, and each point once at the outermost level
};
Roofline roofline(const Arch& arch, const Workload& workload);

}  // namespace mapsim
