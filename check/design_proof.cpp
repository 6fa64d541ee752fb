// SPDX-License-Identifier: Apache-2.0
#include "check/design_proof.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <random>
#include <set>
#include <utility>

#include "check/check.hpp"
#include "check/design_bounds.hpp"
#include "check/membership.hpp"
#include "check/point.hpp"
#include "core/diagnostic.hpp"
#include "core/reader.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/stream.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

namespace {

constexpr double kMilliwatts = 1e-9;         // of a pJ per second
constexpr std::size_t kMostProblems = 20;    // that are named
constexpr std::size_t kMostCompared = 1000;  // designs read node by node

// All mappings with perfect factors.
Rules all_mappings(const Problem& problem) {
  const Document document = parse_yaml("tiling: uneven\nfactors: perfect\n", "rules");
  Reader reader{document};
  return read_rules(reader, document.root, problem);
}

// The figures of a design with given mappings.
struct Totals {
  double value = 0, energy = 0, seconds = 0;
};

class DesignChecker {
 public:
  DesignChecker(DesignCertificate& certificate, const DesignCheckOptions& options)
      : certificate_{certificate}, options_{options}, bounds_{certificate} {}

  DesignVerdict run() {
    check_grids();
    for (const DesignClaim& claim : certificate_.claims) {
      check_claim(claim);
    }
    std::sort(answers_.begin(), answers_.end());
    check_answers();
    for (const DesignLeaf& leaf : certificate_.leaves) {
      check_leaf(leaf);
    }
    compare_nodes();
    if (verdict_.problems.empty()) {
      check_proofs();
    }
    return std::move(verdict_);
  }

 private:
  void wrong(const std::string& problem) {
    if (verdict_.problems.size() < kMostProblems) {
      verdict_.problems.push_back(problem);
    }
  }
  std::string named(std::size_t space, const Box& box) const {
    std::vector<std::string> axes;
    for (const auto& [low, high] : box) {
      axes.push_back(low == high ? fmt::format("{}", low) : fmt::format("{}-{}", low, high));
    }
    return fmt::format("box {} of space {}", fmt::join(axes, " "), space);
  }

  void check_grids() {
    for (std::size_t s = 0; s < certificate_.spaces.size(); ++s) {
      std::vector<const Box*> boxes;
      for (const DesignLeaf& leaf : certificate_.leaves) {
        if (leaf.space == s) {
          boxes.push_back(&leaf.box);
        }
      }
      const Box all = certificate_.spaces[s].all();
      verdict_.designs += volume(all);
      verdict_.leaves += boxes.size();
      if (!tile(all, boxes)) {
        wrong(fmt::format("the boxes of space {} do not have each of its designs once", s));
      }
    }
  }

  // ---- designs with mappings ----

  void check_claim(const DesignClaim& claim) {
    const Box box = single(claim.values);
    try {
      const auto machines = bounds_.machines(claim.space, box);
      const Arch& arch = machines->range.most;
      const std::optional<Totals> totals = totals_of(claim, arch);
      if (!totals) {
        return;
      }
      if (exceeds(totals->value, claim.value) || exceeds(claim.value, totals->value)) {
        wrong(fmt::format("{}: its mappings come to {}, not {}", named(claim.space, box),
                          totals->value, claim.value));
      }
      const double area = bounds_.area(arch).value_or(0);
      const double enough = worth_proving(totals->value);
      const double least = bounds_.value(*machines, enough);
      // One best design is compared with the bounds of all others, and so need not be with its own.
      const bool alone = certificate_.top == 1 && !certificate_.is_front;
      if (!alone && least < enough) {
        wrong(fmt::format("{}: other mappings may be better: its bound is {}, its value {}",
                          named(claim.space, box), least, totals->value));
      }
      if (is_beyond(*totals) || (certificate_.max_area && exceeds(area, *certificate_.max_area))) {
        wrong(fmt::format("{}: is beyond the limits", named(claim.space, box)));
      }
      if (!found_.emplace(claim.space, claim.values).second) {
        wrong(fmt::format("{}: is named twice", named(claim.space, box)));
      }
      ++verdict_.answers;
      answers_.emplace_back(totals->value, area);
    } catch (const ConfigError& error) {
      wrong(fmt::format("{}: {}", named(claim.space, box), error.diagnostics().front().message));
    }
  }

