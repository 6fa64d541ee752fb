// SPDX-License-Identifier: Apache-2.0
#include "check/mask_files.hpp"

#include <fmt/format.h>

#include "workloads/masks.hpp"

namespace mapsim::check {

std::string changed_mask(const std::string& path, const std::string& tensor) {
  return fmt::format(
      "{} has changed since the proof was written, so the zeros of {} may be others now", path,
      tensor);
}

void compare_masks(Reader& reader, const mapsim::Node& masks, const Workload& workload) {
  Words tensors;
  for (const MaskFile& mask : masks_of(workload)) {
    tensors.push_back(mask.tensor);
  }
  const Fields fields = reader.fields(masks, tensors);
  for (const MaskFile& mask : masks_of(workload)) {
    const auto known = reader.text(fields.require(mask.tensor), "the hash of a mask");
    if (known && *known != fmt::format("{:016x}", mask.hash)) {
      reader.error(*fields.find(mask.tensor), changed_mask(mask.path, mask.tensor));
    }
  }
}

std::string unproven_mask(const Workload& workload) {
  const std::vector<MaskFile> masks = masks_of(workload);
  return masks.empty()
             ? ""
             : fmt::format(
                   "no hash under 'masks' says what {} held when the proof was written, so "
                   "the zeros of {} may be others now; write the proof again",
                   masks.front().path, masks.front().tensor);
}

}  // namespace mapsim::check
