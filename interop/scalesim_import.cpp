// SPDX-License-Identifier: Apache-2.0
#include "interop/scalesim_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/reader.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

namespace {

// What a dataflow puts where; dims of the GEMM by name, tensors by role.
struct DataflowWords {
  const char* stays;    // role
  const char* rows;     // dim along the rows
  const char* columns;  // ... along the columns
  const char* time;
  const char* row_axis;
  const char* column_axis;
};
constexpr std::array kDataflows{DataflowWords{"output", "M", "N", "K", "gemm_m", "gemm_n"},
                                DataflowWords{"weight", "K", "N", "M", "gemm_k", "gemm_n"},
                                DataflowWords{"input", "K", "M", "N", "gemm_k", "gemm_m"}};

const DataflowWords& words_of(ScaleSimDataflow dataflow) {
  return kDataflows[static_cast<std::size_t>(dataflow)];
}

// Each buffer has a port of its own to DRAM.
std::string sram_text(const char* name, std::int64_t kilobytes, const char* bypass,
                      const std::optional<std::int64_t>& bandwidth) {
  return fmt::format(
      "  - storage: {}\n    capacity: {} KiB\n{}    double_buffered: true\n    bypass: [{}]\n",
      name, kilobytes,
      bandwidth ? fmt::format("    bandwidth: {{link: {} B/cycle}}\n", *bandwidth) : "", bypass);
}

std::string name_of(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = is_name(std::string{'a', c});
    name += plain ? c : '_';
  }
  return is_name(name) ? name : "_" + name;
}

// Places where an SRAM may hold a tile, from the outside in, and the tiles there.
enum Stage : std::size_t { kWhole, kColumnFold, kRowFold, kChunk, kStages };

class DataflowMapping {
 public:
  DataflowMapping(const Problem& problem, const ScaleSimConfig& config)
      : problem_{problem},
        workload_{problem.workload()},
        rows_{find(words_of(config.dataflow).rows)},
        columns_{find(words_of(config.dataflow).columns)},
        time_{find(words_of(config.dataflow).time)},
        copies_{workload_.find_dim("H")} {
    for (auto& extents : extents_) {
      extents = bounds_of(workload_);
      if (copies_) {
        extents[*copies_] = 1;
      }
    }
    for (const Stage stage : {kColumnFold, kRowFold, kChunk}) {
      extents_[stage][columns_] = std::min(config.columns, extents_[kWhole][columns_]);
    }
    for (const Stage stage : {kRowFold, kChunk}) {
      extents_[stage][rows_] = std::min(config.rows, extents_[kWhole][rows_]);
    }
  }

  Mapping mapping() {
    TensorSet all;
    for (const TensorId t : workload_.tensors.ids()) {
      all.insert(t);
      place(t);
    }
    const Arch& arch = problem_.arch();
    Mapping mapping{{Keep{LevelId{0}, all}}};
    const auto stage = [&](Stage at) {
      mapping.nodes.insert(mapping.nodes.end(), keeps_[at].begin(), keeps_[at].end());
    };
    if (copies_) {
      mapping.nodes.emplace_back(Temporal{*copies_, 1});
    }
    stage(kWhole);
    mapping.nodes.emplace_back(Temporal{columns_, extents_[kColumnFold][columns_]});
    stage(kColumnFold);
    mapping.nodes.emplace_back(Temporal{rows_, extents_[kRowFold][rows_]});
    stage(kRowFold);
    mapping.nodes.emplace_back(Temporal{time_, extents_[kChunk][time_]});
    stage(kChunk);
    mapping.nodes.emplace_back(Parallel{columns_, 1, FanoutId{0}, Axis::kX});
    mapping.nodes.emplace_back(Parallel{rows_, 1, FanoutId{0}, Axis::kY});
    mapping.nodes.emplace_back(Keep{arch.levels.last(), kept_at(arch.levels.last())});
    mapping.nodes.emplace_back(Temporal{time_, 1});
    return canonical(workload_, mapping);
  }

 private:
  DimId find(const char* name) const { return *workload_.find_dim(name); }

  TensorSet kept_at(LevelId level) const {
    TensorSet tensors;
    for (const TensorId t : workload_.tensors.ids()) {
      if (problem_.may_keep(level, t)) {
        tensors.insert(t);
      }
    }
    return tensors;
  }

