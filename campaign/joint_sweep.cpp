// SPDX-License-Identifier: Apache-2.0
#include "campaign/joint_sweep.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/stream.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Value value_or_zero(const Cell& cell) {
  const auto* const value = std::get_if<Value>(&cell);
  return value == nullptr ? Value{} : *value;
}

std::int64_t cycles(LatencyMode mode, std::int64_t steady, std::int64_t ramped) {
  return mode == LatencyMode::kRamped ? ramped : steady;
}

}  // namespace

JointSearches::JointSearches(const Campaign& campaign, Store& store,
                             const std::vector<std::size_t>& missing,
                             std::vector<std::string> designs, std::chrono::milliseconds lease)
    : campaign_{campaign},
      store_{store},
      designs_{std::move(designs)},
      networks_{network_points(campaign)},
      leases_{[this](std::size_t number) { return key_of(number); }, store, missing, lease, 1} {
  for (const Content& content : layer_contents(campaign)) {
    layers_.push_back(content.id);
  }
  for (const Content& content : question_contents(campaign)) {
    questions_.push_back(content.id);
  }
}

PointKey JointSearches::key_of(std::size_t number) const {
  const NetworkPoint& network = networks_[number % networks_.size()];
  return {designs_[number / networks_.size()], network.content.id, questions_[network.question]};
}

bool JointSearches::is_done() const {
  return leases_.is_handed_out() && leased_.waiting() == 0 && choosing_.empty();
}

void JointSearches::feed(PointQueue& queue, const std::atomic<bool>& stop,
                         SweepProgress& progress) {
  const std::size_t known = leases_.feed(leased_);
  progress.networks_known += known;
  progress.networks_planned -= known;
  const auto go_on = [&](Choosing& choosing) {
    while (!stop && !choosing.is_waiting) {
      choosing.question = choosing.is_open || choosing.is_given_up
                              ? std::nullopt
                              : choosing.joint.ask(campaign_.budget.gap);
      if (!choosing.question) {
        finish(choosing, progress);
        return true;
      }
      ask(choosing, queue);
    }
    return false;
  };
  choosing_.remove_if(go_on);
  while (!stop && queue.waiting() == 0) {
    const auto next = leased_.take_now();
    if (!next) {
      break;
    }
    choosing_.push_back(begin(next->number));
    if (go_on(choosing_.back())) {
      choosing_.pop_back();
    }
  }
}

// As `network` does: layers that differ in more than their names, and all streams as one.
JointSearches::Choosing JointSearches::begin(std::size_t number) const {
  const NetworkPoint& network = networks_[number % networks_.size()];
  const LoadedDesign loaded = load(design(campaign_, number / networks_.size()));
  Choosing choosing{number, key_of(number), JointEdp{{}}};
  if (!loaded.arch || loaded.content.id != choosing.key.design) {
    choosing.is_given_up = true;
    return choosing;
  }
  const Arch& arch = *loaded.arch;
  choosing.is_engine = timing_model(arch).is_engine;
  choosing.clock_hz = arch.clock.count();
  std::vector<JointLayer> layers;
  std::map<std::string, std::size_t> places;
  bool any_stream = false;
  for (const std::size_t l : network.layers) {
    const CampaignLayer& layer = campaign_.layers[l];
    const auto count = static_cast<double>(layer.count);
    if (layer.stream) {
      const StreamCost cost = stream_cost(arch, layer.stream->in, layer.stream->out);
      choosing.streams.energy_pj += count * cost.energy.count();
      choosing.streams.steady += layer.count * cost.latency.count();
      any_stream = true;
    } else if (const auto [place, is_new] = places.try_emplace(layers_[l], layers.size()); is_new) {
      layers.push_back(unsearched_layer(count, {arch, layer.workload}));
      choosing.layers.push_back(l);
    } else {
      layers[place->second].count += count;
    }
  }
  choosing.streams.ramped = choosing.streams.steady;
  if (any_stream) {
    layers.push_back(
        priced_layer(choosing.streams.energy_pj, static_cast<double>(choosing.streams.steady)));
  }
  choosing.found.resize(choosing.layers.size());
  choosing.joint = JointEdp{std::move(layers)};
  return choosing;
}

Question JointSearches::question_of(const Choosing& choosing) const {
  Question question = campaign_.questions[networks_[choosing.number % networks_.size()].question];
  question.objective.function = choosing.question->function();
  return question;
}

// Learns the answer where it is known, else waits for it.
void JointSearches::ask(Choosing& choosing, PointQueue& queue) {
  const std::size_t layer = choosing.layers[choosing.question->layer];
  const Content question = question_content(campaign_, question_of(choosing));
  choosing.asked = {choosing.key.design, layers_[layer], question.id};
  if (auto row = store_.result(choosing.asked)) {
    learn(choosing, std::move(*row));
    return;
  }
  choosing.is_waiting = true;
  const std::size_t design = choosing.number / networks_.size();
  const std::size_t number = (design * layers_.size() + layer) * questions_.size() +
                             networks_[choosing.number % networks_.size()].question;
  choosing.task = {number, choosing.question->weight};
  const auto asks_the_same = [&choosing](const Choosing& other) {
    return &other != &choosing && other.is_waiting && other.asked == choosing.asked;
  };
  if (std::none_of(choosing_.begin(), choosing_.end(), asks_the_same)) {
    store_.add_input("question", question);
    queue.add(std::vector<Asked>{choosing.task});
  }
}

