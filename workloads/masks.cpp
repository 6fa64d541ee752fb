// SPDX-License-Identifier: Apache-2.0
#include "workloads/masks.hpp"

#include "core/hash.hpp"

namespace mapsim {

std::vector<MaskFile> masks_of(const Workload& workload) {
  constexpr std::string_view kData = "data ";
  std::vector<MaskFile> files;
  for (const Tensor& tensor : workload.tensors) {
    if (tensor.pattern && tensor.pattern->text.rfind(kData, 0) == 0) {
      const std::vector<char>& nonzero = tensor.pattern->nonzero;
      files.push_back({tensor.name, tensor.pattern->text.substr(kData.size()),
                       fnv1a({nonzero.data(), nonzero.size()})});
    }
  }
  return files;
}

}  // namespace mapsim
