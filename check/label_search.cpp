// SPDX-License-Identifier: Apache-2.0
#include "check/label_search.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "check/arcs.hpp"
#include "check/capacity_use.hpp"
#include "check/loop_chains.hpp"

namespace mapsim::check {

namespace {

// A label: a partial nest. Its values are the cost so far, the bits used of each shared capacity,
// and the time of a systolic array with the tensors in it.
struct Label {
  Node node;
  std::vector<double> values;
  std::vector<Chain> chains{};  // per dim; with kNone empty, and the next two are unused
  // Dim of the temporal loop right above; nullopt: another node stands there
  std::optional<DimId> last{};
  // Tensors whose last keep could also stand here, since no loop since then moves it
  TensorSet loose{};
  bool whole = false;
  std::size_t begun = 0;  // the tile at which the region began, if rules count tiles
};

// Labels with equal continuations.
using Future = std::tuple<std::size_t, std::size_t, std::size_t, std::vector<Chain>,
                          std::optional<DimId>, std::uint32_t, std::size_t>;

bool is_no_worse(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kReordering = 1e-13;  // sums in another order
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](double x, double y) { return x <= y * (1 + kReordering); });
}

class LabelSearch {
 public:
  LabelSearch(const Graph& graph, EdgeCosts& costs, const CompletionBound& bound, ArrayTimes* array,
              const PathObjective& objective, double steps, const Goal& goal, const Target& target,
              History history)
      : graph_{graph},
        costs_{costs},
        lattice_{costs.lattice()},
        bound_{bound},
        array_{array},
        objective_{objective},
        compute_{objective.times_array() ? 0 : objective.cycles_of(steps)},
        components_{costs.components()},
        target_{target},
        inwards_{!lattice_.is_perfect()},
        counts_tiles_{graph.counts_tiles()},
        capacity_use_{graph, goal, components_},
        width_{capacity_use_.end() + (array == nullptr ? 0 : 1)},
        arcs_{graph, direction()} {
    if (history == History::kLoopChains) {
      chains_.emplace(graph, lattice_, objective.tracked());
    }
  }

  SearchResult run(const Effort& effort) {
    start();
    while (!open_.empty()) {
      auto next = open_.extract(open_.begin());
      for (const Label& label :
           inwards_ ? std::move(next.mapped()) : undominated(std::move(next.mapped()))) {
        const bool is_end = inwards_ && (label.whole || found_.labels >= effort.labels);
        if (is_end || effort.stop.is_set()) {  // outwards keys are no bounds
          found_.bound = inwards_ ? std::min(next.key(), target_.threshold()) : 0;
          return std::move(found_);
        }
        ++found_.labels;
        expand(label);
      }
    }
    found_.bound = found_.better ? target_.of(*found_.better) : target_.threshold();
    return std::move(found_);
  }

 private:
  Direction direction() const { return inwards_ ? Direction::kInwards : Direction::kOutwards; }

  void start() {
    const std::size_t last = graph_.stages() - 1;
    for (std::size_t residency = 0; !inwards_ && residency < graph_.residencies(); ++residency) {
      if (graph_.alive(last, residency) && graph_.end(residency)) {
        Label label = make_label({last, residency, 0});
        add_end(*graph_.end(residency), label);
        offer(std::move(label));
      }
    }
    for (const std::size_t residency : graph_.starts()) {
      Label label = make_label({0, residency, lattice_.size() - 1});
      label.begun = counts_tiles_ ? label.node.tile : 0;
      if (inwards_ && capacity_use_.add_outermost(residency, label.values)) {
        offer(std::move(label));
      }
    }
  }
  Label make_label(const Node& node) const {
    Label label{node, std::vector<double>(width_, 0.0)};
    label.chains.resize(chains_ ? lattice_.dims() : 0);
    label.values.back() = array_ == nullptr ? 0 : kInfinity;
    return label;
  }

  void expand(const Label& label) {
    finish(label);
    const Arcs& arcs = arcs_.at(label.node.stage, label.node.residency);
    for (const auto& [loop, to] : arcs.loops) {
      take_loop(label, *loop, to);
    }
    for (const std::size_t to : arcs.crossings) {
      cross(label, to);
    }
    for (const auto& [move, to] : arcs.moves) {
      Label next = label;
      next.node.residency = to;
      if (place(next, move->edge, {label.node.tile, label, std::nullopt})) {
        offer(std::move(next));
      }
    }
    for (const auto& [slide, to] : arcs.slides) {
      take_slide(label, *slide, to);
    }
  }

