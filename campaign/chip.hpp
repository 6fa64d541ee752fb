// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "campaign/record.hpp"
#include "core/document.hpp"
#include "core/reader.hpp"
#include "workloads/network.hpp"

namespace mapsim {

struct Campaign;
struct Question;

// A chip with several engines as a design of a campaign (docs/decisions/0086). Plans depend on
// campaigns, so the reader of a campaign is given the functions that plan.
class CampaignChip {
 public:
  virtual ~CampaignChip() = default;
  // Everything about the chip and its engines that plans depend on, without its name.
  virtual std::string text() const = 0;
  // The values of kFigureColumns of the best plan of a network, which has a graph. Throws
  // ConfigError if there is no plan. nullopt: `stop` was set before it was found.
  virtual std::optional<Record> plan(const Network& network, const Question& question,
                                     const std::atomic<bool>& stop) const = 0;
};
// Throws ConfigError with all errors of the file. Empty: there are no chips.
using ReadChip = std::function<std::shared_ptr<const CampaignChip>(const Document& document)>;

// Is it a chip's file (`soc`)?
bool describes_chip(const Document& document);

// Everything about a network's graph that plans depend on, without its name.
std::string graph_text(const Network& network);

// Errors for questions that plans cannot answer, and for chips among other machines. `fields`: the
// keys of the campaign.
void check_chips(Reader& reader, const Fields& fields, const Campaign& campaign);

}  // namespace mapsim
