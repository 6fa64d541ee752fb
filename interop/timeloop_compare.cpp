// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace mapsim {

namespace {

// Walking every iteration beyond this many is left out.
constexpr double kMaxWalk = 200'000;
// Energies are printed with two decimals.
constexpr double kEnergyDigits = 0.005 + 1e-6;

using Prediction = std::function<double(TimeloopRules)>;

// From what Timeloop alone does to what changes a single number: the order in which rules are
// given up as needless.
constexpr TimeloopRule kOrder[] = {
    TimeloopRule::kFloatCycles,     TimeloopRule::kClusterPaysOnce, TimeloopRule::kOneEnergy,
    TimeloopRule::kFirstFills,      TimeloopRule::kWholeClusters,   TimeloopRule::kRest,
    TimeloopRule::kNominalCycles,   TimeloopRule::kInstances,       TimeloopRule::kVectorAccess,
    TimeloopRule::kRoundedAverages, TimeloopRule::kPartition,       TimeloopRule::kAverageShare,
    TimeloopRule::kUniform,         TimeloopRule::kMasking,         TimeloopRule::kUnscaledHops,
    TimeloopRule::kOneWay,          TimeloopRule::kPackedPlaces,    TimeloopRule::kNeighbourLinks,
    TimeloopRule::kDirection,       TimeloopRule::kExtrapolation,   TimeloopRule::kWholeDelta,
    TimeloopRule::kBoxHull};
static_assert(std::size(kOrder) == kTimeloopRules);

class Comparison {
 public:
  Comparison(const TimeloopDesign& design, const Problem& problem, const Counts& counts,
             const TimeloopResult& result, TimeloopRules all)
      : counter_{design}, problem_{problem}, counts_{counts}, result_{result}, all_{all} {}

  std::vector<ComparedFigure> run() {
    for (std::size_t l = 0; l < result_.levels.size(); ++l) {
      for (const TensorId t : problem_.workload().tensors.ids()) {
        compare_tensor(l, t);
        compare_network(l, t);
      }
      compare_cycles(l);
    }
    compare_whole();
    return std::move(rows_);
  }

 private:
  std::string name(std::size_t level) const {
    return counter_.design().machine.storages[level].name;
  }

  void compare_tensor(std::size_t l, TensorId t) {
    const auto& printed = result_.levels[l].tensors[index_of(t)];
    if (!printed) {
      return;
    }
    const TensorCounts& ours = counts_.levels[static_cast<LevelId>(l)][t];
    const bool output = t == problem_.workload().output();
    const std::string where = fmt::format("{} {}", name(l), problem_.workload().tensors[t].name);
    const auto row = [&](TimeloopFigure figure, std::int64_t theirs, std::int64_t own,
                         const auto& member) {
      add(figure, where, static_cast<double>(theirs), static_cast<double>(own), 0,
          [this, t, l, member](TimeloopRules rules) {
            return static_cast<double>(counter_.accesses(t, l, rules).*member);
          });
    };
    const AccessCounts& first = ours.busiest;
    row(TimeloopFigure::kFootprint, printed->tile, ours.footprint, &TimeloopAccesses::tile);
    row(TimeloopFigure::kReads, printed->reads, output ? first.readbacks : first.reads,
        &TimeloopAccesses::reads);
    row(TimeloopFigure::kFills, printed->fills, first.fills, &TimeloopAccesses::fills);
    row(TimeloopFigure::kUpdates, printed->updates, first.updates, &TimeloopAccesses::updates);
    add(TimeloopFigure::kEnergy, where, printed->energy, energy_without_drains(l, t), kEnergyDigits,
        [this, t, l](TimeloopRules rules) { return counter_.energy(t, l, rules); });
  }

  double energy_without_drains(std::size_t l, TensorId t) const {
    const TensorCounts& at = counts_.levels[static_cast<LevelId>(l)][t];
    const StorageEnergy& per_bit = problem_.arch().levels[static_cast<LevelId>(l)].energy;
    const auto bits = [](std::int64_t elements, Bits width) {
      return static_cast<double>(elements * width.count());
    };
    return per_bit.read.count() * bits(at.total.reads + at.total.readbacks, at.down_bits) +
           per_bit.write.count() * bits(at.total.fills, at.up_bits) +
           per_bit.update.count() * bits(at.total.updates, at.down_bits);
  }

