// SPDX-License-Identifier: Apache-2.0
// Layer by layer: partial choices that another one beats in all that counts are left out, and
// those that no choice of the other layers makes good enough.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "campaign/undominated.hpp"
#include "design/limits.hpp"

namespace mapsim {

namespace {

struct Partial {
  double energy = 0, cycles = 0, value = 0;  // the last of objectives that are not of totals
  std::size_t before = 0, point = 0;         // of the layer before, and of this one
};

// What the layers that are left come to at least.
struct Rest {
  std::vector<SupportLine> lines;
  double value = 0;
};

constexpr std::size_t kWeights = 6;  // of lines, beside those of energy and of latency alone

class Chooser {
 public:
  Chooser(const WithinLimits& within, const std::vector<CountedFront>& layers, double worth,
          std::size_t most)
      : within_{within}, layers_{layers}, worth_{worth / within.unit}, most_{most} {
    for (const CountedFront& layer : layers) {
      points_.push_back(undominated(layer.front.points));
    }
    find_rests();
  }

  LimitedChoice run() {
    std::vector<std::vector<Partial>> all{{Partial{}}};
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      all.push_back(next(all.back(), l));
    }
    LimitedChoice choice;
    const auto value = [&](const Partial& partial) {
      return within_.is_of_totals() ? within_.of_totals(partial.energy, partial.cycles)
                                    : partial.value;
    };
    std::size_t best = all.back().size();
    for (std::size_t i = 0; i < all.back().size(); ++i) {
      const Partial& partial = all.back()[i];
      if (within_.allows(partial.energy, partial.cycles) &&
          (best == all.back().size() || value(partial) < value(all.back()[best]))) {
        best = i;
      }
    }
    if (best < all.back().size()) {
      choice.value = value(all.back()[best]) * within_.unit;
      for (std::size_t l = layers_.size(); l > 0; --l) {
        const Partial& partial = all[l][best];
        choice.points.insert(choice.points.begin(), partial.point);
        best = partial.before;
      }
    }
    choice.lower = std::min(choice.value, left_out_ * within_.unit);
    return choice;
  }

 private:
  const LayerPoint& point(std::size_t layer, std::size_t index) const {
    return layers_[layer].front.points[index];
  }
  double value_of(std::size_t layer, const LayerPoint& point) const {
    return within_.objective.function.value(point.energy, point.cycles) * layers_[layer].count;
  }

  // Slopes of the fronts, evenly drawn.
  std::vector<double> weights() const {
    std::vector<double> slopes;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (std::size_t i = 1; i < points_[l].size(); ++i) {
        const LayerPoint& fast = point(l, points_[l][i - 1]);
        const LayerPoint& slow = point(l, points_[l][i]);
        slopes.push_back((fast.energy - slow.energy) / (slow.cycles - fast.cycles));
      }
    }
    std::sort(slopes.begin(), slopes.end());
    std::vector<double> drawn{0, kNoMapping};
    for (std::size_t i = 0; i < kWeights && !slopes.empty(); ++i) {
      drawn.push_back(slopes[(2 * i + 1) * slopes.size() / (2 * kWeights)]);
    }
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    return drawn;
  }

  void find_rests() {
    rests_.resize(layers_.size() + 1);
    for (const double weight : weights()) {
      rests_.back().lines.push_back({weight, 0});
    }
    for (std::size_t l = layers_.size(); l-- > 0;) {
      rests_[l] = rests_[l + 1];
      const auto least = [&](const auto& of) {
        double found = kNoMapping;
        for (const std::size_t i : points_[l]) {
          found = std::min(found, of(point(l, i)));
        }
        return found;
      };
      for (SupportLine& line : rests_[l].lines) {
        line.value +=
            layers_[l].count * least([&](const LayerPoint& at) {
              return std::isinf(line.weight) ? at.cycles : at.energy + line.weight * at.cycles;
            });
      }
      rests_[l].value += least([&](const LayerPoint& at) { return value_of(l, at); });
    }
  }

  // Of all choices that begin so.
  double bound(const Partial& partial, const Rest& rest) const {
    std::vector<SupportLine> lines = rest.lines;
    for (SupportLine& line : lines) {
      line.value +=
          std::isinf(line.weight) ? partial.cycles : partial.energy + line.weight * partial.cycles;
    }
    return std::max(least_within(within_, std::move(lines)).value, partial.value + rest.value);
  }

  // Whatever the other layers come to, `a` is no worse than `b`. More latency may keep a limit on
  // power: what `b` has of that must cost as much energy as it allows.
  bool beats(const Partial& a, const Partial& b) const {
    const double allowed = std::isinf(within_.power) || a.cycles == b.cycles
                               ? 0
                               : within_.power * (b.cycles - a.cycles);
    return a.cycles <= b.cycles && a.energy <= b.energy - allowed && a.value <= b.value;
  }

  std::vector<Partial> next(const std::vector<Partial>& before, std::size_t layer) {
    std::vector<Partial> all;
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (const std::size_t p : points_[layer]) {
        const LayerPoint& at = point(layer, p);
        const double count = layers_[layer].count;
        all.push_back({before[i].energy + count * at.energy, before[i].cycles + count * at.cycles,
                       within_.is_of_totals() ? 0 : before[i].value + value_of(layer, at), i, p});
      }
    }
    std::sort(all.begin(), all.end(), [](const Partial& a, const Partial& b) {
      return std::tuple{a.cycles, a.energy, a.value, a.before, a.point} <
             std::tuple{b.cycles, b.energy, b.value, b.before, b.point};
    });
    std::vector<std::pair<double, Partial>> kept;
    double least_energy = kNoMapping;  // of those that are kept
    for (const Partial& partial : all) {
      const auto is_beaten = [&](const auto& other) { return beats(other.second, partial); };
      if (partial.energy >= least_energy && std::any_of(kept.rbegin(), kept.rend(), is_beaten)) {
        continue;
      }
      const double least = bound(partial, rests_[layer + 1]);
      if (std::isinf(least) || least * (1 + kRounding / 2) >= worth_) {
        left_out_ = std::min(left_out_, least);
      } else {
        kept.emplace_back(least, partial);
        least_energy = std::min(least_energy, partial.energy);
      }
    }
    if (kept.size() > most_) {
      std::stable_sort(kept.begin(), kept.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      left_out_ = std::min(left_out_, kept[most_].first);
      kept.resize(most_);
    }
    std::vector<Partial> partials;
    for (const auto& [least, partial] : kept) {
      partials.push_back(partial);
    }
    return partials;
  }

  const WithinLimits& within_;
  const std::vector<CountedFront>& layers_;
  double worth_;
  std::size_t most_;
  std::vector<std::vector<std::size_t>> points_;  // of each layer
  std::vector<Rest> rests_;                       // of the layers from each on
  double left_out_ = kNoMapping;                  // the least bound of what was left out
};

}  // namespace

LimitedChoice choose_within(const WithinLimits& within, const std::vector<CountedFront>& layers,
                            double worth, std::size_t most) {
  return Chooser{within, layers, worth, most}.run();
}

}  // namespace mapsim
