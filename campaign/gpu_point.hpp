// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "campaign/campaign.hpp"
#include "campaign/record.hpp"

namespace mapsim {

// A point on a GPU: the values of kFigureColumns of the layer's fastest kernel, or of an operator
// that only moves data. Cycles, areas and the columns of a proof are NULL. Questions that a ranking
// by time cannot answer, and layers that are no GEMM, give errors.
Record solve_on_gpu(const Gpu& gpu, const GpuLayerOptions& options, const std::string& strategy,
                    const CampaignLayer& layer, const Question& question);

}  // namespace mapsim
