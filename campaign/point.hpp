// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "arch/gpu.hpp"
#include "campaign/campaign.hpp"
#include "campaign/layer.hpp"
#include "campaign/record.hpp"
#include "mapper/mapspace/constraints.hpp"

namespace mapsim {

// An input of a point as text with everything that a result depends on, and nothing else: no names
// of files, layers and machines, no comments, no layout.
struct Content {
  std::string id;  // FNV-1a of the text, 64 bits, 16 hexadecimal digits
  std::string text;
};
Content content(std::string text);

// A design: its architecture file with the settings in place, or why it cannot be read.
struct LoadedDesign {
  std::optional<Arch> arch;
  std::string reason;         // every error, file:line:column; empty if it could be read
  Content content;            // the architecture, all numbers written out; or the tree of the file
  std::optional<Gpu> gpu{};   // in place of an arch
  GpuLayerOptions kernels{};  // of a GPU
  std::shared_ptr<const CampaignChip> chip{};  // in place of an arch
};
LoadedDesign load(const Design& design);

Content arch_content(Arch arch);  // without its name
Content layer_content(const CampaignLayer& layer);
// `question`, and how `campaign` searches for the answer.
Content question_content(const Campaign& campaign, const Question& question);

// In the order of the campaign.
std::vector<Content> layer_contents(const Campaign& campaign);
std::vector<Content> question_contents(const Campaign& campaign);

// A network whose least EDP over all choices of one mapping per layer a campaign asks for
// (docs/decisions/0085). Each design has one answer to it: a result like those of layers, with the
// network as workload.
struct NetworkPoint {
  std::string network;
  std::vector<std::size_t> layers;  // of the campaign
  std::size_t question = 0;         // of the campaign
  Content content;                  // its layers and their counts
};
// None if the strategy proves nothing. Network n on design d has the number d * (number of
// networks) + n.
std::vector<NetworkPoint> network_points(const Campaign& campaign);

// A point of the grid, by the indices of its parts.
struct PointIndex {
  std::size_t design = 0, layer = 0, question = 0;
};
PointIndex point_index(const Campaign& campaign, std::size_t number);

// A JSON object of paths and values: whole numbers as numbers, others as in the file.
std::string settings_text(const Settings& settings);

// The parts of a point by name: the values of kDesignColumns, kLayerColumns and kQuestionColumns
// without the last one of each, the id of its content.
Record design_record(const Design& design);
Record layer_record(const CampaignLayer& layer);
Record question_record(const Campaign& campaign, const Question& question);

// Equal for campaigns whose points with the same number ask the same of designs with the same name,
// as far as this is known without reading every design.
std::string campaign_id(const Campaign& campaign);

// The values of kFigureColumns of an answer that has a reason only.
Record without_mapping(std::string status, std::string reason, double seconds);

// The same for a layer's search result, and for an operator that only moves data.
Record answer_record(const Workload& layer, const FormedResult& formed, LatencyMode mode);
Record price_record(const Arch& arch, const Stream& stream);

// The answer: the values of kFigureColumns. If the layer does not fit, the design or the layer
// contradicts the constraints, or the search is unsupported, the answer has the reason. One thread.
// nullopt: `stop` was set before the search was over.
std::optional<Record> solve(const Campaign& campaign, const LoadedDesign& design,
                            const CampaignLayer& layer, const Question& question,
                            const std::atomic<bool>& stop);

}  // namespace mapsim
