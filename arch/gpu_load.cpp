// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "arch/gpu_words.hpp"
#include "core/arithmetic.hpp"
#include "core/file_kind.hpp"
#include "core/reader.hpp"

namespace mapsim {
namespace {

const Words kPathNames{"wmma", "mma", "wgmma", "simt"};  // in the order of the enum
const Words kGpuKeys{"sm", "sms",  "clock", "registers", "max_warps", "max_blocks", "shared",
                     "l2", "dram", "rates", "power",     "energy",    "calibration"};
const Words kCalibrationKeys{"precision", "path",      "mma",        "shared",      "issue",
                             "dram",      "l2",        "stall",      "launch",      "block",
                             "ramp",      "reduction", "power",      "settle",      "l2_capacity",
                             "overlap",   "error",     "resolution", "fitted_from", "fitted_on",
                             "shortest",  "longest",   "best_fixed"};
const Words kFixedKeys{"block",   "warp",   "fragment", "stages",
                       "split_k", "raster", "padding",  "cluster"};
constexpr std::int64_t kLargest = 1'000'000;  // of counts and latencies; far beyond any chip

class GpuReader {
 public:
  explicit GpuReader(Reader& reader) : reader_{reader} {}

  Gpu read() {
    const Fields top = reader_.fields(reader_.root(), {"name", "gpu"});
    gpu_.name = reader_.name(top.require("name")).value_or("");
    const Node* body = top.require("gpu");
    if (body == nullptr) {
      return gpu_;
    }
    const Fields fields = reader_.fields(*body, kGpuKeys);
    gpu_.compute_capability = reader_.integer(fields.require("sm"), 70, 999).value_or(70);
    gpu_.clock = reader_.quantity(fields.require("clock"), parse_frequency).value_or(Hertz{1e9});
    count(fields, "sms", gpu_.sms);
    count(fields, "registers", gpu_.registers);
    count(fields, "max_warps", gpu_.max_warps);
    count(fields, "max_blocks", gpu_.max_blocks);
    read_memories(fields);
    read_rates(fields.require("rates"));
    if (const auto power = reader_.quantity(fields.require("power"), parse_power)) {
      gpu_.power = *power;
      if (!(power->count() > 0)) {
        reader_.error(fields.place("power"), "more than 0 W");
      }
    }
    read_energy(fields.require("energy"));
    if (const Node* list = fields.find("calibration")) {
      for (const Node* item : reader_.items(*list, "a list of calibration blocks")) {
        read_calibration(reader_.fields(*item, kCalibrationKeys));
      }
    }
    return gpu_;
  }

 private:
  void count(const Fields& fields, const char* key, std::int64_t& value) {
    value = reader_.integer(fields.require(key), 1, kLargest).value_or(value);
  }

  Bytes size(const Fields& fields, const char* key) {
    const auto bits = reader_.quantity(fields.require(key), parse_size);
    if (bits && bits->count() % 8 != 0) {
      reader_.error(*fields.find(key), "not a whole number of bytes");
    }
    return Bytes{bits ? bits->count() / 8 : 1};
  }

  BytesPerSecond rate_of(const Fields& fields) {
    const auto bits = reader_.quantity(fields.require("bandwidth"), [this](std::string_view text) {
      return parse_bandwidth(text, std::nullopt, gpu_.clock);
    });
    return BytesPerSecond{bits ? bits->count() * gpu_.clock.count() / 8 : 1};
  }

  Cycles latency(const Fields& fields) {
    return Cycles{reader_.integer(fields.require("latency"), 1, kLargest).value_or(1)};
  }

