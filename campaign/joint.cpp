// SPDX-License-Identifier: Apache-2.0
#include "campaign/joint.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "costmodel/timing/model.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

// Weights that are searched first, so that machines that are alike share answers: powers of its
// square root.
constexpr double kWeightGrid = 2;
// The bound is looked at between neighbouring weights of at most this ratio, where curves of EDP
// hold: such a step costs less than a share of 10^-3 of what the curves say.
constexpr double kWeightStep = 1.09;
constexpr int kSteps = 48;
constexpr int kMostCuts = 60;
// Two figures of one optimum.
constexpr double kTight = 1e-13;

double infinite() { return kNoMapping; }

double grid_weight(int step) { return std::pow(kWeightGrid, step / 2.0); }

double middle(double low, double high) {
  return low > 0 && !std::isinf(high) ? std::sqrt(low) * std::sqrt(high)
         : low > 0                    ? 2 * low
                                      : high / 2;
}

// The least of (energy + w * cycles) / (2 sqrt(w)) for w from `low` to `high`, and where.
std::pair<double, double> least_root(double energy, double cycles, double low, double high) {
  const double best = cycles > 0 ? energy / cycles : infinite();
  const double at = std::clamp(best, low, high);
  if (at <= 0) {
    return {energy > 0 ? infinite() : 0, low};
  }
  return {std::isinf(at) ? 0 : (energy + at * cycles) / (2 * std::sqrt(at)), at};
}

}  // namespace

ObjectiveFunction JointQuestion::function() const {
  return !weight               ? ObjectiveFunction::product(1, 1)
         : std::isinf(*weight) ? ObjectiveFunction::product(0, 1)
         : *weight > 0         ? ObjectiveFunction::weighted_sum(*weight)
                               : ObjectiveFunction::product(1, 0);
}

std::vector<SupportLine> free_lines(const Problem& problem) {
  const auto macs = static_cast<double>(problem.macs());
  std::vector<SupportLine> lines{
      {kNoMapping, macs * problem.mac_density() / static_cast<double>(problem.arch().mac_units())}};
  if (problem.sparse() == nullptr) {
    lines.push_back({0, macs * problem.mac_energy().count()});
  } else if (may_leave_remainders(problem.arch())) {
    lines.push_back({0, 0});  // none that is searched for: see may_leave_remainders()
  }
  return lines;
}

JointLayer unsearched_layer(double count, const Problem& problem) {
  JointLayer layer{count, {}};
  if (!timing_model(problem.arch()).is_engine) {
    layer.support.lines = free_lines(problem);
  }
  return layer;
}

JointLayer priced_layer(double energy, double cycles) {
  JointLayer layer{1, {}, true};
  layer.support.root = std::sqrt(energy * cycles);
  layer.support.lines = {{0, energy}, {kNoMapping, cycles}};
  layer.support.points = {{energy, cycles}};
  return layer;
}

std::string least_choice_text(double gap) {
  return !std::isfinite(gap) ? "no bound is known"
         : gap > kRounding   ? "no choice has less by more than " + percent(gap)
                             : "no choice has less";
}

bool LayerFigures::is_exact() const { return value <= lower * (1 + kRounding); }

JointEdp::JointEdp(std::vector<JointLayer> layers) : layers_{std::move(layers)} {
  envelopes_.resize(layers_.size());
  hulls_.resize(layers_.size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    prepare(l);
  }
  update();
}

bool JointEdp::is_infeasible() const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [](const JointLayer& layer) { return !layer.support.fits; });
}

// The concave envelope of a layer's lines, and the hull of its points.
void JointEdp::prepare(std::size_t layer) {
  const LayerSupport& support = layers_[layer].support;
  double least_cycles = 0;
  std::vector<std::pair<double, double>> corners{{0, 0}};
  for (const SupportLine& line : support.lines) {
    if (std::isinf(line.weight)) {
      least_cycles = std::max(least_cycles, line.value);
    } else {
      corners.emplace_back(line.weight, line.value);
    }
  }
  std::sort(corners.begin(), corners.end());
  std::vector<std::pair<double, double>> hull;
  const auto slope = [](const auto& a, const auto& b) {
    return (b.second - a.second) / (b.first - a.first);
  };
  for (const auto& corner : corners) {
    if (!hull.empty() && hull.back().first == corner.first) {
      hull.pop_back();  // the last of equal weights is the highest
    }
    while (hull.size() > 1 &&
           slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), corner)) {
      hull.pop_back();
    }
    hull.push_back(corner);
  }
  while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) <= least_cycles) {
    hull.pop_back();
  }
  std::vector<Line>& envelope = envelopes_[layer];
  envelope.clear();
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const double cycles = i + 1 < hull.size() ? slope(hull[i], hull[i + 1]) : least_cycles;
    envelope.push_back({hull[i].first, hull[i].second - hull[i].first * cycles, cycles});
  }
  prepare_hull(layer);
}

