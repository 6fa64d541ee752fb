// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "campaign/campaign.hpp"
#include "campaign/record.hpp"

namespace mapsim {

// A point on a GPU: the values of kFigureColumns of the layer's fastest kernel, or of what only
// moves data. Cycles, areas, and all that a proof would say are NULL. Questions that kernels ranked
// by time do not answer are errors, as layers are that are no GEMM.
Record solve_on_gpu(const Gpu& gpu, const GpuLayerOptions& options, const std::string& strategy,
                    const CampaignLayer& layer, const Question& question);

}  // namespace mapsim
