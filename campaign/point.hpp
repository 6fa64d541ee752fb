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

// An input of a point as text that says all that a result depends on, and nothing else: names of
// files, layers and machines, comments and layout are not in it.
struct Content {
  std::string id;  // FNV-1a of the text, 64 bits, 16 hexadecimal digits
  std::string text;
};
Content content(std::string text);

// A design as its architecture file reads with the settings in place; or why it cannot be read.
struct LoadedDesign {
  std::optional<Arch> arch;
  std::string reason;         // every error, file:line:column; empty if it could be read
  Content content;            // the architecture, all numbers written out; or the tree of the file
  std::optional<Gpu> gpu{};   // in place of an arch
  GpuLayerOptions kernels{};  // of a GPU
  std::shared_ptr<const CampaignChip> chip{};  // in place of an arch
};
LoadedDesign load(const Design& design);

Content arch_content(Arch arch);  // but for its name
Content layer_content(const CampaignLayer& layer);
// `question` and how `campaign` searches for the answer.
Content question_content(const Campaign& campaign, const Question& question);

// In their order.
std::vector<Content> layer_contents(const Campaign& campaign);
std::vector<Content> question_contents(const Campaign& campaign);

// A network of which a campaign asks for the least EDP, over all choices of one mapping a layer
// (docs/decisions/0085): each design has one answer to it, a result like those of layers, the
// network being the workload.
struct NetworkPoint {
  std::string network;
  std::vector<std::size_t> layers;  // of the campaign
  std::size_t question = 0;         // of the campaign
  Content content;                  // which layers, and how often each
};
// None where strategies prove nothing. The one of design d at place n has the number
// d * (how many there are) + n.
std::vector<NetworkPoint> network_points(const Campaign& campaign);

// Which point of the grid.
struct PointIndex {
  std::size_t design = 0, layer = 0, question = 0;
};
PointIndex point_index(const Campaign& campaign, std::size_t number);

// A JSON object of paths and values: whole numbers as such, all else as the file has it.
std::string settings_text(const Settings& settings);

// What a point is made of, by names: the values of kDesignColumns, kLayerColumns, kQuestionColumns,
// but for the last of each, the id of its content.
Record design_record(const Design& design);
Record layer_record(const CampaignLayer& layer);
Record question_record(const Campaign& campaign, const Question& question);

// Equal for campaigns whose points of equal number ask the same of designs of the same names: as
// far as is known without reading every design.
std::string campaign_id(const Campaign& campaign);

// The values of kFigureColumns where there is nothing but a reason.
Record without_mapping(std::string status, std::string reason, double seconds);

// The same of a search's result for a layer, and of an operator that only moves data.
Record answer_record(const Workload& layer, const FormedResult& formed, LatencyMode mode);
Record price_record(const Arch& arch, const Stream& stream);

// The answer: the values of kFigureColumns. A layer that does not fit, constraints that the design
// or the layer contradicts, a search that is not supported are answers, too, with their reason.
// One thread. nullopt: `stop` was set before the search was over.
std::optional<Record> solve(const Campaign& campaign, const LoadedDesign& design,
                            const CampaignLayer& layer, const Question& question,
                            const std::atomic<bool>& stop);

}  // namespace mapsim
