// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/prices.hpp"

#include <algorithm>
#include <cmath>

#include "mapper/exact/cutting_planes.hpp"
#include "mapper/exact/instance.hpp"
#include "mapper/exact/moves.hpp"

namespace mapsim::exact {

namespace {

// What rounding may have added to a sum of a few thousand terms, relatively.
constexpr double kNoise = 1e-12;

}  // namespace

PricedCosts::PricedCosts(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                         Weights weights)
    : skeleton_{skeleton},
      unrolled_{unrolled},
      costs_{costs},
      weights_{std::move(weights)},
      plain_(skeleton.placings().size()),
      sliding_(skeleton.placings().size(),
               PerDim<std::vector<double>>(unrolled.lattices.front().dims())) {}

double PricedCosts::price(std::size_t placing) const {
  const auto room = skeleton_.room_of(skeleton_.placings()[placing]);
  return room ? weights_.room[*room] : 0;
}

// sum[i] = weighted costs; infinite where the energy is.
void PricedCosts::add_components(const std::vector<double>& cost, std::vector<double>& sum) const {
  const std::size_t size = cost.size() / weights_.component.size();
  sum.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    sum[i] = cost[i] < kInfinity ? weights_.component[0] * cost[i] : kInfinity;
  }
  for (std::size_t k = 1; k < weights_.component.size(); ++k) {
    const double weight = weights_.component[k];
    for (std::size_t i = 0; i < size && weight > 0; ++i) {
      sum[i] += weight * cost[k * size + i];
    }
  }
}

const std::vector<double>& PricedCosts::plain(std::size_t placing) {
  std::vector<double>& priced = plain_[placing];
  if (priced.empty()) {
    add_components(costs_.plain(placing), priced);
    const std::vector<double>& bits = costs_.bits(placing);
    const double each = price(placing);
    for (std::size_t tile = 0; tile < bits.size() && each > 0; ++tile) {
      priced[tile] += each * bits[tile];
    }
  }
  return priced;
}

const std::vector<double>& PricedCosts::sliding(std::size_t placing, DimId dim) {
  std::vector<double>& priced = sliding_[placing][dim];
  if (priced.empty()) {
    const Lattice& lattice = unrolled_.lattices[skeleton_.placings()[placing].crossed];
    const auto& runs = lattice.runs(dim);
    const std::size_t rests = lattice.size() / lattice.positions(dim).size();
    add_components(costs_.sliding(placing, dim), priced);
    const std::vector<double>& bits = costs_.bits(placing);
    const double each = price(placing);
    for (std::size_t run = 0; run < runs.size() && each > 0; ++run) {
      for (std::size_t rest = 0; rest < rests; ++rest) {
        priced[run * rests + rest] += each * bits[lattice.from_rest(dim, rest, runs[run].to)];
      }
    }
  }
  return priced;
}

std::vector<double> PricedCosts::mac(const std::vector<std::size_t>& placings, std::size_t tile) {
  std::vector<double> sum;
  add_components(costs_.mac(placings, tile), sum);
  return sum;
}

void Prices::narrow(const Node& node, const double* paid, double refund, Outlook& outlook,
                    std::vector<Line>& lines) const {
  double sum = constant_ + bound_.at(node, 0);
  if (!(sum < kInfinity)) {
    outlook.energy = kInfinity;
    return;
  }
  for (std::size_t k = 0; k < weights_.component.size(); ++k) {
    sum += weights_.component[k] * paid[k];
  }
  sum = sum * (1 - kNoise) - refund * (1 + kNoise);
  if (!slope_) {
    outlook.latency = std::max(outlook.latency, std::ceil(sum));
  } else if (*slope_ > 0) {
    lines.push_back({sum, *slope_});
  } else {
    outlook.energy = std::max(outlook.energy, sum);
  }
}