  void compare_network(std::size_t l, TensorId t) {
    const auto& printed = result_.levels[l].networks[index_of(t)];
    if (!printed) {
      return;
    }
    const std::string where = fmt::format("{} {}", name(l), problem_.workload().tensors[t].name);
    std::optional<double> words;
    std::optional<double> energy;
    own_network(l, t, words, energy);
    add(TimeloopFigure::kNetworkWords, where, printed->words + printed->link_words, words, 0.5,
        [this, t, l](TimeloopRules rules) {
          const TimeloopNetwork at = counter_.network(t, l, rules);
          return at.words + at.link_words;
        });
    add(TimeloopFigure::kNetworkEnergy, where, printed->energy + printed->link_energy, energy,
        2 * kEnergyDigits,
        [this, t, l](TimeloopRules rules) { return counter_.network(t, l, rules).energy; });
  }

  // Of the fanout below a storage, if there is one: words of an average network, energy of all.
  void own_network(std::size_t l, TensorId t, std::optional<double>& words,
                   std::optional<double>& energy) const {
    const Arch& arch = problem_.arch();
    double networks = 1;
    for (const FanoutId f : arch.fanouts.ids()) {
      const NetworkCounts& at = counts_.networks[f][t];
      if (arch.levels_above[f] == l + 1 && arch.fanouts[f].energy_per_hop) {
        words = static_cast<double>(at.words) / networks;
        energy = arch.fanouts[f].energy_per_hop->count() * at.word_hops() *
                 static_cast<double>(at.bits.count());
      }
      networks *= static_cast<double>(counts_.used_x[f] * counts_.used_y[f]);
    }
  }

  // Words through the ports of the first instance, without drains.
  std::int64_t own_cycles(std::size_t l) const {
    const auto level = static_cast<LevelId>(l);
    std::int64_t read = 0;
    std::int64_t written = 0;
    for (const TensorCounts& at : counts_.levels[level]) {
      read += (at.busiest.reads + at.busiest.readbacks) * at.down_bits.count();
      written += at.busiest.fills * at.up_bits.count() + at.busiest.updates * at.down_bits.count();
    }
    std::int64_t cycles = counts_.steps;
    const auto limit = [&](const std::optional<BitsPerCycle>& bandwidth, std::int64_t bits) {
      if (bandwidth) {
        const double time = std::ceil(static_cast<double>(bits) / bandwidth->count());
        cycles = std::max(cycles, static_cast<std::int64_t>(time));
      }
    };
    const Bandwidth& bandwidth = problem_.arch().levels[level].bandwidth;
    limit(bandwidth.read, read);
    limit(bandwidth.write, written);
    limit(bandwidth.shared, read + written);
    return cycles;
  }

  void compare_cycles(std::size_t l) {
    const auto& printed = result_.levels[l].cycles;
    if (!printed) {
      return;
    }
    add(TimeloopFigure::kLevelCycles, name(l), static_cast<double>(*printed),
        static_cast<double>(own_cycles(l)), 0, [this, l](TimeloopRules rules) {
          return static_cast<double>(counter_.level_cycles(l, rules));
        });
  }

  void compare_whole() {
    add(TimeloopFigure::kMacs, "all", static_cast<double>(result_.computes),
        static_cast<double>(counts_.macs), 0,
        [this](TimeloopRules rules) { return static_cast<double>(counter_.computes(rules)); });
    std::int64_t cycles = counts_.steps;
    double energy = problem_.arch().compute.energy.count() * static_cast<double>(counts_.macs);
    double networks = 0;
    double own_networks = 0;
    double digits = kEnergyDigits;
    double network_digits = 0;
    for (std::size_t l = 0; l < result_.levels.size(); ++l) {
      cycles = std::max(cycles, own_cycles(l));
      for (const TensorId t : problem_.workload().tensors.ids()) {
        energy += energy_without_drains(l, t);
        if (const auto& printed = result_.levels[l].networks[index_of(t)]) {
          networks += printed->energy + printed->link_energy;
          network_digits += 2 * kEnergyDigits;
        }
        std::optional<double> words;
        std::optional<double> hops;
        own_network(l, t, words, hops);
        own_networks += hops.value_or(0);
        digits += 3 * kEnergyDigits;
      }
    }
    add(TimeloopFigure::kCycles, "all", static_cast<double>(result_.cycles),
        static_cast<double>(cycles), 0,
        [this](TimeloopRules rules) { return static_cast<double>(counter_.cycles(rules)); });
    add(TimeloopFigure::kTotalEnergy, "all", result_.energy - networks, energy, digits,
        [this](TimeloopRules rules) { return total(rules); });
    add(TimeloopFigure::kWholeEnergy, "all", result_.energy, energy + own_networks,
        digits + network_digits,
        [this](TimeloopRules rules) { return total(rules) + network_total(rules); });
  }