  void read_memories(const Fields& fields) {
    if (const Node* node = fields.require("shared")) {
      const Fields shared = reader_.fields(*node, {"per_sm", "per_block", "latency"});
      gpu_.shared_per_sm = size(shared, "per_sm");
      gpu_.shared_per_block = size(shared, "per_block");
      gpu_.latency.shared = latency(shared);
      if (gpu_.shared_per_block > gpu_.shared_per_sm) {
        reader_.error(shared.place("per_block"), "a block cannot have more than its SM");
      }
    }
    if (const Node* node = fields.require("l2")) {
      const Fields l2 = reader_.fields(*node, {"size", "bandwidth", "per_sm", "latency"});
      gpu_.l2_size = size(l2, "size");
      gpu_.l2_bandwidth = rate_of(l2);
      gpu_.latency.l2 = latency(l2);
      const auto port = reader_.quantity(l2.require("per_sm"), [this](std::string_view text) {
        return parse_bandwidth(text, std::nullopt, gpu_.clock);
      });
      constexpr double kByte = 8;  // bits
      if (port && (port->count() < kByte || port->count() > kByte * real(kLargest))) {
        reader_.error(*l2.find("per_sm"),
                      fmt::format("not within 1 and {} bytes per cycle", kLargest));
      } else if (port) {
        gpu_.l2_per_sm = Bytes{static_cast<std::int64_t>(port->count() / kByte)};
      }
    }
    if (const Node* node = fields.require("dram")) {
      const Fields dram = reader_.fields(*node, {"size", "bandwidth", "latency"});
      gpu_.dram_size = size(dram, "size");
      gpu_.dram_bandwidth = rate_of(dram);
      gpu_.latency.dram = latency(dram);
    }
  }

  void read_rates(const Node* node) {
    if (node == nullptr) {
      return;
    }
    std::array<bool, kGpuPrecisions> named{};
    for (const Entry* entry : reader_.entries(*node, "a map of precisions")) {
      const auto precision = read_precision(reader_, &entry->key);
      if (!precision) {
        continue;
      }
      const auto i = static_cast<std::size_t>(*precision);
      if (named[i]) {
        reader_.error(entry->key, fmt::format("a second rate of {}", precision_names()[i]));
      }
      named[i] = true;
      const Fields rate = reader_.fields(entry->value, {"chip", "wmma", "simt"});
      gpu_.rates[i].chip = reader_.number(rate.find("chip"), 0).value_or(0);
      gpu_.rates[i].wmma = reader_.number(rate.find("wmma"), 0).value_or(gpu_.rates[i].chip);
      gpu_.rates[i].simt = reader_.number(rate.find("simt"), 0).value_or(0);
      if (gpu_.rates[i].wmma > gpu_.rates[i].chip) {
        reader_.error(rate.place("wmma"), "above the chip's own rate");
      }
    }
    if (node->entries.empty()) {
      reader_.error(*node, "no rate; name at least one precision");
    }
  }

  void read_energy(const Node* node) {
    if (node == nullptr) {
      return;
    }
    const Fields fields = reader_.fields(
        *node, {"dram", "l2", "shared", "registers", "mac_f16", "instruction", "constant"});
    const auto access = [](std::string_view text) {
      return parse_access_energy(text, std::nullopt);
    };
    GpuEnergy& energy = gpu_.energy;
    energy.dram = reader_.quantity(fields.require("dram"), access).value_or(energy.dram);
    energy.l2 = reader_.quantity(fields.require("l2"), access).value_or(energy.l2);
    energy.shared = reader_.quantity(fields.require("shared"), access).value_or(energy.shared);
    energy.registers =
        reader_.quantity(fields.require("registers"), access).value_or(energy.registers);
    energy.mac_f16 =
        reader_.quantity(fields.require("mac_f16"), parse_energy).value_or(energy.mac_f16);
    energy.instruction =
        reader_.quantity(fields.require("instruction"), parse_energy).value_or(energy.instruction);
    energy.constant =
        reader_.quantity(fields.require("constant"), parse_power).value_or(energy.constant);
  }

  // A share of what the chip can; fits may exceed 1 a little, where its figure is too low.
  void share(const Fields& fields, const char* key, double& value) {
    const Node* node = fields.find(key);
    value = reader_.number(node, 0).value_or(value);
    if (node != nullptr && (value < 0.01 || value > 2)) {
      reader_.error(*node, "expected a share between 0.01 and 2");
    }
  }

  template <std::size_t count>
  void extents(const Node* node, std::array<std::int64_t, count>& into) {
    if (node == nullptr) {
      return;
    }
    const std::vector<const Node*> items = reader_.items(*node, "a list of extents");
    if (items.size() != count) {
      reader_.error(*node, fmt::format("expected {} extents", count));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      into[i] = reader_.integer(items[i], 1, kLargest).value_or(1);
    }
  }