// The points that are best for some weight, fastest first.
void JointEdp::prepare_hull(std::size_t layer) {
  const LayerSupport& support = layers_[layer].support;
  std::vector<std::size_t> order(support.points.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  const auto& points = support.points;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple{points[a].cycles, points[a].energy, a} <
           std::tuple{points[b].cycles, points[b].energy, b};
  });
  std::vector<std::size_t>& lower = hulls_[layer];
  lower.clear();
  for (const std::size_t point : order) {
    if (!lower.empty() && points[point].energy >= points[lower.back()].energy) {
      continue;
    }
    const auto is_above = [&] {
      const LayerPoint& a = points[lower[lower.size() - 2]];
      const LayerPoint& b = points[lower.back()];
      return (a.energy - b.energy) * (points[point].cycles - b.cycles) <=
             (b.energy - points[point].energy) * (b.cycles - a.cycles);
    };
    while (lower.size() > 1 && is_above()) {
      lower.pop_back();
    }
    lower.push_back(point);
  }
}

void JointEdp::update() {
  if (is_infeasible()) {
    lower_ = value_ = infinite();
    return;
  }
  find_choice();
  find_bound();
  // Where nothing is left to ask at the weakest weight, lines and curves meet next to it.
  for (int i = 0; i < kMostCuts && !is_settled() && widest_gap() == layers_.size(); ++i) {
    cuts_.push_back(middle(weak_between_.first, weak_between_.second));
    find_bound();
  }
}

bool JointEdp::is_settled() const {
  return is_infeasible() || value_ <= lower_ * (1 + kRounding) || !(weakest_ > 0) ||
         std::isinf(weakest_);
}

// The layer of which a search at the weakest weight can change most; their number: of none.
std::size_t JointEdp::widest_gap() const {
  std::size_t widest = layers_.size();
  double most = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (const double open = gap(l, weakest_); open > most) {
      widest = l;
      most = open;
    }
  }
  return widest;
}

// Over all hulls the weight falls from infinity: each layer goes from its fastest point on, edge by
// edge; a product is least at a corner of the sum of hulls.
void JointEdp::find_choice() {
  struct Edge {
    double weight;
    std::size_t layer;
  };
  double energy = 0;
  double cycles = 0;
  std::vector<std::size_t> at(layers_.size(), 0);
  std::vector<Edge> edges;
  value_ = infinite();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& points = layers_[l].support.points;
    const std::vector<std::size_t>& hull = hulls_[l];
    if (hull.empty()) {
      return;
    }
    energy += layers_[l].count * points[hull[0]].energy;
    cycles += layers_[l].count * points[hull[0]].cycles;
    for (std::size_t i = 1; i < hull.size(); ++i) {
      edges.push_back({(points[hull[i - 1]].energy - points[hull[i]].energy) /
                           (points[hull[i]].cycles - points[hull[i - 1]].cycles),
                       l});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& a, const Edge& b) { return a.weight > b.weight; });
  std::size_t best = 0;
  double least = energy * cycles;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const std::size_t l = edges[e].layer;
    const auto& points = layers_[l].support.points;
    const LayerPoint& from = points[hulls_[l][at[l]]];
    const LayerPoint& to = points[hulls_[l][++at[l]]];
    energy += layers_[l].count * (to.energy - from.energy);
    cycles += layers_[l].count * (to.cycles - from.cycles);
    if (energy * cycles < least) {
      least = energy * cycles;
      best = e + 1;
    }
  }
  std::fill(at.begin(), at.end(), 0);
  for (std::size_t e = 0; e < best; ++e) {
    ++at[edges[e].layer];
  }
  // Anew, without the rounding of the way.
  energy = cycles = 0;
  choice_.assign(layers_.size(), 0);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    choice_[l] = hulls_[l][at[l]];
    energy += layers_[l].count * layers_[l].support.points[choice_[l]].energy;
    cycles += layers_[l].count * layers_[l].support.points[choice_[l]].cycles;
  }
  value_ = energy * cycles;
  meeting_ = energy / cycles;
}