namespace {

constexpr int kSets = 4;        // of prices
constexpr int kSteps = 10;      // for each, at most; a bound pass each
constexpr double kGain = 0.02;  // of what is missing: less is none, and no more is worth a step

// The components of a whole way through the graph, and the bits that it places in each room.
struct Way {
  std::vector<double> components;
  std::vector<double> used;
};

class Pricing {
 public:
  Pricing(Instance& instance, const std::vector<std::size_t>& rooms)
      : instance_{instance},
        valuation_{instance.valuation},
        ports_{instance.valuation.what_is_tracked().ports ? instance.skeleton.ports().size() : 0},
        rooms_{rooms} {}

  std::vector<Prices> run(const NextAim& next_aim) {
    std::vector<Prices> found;
    for (int i = 0; i < kSets; ++i) {
      std::vector<Line> lines;
      const Outlook root = outlook(found, lines);
      const auto aim = next_aim(root);
      if (!aim) {
        break;
      }
      if (auto prices = approach(*aim, root)) {
        found.push_back(std::move(*prices));
      } else if (!aim->of_latency) {
        break;
      }
    }
    return found;
  }

 private:
  // The start that leaves most: nothing but the bound tells starts apart, and they are few.
  Outlook outlook(const std::vector<Prices>& found, std::vector<Line>& lines) const {
    std::vector<double> none(instance_.costs.components(), 0.0);
    std::vector<double> values(none.size());
    Outlook widest{kInfinity};
    Key least;
    for (const std::size_t pointers : instance_.skeleton.starts()) {
      const Node start = start_node(pointers);
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = instance_.bound.at(start, k);
      }
      Outlook here = valuation_.outlook(values.data());
      std::vector<Line> lines_here;
      for (const Prices& prices : found) {
        double refund = 0;
        for (const std::size_t r : rooms_) {
          refund += prices.price(r) * instance_.skeleton.rooms()[r].bits;
        }
        prices.narrow(start, none.data(), refund, here, lines_here);
      }
      here.lines = lines_here;
      const Key key = valuation_.key(here);
      if (key < least) {
        least = key;
        widest = here;
        lines = std::move(lines_here);
      }
    }
    widest.lines = lines;
    return widest;
  }
  Node start_node(std::size_t pointers) const {
    return {0, pointers, instance_.unrolled.lattices.front().size() - 1};
  }
  Node best_start(const Bound& bound) const {
    Node best = start_node(instance_.skeleton.starts().front());
    for (const std::size_t pointers : instance_.skeleton.starts()) {
      if (bound.at(start_node(pointers), 0) < bound.at(best, 0)) {
        best = start_node(pointers);
      }
    }
    return best;
  }

  // Multipliers x: of each port [pJ per cycle; of_latency: a share of 1], of latency itself (the
  // slope), of each room [pJ, or cycles, for all of its bits].
  using Multipliers = std::vector<double>;
  std::size_t of_slope() const { return ports_; }
  std::size_t of_room(std::size_t i) const { return ports_ + 1 + i; }

  // The dual function of aim and multipliers is the least, over all ways, of a plane; it bounds
  // energy at the latency aimed at, or latency. Kelley's method (1960): ways that are known give a
  // model of it, and where that is highest the next one is looked for.
  std::optional<Prices> approach(const Aim& aim, const Outlook& root) {
    const double target = aim.of_latency ? aim.latency : aim.energy;
    const double known = aim.of_latency ? root.latency : root.energy_at(aim.latency);
    const double gain = kGain * (target - known);
    double best_value = known + gain;
    std::optional<Prices> best;
    Multipliers most = first_box(aim, target - known);
    Multipliers at(most.size(), 0.0);
    for (int i = 0; i < kSteps && best_value < target; ++i) {
      if (!ways_.empty()) {
        const CuttingPlanes model = make_model(aim);
        at = model.highest(most);
        if (model.at(at) <= best_value + gain) {
          break;
        }
      }
      const Terms terms = weigh(at, aim);
      PricedCosts costs(instance_.skeleton, instance_.unrolled, instance_.costs, terms.weights);
      Bound bound(instance_.skeleton, instance_.unrolled, costs,
                  {nullptr, kInfinity, &instance_.bound});
      const Node from = best_start(bound);
      const double value = bound.at(from, 0) + terms.constant - terms.refund -
                           (terms.slope > 0 && !aim.of_latency ? terms.slope * aim.latency : 0);
      if (!(value < kInfinity)) {
        break;
      }
      ways_.push_back(cheapest(terms.weights, bound, from));
      if (value > best_value) {
        best_value = value;
        const std::optional<double> slope =
            aim.of_latency ? std::nullopt : std::optional(terms.slope);
        best.emplace(terms.weights, slope, terms.constant, std::move(bound));
        for (std::size_t j = 0; j < at.size(); ++j) {
          most[j] *= at[j] > 0.99 * most[j] && !aim.of_latency ? 4 : 1;
        }
      }
    }
    return best;
  }