  double worth_proving(double value) const {
    return value / (1 + certificate_.gap) * (1 - kTolerance);
  }

  // nullopt: a mapping is none; then something is wrong.
  std::optional<Totals> totals_of(const DesignClaim& claim, const Arch& arch) {
    double value = 0;
    double energy = 0;
    double cycles = 0;
    for (std::size_t l = 0; l < certificate_.layers.size(); ++l) {
      const DesignLayer& layer = certificate_.layers[l];
      Totals one;
      if (!layer.workload) {
        const StreamCost cost = stream_cost(arch, layer.in, layer.out);
        one = {0, cost.energy.count(), static_cast<double>(cost.latency.count())};
      } else if (const auto found = figures_of_layer(claim, arch, l)) {
        one = *found;
      } else {
        return std::nullopt;
      }
      value += layer.count * certificate_.function.value(one.energy, one.seconds);
      energy += layer.count * one.energy;
      cycles += layer.count * one.seconds;
    }
    const double clock = arch.clock.count();
    return Totals{certificate_.is_joint ? energy * cycles / clock
                                        : certificate_.function.scaled(value, 1, clock),
                  energy, cycles / clock};
  }

  // [pJ, cycles]
  std::optional<Totals> figures_of_layer(const DesignClaim& claim, const Arch& arch,
                                         std::size_t l) {
    const Problem problem{arch, *certificate_.layers[l].workload};
    const Mapping mapping =
        parse_mapping(claim.mappings[l], certificate_.file, problem.arch(), problem.workload());
    const Evaluation evaluation = evaluate(problem, mapping);
    const Cost* const cost = std::get_if<Cost>(&evaluation);
    std::string fault =
        cost == nullptr ? "does not fit" : why_outside(problem, all_mappings(problem), mapping);
    if (fault.empty()) {
      Goal goal;
      goal.ramped = certificate_.ramped;
      bool walked = false;
      const Point point{mapping, figures_of(problem, goal, *cost), 0};
      const auto faults = faults_of_point(problem, goal, point, options_.max_steps, walked);
      fault = faults.empty() ? "" : faults.front();
    }
    if (!fault.empty()) {
      wrong(fmt::format("{}: the mapping of layer {}: {}", named(claim.space, single(claim.values)),
                        l, fault));
      return std::nullopt;
    }
    ++verdict_.mappings;
    const Latency& latency = cost->latency;
    return Totals{
        0, cost->energy.total.count(),
        static_cast<double>((certificate_.ramped ? latency.ramped : latency.steady).count())};
  }

  bool is_beyond(const Totals& totals) const {
    const auto exceeds_limit = [](double value, const std::optional<double>& limit) {
      return limit && exceeds(value, *limit);
    };
    return exceeds_limit(totals.energy, certificate_.max_energy) ||
           exceeds_limit(totals.seconds, certificate_.max_latency) ||
           exceeds_limit(totals.energy / totals.seconds * kMilliwatts, certificate_.max_power);
  }

  // As many as asked for, or points of which none is worse than another one in value and area.
  void check_answers() {
    if (!certificate_.is_front && answers_.size() > certificate_.top) {
      wrong(fmt::format("names {} designs as the best {}", answers_.size(), certificate_.top));
    }
    double least_area = kInfinity;
    for (std::size_t i = 0; certificate_.is_front && i < answers_.size(); ++i) {
      const auto& [value, area] = answers_[i];
      const bool is_worse = i > 0 && value > answers_[i - 1].first * (1 + kTolerance);
      if (area > least_area * (1 + kTolerance) || (is_worse && area >= least_area)) {
        wrong(fmt::format("names a design of {} and {} mm2, and one that is no worse in either",
                          value, area));
      }
      least_area = std::min(least_area, area);
    }
  }

  // ---- boxes ----

  // What a design of at least this area must be better than to be wanted.
  double worth(double area) const {
    if (!certificate_.is_front) {
      return answers_.size() < certificate_.top ? kInfinity : answers_[certificate_.top - 1].first;
    }
    for (const auto& [value, of_answer] : answers_) {  // by value
      if (of_answer <= area * (1 + kTolerance)) {
        return value;
      }
    }
    return kInfinity;
  }