  std::optional<FixedKernel> read_fixed(const Node* node, const std::optional<GpuPath>& path) {
    if (node == nullptr) {
      return std::nullopt;
    }
    if (!path) {
      reader_.error(*node, "a kernel needs the path of its block");
    }
    const Fields fields = reader_.fields(*node, kFixedKeys);
    FixedKernel kernel;
    extents(fields.require("block"), kernel.block);
    extents(fields.require("warp"), kernel.warp);
    extents(fields.require("fragment"), kernel.fragment);
    for (const auto& [key, value, least] : {std::tuple{"stages", &kernel.stages, 1},
                                            {"split_k", &kernel.split_k, 1},
                                            {"raster", &kernel.raster, 0},
                                            {"padding", &kernel.padding, 0},
                                            {"cluster", &kernel.cluster, 1}}) {
      *value = reader_.integer(fields.find(key), least, kLargest).value_or(*value);
    }
    return kernel;
  }

  void read_calibration(const Fields& fields) {
    GpuCalibration block;
    block.precision = read_precision(reader_, fields.find("precision"));
    if (const auto i = reader_.choice(fields.find("path"), kPathNames, "path")) {
      block.path = static_cast<GpuPath>(*i);
    }
    for (const auto& [key, value] : {std::pair{"mma", &block.mma},
                                     {"shared", &block.shared},
                                     {"issue", &block.issue},
                                     {"dram", &block.dram},
                                     {"l2", &block.l2},
                                     {"l2_capacity", &block.l2_capacity}}) {
      share(fields, key, *value);
    }
    block.overlap = reader_.number(fields.find("overlap"), 1).value_or(block.overlap);
    block.stall = reader_.number(fields.find("stall"), 0).value_or(block.stall);
    block.error = reader_.number(fields.find("error"), 0).value_or(block.error);
    block.resolution = reader_.number(fields.find("resolution"), 0).value_or(block.resolution);
    block.launch = reader_.quantity(fields.find("launch"), parse_seconds).value_or(block.launch);
    block.block = reader_.quantity(fields.find("block"), parse_seconds).value_or(block.block);
    block.ramp = reader_.quantity(fields.find("ramp"), parse_seconds).value_or(block.ramp);
    block.reduction =
        reader_.quantity(fields.find("reduction"), parse_seconds).value_or(block.reduction);
    block.power = reader_.number(fields.find("power"), 0).value_or(block.power);
    block.settle = reader_.quantity(fields.find("settle"), parse_seconds).value_or(block.settle);
    block.shortest =
        reader_.quantity(fields.find("shortest"), parse_seconds).value_or(block.shortest);
    block.longest = reader_.quantity(fields.find("longest"), parse_seconds).value_or(block.longest);
    block.best_fixed = read_fixed(fields.find("best_fixed"), block.path);
    block.fitted_from = reader_.text(fields.find("fitted_from"), "a file name").value_or("");
    block.fitted_on = reader_.name(fields.find("fitted_on")).value_or("");
    if (block.fitted_on == gpu_.name) {
      block.fitted_on.clear();
    }
    const auto same = [&block](const GpuCalibration& other) {
      return other.precision == block.precision && other.path == block.path &&
             other.fitted_on == block.fitted_on;
    };
    if (std::any_of(gpu_.calibrations.begin(), gpu_.calibrations.end(), same)) {
      reader_.error(fields.node(), "a second block for this precision, path and chip");
    }
    gpu_.calibrations.push_back(block);
  }

  Reader& reader_;
  Gpu gpu_;
};

}  // namespace

bool describes_gpu(const Document& document) {
  const std::vector<Entry>& entries = document.root.entries;
  return std::any_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.key.text == "gpu"; });
}

Gpu read_gpu(const Document& document) {
  Reader reader{document};
  if (!describes_gpu(document)) {
    reader.error(reader.root(), "expected a GPU: an architecture file with the key 'gpu'");
    reader.finish();
  }
  const Gpu gpu = GpuReader{reader}.read();
  reader.finish();
  return gpu;
}

Gpu load_gpu(const std::string& path) {
  return read_gpu(read_yaml(checked_file(path, {FileKind::kArch})));
}

Gpu parse_gpu(const std::string& text, const std::string& filename) {
  return read_gpu(parse_yaml(text, filename));
}

}  // namespace mapsim