void JointSearches::learn(Choosing& choosing, Record row) {
  const Objective objective = question_of(choosing).objective;
  const auto& status = value_or_zero<std::string>(figure(row, "status"));
  const bool is_mapped = std::holds_alternative<double>(figure(row, "energy_pj"));
  LayerFigures figures;
  if (is_mapped) {
    const Found found{choosing.asked.question, std::get<double>(figure(row, "energy_pj")),
                      value_or_zero<std::int64_t>(figure(row, "latency_cycles")),
                      value_or_zero<std::int64_t>(figure(row, "latency_cycles_ramped")),
                      value_or_zero<double>(figure(row, "seconds"))};
    figures.energy = found.energy_pj;
    figures.cycles = static_cast<double>(cycles(objective.mode, found.steady, found.ramped));
    figures.value = objective.function.value(figures.energy, figures.cycles);
    // Of an engine's forms the bound that is not proven may be of several frames.
    figures.lower = status == "optimal" || status == "ties_open" ? figures.value
                    : choosing.is_engine                         ? 0
                                         : value_or_zero<double>(figure(row, "lower_bound"));
    choosing.found[choosing.question->layer].push_back(found);
  }
  choosing.is_open = choosing.is_open || (!is_mapped && !choosing.question->weight);
  choosing.joint.learn(*choosing.question, figures);
}

// Whoever waits for the answer goes on, also where there is none or where it is of a design that
// has changed since.
void JointSearches::take(const Solved& solved) {
  const auto asked = std::find_if(choosing_.begin(), choosing_.end(), [&](const Choosing& one) {
    return one.is_waiting && one.task == solved.asked;
  });
  if (asked == choosing_.end()) {
    return;
  }
  const PointKey key = asked->asked;
  for (Choosing& choosing : choosing_) {
    if (choosing.is_waiting && choosing.asked == key) {
      choosing.is_waiting = false;
      if (solved.figures && solved.key == key) {
        learn(choosing, *solved.figures);
      } else {
        choosing.is_given_up = true;
      }
    }
  }
}

void JointSearches::finish(const Choosing& choosing, SweepProgress& progress) {
  leases_.forget(choosing.key);
  if (choosing.is_open || choosing.is_given_up) {
    ++(choosing.is_given_up ? progress.networks_given_up : progress.networks_open);
    return;
  }
  store_.add_result(choosing.key, answer(choosing));
  ++progress.networks_chosen;
}

// The sums are of the rows that were chosen, in the order of the network.
Record JointSearches::answer(const Choosing& choosing) const {
  const NetworkPoint& network = networks_[choosing.number % networks_.size()];
  const LatencyMode mode = campaign_.questions[network.question].objective.mode;
  std::map<std::string, const Found*> chosen;  // by workload
  Json mapping = Json::object();
  Found sums = choosing.streams;
  for (std::size_t l = 0; l < choosing.layers.size(); ++l) {
    const Found& found = choosing.found[l][choosing.joint.choice()[l]];
    chosen[layers_[choosing.layers[l]]] = &found;
    mapping[layers_[choosing.layers[l]]] = found.question;
    for (const Found& one : choosing.found[l]) {
      sums.seconds += one.seconds;
    }
  }
  for (const std::size_t l : network.layers) {
    if (const auto found = chosen.find(layers_[l]); found != chosen.end()) {
      const std::int64_t count = campaign_.layers[l].count;
      sums.energy_pj += static_cast<double>(count) * found->second->energy_pj;
      sums.steady += count * found->second->steady;
      sums.ramped += count * found->second->ramped;
    }
  }
  const double lower = std::min(choosing.joint.lower(), choosing.joint.value());  // rounding
  const JointChoice choice{choosing.joint.value(), lower};
  Record row(kFigureColumns.size());
  const auto set = [&row](std::string_view name, Cell value) {
    figure(row, name) = std::move(value);
  };
  set("status", choice.is_proven() ? "optimal" : "bounded");
  set("energy_pj", sums.energy_pj);
  set("latency_cycles", sums.steady);
  set("latency_cycles_ramped", sums.ramped);
  set("latency_seconds",
      static_cast<double>(cycles(mode, sums.steady, sums.ramped)) / choosing.clock_hz);
  set("edp", sums.energy_pj * static_cast<double>(sums.steady));
  set("clock_hz", choosing.clock_hz);
  set("lower_bound", lower);
  set("gap", choice.is_proven() ? Cell{0.0} : lower > 0 ? Cell{choice.edp / lower - 1} : Cell{});
  set("mapping", mapping.dump());
  set("seconds", sums.seconds);
  return row;
}

}  // namespace mapsim