// Where the bound is looked at: the corners of all envelopes, and steps around the weight at which
// the known mappings meet.
std::vector<double> JointEdp::weights() const {
  std::vector<double> weights = cuts_;
  weights.push_back(0);
  for (const std::vector<Line>& envelope : envelopes_) {
    for (const Line& line : envelope) {
      weights.push_back(line.weight);
    }
  }
  const double reach = std::pow(kWeightStep, kSteps);
  for (double weight = meeting_ / reach; weight < meeting_ * reach; weight *= kWeightStep) {
    weights.push_back(weight);
  }
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  return weights;
}

// Between two neighbouring weights each layer has one line, or its curve of EDP where that is
// higher. Of equally weak weights the one nearest to where the known mappings meet.
void JointEdp::find_bound() {
  const std::vector<double> weights = this->weights();
  std::vector<std::size_t> at(layers_.size(), 0);
  double lowest = infinite();
  double away = infinite();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double low = weights[i];
    const double high = i + 1 < weights.size() ? weights[i + 1] : infinite();
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const std::vector<Line>& envelope = envelopes_[l];
      while (at[l] + 1 < envelope.size() && envelope[at[l] + 1].weight <= low) {
        ++at[l];
      }
    }
    // First what is higher at its own weakest weight, then what is higher at that of all.
    auto [value, weight] = bound_between(low, high, at, [&](std::size_t l, const Line& line) {
      return layers_[l].support.root >= least_root(line.energy, line.cycles, low, high).first;
    });
    if (weight > 0 && !std::isinf(weight)) {
      const double there = weight;
      const auto again = bound_between(low, high, at, [&](std::size_t l, const Line& line) {
        return 2 * std::sqrt(there) * layers_[l].support.root >= line.energy + there * line.cycles;
      });
      if (again.first > value) {
        std::tie(value, weight) = again;
      }
    }
    const double distance = weight > 0 ? std::abs(std::log(weight / meeting_)) : infinite();
    if (value < lowest * (1 - kTight) || (value <= lowest && distance < away)) {
      away = distance;
      weakest_ = weight;
      weak_between_ = {low, high};
    }
    lowest = std::min(lowest, value);
  }
  lower_ = lowest * lowest;
}

// The least of G(w) / (2 sqrt(w)) between two weights, where a layer is bounded by its curve of EDP
// or by its line, and where it is.
template <class TakesCurve>
std::pair<double, double> JointEdp::bound_between(double low, double high,
                                                  const std::vector<std::size_t>& at,
                                                  const TakesCurve& takes_curve) const {
  double energy = 0;
  double cycles = 0;
  double roots = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Line& line = envelopes_[l][at[l]];
    if (takes_curve(l, line)) {
      roots += layers_[l].count * layers_[l].support.root;
    } else {
      energy += layers_[l].count * line.energy;
      cycles += layers_[l].count * line.cycles;
    }
  }
  const auto [root, weight] = energy == 0 && cycles == 0 ? std::pair{0.0, middle(low, high)}
                                                         : least_root(energy, cycles, low, high);
  return {root + roots, weight};
}

double JointEdp::least_line(std::size_t layer, double weight) const {
  const std::vector<Line>& envelope = envelopes_[layer];
  double least = 2 * std::sqrt(weight) * layers_[layer].support.root;
  for (std::size_t i = 0; i < envelope.size() && envelope[i].weight <= weight; ++i) {
    if (i + 1 == envelope.size() || envelope[i + 1].weight > weight) {
      least = std::max(least, envelope[i].energy + weight * envelope[i].cycles);
    }
  }
  return least;
}

double JointEdp::best_point(std::size_t layer, double weight, std::size_t* which) const {
  double best = infinite();
  for (const std::size_t point : hulls_[layer]) {
    const LayerPoint& figures = layers_[layer].support.points[point];
    const double value = figures.energy + weight * figures.cycles;
    if (value < best) {
      best = value;
      if (which != nullptr) {
        *which = point;
      }
    }
  }
  return best;
}

