// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "mapper/mapper.hpp"
#include "mapper/nvdla/search.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// How a layer is searched, alone or in a network or a campaign.
struct LayerSearch {
  std::string strategy = "exact";
  SearchOptions options;
  Frames frames = Frames::kOne;  // of engines after NVDLA, exact
};

// The answer for a layer. NVDLA-like engines, exact and without constraints: the best form (that of
// `problem`); in the mode `sheet` the extra work of the workbook's row is included. Throws
// UnsupportedSearch.
FormedResult search_layer(const Problem& problem, const WorkbookRow& row,
                          const Constraints& constraints, const LayerSearch& search);

}  // namespace mapsim
