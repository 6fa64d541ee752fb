// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "core/file_kind.hpp"

namespace mapsim {

// What `mapsim list` calls the kinds of shipped files, in its order.
struct ShippedKind {
  std::string_view name;
  FileKind files{};
};
inline constexpr std::array kShippedKinds{
    ShippedKind{"machines", FileKind::kArch},    ShippedKind{"gpus", FileKind::kArch},
    ShippedKind{"layers", FileKind::kWorkload},  ShippedKind{"chains", FileKind::kChain},
    ShippedKind{"networks", FileKind::kNetwork}, ShippedKind{"constraints", FileKind::kConstraints},
    ShippedKind{"mappings", FileKind::kMapping}, ShippedKind{"campaigns", FileKind::kCampaign},
    ShippedKind{"chips", FileKind::kSoc}};

}  // namespace mapsim