  double network_total(TimeloopRules rules) {
    double energy = 0;
    for (std::size_t l = 0; l < result_.levels.size(); ++l) {
      for (const TensorId t : problem_.workload().tensors.ids()) {
        energy +=
            result_.levels[l].networks[index_of(t)] ? counter_.network(t, l, rules).energy : 0;
      }
    }
    return energy;
  }

  double total(TimeloopRules rules) {
    double energy = counter_.compute_energy(rules);
    for (std::size_t l = 0; l < result_.levels.size(); ++l) {
      for (const TensorId t : problem_.workload().tensors.ids()) {
        energy += counter_.energy(t, l, rules);
      }
    }
    return energy;
  }

  void add(TimeloopFigure figure, const std::string& where, double theirs,
           std::optional<double> own, double digits, const Prediction& predict) {
    const auto same = [&](double value) {
      return std::abs(value - theirs) <= digits + 1e-12 * std::abs(theirs);
    };
    ComparedFigure row{figure, where, theirs, predict(all_), own, Verdict::kUnexplained, {}};
    if (own && same(*own)) {
      row.verdict = Verdict::kEqual;
    } else if (same(row.derived)) {
      row.verdict = Verdict::kExplained;
      row.rules = needed([&](TimeloopRules rules) { return same(predict(rules)); }, figure);
    }
    rows_.push_back(std::move(row));
  }

  // A set of rules of which none can be given up.
  TimeloopRules needed(const std::function<bool(TimeloopRules)>& explains, TimeloopFigure figure) {
    TimeloopRules rules = all_;
    for (const TimeloopRule rule : kOrder) {
      TimeloopRules fewer = rules;
      fewer.erase(rule);
      if (rules.contains(rule) && can_predict(fewer, figure) && explains(fewer)) {
        rules = fewer;
      }
    }
    return rules;
  }

  bool can_predict(TimeloopRules rules, TimeloopFigure figure) const {
    const bool sums = figure == TimeloopFigure::kEnergy || figure == TimeloopFigure::kTotalEnergy ||
                      figure == TimeloopFigure::kWholeEnergy ||
                      figure == TimeloopFigure::kNetworkEnergy;
    if (sums && counter_.uneven_instances() && !rules.contains(TimeloopRule::kInstances)) {
      return false;
    }
    const bool history =
        rules.contains(TimeloopRule::kDirection) || rules.contains(TimeloopRule::kNeighbourLinks);
    return rules.contains(TimeloopRule::kExtrapolation) || !history ||
           counter_.walk_visits() <= kMaxWalk;
  }

  TimeloopCounter counter_;
  const Problem& problem_;
  const Counts& counts_;
  const TimeloopResult& result_;
  TimeloopRules all_;
  std::vector<ComparedFigure> rows_;
};

}  // namespace

const char* to_string(TimeloopFigure figure) {
  switch (figure) {
    case TimeloopFigure::kFootprint:
      return "footprint";
    case TimeloopFigure::kReads:
      return "reads";
    case TimeloopFigure::kFills:
      return "fills";
    case TimeloopFigure::kUpdates:
      return "updates";
    case TimeloopFigure::kEnergy:
      return "energy";
    case TimeloopFigure::kLevelCycles:
      return "cycles of a level";
    case TimeloopFigure::kMacs:
      return "MACs";
    case TimeloopFigure::kCycles:
      return "cycles";
    case TimeloopFigure::kTotalEnergy:
      return "total energy, networks left out";
    case TimeloopFigure::kWholeEnergy:
      return "total energy, networks included";
    case TimeloopFigure::kNetworkWords:
      return "network words";
    case TimeloopFigure::kNetworkEnergy:
      return "network energy";
  }
  return "";
}

std::vector<ComparedFigure> compare(const TimeloopDesign& design, const Problem& problem,
                                    const Counts& counts, const TimeloopResult& result,
                                    TimeloopRules all) {
  return Comparison{design, problem, counts, result, all}.run();
}

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return "equal";
    case Verdict::kExplained:
      return "derived";
    case Verdict::kUnexplained:
      return "unexplained";
  }
  return "";
}

}  // namespace mapsim
