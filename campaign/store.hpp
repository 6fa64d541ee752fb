// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "campaign/point.hpp"
#include "campaign/record.hpp"
#include "campaign/sqlite.hpp"

namespace mapsim {

// The ids of a point's inputs: with the version of the tool the key of its result.
struct PointKey {
  std::string design, workload, question;
  friend bool operator==(const PointKey&, const PointKey&) = default;
};

// The database of campaigns (docs/results.md): `results` by the content of their inputs, written
// once and never changed; `points` by campaign, which say what people asked and which result
// answers it; `inputs`, the contents themselves; `unpriced`, operators of networks that nothing is
// known of. Each result is a transaction of its own in a
// write-ahead log, so a process that is killed loses only what it had not finished, and whoever
// opens the file next sees whole rows. Everything that a file refuses is a ConfigError about it.
class Store {
 public:
  enum class Open { kExisting, kOrNew };
  Store(const std::string& path, Open how);

  // The points of a campaign anew, all of them: whoever merges shards sees what is missing.
  // With them the operators that have no price, and so no point.
  void begin_points(const Campaign& campaign);
  void add_point(const Record& point, const PointKey& key);
  void end_points();

  // Refuses (ConfigError) a second text with the same id.
  void add_input(const std::string& kind, const Content& input);
  bool has_result(const PointKey& key);
  void add_result(const PointKey& key, const Record& figures);  // unless it is there

  // How many points of a campaign, or of a shard of it, have a result with a mapping, without one,
  // none at all; the most frequent reasons of those without.
  struct Tally {
    std::size_t mapped = 0, unmapped = 0, missing = 0;
    std::vector<std::pair<std::string, std::size_t>> reasons;
  };
  Tally tally(const Campaign& campaign, const Shard& shard = {});

  // Everything of another database that is not here, or nothing: throws ConfigError where the two
  // contradict each other, a result (but for the seconds it took), a point or an input.
  void merge(const std::string& path);

  // Calls `visit` with the rows of a view, answers or networks, of one campaign (empty: all).
  void read(const std::string& view, const std::string& campaign,
            const std::function<void(const Record&)>& visit);
  std::vector<std::string> columns(const std::string& view);
  // "2 x NonMaxSuppression": operators of the network that are in no sum.
  std::vector<std::string> unpriced(const std::string& campaign, const std::string& network);
  // ... with each distinct text of settings, in the order of their first points.
  void read_settings(const std::string& campaign,
                     const std::function<void(const std::string&)>& visit);

 private:
  Database database_;
  std::vector<Statement> statements_;  // of what is done again and again
  std::unique_ptr<Transaction> points_;
};

}  // namespace mapsim