  // Without loop chains a loop consists of the shortest loops, which cost nothing. With chains it
  // is a single step, because two loops in a row have another chain.
  void take_loop(const Label& label, const Graph::Loop& loop, std::size_t residency) {
    const DimId d = loop.dim;
    const std::size_t digit = lattice_.digit(d, label.node.tile);
    for (std::size_t to = 0; chains_ && to < digit && may_loop(label, d); ++to) {
      offer(beyond_loop(label, d, to, residency));
    }
    for (const Lattice::Loop& step : lattice_.steps(d)) {
      if (!chains_ && (inwards_ ? step.from : step.to) == digit &&
          graph_.passes(label.node.stage, loop, lattice_.factor(d, step))) {
        offer(beyond_loop(label, d, inwards_ ? step.to : step.from, residency));
      }
    }
  }

  void take_slide(const Label& label, const Graph::SlidingEdge& slide, std::size_t residency) {
    const DimId d = slide.loop.dim;
    const std::size_t digit = lattice_.digit(d, label.node.tile);
    for (std::size_t other = 0; other < lattice_.count(d) && may_loop(label, d); ++other) {
      const Lattice::Loop loop =
          inwards_ ? Lattice::Loop{digit, other} : Lattice::Loop{other, digit};
      const std::size_t run =
          loop.to < loop.from ? lattice_.run_of(d, loop.from, loop.to) : Lattice::kNone;
      if (run == Lattice::kNone ||
          !graph_.passes(label.node.stage, slide.loop, lattice_.factor(d, loop))) {
        continue;
      }
      Label next = beyond_loop(label, d, other, residency);
      const std::size_t inner = inwards_ ? next.node.tile : label.node.tile;
      bool fits = true;
      for (const std::size_t edge : slide.edges) {
        fits = fits && place(next, edge, {inner, label, Run{d, run}});
      }
      if (fits) {
        offer(std::move(next));
      }
    }
  }

  // Two adjacent loops over one dim are a single one, unless a keep separates them that neither
  // loop moves.
  bool may_loop(const Label& label, DimId d) const {
    bool may = !chains_ || label.last != d;
    for (const TensorId t : graph_.problem().workload().tensors.ids()) {
      may = may ||
            (label.loose.contains(t) && !graph_.problem().workload().tensors[t].dims().contains(d));
    }
    return may;
  }

  Label beyond_loop(const Label& label, DimId d, std::size_t bin, std::size_t residency) const {
    Label next = label;
    next.node.residency = residency;
    next.node.tile += (bin - lattice_.digit(d, label.node.tile)) * lattice_.stride(d);
    if (!chains_) {
      return next;
    }
    next.last = d;
    next.loose = {};
    for (const TensorId t : graph_.problem().workload().tensors.ids()) {
      if (label.loose.contains(t) && !graph_.problem().workload().tensors[t].dims().contains(d)) {
        next.loose.insert(t);
      }
    }
    Chain& chain = next.chains[index_of(d)];
    chain = with_loop(std::move(chain), lattice_.high(d, bin));
    return next;
  }

  // May the region that ends with this stage make as many tiles as it does?
  bool may_leave(const Label& label) const {
    bool may = true;
    for (std::size_t i = 0; counts_tiles_ && i < lattice_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      const std::int64_t begun = lattice_.high(d, lattice_.digit(d, label.begun));
      const std::int64_t tile = lattice_.high(d, lattice_.digit(d, label.node.tile));
      may = may && graph_.allows_tiles(label.node.stage, d, (begun - 1) / tile + 1);
    }
    return may;
  }