  // Has the claim about this one design been checked, with bounds of its own?
  bool is_decided(const DesignLeaf& leaf) const {
    std::pair<std::size_t, std::vector<std::size_t>> design{leaf.space, {}};
    for (const auto& interval : leaf.box) {
      design.second.push_back(interval.first);
    }
    const bool several = certificate_.top > 1 || certificate_.is_front;
    return several && found_.contains(design);
  }

  void check_leaf(const DesignLeaf& leaf) {
    if (leaf.why == DesignLeaf::Why::kUnreadable) {
      check_unreadable(leaf);
      return;
    }
    if (is_single(leaf.box) && is_decided(leaf)) {
      return;
    }
    try {
      const auto machines = bounds_.machines(leaf.space, leaf.box);
      const std::string open =
          machines ? why_open(leaf, *machines) : "its machines differ in what no bound covers";
      if (!open.empty()) {
        wrong(fmt::format("{}: {}", named(leaf.space, leaf.box), open));
      }
    } catch (const ConfigError& error) {
      wrong(
          fmt::format("{}: {}", named(leaf.space, leaf.box), error.diagnostics().front().message));
    }
  }

  std::string why_open(const DesignLeaf& leaf, const DesignBounds::Machines& machines) {
    const std::optional<double> area = bounds_.area(machines.range.least);
    if (leaf.why == DesignLeaf::Why::kArea) {
      return certificate_.max_area && area && *area > *certificate_.max_area
                 ? ""
                 : fmt::format("is not beyond the area allowed: {} mm2", area.value_or(0));
    }
    const double wanted = worth(area.value_or(0));
    if (leaf.why == DesignLeaf::Why::kLimit) {
      return why_within_limits(machines, wanted);
    }
    const double enough = worth_proving(wanted);
    const double bound = bounds_.value(machines, enough);
    return bound >= enough ? ""
                           : fmt::format(
                                 "a design of it may be better: its bound is {}, and {} "
                                 "would be needed",
                                 bound, enough);
  }

  // No design keeps the limits and is better than what is wanted.
  std::string why_within_limits(const DesignBounds::Machines& machines, double wanted) {
    if (certificate_.max_latency) {
      const double least = *certificate_.max_latency * (1 + kTolerance / 100);
      if (bounds_.seconds(machines, least) >= least) {
        return "";
      }
    }
    double most = certificate_.max_energy.value_or(kInfinity);
    if (certificate_.max_power) {
      const double power = *certificate_.max_power / kMilliwatts;  // pJ a second
      if (certificate_.max_latency) {
        most = std::min(most, power * *certificate_.max_latency);
      }
      if (certificate_.is_joint) {  // E E <= E P T < P wanted
        most = std::min(most, std::sqrt(power * wanted));
      } else if (certificate_.function.is_latency()) {
        most = std::min(most, power * wanted);
      }
    }
    const double least = most * (1 + kTolerance / 100);
    return most < kInfinity && bounds_.energy(machines, least) >= least
               ? ""
               : "a design of it may keep the limits";
  }

  void check_unreadable(const DesignLeaf& leaf) {
    std::vector<std::size_t> values;
    for (const auto& interval : leaf.box) {
      values.push_back(interval.first);
    }
    try {
      certificate_.spaces[leaf.space].arch(values);
      wrong(fmt::format("{}: can be read", named(leaf.space, leaf.box)));
    } catch (const ConfigError&) {
      if (!is_single(leaf.box)) {
        wrong(fmt::format("{}: is more than one design that cannot be read",
                          named(leaf.space, leaf.box)));
      }
    }
  }

  // ---- the reading of machines ----

