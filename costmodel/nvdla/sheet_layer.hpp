// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "arch/timing.hpp"
#include "core/units.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/nvdla/sheet.hpp"
#include "costmodel/problem.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A workload as the workbook's rows: `rows` equal ones (images of a batch, groups, rows of a matrix
// product). A matrix product is a fully connected layer. The input is as large as the output
// times the stride where the convolution is padded. nullopt: neither a convolution nor a matrix
// product.
struct SheetLayers {
  SheetLayer layer;
  std::int64_t rows = 1;
};
std::optional<SheetLayers> sheet_layers(const Workload& workload);

// The machine as the workbook's engine: MACs of the array, size of the buffer, bandwidth of the
// outermost level.
SheetEngine sheet_engine(const Problem& problem, const NvdlaTiming& timing);

// What the mode sheet makes of a problem and of what its row counts besides, rounded up; nullopt:
// another mode or model.
struct SheetTimes {
  Cycles mac{0};
  Cycles dram{0};
  std::optional<LevelId> memory;  // the second memory: a storage between DRAM and the buffer
  Cycles read{0};                 // its ports
  Cycles write{0};
  Cycles total() const { return std::max({mac, dram, read, write}); }
};
std::optional<SheetTimes> sheet_times(const Problem& problem, const WorkbookRow& row = {});

// The workbook's latency: the largest of its times, steady and ramped alike.
Latency sheet_latency(const SheetTimes& times);

// A cost in the mode sheet as it is with what is fused: time, utilisation and leakage. Counts and
// the other energies stay those of the layer alone.
void fuse(const Problem& problem, const WorkbookRow& row, Cost& cost);

}  // namespace mapsim
