// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <thread>
#include <unordered_map>

#include "campaign/joint_sweep.hpp"
#include "campaign/leases.hpp"
#include "campaign/store.hpp"
#include "core/memory_refused.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

using Clock = std::chrono::steady_clock;

// How often the writer looks around where nothing comes in; sooner where others ask over a network.
constexpr std::chrono::milliseconds kLocalTimeout{20};
constexpr std::chrono::milliseconds kRemoteTimeout{1};

constexpr double kGibibyte = 1 << 30;

std::vector<std::string> ids_of(const std::vector<Content>& contents) {
  std::vector<std::string> ids;
  for (const Content& content : contents) {
    ids.push_back(content.id);
  }
  return ids;
}

// Which is the first of those with the same content?
std::vector<std::size_t> firsts(const std::vector<Content>& contents) {
  std::unordered_map<std::string, std::size_t> seen;
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    first.push_back(seen.try_emplace(contents[i].id, i).first->second);
  }
  return first;
}

// Points and networks without a result, and the ids of the contents of their designs, by number.
struct Missing {
  std::vector<std::size_t> points, networks;
  std::vector<std::string> designs;
};

// Writes the designs down that have points to compute, so that no more than one is held in memory.
class Planner {
 public:
  Planner(const Campaign& campaign, const SweepOptions& options, Store& store)
      : campaign_{campaign},
        options_{options},
        store_{store},
        layers_{layer_contents(campaign)},
        questions_{question_contents(campaign)},
        first_layer_{firsts(layers_)},
        first_question_{firsts(questions_)},
        claimed_(campaign.points(), false),
        networks_{network_points(campaign)},
        missing_{{}, {}, std::vector<std::string>(campaign.designs())} {}

  Missing plan(SweepProgress& progress) {
    store_.begin_points(campaign_, layers_, questions_,
                        options_.shard.count == 1 ? Store::Designs::kAnew : Store::Designs::kKept);
    for (std::size_t i = 0; i < campaign_.designs() && !*options_.stop; ++i) {
      plan_design(i, progress);
    }
    if (!*options_.stop) {
      store_.end_points();
    }
    progress.planned = missing_.points.size();
    progress.networks_planned = missing_.networks.size();
    return std::move(missing_);
  }

 private:
  void plan_design(std::size_t number, SweepProgress& progress) {
    const std::size_t each = campaign_.points_per_design();
    std::vector<std::size_t> own;
    for (std::size_t i = number * each; i < (number + 1) * each; ++i) {
      if (options_.shard.has(campaign_, i)) {
        own.push_back(i);
      }
    }
    std::vector<std::size_t> networks;  // so divided are points, too
    for (std::size_t n = 0; n < networks_.size(); ++n) {
      if ((n + number) % options_.shard.count == options_.shard.index) {
        networks.push_back(n);
      }
    }
    if (own.empty() && networks.empty()) {
      return;
    }
    const Design drawn = design(campaign_, number);
    const LoadedDesign loaded = load(drawn);
    const Content& content = loaded.content;
    store_.add_design(campaign_, number, drawn, content);
    const std::size_t first = first_design_.try_emplace(content.id, number).first->second;
    for (const std::size_t i : own) {
      const PointIndex index = point_index(campaign_, i);
      const PointKey key{content.id, layers_[index.layer].id, questions_[index.question].id};
      ++progress.points;
      const std::size_t equal =
          (first * layers_.size() + first_layer_[index.layer]) * questions_.size() +
          first_question_[index.question];
      if (claimed_[equal] || store_.has_result(key)) {
        ++progress.known;
      } else {
        missing_.points.push_back(i);
        missing_.designs[number] = content.id;
      }
      claimed_[equal] = true;
    }
    if (loaded.arch && first == number) {
      plan_networks(number, content.id, networks, progress);
    }
  }

  void plan_networks(std::size_t design, const std::string& content,
                     const std::vector<std::size_t>& networks, SweepProgress& progress) {
    for (const std::size_t n : networks) {
      if (store_.has_result(
              {content, networks_[n].content.id, questions_[networks_[n].question].id})) {
        ++progress.networks_known;
      } else {
        missing_.networks.push_back(design * networks_.size() + n);
        missing_.designs[design] = content;
      }
    }
  }

  const Campaign& campaign_;
  const SweepOptions& options_;
  Store& store_;
  std::vector<Content> layers_, questions_;
  std::vector<std::size_t> first_layer_, first_question_;
  std::unordered_map<std::string, std::size_t> first_design_;
  std::vector<bool> claimed_;  // points with this content, by the number of the first one
  std::vector<NetworkPoint> networks_;
  Missing missing_;
};

void work(const Campaign& campaign, PointQueue& queue, const std::atomic<bool>& stop) {
  PointSolver solver{campaign, stop};
  while (!stop) {
    const auto asked = queue.take();
    if (!asked) {
      return;
    }
    queue.put(solver.solve(*asked));
  }
}