  Multipliers first_box(const Aim& aim, double gain) const {
    Multipliers most(ports_ + 1 + rooms_.size(), aim.of_latency ? 1.0 : 4 * gain / aim.latency);
    most[of_slope()] *= static_cast<double>(aim.of_latency ? 0 : ports_);
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      most[of_room(i)] = 4 * gain;
    }
    for (std::size_t q = 0; q < ports_ && !(aim.latency < kInfinity); ++q) {
      most[q] = leakage_of_ports(aim);
    }
    return most;
  }
  // Steady, the ports' weights may also sum to the leakage of a cycle.
  double leakage_of_ports(const Aim& aim) const {
    return !aim.of_latency && valuation_.objective().mode == LatencyMode::kSteady
               ? valuation_.leakage_per_cycle()
               : 0;
  }

  // Within each group the ports' weights sum to no more than that of latency.
  CuttingPlanes make_model(const Aim& aim) const {
    const double compute = valuation_.compute_cycles();
    const bool has_edges = valuation_.what_is_tracked().edges;
    CuttingPlanes model(ports_ + 1 + rooms_.size());
    for (const Way& way : ways_) {
      const double edges = has_edges ? way.components.back() : 0;
      std::vector<double> slope(ports_ + 1 + rooms_.size(), 0.0);
      for (std::size_t q = 0; q < ports_; ++q) {
        slope[q] = way.components[1 + q] / instance_.skeleton.ports()[q].bits_per_cycle -
                   (valuation_.group(q) == 0 ? edges + compute : 0);
      }
      if (!aim.of_latency && aim.latency < kInfinity) {
        slope[of_slope()] = edges + compute - aim.latency;
      }
      for (std::size_t i = 0; i < rooms_.size(); ++i) {
        slope[of_room(i)] = way.used[rooms_[i]] / instance_.skeleton.rooms()[rooms_[i]].bits - 1;
      }
      model.add(aim.of_latency ? edges + compute
                               : way.components[0] + valuation_.leakage_per_cycle() * compute,
                std::move(slope));
    }
    for (std::size_t g = 0; g < groups(); ++g) {
      std::vector<double> sum(ports_ + 1 + rooms_.size(), 0.0);
      for (std::size_t q = 0; q < ports_; ++q) {
        sum[q] = valuation_.group(q) == g ? 1 : 0;
      }
      sum[of_slope()] = aim.of_latency ? 0 : -1;
      model.require(std::move(sum), aim.of_latency ? 1 : leakage_of_ports(aim));
    }
    return model;
  }
  std::size_t groups() const {
    std::size_t groups = 0;
    for (std::size_t q = 0; q < ports_; ++q) {
      groups = std::max(groups, valuation_.group(q) + 1);
    }
    return groups;
  }

  struct Terms {
    Weights weights;
    double slope = 0;
    double constant = 0;
    double refund = 0;  // at the start
  };

  // The least slope that the ports' weights allow; in group 0 the compute units, and the
  // edges with them, have what is missing.
  Terms weigh(Multipliers& at, const Aim& aim) const {
    Terms terms;
    std::vector<double> sums(groups() + 1, 0.0);
    for (std::size_t q = 0; q < ports_; ++q) {
      sums[valuation_.group(q)] += at[q];
    }
    const double busiest = *std::max_element(sums.begin(), sums.end());
    const double leakage = aim.of_latency || ports_ == 0 ? 0 : valuation_.leakage_per_cycle();
    const double most = aim.of_latency            ? 1
                        : aim.latency < kInfinity ? kInfinity
                                                  : leakage_of_ports(aim);
    const double shrink = busiest > most ? busiest / most : 1;  // what the model's rounding adds
    for (std::size_t q = 0; q < ports_; ++q) {
      at[q] /= shrink;
    }
    terms.slope = aim.of_latency            ? 1
                  : aim.latency < kInfinity ? std::max(0.0, busiest - leakage_of_ports(aim))
                                            : 0;
    at[of_slope()] = terms.slope;
    terms.constant = (terms.slope + leakage - sums[0] / shrink) * valuation_.compute_cycles();
    terms.weights.component.push_back(aim.of_latency ? 0 : 1);
    for (std::size_t q = 0; q < ports_; ++q) {
      terms.weights.component.push_back(at[q] / instance_.skeleton.ports()[q].bits_per_cycle);
    }
    if (valuation_.what_is_tracked().edges) {
      terms.weights.component.push_back(std::max(0.0, terms.slope - sums[0] / shrink));
    }
    terms.weights.room.assign(instance_.skeleton.rooms().size(), 0.0);
    for (std::size_t i = 0; i < rooms_.size(); ++i) {
      terms.weights.room[rooms_[i]] = at[of_room(i)] / instance_.skeleton.rooms()[rooms_[i]].bits;
      terms.refund += at[of_room(i)];
    }
    return terms;
  }

  // Along the least weighted sum to the end.
  Way cheapest(const Weights& weights, const Bound& bound, Node at) const {
    Way way{std::vector<double>(weights.component.size(), 0.0),
            std::vector<double>(instance_.skeleton.rooms().size(), 0.0)};
    for (bool ended = false; !ended;) {
      double least = kInfinity;
      Step next;
      Way added;
      for_each_move(
          instance_.skeleton, instance_.unrolled, instance_.costs, at,
          [&](const Node& node) { return bound.at(node, 0) < kInfinity; },
          [&](const Step& step, std::span<const Payment> payments) {
            Way here = sum_of(payments, weights.component.size());
            double total = step.kind == Step::Kind::kEnd ? 0 : bound.at(step.node, 0);
            for (std::size_t k = 0; k < here.components.size(); ++k) {
              total += weights.component[k] > 0 ? weights.component[k] * here.components[k] : 0;
            }
            for (std::size_t r = 0; r < here.used.size(); ++r) {
              total += weights.room[r] * here.used[r];
            }
            if (here.components[0] < kInfinity && total < least) {
              least = total;
              next = step;
              added = std::move(here);
            }
          });
      ended = !(least < kInfinity) || next.kind == Step::Kind::kEnd;
      at = next.node;
      for (std::size_t k = 0; k < added.components.size(); ++k) {
        way.components[k] += added.components[k];
      }
      for (std::size_t r = 0; r < added.used.size(); ++r) {
        way.used[r] += added.used[r];
      }
    }
    return way;
  }
  Way sum_of(std::span<const Payment> payments, std::size_t components) const {
    Way sum{std::vector<double>(components, 0.0),
            std::vector<double>(instance_.skeleton.rooms().size(), 0.0)};
    for (const Payment& payment : payments) {
      for (std::size_t k = 0; k < components; ++k) {
        sum.components[k] += payment.cost[k * payment.step];
      }
      if (payment.placing != Placing::kMac && payment.cost[0] < kInfinity) {
        if (const auto room =
                instance_.skeleton.room_of(instance_.skeleton.placings()[payment.placing])) {
          sum.used[*room] += instance_.costs.bits(payment.placing)[payment.tile];
        }
      }
    }
    return sum;
  }

  Instance& instance_;
  const Valuation& valuation_;
  std::size_t ports_;  // that are tracked
  const std::vector<std::size_t>& rooms_;
  std::vector<Way> ways_;
};

}  // namespace

std::vector<Prices> find_prices(Instance& instance, const std::vector<std::size_t>& rooms,
                                const NextAim& next_aim) {
  return Pricing(instance, rooms).run(next_aim);
}

}  // namespace mapsim::exact