  void cross(const Label& label, std::size_t to) {
    if (inwards_ && graph_.ends_region(label.node.stage) && !may_leave(label)) {
      return;
    }
    Label next = label;
    next.node.stage = inwards_ ? label.node.stage + 1 : label.node.stage - 1;
    next.node.residency = to;
    if (const auto& fanout = graph_.fanout_after(std::min(label.node.stage, next.node.stage))) {
      next.last.reset();
      next.loose = {};
      for (const TensorId t : graph_.problem().workload().tensors.ids()) {
        const Residence& residence = graph_.residences(t)[graph_.residence_at(to, t)];
        if (label.loose.contains(t) && (residence.latch || residence.above > *fanout)) {
          next.loose.insert(t);
        }
      }
      for (const DimId d : lattice_.ids()) {
        const std::size_t bin = lattice_.digit(d, label.node.tile);
        const auto& behind = lattice_.behind(*fanout, d, bin);
        if (behind.empty()) {
          return;
        }
        next.node.tile -= (bin - behind.front()) * lattice_.stride(d);
        if (chains_) {
          next.chains[index_of(d)] =
              with_fanout(std::move(next.chains[index_of(d)]), lattice_.fanouts()[*fanout], *fanout,
                          d, lattice_.high(d, bin));
        }
      }
    }
    if (counts_tiles_ && graph_.ends_region(label.node.stage)) {
      next.begun = next.node.tile;
    }
    offer(std::move(next));
  }

  // A loop right below which tiles slide; `number` is its run in the lattice.
  struct Run {
    DimId dim{};
    std::size_t number = 0;
  };

  // Where an edge is made: its tile, and the label that is extended. That label stands right above
  // the tile or, with loop chains, above the loop of the run.
  struct Site {
    std::size_t tile = 0;
    const Label& origin;
    std::optional<Run> run;
  };

  // Adds the cost of an edge. Returns false if sums would not have the width of the residence.
  bool pay_for(Label& label, std::size_t edge, const Site& site) {
    const std::optional<Run> run = costs_.by_run(edge) ? site.run : std::nullopt;
    if (chains_) {
      BoundaryFlow flow = run ? chains_->flow(edge, site.origin.chains, run->dim)
                              : chains_->flow(edge, label.chains);
      const BoundaryUse& of = chains_->boundary(edge);
      flow.tile = costs_.bits(edge)[site.tile] / of.tile_width;
      return of.cost.charge(flow, label.values.data(), 1);
    }
    const double* costs = nullptr;
    std::size_t stride = lattice_.size();
    if (run) {
      const std::size_t rests = lattice_.rests(run->dim);
      const std::size_t rest = lattice_.rest(run->dim, site.tile);
      stride = lattice_.runs(run->dim).size() * rests;
      costs = &costs_.sliding(edge, run->dim)[run->number * rests + rest];
    } else {
      costs = &costs_.plain(edge)[site.tile];
    }
    for (std::size_t k = 0; k < components_; ++k) {
      label.values[k] += costs[k * stride];
    }
    return *costs < kInfinity;
  }

  // Makes an edge. Returns false if its tile does not fit beside the others, or if sums would not
  // have the width of the residence.
  bool place(Label& label, std::size_t edge, const Site& site) {
    const double bits = costs_.bits(edge)[site.tile];
    if (!(bits < kInfinity) || !pay_for(label, edge, site)) {
      return false;
    }
    if (chains_) {
      label.last.reset();
      label.loose.insert(graph_.edges()[edge].tensor);
    }
    if (array_ != nullptr && array_->enters(edge)) {
      label.values.back() = std::min(label.values.back(), array_->cycles(edge)[site.tile]);
    }
    return capacity_use_.add(edge, bits, label.values);
  }

  // Adds the operations and the edges into the compute units. Returns false if sums would not have
  // the width of the residence.
  bool add_end(const std::vector<std::size_t>& edges, Label& label) {
    if (!chains_) {
      const std::vector<double> end = costs_.end(edges);
      std::transform(end.begin(), end.end(), label.values.begin(), label.values.begin(),
                     std::plus<>{});
      return true;
    }
    for (const std::size_t edge : edges) {
      if (!chains_->boundary(edge).cost.charge(chains_->flow(edge, label.chains),
                                               label.values.data(), 1)) {
        return false;
      }
    }
    const Problem& problem = graph_.problem();
    label.values[0] += problem.mac_energy().count() * static_cast<double>(problem.macs());
    return true;
  }

