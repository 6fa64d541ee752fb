// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
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

// The database of campaigns (docs/results.md): `results` by the content of their inputs,
// written once and never changed; `campaigns`, `designs`, `layers` and `questions`, the grids:
// their product are the points, and they name the result of each; `inputs`, the contents
// themselves; `unpriced`, operators of networks of unknown cost; `joint_networks`, the
// networks whose mappings are all chosen jointly. A shard has only the designs of its own
// points, so its size is proportional to them. Each result is a transaction of its own in a
// write-ahead log, so a killed process loses only unfinished results, and the next reader sees
// whole rows. All faults of a file are ConfigErrors about it; damage is named as such, with
// the row if known.
class Store {
 public:
  enum class Open { kExisting, kOrNew };
  Store(const std::string& path, Open how, DatabaseWait wait = {});

  // Does it have choices of all mappings of a network? Older databases that are only read have
  // none.
  bool has_choices() const;
  // The view of points with the answers behind the figures of networks: the chosen ones if all
  // mappings of a network were chosen jointly, else `answers`.
  std::string chosen_view() const { return has_choices() ? "chosen_answers" : "answers"; }

  // Writes the grid of a campaign. If only a part of its designs is given, designs of the same
  // campaign that were written before are kept. Layers and questions by their contents, in order;
  // with them the operators without a price, which have no point.
  enum class Designs { kAnew, kKept };
  void begin_points(const Campaign& campaign, const std::vector<Content>& layers,
                    const std::vector<Content>& questions, Designs designs);
  void add_design(const Campaign& campaign, std::size_t number, const Design& design,
                  const Content& content);
  void end_points();

  // Refuses (ConfigError) a second text with the same id.
  void add_input(const std::string& kind, const Content& input);
  bool has_result(const PointKey& key);
  std::optional<Record> result(const PointKey& key);            // the values of kFigureColumns
  void add_result(const PointKey& key, const Record& figures);  // unless it exists

  // Leases on points to compute (campaign/leases.hpp) belong to the holder that took them until
  // their term is over. They are taken in one transaction.
  enum class Lease { kOurs, kTheirs, kAnswered };
  class Leasing {
   public:
    Leasing(Store& store, std::string holder, std::chrono::milliseconds term);
    Lease take(const PointKey& key);
    void give_back(const PointKey& key);
    void commit() { transaction_.commit(); }

   private:
    Store& store_;
    std::string holder_;
    double end_;  // seconds since 1970
    Transaction transaction_;
    Statement insert_, find_, remove_;
  };
  void renew_leases(const std::string& holder, std::chrono::milliseconds term);
  void release_leases(const std::string& holder);

  // Numbers of points of a campaign, or of a shard of it, that have a result with a mapping, one
  // without a mapping, or no result; the most frequent reasons why there is no mapping.
  struct SampleStatistics {
    std::size_t mapped = 0, unmapped = 0, missing = 0;
    std::vector<std::pair<std::string, std::size_t>> reasons;
  };
  SampleStatistics statistics(const Campaign& campaign, const Shard& shard = {});

  // A campaign, its designs, those that no shard in this database has written down, and how many
  // points each design has.
  struct Listed {
    std::string campaign;
    std::int64_t designs = 0, unlisted = 0, points_of_design = 1;
  };
  std::vector<Listed> campaigns();

  // Adds all rows of another database that are not here, or none. Throws ConfigError if that one is
  // damaged, or if a result (its seconds aside), a campaign, a design or an input differs between
  // the two; DatabaseInterrupted when `stop` is set.
  void merge(const std::string& path, const std::atomic<bool>* stop = nullptr);
  // Reads all rows of all tables; throws ConfigError about the first damaged one, and
  // DatabaseInterrupted when `stop` is set.
  void check(const std::atomic<bool>* stop = nullptr);

  // Rows of a view.
  struct Query {
    std::string view;                     // answers, chosen_answers or networks
    std::string campaign{};               // empty: all
    std::vector<std::string> columns{};   // empty: all
    std::vector<std::int64_t> numbers{};  // of these points; empty: all
  };
  void read(const Query& query, const std::function<void(const Record&)>& visit);
  std::vector<std::string> columns(const std::string& view);
  // The text of an input by its `id`; empty: it is not there.
  std::string input_text(const std::string& id);
  // "2 x NonMaxSuppression": operators of the network that are in no sum.
  std::vector<std::string> unpriced(const std::string& campaign, const std::string& network);
  // ... with each distinct text of settings, in the order of their first points.
  void read_settings(const std::string& campaign,
                     const std::function<void(const std::string&)>& visit);

 private:
  void read(Statement& statement, const std::string& what,
            const std::function<void(const Record&)>& visit);

  Database database_;
  std::int64_t schema_;
  std::vector<Statement> statements_;  // of frequent operations
  std::unique_ptr<Transaction> points_;
};

}  // namespace mapsim