  // Nodes of a machine are read for boxes apart from each other. They are compared with those of
  // the machine as a whole: of all designs, or of as many as are compared at most, at random.
  void compare_nodes() {
    std::random_device seed;  // whoever wrote the certificate must not know which are drawn
    Rng rng{seed()};
    for (std::size_t s = 0; s < certificate_.spaces.size(); ++s) {
      DesignGrid& grid = certificate_.spaces[s];
      const Box all = grid.all();
      const bool is_small = volume(all) <= static_cast<double>(kMostCompared);
      const std::size_t designs = is_small ? static_cast<std::size_t>(volume(all)) : kMostCompared;
      for (std::size_t number = 0; number < designs; ++number) {
        std::vector<std::size_t> values(all.size());
        std::size_t left = number;
        for (std::size_t a = all.size(); a-- > 0;) {
          const std::size_t size = all[a].second + 1;
          values[a] = is_small ? left % size : rng.below(size);
          left /= size;
        }
        try {
          if (!grid.is_node_by_node(values)) {
            wrong(fmt::format("{}: its nodes depend on each other", named(s, single(values))));
          }
          ++verdict_.compared;
        } catch (const ConfigError&) {  // no machine
        }
      }
    }
  }

  // ---- bounds of layers ----

  void check_proofs() {
    std::vector<std::size_t> open;
    for (std::size_t p = 0; p < certificate_.proofs.size(); ++p) {
      if (bounds_.needed()[p]) {
        open.push_back(p);
      }
    }
    verdict_.bounds = open.size();
    if (options_.sample > 0 && options_.sample < open.size()) {
      std::vector<std::size_t> drawn;
      std::mt19937 draw{std::random_device{}()};  // see compare_nodes()
      std::sample(open.begin(), open.end(), std::back_inserter(drawn), options_.sample, draw);
      open = std::move(drawn);
    }
    std::vector<Range> ranges;
    for (const std::size_t p : open) {
      const LayerProof& proof = certificate_.proofs[p];
      ranges.push_back(*certificate_.spaces[proof.space].range(proof.box));
    }
    std::vector<std::string> problems(open.size());
    for_each_on_threads(open.size(), options_.threads, [&](std::size_t i) {
      problems[i] = options_.stop.is_set() ? "the check was stopped"
                                           : why_unproven(certificate_.proofs[open[i]], ranges[i]);
    });
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!problems[i].empty()) {
        wrong(fmt::format("{}:{}: {}", certificate_.file, certificate_.proofs[open[i]].line,
                          problems[i]));
      }
    }
    verdict_.reproved = open.size();
  }

  // By the checker of one layer.
  std::string why_unproven(const LayerProof& proof, const Range& range) const {
    const Workload& layer = *certificate_.layers[proof.layer].workload;
    const Arch arch = best_machine(range, &layer);
    if (timing_model(arch).is_engine) {
      return "bounds on engines with schedules are not known to the checker";
    }
    const bool has_limits =
        certificate_.max_energy || certificate_.max_latency || certificate_.max_power;
    const bool by_time =
        proof.function.uses_latency() || certificate_.function.uses_latency() || has_limits;
    if (by_time && may_leave_remainders(arch)) {
      return "folds that leave a remainder on an array are not known to the checker";
    }
    Goal goal;
    goal.function = proof.function;
    goal.ramped = certificate_.ramped;
    Problem problem{arch, layer};
    Rules rules = all_mappings(problem);
    Certificate claimed{certificate_.file,
                        certificate_.tool,
                        std::move(problem),
                        goal,
                        std::move(rules),
                        kNotCounted,
                        {},
                        kInfinity,
                        proof.bound,
                        {}};
    Claim others;
    others.is_of_others = true;
    others.bound = proof.bound;
    others.line = proof.line;
    claimed.claims.push_back(others);
    CheckOptions options{1, options_.max_steps};
    options.effort.stop = options_.stop;
    const Verdict verdict = check_certificate(claimed, options);
    return verdict.problems.empty()
               ? ""
               : fmt::format("layer {}: {}", proof.layer, verdict.problems.front());
  }

  DesignCertificate& certificate_;
  const DesignCheckOptions& options_;
  DesignBounds bounds_;
  DesignVerdict verdict_;
  std::vector<std::pair<double, double>> answers_;  // value, area; by value
  std::set<std::pair<std::size_t, std::vector<std::size_t>>> found_;
};

}  // namespace

DesignVerdict check_design(DesignCertificate& certificate, const DesignCheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  DesignVerdict verdict;
  try {
    verdict = DesignChecker{certificate, options}.run();
  } catch (const ConfigError& error) {
    verdict.problems.push_back(error.diagnostics().front().message);
  }
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace mapsim::check