  // If paths in the label's direction may end here, makes the whole path.
  void finish(const Label& label) {
    const auto& [stage, residency, tile] = label.node;
    const auto& starts = graph_.starts();
    const auto& end = graph_.end(residency);
    const bool may = inwards_
                         ? stage + 1 == graph_.stages() && end && tile == 0 && may_leave(label)
                         : stage == 0 && tile + 1 == lattice_.size() &&
                               std::find(starts.begin(), starts.end(), residency) != starts.end();
    if (!may) {
      return;
    }
    Label last = label;
    last.whole = true;
    if (inwards_ ? add_end(*end, last) : capacity_use_.add_outermost(residency, last.values)) {
      offer(std::move(last));
    }
  }

  // Lower bounds of the figures of all mappings that extend the label.
  Figures figures_of(const Label& label) {
    sum_.assign(label.values.begin(),
                label.values.begin() + static_cast<std::ptrdiff_t>(components_));
    for (std::size_t k = 0; k < components_ && !label.whole; ++k) {
      sum_[k] += bound_.at(label.node, k);
    }
    double compute = compute_;
    if (array_ != nullptr) {
      compute = label.whole ? label.values.back()
                            : std::min(label.values.back(), bound_.array_at(label.node));
    } else if (chains_ && !objective_.times_array()) {
      compute =
          objective_.cycles_of(chains_->steps(label.chains, graph_.crossed(label.node.stage)));
    }
    return objective_.of(sum_.data(), compute, capacity_use_.capacity_for(label.values));
  }

  void offer(Label label) {
    const Node& node = label.node;
    if (!graph_.alive(node.stage, node.residency)) {
      return;
    }
    const Figures figures = figures_of(label);
    if (target_.is_met_by(figures)) {
      return;
    }
    if (!inwards_ && label.whole) {
      found_.better = figures;
      target_.front.points.push_back(figures);
      return;
    }
    capacity_use_.leave(node.residency, direction(), label.values);
    if (inwards_ && !label.whole && is_dominated(label)) {
      return;
    }
    open_[inwards_ ? target_.of(figures) : number_of(node)].push_back(std::move(label));
  }

  // Orders the nodes of outward paths: a path leads to larger numbers.
  double number_of(const Node& node) const {
    const std::size_t rows = graph_.stages() * graph_.residencies();
    const std::size_t row = rows - 1 - (node.stage * graph_.residencies() + node.residency);
    return static_cast<double>(row * lattice_.size() + node.tile);
  }

  bool is_dominated(const Label& label) {
    const Node& node = label.node;
    std::vector<std::vector<double>>& others =
        known_[{node.stage, node.residency, node.tile, label.chains, label.last, label.loose.bits(),
                label.begun}];
    if (std::any_of(others.begin(), others.end(),
                    [&](const auto& other) { return is_no_worse(other, label.values); })) {
      return true;
    }
    others.push_back(label.values);
    return false;
  }

  // The labels of one node that no other one dominates.
  static std::vector<Label> undominated(std::vector<Label> labels) {
    std::sort(labels.begin(), labels.end(),
              [](const Label& a, const Label& b) { return a.values < b.values; });
    std::vector<Label> kept;
    for (Label& label : labels) {
      if (std::none_of(kept.begin(), kept.end(), [&](const Label& other) {
            return is_no_worse(other.values, label.values);
          })) {
        kept.push_back(std::move(label));
      }
    }
    return kept;
  }

  const Graph& graph_;
  EdgeCosts& costs_;
  const Lattice& lattice_;
  const CompletionBound& bound_;
  ArrayTimes* array_;  // null: times of an array do not count
  const PathObjective& objective_;
  double compute_;  // lower bound of the compute units' cycles
  std::size_t components_;
  Target target_;
  bool inwards_;
  bool counts_tiles_;
  CapacityUse capacity_use_;
  std::size_t width_;
  ArcLists arcs_;
  std::optional<LoopChains> chains_;
  // By number_of() the node (outwards), or by the bound (inwards)
  std::map<double, std::vector<Label>> open_;
  std::map<Future, std::vector<std::vector<double>>> known_;
  std::vector<double> sum_;
  SearchResult found_;
};

}  // namespace

SearchResult search_labels(const Graph& graph, EdgeCosts& costs, const CompletionBound& bound,
                           ArrayTimes* array, const PathObjective& objective, double steps,
                           const Goal& goal, const Target& target, History history,
                           const Effort& effort) {
  return LabelSearch{graph, costs, bound, array, objective, steps, goal, target, history}.run(
      effort);
}

}  // namespace mapsim::check