void note(const Solved& solved, Store& store, std::size_t& computed, SweepSummary& summary) {
  if (solved.figures) {
    store.add_result(solved.key, *solved.figures);
    ++computed;
  } else if (solved.needed_bytes > 0) {
    ++summary.short_of_memory;
    summary.needed_bytes = std::max(summary.needed_bytes, solved.needed_bytes);
  } else if (!solved.failure.empty()) {
    summary.failures.push_back(fmt::format("point {}: {}", solved.asked.number, solved.failure));
  } else {
    summary.interrupted = true;  // here or elsewhere
  }
}

// Threads that solve points until nothing is left or they are told to halt; joined at the end.
class Workers {
 public:
  // Where a thread cannot start, ~Workers() halts those that have.
  Workers(const Campaign& campaign, PointQueue& queue, int threads) : Workers{queue, threads} {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, &campaign, &queue] {
        work(campaign, queue, halt_);
        --working_;
      });
    }
  }
  // Also where the writer fails.
  ~Workers() { halt(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  void halt() {
    halt_ = true;
    queue_.close();
  }
  bool working() const { return working_ > 0; }

 private:
  Workers(PointQueue& queue, int threads) : queue_{queue}, working_{threads} {}

  PointQueue& queue_;
  std::atomic<bool> halt_{false};
  std::atomic<int> working_;
  std::vector<std::jthread> threads_;
};

// The keys that results of points will have.
LeasedPoints::Keys point_keys(const Campaign& campaign, std::vector<std::string> designs) {
  return [&campaign, designs = std::move(designs), layers = ids_of(layer_contents(campaign)),
          questions = ids_of(question_contents(campaign))](std::size_t number) {
    const PointIndex index = point_index(campaign, number);
    return PointKey{designs[index.design], layers[index.layer], questions[index.question]};
  };
}

// The writer, while others compute: first points, then what choices of mappings of networks ask.
class Writer {
 public:
  Writer(const Campaign& campaign, const SweepOptions& options, Store& store, Missing missing,
         SweepSummary& summary)
      : campaign_{campaign},
        options_{options},
        store_{store},
        summary_{summary},
        points_{point_keys(campaign, missing.designs), store, missing.points, options.lease},
        networks_{campaign, store, std::move(missing.networks), std::move(missing.designs),
                  options.lease} {}

  void run() {
    Workers workers{campaign_, queue_, options_.threads};
    for (bool owed = true; owed;) {
      *options_.stop ? workers.halt() : feed();
      owed = workers.working();
      if (options_.remote.serve) {
        owed = options_.remote.serve(queue_, *options_.stop) || owed;
      }
      // What is put before the last worker ends is collected after it was seen to have ended.
      for (const Solved& solved :
           queue_.collect(options_.remote.serve ? kRemoteTimeout : kLocalTimeout)) {
        take(solved);
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
      SweepProgress& progress = summary_.progress;
      (is_choosing_ ? progress.choosing_seconds : progress.seconds) =
          is_choosing_ ? seconds - progress.seconds : seconds;
      options_.progress(progress);
    }
    points_.release();
    networks_.release();
  }

 private:
  void feed() {
    SweepProgress& progress = summary_.progress;
    is_choosing_ = is_choosing_ || (points_.is_done() && !networks_.is_done());
    if (is_choosing_) {
      networks_.feed(queue_, *options_.stop, progress);
    } else {
      const std::size_t known = points_.feed(queue_);
      progress.elsewhere += known;
      progress.planned -= known;
      progress.awaited = points_.theirs();
    }
    if (points_.is_handed_out() && networks_.is_done()) {
      queue_.close();
    }
  }

  void take(const Solved& solved) {
    SweepProgress& progress = summary_.progress;
    note(solved, store_, is_choosing_ ? progress.searches : progress.computed, summary_);
    is_choosing_ ? networks_.take(solved) : points_.forget(solved.key);
  }

  const Campaign& campaign_;
  const SweepOptions& options_;
  Store& store_;
  SweepSummary& summary_;
  LeasedPoints points_;
  JointSearches networks_;
  PointQueue queue_;
  Clock::time_point start_ = Clock::now();
  bool is_choosing_ = false;
};

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9)));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  return whole < 3600 ? fmt::format("{} min {} s", whole / 60, whole % 60)
                      : fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

constexpr double kShort = 60;

std::string spent_text(double seconds) {
  return seconds < kShort ? scaled(seconds, "s") : duration_text(seconds);
}

// "" where no network's mappings are chosen jointly.
std::string choices_text(const SweepProgress& progress) {
  const std::size_t all = progress.networks_known + progress.networks_planned;
  if (all == 0) {
    return "";
  }
  const auto count = [](std::size_t number) { return grouped(static_cast<std::int64_t>(number)); };
  std::string text = fmt::format(
      "\nedp of networks: {} joint choices of mappings; {} known, {} "
      "chosen",
      count(all), count(progress.networks_known), count(progress.networks_chosen));
  if (progress.searches > 0) {
    text += fmt::format(" by {} searches in {}", count(progress.searches),
                        spent_text(progress.choosing_seconds));
  }
  if (progress.networks_open > 0) {
    text += fmt::format(", {} not, because a layer has no mapping", count(progress.networks_open));
  }
  if (progress.networks_given_up > 0) {
    text += fmt::format(", {} given up, because a search failed or files changed",
                        count(progress.networks_given_up));
  }
  return text;
}