// What a search with this weight could still change; 0 where it is known.
double JointEdp::gap(std::size_t layer, double weight) const {
  const double value = best_point(layer, weight);
  const double least = least_line(layer, weight);
  return layers_[layer].is_given_up || value <= least * (1 + kTight)
             ? 0
             : layers_[layer].count * (value - least);
}

// A weight of the grid near the weakest one, or else where the points on both sides of it meet: a
// search there finds a point between them or proves that there is none.
double JointEdp::weight_for(std::size_t layer) const {
  const auto step = static_cast<int>(std::lround(2 * std::log2(weakest_)));
  const int away = weakest_ > grid_weight(step) ? 1 : -1;
  for (const int candidate : {step, step + away}) {
    if (gap(layer, grid_weight(candidate)) > 0) {
      return grid_weight(candidate);
    }
  }
  double low = grid_weight(std::min(step, step + away));
  double high = grid_weight(std::max(step, step + away));
  for (const Line& line : envelopes_[layer]) {
    if (line.weight > 0 && gap(layer, line.weight) == 0) {
      low = line.weight <= weakest_ ? std::max(low, line.weight) : low;
      high = line.weight >= weakest_ ? std::min(high, line.weight) : high;
    }
  }
  std::size_t cheap = 0;
  std::size_t fast = 0;
  best_point(layer, low, &cheap);
  best_point(layer, high, &fast);
  const LayerPoint& slow = layers_[layer].support.points[cheap];
  const LayerPoint& quick = layers_[layer].support.points[fast];
  if (slow.cycles > quick.cycles) {
    const double meet = (quick.energy - slow.energy) / (slow.cycles - quick.cycles);
    if (meet > low && meet < high && gap(layer, meet) > 0) {
      return meet;
    }
  }
  return weakest_;
}

std::optional<JointQuestion> JointEdp::next_edp() const {
  std::optional<JointQuestion> next;
  double most = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const LayerSupport& support = layers_[l].support;
    double best = infinite();
    for (const LayerPoint& point : support.points) {
      best = std::min(best, point.energy * point.cycles);
    }
    const double open = std::sqrt(best) - support.root;
    if (layers_[l].has_edp || open <= kRounding * support.root) {
      continue;
    }
    const double stake =
        std::isinf(open) ? 1e30 * (1 + layers_[l].count * support.root) : layers_[l].count * open;
    if (!next || stake > most) {
      next = JointQuestion{l, std::nullopt};
      most = stake;
    }
  }
  return next;
}

// Without a least energy and a least latency of each layer no weight is too small or too large.
std::optional<JointQuestion> JointEdp::next_end() const {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    for (const double weight : {0.0, infinite()}) {
      const auto& lines = layers_[l].support.lines;
      if (std::none_of(lines.begin(), lines.end(),
                       [weight](const SupportLine& line) { return line.weight == weight; })) {
        return JointQuestion{l, weight};
      }
    }
  }
  return std::nullopt;
}

std::optional<JointQuestion> JointEdp::next() const {
  if (const auto edp = next_edp()) {
    return edp;
  }
  if (is_infeasible() || value_ <= lower_ * (1 + kRounding)) {
    return std::nullopt;
  }
  if (const auto end = next_end()) {
    return end;
  }
  const std::size_t layer = is_settled() ? layers_.size() : widest_gap();
  return layer < layers_.size() ? std::optional{JointQuestion{layer, weight_for(layer)}}
                                : std::nullopt;
}

std::optional<JointQuestion> JointEdp::ask(double gap) {
  for (auto question = next(); question && value_ > lower_ * (1 + gap); question = next()) {
    if (asked_.emplace(question->layer, question->weight).second) {
      return question;
    }
    give_up(question->layer);
  }
  return std::nullopt;
}

void JointEdp::give_up(std::size_t layer) {
  layers_[layer].is_given_up = true;
  update();
}

void JointEdp::learn(const JointQuestion& question, const LayerFigures& found) {
  JointLayer& layer = layers_[question.layer];
  if (std::isinf(found.lower)) {
    layer.support.fits = false;
  } else if (question.weight) {
    layer.support.lines.push_back({*question.weight, found.lower});
  } else {
    layer.has_edp = true;
    layer.support.root = std::max(layer.support.root, std::sqrt(found.lower));
  }
  if (!std::isinf(found.value)) {
    layer.support.points.push_back({found.energy, found.cycles, found.mapping, found.is_own});
  }
  prepare(question.layer);
  update();
}

}  // namespace mapsim
