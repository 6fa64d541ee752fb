// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "arch/timing.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

// An NVDLA-like engine runs its own schedules (mapper/nvdla/) and no other nests, so it is another
// kind of machine. These functions are about properties of engines; for any other machine the
// answer is no or nullopt.
const TimingModel& model_of(const NvdlaTiming&);

// Are the times those of NVIDIA's workbook, whatever the mapping?
bool is_by_workbook(const Arch& arch);
// May a schedule compute a layer in the form of Winograd?
bool may_use_winograd(const Arch& arch);

// Banks of the buffer that the tile of each tensor takes, 0 if it is not kept there.
struct BufferBanks {
  LevelId buffer{};
  std::int64_t of = 0;
  PerTensor<std::int64_t> used;
};
std::optional<BufferBanks> buffer_banks(const Problem& problem, const Counts& counts);

}  // namespace mapsim
