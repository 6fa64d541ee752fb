// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"
#include "campaign/store.hpp"

namespace mapsim {

// The database of a campaign (docs/results.md) as a search for the best design uses it: answers
// about layers by the contents of machine, layer and question, as `sweep` writes them, so that each
// of the two goes on from the rows of the other. Composite machines are ordinary architectures:
// their answers are rows of `results`, too, which no campaign lists. Threads may share one.
class DesignAnswers {
 public:
  // Writes down the grid of the campaign; designs of it that are there stay. Throws ConfigError
  // about the file, and DatabaseInterrupted where `stop` is set.
  DesignAnswers(const Campaign& campaign, const std::string& path, const std::atomic<bool>* stop);

  // Another process held the database when the search was stopped: nothing is read or written
  // since.
  bool is_cut_off() const { return is_cut_off_; }

  // The answer for an objective without limits. nullopt: not known yet.
  std::optional<Record> find(const Arch& arch, const CampaignLayer& layer,
                             const Objective& objective);
  void keep(const Arch& arch, const CampaignLayer& layer, const Objective& objective,
            const Record& figures);
  // A design of the campaign, whose rows are there, becomes one of its points.
  void list(std::size_t number, const Arch& arch);

 private:
  // The ids of a design, a layer and an objective; texts that the database lacks are written to it.
  PointKey key(const Arch& arch, const CampaignLayer& layer, const Objective& objective,
               bool is_written);

  void unless_cut_off(const std::function<void()>& use);

  const Campaign& campaign_;
  std::mutex mutex_;
  Store store_;
  bool is_cut_off_ = false;
};

}  // namespace mapsim
