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

// The database of campaigns (docs/results.md): `results` by the content of their inputs, written
// once and never changed; `campaigns`, `designs`, `layers` and `questions`, the grids that people
// asked, whose product are the points and which say what result answers each; `inputs`, the
// contents themselves; `unpriced`, operators of networks that nothing is known of;
// `joint_networks`, the networks of which all mappings are chosen jointly. A shard has the designs
// of its own points only, so that its size is theirs. Each result is a transaction of its own in a
// write-ahead log, so a process that is killed loses only what it had not finished, and whoever
// opens the file next sees whole rows. Everything that a file refuses is a ConfigError about it,
// damage named as such, with the row where one is known.
class Store {
 public:
  enum class Open { kExisting, kOrNew };
  Store(const std::string& path, Open how, DatabaseWait wait = {});

  // May mappings of networks be chosen jointly in it? Older databases that are only read have no
  // such choices.
  bool has_choices() const;
  // The view of points with the answers that the figures of networks are of: where all mappings of
  // a network were chosen jointly those that were chosen, else `answers`.
  std::string chosen_view() const { return has_choices() ? "chosen_answers" : "answers"; }

  // The grid of a campaign anew. Of a part of its designs, those of the same campaign that were
  // written down before are kept. Layers and questions by their contents, in order; with them the
  // operators that have no price, and so no point.
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
  void add_result(const PointKey& key, const Record& figures);  // unless it is there

  // Leases on points to compute (campaign/leases.hpp) are of the holder that took them until their
  // term is over. They are taken in one transaction.
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
  SampleStatistics tally(const Campaign& campaign, const Shard& shard = {});

  // Designs of a campaign that no shard in this database has written down.
  struct Listed {
    std::string campaign;
    std::int64_t designs = 0, unlisted = 0;
  };
  std::vector<Listed> campaigns();

  // Everything of another database that is not here, or nothing: throws ConfigError where that one
  // is damaged or the two contradict each other, a result (but for the seconds it took), a
  // campaign, a design or an input. Given up (DatabaseInterrupted) when `stop` is set.
  void merge(const std::string& path, const std::atomic<bool>* stop = nullptr);
  // Reads all rows of all tables; throws ConfigError about the first that is damaged. Given up
  // likewise.
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
  // What an input is, by its `id`; empty: it is not there.
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
  std::vector<Statement> statements_;  // of what is done again and again
  std::unique_ptr<Transaction> points_;
};

}  // namespace mapsim