  // As far out as the tile fits its SRAM; where not even a fold fits, with time cut; else nowhere.
  void place(TensorId t) {
    const Tensor& tensor = workload_.tensors[t];
    const LevelId sram{static_cast<LevelId>(1 + index_of(tensor.role))};
    const std::int64_t elements =
        problem_.capacity(sram, tensor.role)->count() / tensor.partial_bits.count();
    for (const Stage stage : {kWhole, kColumnFold, kRowFold}) {
      if (footprint(tensor, extents_[stage]) <= elements) {
        keeps_[stage].push_back({sram, TensorSet{t}});
        return;
      }
    }
    PerDim<std::int64_t> moment = extents_[kRowFold];
    moment[time_] = 1;
    const std::int64_t moments = elements / footprint(tensor, moment);
    if (tensor.dims().contains(time_) && moments > 0) {
      extents_[kChunk][time_] = std::min(extents_[kChunk][time_], moments);
      keeps_[kChunk].push_back({sram, TensorSet{t}});
    }
  }

  const Problem& problem_;
  const Workload& workload_;
  DimId rows_, columns_, time_;
  std::optional<DimId> copies_;
  std::array<PerDim<std::int64_t>, kStages> extents_;
  std::array<std::vector<Keep>, kStages> keeps_;
};

}  // namespace

std::string scalesim_arch_text(const ScaleSimConfig& config) {
  const DataflowWords& words = words_of(config.dataflow);
  const bool reduces = config.dataflow != ScaleSimDataflow::kOutput;
  std::string text = fmt::format(
      "name: {}\ntechnology: 45nm\nleakage: false  # as the tool: it makes energy depend on "
      "time\nnodes:\n",
      name_of(config.name));
  text += "  - storage: DRAM\n    capacity: unlimited\n";
  const auto port = [&](std::int64_t ScaleSimConfig::Ports::* of) {
    return config.bandwidth ? std::optional{(*config.bandwidth).*of} : std::nullopt;
  };
  using Ports = ScaleSimConfig::Ports;
  text += sram_text("IfmapSRAM", config.ifmap_kb, "weight, output", port(&Ports::ifmap));
  text += sram_text("FilterSRAM", config.filter_kb, "input, output", port(&Ports::filter));
  text += sram_text("OfmapSRAM", config.ofmap_kb, "input, weight", port(&Ports::ofmap));
  text += fmt::format(
      "  - fanout: Array\n    x: {{size: {}, dims: [{}]}}\n    y: {{size: {}, dims: [{}]}}\n"
      "    spatial_reduction: {}\n",
      config.columns, words.column_axis, config.rows, words.row_axis, reduces);
  text += fmt::format(
      "  - storage: Register\n    capacity: {{{}: 1 B}}\n    kind: regfile\n    keep: [{}]\n",
      words.stays, words.stays);
  return text + "  - compute: MAC\n    timing: {model: systolic, array: Array, fold_size: full}\n";
}

std::string scalesim_workload_text(const ScaleSimLayer& layer, const std::string& name) {
  if (layer.gemm) {
    return scalesim_gemm_text(whole_gemm(layer), layer.copies, name);
  }
  std::string text = fmt::format(
      "name: {}\nconv2d:\n  in_channels: {}\n  out_channels: {}\n  input: [{}, {}]\n"
      "  kernel: [{}, {}]\n  stride: {}\n",
      name, layer.channels * layer.copies, layer.filters * layer.copies, layer.ifmap_height,
      layer.ifmap_width, layer.filter_height, layer.filter_width, layer.stride);
  return layer.copies > 1 ? text + fmt::format("  groups: {}\n", layer.copies) : text;
}

std::string scalesim_gemm_text(const ScaleSimGemm& gemm, std::int64_t copies,
                               const std::string& name) {
  const std::string batch = copies > 1 ? fmt::format("batch: {}, ", copies) : "";
  return fmt::format("name: {}\n{}: {{{}m: {}, n: {}, k: {}}}\n", name,
                     copies > 1 ? "batched_gemm" : "gemm", batch, gemm.m, gemm.n, gemm.k);
}

ScaleSimGemm whole_gemm(const ScaleSimLayer& layer) {
  ScaleSimGemm gemm = scalesim_gemm(layer);
  gemm.m = ((layer.ifmap_height - layer.filter_height) / layer.stride + 1) *
           ((layer.ifmap_width - layer.filter_width) / layer.stride + 1);
  return gemm;
}

Mapping scalesim_mapping(const Problem& problem, const ScaleSimConfig& config) {
  return DataflowMapping{problem, config}.mapping();
}

}  // namespace mapsim