double rate(const SweepProgress& progress) {
  return progress.seconds > 0 ? static_cast<double>(progress.computed) / progress.seconds : 0;
}

}  // namespace

std::string progress_text(const SweepProgress& progress) {
  if (progress.choosing_seconds > 0) {
    return fmt::format(", mappings of {} of {} networks chosen, {} searches",
                       grouped(static_cast<std::int64_t>(progress.networks_chosen)),
                       grouped(static_cast<std::int64_t>(progress.networks_planned)),
                       grouped(static_cast<std::int64_t>(progress.searches)));
  }
  const double speed = rate(progress);
  std::string text =
      fmt::format(", {} of {} points", grouped(static_cast<std::int64_t>(progress.computed)),
                  grouped(static_cast<std::int64_t>(progress.planned)));
  if (speed > 0) {
    text += fmt::format(
        ", {}/s, {} left", ratio(speed),
        duration_text(static_cast<double>(progress.planned - progress.computed) / speed));
  }
  if (progress.awaited > 0) {
    text +=
        fmt::format(", {} at other sweeps", grouped(static_cast<std::int64_t>(progress.awaited)));
  }
  return text;
}

PointSolver::PointSolver(const Campaign& campaign, const std::atomic<bool>& stop)
    : campaign_{campaign},
      stop_{stop},
      layers_{ids_of(layer_contents(campaign))},
      questions_{ids_of(question_contents(campaign))},
      design_{std::numeric_limits<std::size_t>::max()} {}

Solved PointSolver::solve(const Asked& asked) {
  Solved solved;
  solved.asked = asked;
  try {
    const PointIndex index = point_index(campaign_, asked.number);
    if (index.design != design_) {
      drawn_ = design(campaign_, index.design);
      loaded_ = load(drawn_);
      design_ = index.design;
    }
    solved.key = {loaded_.content.id, layers_[index.layer], questions_[index.question]};
    Question question = campaign_.questions[index.question];
    if (asked.weight) {
      question.objective.function = JointQuestion{0, asked.weight}.function();
      solved.key.question = question_content(campaign_, question).id;
    }
    solved.figures =
        mapsim::solve(campaign_, loaded_, campaign_.layers[index.layer], question, stop_);
  } catch (const std::bad_alloc& error) {
    solved.failure = "out of memory";
    solved.needed_bytes = needed_bytes(error);
  } catch (const std::exception& error) {
    solved.failure = error.what();  // the other points can still be solved
  }
  return solved;
}

SweepSummary sweep(const Campaign& campaign, const SweepOptions& asked) {
  const std::atomic<bool> never{false};
  SweepOptions options = asked;
  options.stop = asked.stop != nullptr ? asked.stop : &never;
  Store store{options.database, Store::Open::kOrNew, {options.waiting, options.stop}};
  store.check(options.stop);  // results that cannot be read are no answers
  SweepSummary summary;
  Missing missing = Planner{campaign, options, store}.plan(summary.progress);
  if (!*options.stop) {
    Writer{campaign, options, store, std::move(missing), summary}.run();
  }
  summary.statistics = store.statistics(campaign, options.shard);
  summary.interrupted = summary.interrupted || *options.stop;
  return summary;
}

std::string summary_text(const Campaign& campaign, const SweepSummary& summary) {
  const auto count = [](std::size_t number) { return grouped(static_cast<std::int64_t>(number)); };
  const SweepProgress& progress = summary.progress;
  std::string text =
      fmt::format("{}: {} points; {} known, {} computed", campaign.name, count(progress.points),
                  count(progress.known), count(progress.computed));
  if (progress.computed > 0) {
    text += fmt::format(" in {} ({}/s)", spent_text(progress.seconds), ratio(rate(progress)));
  }
  if (progress.elsewhere > 0) {
    text += fmt::format(", {} by other sweeps at the same time", count(progress.elsewhere));
  }
  text += choices_text(progress);
  text += fmt::format("\n{} have a mapping, {} have none, {} are missing\n",
                      count(summary.statistics.mapped), count(summary.statistics.unmapped),
                      count(summary.statistics.missing));
  for (const auto& [reason, times] : summary.statistics.reasons) {
    text += fmt::format("  {} x {}\n", count(times), reason);
  }
  for (const auto& [network, kind, times] : campaign.unpriced) {
    text += fmt::format("not priced: {}, {} x in {}\n", kind, times, network);
  }
  if (summary.short_of_memory > 0) {
    text += fmt::format(
        "out of memory at {} points: needed about {:.2f} GiB; the same command goes on with them,"
        " and takes less with fewer --threads and a smaller --memory\n",
        count(summary.short_of_memory), static_cast<double>(summary.needed_bytes) / kGibibyte);
  }
  for (const std::string& failure : summary.failures) {
    text += fmt::format("internal error at {}\n", failure);
  }
  return text;
}

}  // namespace mapsim
