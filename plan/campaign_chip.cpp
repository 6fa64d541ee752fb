// SPDX-License-Identifier: Apache-2.0
#include "plan/campaign_chip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "arch/gpu_print.hpp"
#include "campaign/campaign.hpp"
#include "campaign/point.hpp"
#include "core/substitute.hpp"
#include "plan/given.hpp"
#include "plan/plan.hpp"
#include "plan/throughput.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double kGapRounding = 1e-9;  // of a bound that is a quotient of sums

// What a plan takes by the frame, as rows have it.
struct PlanFigures {
  double energy = 0;                    // [pJ]
  double latency = 0;                   // [s]; of a stream the time from one frame to the next
  double value = 0;                     // of the objective
  double bound = 0;                     // no plan has less
  std::vector<double> busy;             // by engine [s]
  std::map<std::string, double> parts;  // of the energy [pJ]: by engine, and of transitions
  std::string file;                     // the plan
};

// Adds `share` of a plan's energy.
void add_parts(const Soc& soc, const std::vector<Place>& places, const Plan& plan, double share,
               std::map<std::string, double>& parts) {
  double groups = 0;
  for (const PlannedGroup& group : plan.groups) {
    parts[soc.engines[places[group.place].engine].name] += share * group.price.load.energy;
    groups += group.price.load.energy;
  }
  parts["transitions"] += share * std::max(0.0, plan.total.energy - groups);
}

class PlannedChip final : public CampaignChip {
 public:
  PlannedChip(const Document& document, const Words& configs, std::size_t bytes)
      : file_{document.file}, bytes_{bytes}, soc_{read_soc(document, configs)} {
    Node root = document.root;
    std::erase_if(root.entries, [](const Entry& entry) { return entry.key.text == "name"; });
    text_ = "chip " + flow_text(root) + "\n";
    for (const Engine& engine : soc_.engines) {
      const Gpu* const gpu = std::get_if<Gpu>(&engine.machine);
      text_ += fmt::format(
          "engine {}\n{}", engine.name,
          gpu != nullptr ? print_gpu(*gpu) : arch_content(std::get<Arch>(engine.machine)).text);
    }
  }

  std::string text() const override { return text_; }

  std::optional<Record> plan(const Network& network, const Question& question,
                             const std::atomic<bool>& stop) const override {
    PlanOptions options;
    options.stop = &stop;
    options.bytes = bytes_;
    options.objective = question.is_throughput ? PlanObjective::kThroughput
                        : question.objective.function == Objective::kEnergy.function
                            ? PlanObjective::kEnergy
                            : PlanObjective::kLatency;
    if (!question.max_latency.empty()) {
      options.max_latency = std::get<Seconds>(parse_seconds(question.max_latency)).count();
    }
    try {
      const Clock::time_point start = Clock::now();
      Record record =
          question.is_throughput ? of_stream(network, options) : of_frame(network, options);
      figure(record, "seconds") = std::chrono::duration<double>(Clock::now() - start).count();
      return stop ? std::nullopt : std::optional{record};
    } catch (const PlanStopped&) {
      return std::nullopt;
    }
  }

 private:
  Record of_frame(const Network& network, const PlanOptions& options) const {
    const PlanAnswer answer = make_plan(soc_, network, options, file_, network.name);
    if (!answer.misfit.empty()) {
      // At lower prices, or of other groups, one may keep the limits.
      return without_mapping(answer.searches.are_complete() ? "infeasible" : "none", answer.misfit,
                             0);
    }
    PlanFigures found;
    found.energy = answer.plan.total.energy;
    found.latency = answer.plan.total.latency;
    found.value = options.objective == PlanObjective::kEnergy ? found.energy : found.latency;
    found.bound = answer.bound * answer.searches.share_of_bound();
    found.busy = answer.plan.busy;
    add_parts(soc_, answer.places, answer.plan, 1, found.parts);
    found.file = plan_file(soc_, network, answer);
    return record_of(network, found, answer.unpriced);
  }

  Record of_stream(const Network& network, const PlanOptions& options) const {
    const StreamAnswer answer =
        make_stream(soc_, std::vector(soc_.engines.size(), &network),
                    std::vector(soc_.engines.size(), network.batch), options, file_, network.name);
    PlanFigures found;
    found.latency = 1 / answer.rate;
    found.value = found.latency;
    found.bound = answer.searches.share_of_bound() / answer.bound;
    found.busy.assign(soc_.engines.size(), 0);
    for (const PlanShare& share : answer.mix) {
      const double part = share.rate / answer.rate;
      found.energy += part * share.plan.total.energy;
      for (std::size_t e = 0; e < soc_.engines.size(); ++e) {
        found.busy[e] += part * share.plan.busy[e];
      }
      add_parts(soc_, answer.places, share.plan, part, found.parts);
    }
    found.file = fmt::format("stream:\n  frames_per_second: {}\n  used:\n", answer.rate);
    for (const StreamLimit& limit : answer.limits) {
      found.file += fmt::format("    {}: {}\n", limit.name, limit.used);
    }
    return record_of(network, found, answer.unpriced);
  }

  // Sums of a part of a network are no answer.
  Record record_of(const Network& network, const PlanFigures& found,
                   const std::vector<std::string>& unpriced) const {
    if (!unpriced.empty()) {
      return without_mapping(
          "error",
          fmt::format("the network has operations without a price: {}", fmt::join(unpriced, ", ")),
          0);
    }
    const double gap = std::max(0.0, found.value / found.bound - 1);
    const auto busiest =
        std::max_element(found.busy.begin(), found.busy.end()) - found.busy.begin();
    Record record(kFigureColumns.size());
    figure(record, "status") = gap < kGapRounding ? "optimal" : "bounded";
    figure(record, "energy_pj") = found.energy;
    figure(record, "latency_seconds") = found.latency;
    figure(record, "macs") = network.graph->macs();
    figure(record, "bottleneck") = soc_.engines[static_cast<std::size_t>(busiest)].name;
    figure(record, "lower_bound") = found.bound;
    if (std::isfinite(gap)) {
      figure(record, "gap") = gap < kGapRounding ? 0 : gap;
    }
    figure(record, "breakdown") = Json(found.parts).dump();
    figure(record, "mapping") = found.file;
    return record;
  }

  std::string file_;
  std::size_t bytes_;  // of each search
  Soc soc_;
  std::string text_;
};

}  // namespace

ReadChip chip_reader(const Words& configs, std::optional<std::size_t> bytes) {
  const std::size_t each = bytes.value_or(
      search_bytes(static_cast<int>(std::thread::hardware_concurrency())));  // side by side
  return [configs, each](const Document& document) -> std::shared_ptr<const CampaignChip> {
    return std::make_shared<const PlannedChip>(document, configs, each);
  };
}

}  // namespace mapsim
