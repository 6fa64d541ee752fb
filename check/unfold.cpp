// SPDX-License-Identifier: Apache-2.0
#include "check/unfold.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "arch/buffering.hpp"
#include "check/chains.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// A partial nest: what it has paid, then the bits of each shared room.
struct Label {
  Node node;
  PerDim<Chain> chains;
  std::vector<double> values;
  std::optional<DimId> last{};  // what stands right above is a temporal loop over it
  TensorSet loose{};            // whose last keep could stand here as well: no loop since moves it
  bool whole = false;
  std::size_t begun = 0;  // the tile with which the region began, if it matters
};

// Partial nests with the same future.
using Future = std::tuple<std::size_t, std::size_t, std::size_t, std::vector<Chain>,
                          std::optional<DimId>, std::vector<bool>, std::size_t>;

class ForwardSearch {
 public:
  ForwardSearch(const Graph& graph, const ExtentBins& bins, const Relaxed& relaxed,
                const Goal& goal, const Target& target, Memory memory)
      : graph_{graph},
        bins_{bins},
        relaxed_{relaxed},
        goal_{goal},
        counts_{graph, bins},
        components_{relaxed.shares().components()},
        target_{target},
        knows_loops_{memory == Memory::kLoops},
        counts_tiles_{graph.counts_tiles()},
        onwards_(graph.stages() * graph.residencies()) {
    std::size_t width = components_;
    for (const Room& room : graph.rooms()) {
      const bool measured =
          goal.kind == Goal::Kind::kCurve && room.level == goal.level && room.role == goal.role;
      measured_ = measured ? std::optional{width} : measured_;
      slots_.push_back(measured || room.tenants.size() > 1 ? std::optional{width++} : std::nullopt);
    }
    width_ = width;
    for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
      for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
        list_onwards(stage, residency);
      }
    }
  }

  ForwardResult run(const Effort& effort) {
    start();
    while (!queue_.empty()) {
      const auto [bound, number] = queue_.top();
      if (labels_[number].whole || found_.labels >= effort.labels || effort.stop.is_set()) {
        found_.bound = std::min(bound, target_.met());
        return found_;
      }
      queue_.pop();
      ++found_.labels;
      const Label label = std::exchange(labels_[number], {});
      expand(label);
    }
    found_.bound = target_.met();
    return found_;
  }

 private:
  struct Onwards {
    std::vector<Graph::Move> moves;  // `from` is where they lead to
    std::vector<std::pair<Graph::Slide, std::size_t>> slides;
    std::vector<std::size_t> crossings;
    std::vector<std::pair<DimId, std::size_t>> loops;
  };
  Onwards& onwards(std::size_t stage, std::size_t residency) {
    return onwards_[stage * graph_.residencies() + residency];
  }

  // The graph says how a residency is come to.
  void list_onwards(std::size_t stage, std::size_t residency) {
    if (!graph_.alive(stage, residency)) {
      return;
    }
    for (const Graph::Move& move : graph_.moves_to(stage, residency)) {
      onwards(stage, move.from).moves.push_back({residency, move.edge});
    }
    for (const Graph::Slide& slide : graph_.slides_to(stage, residency)) {
      onwards(stage, slide.loop.from).slides.emplace_back(slide, residency);
    }
    for (const std::size_t from : graph_.crossings_to(stage, residency)) {
      onwards(stage - 1, from).crossings.push_back(residency);
    }
    for (const Graph::Loop& loop : graph_.loops_to(stage, residency)) {
      onwards(stage, loop.from).loops.emplace_back(loop.dim, residency);
    }
  }

  // The outermost level holds every tensor whole.
  void start() {
    const Workload& workload = graph_.problem().workload();
    for (const std::size_t residency : graph_.starts()) {
      Label label{{0, residency, bins_.size() - 1},
                  PerDim<Chain>(bins_.dims()),
                  std::vector<double>(width_, 0.0)};
      label.begun = counts_tiles_ ? label.node.tile : 0;
      bool fits = true;
      for (std::size_t r = 0; r < slots_.size(); ++r) {
        double used = 0;
        for (const TensorId t : workload.tensors.ids()) {
          const Room& room = graph_.rooms()[r];
          if (room.level == LevelId{0} && room.tenants.contains(t)) {
            used += whole_bits(workload.tensors[t],
                               graph_.residences(t)[graph_.stand_at(residency, t)].final);
          }
        }
        fits = fits && used <= graph_.rooms()[r].bits;
        if (measured_ && slots_[r] == measured_) {
          label.values[*measured_] = used;
        }
      }
      if (fits) {
        offer(std::move(label));
      }
    }
  }
  double whole_bits(const Tensor& tensor, bool final) const {
    auto bits = static_cast<double>((final ? tensor.bits : tensor.partial_bits).count());
    for (const Rank& rank : tensor.ranks) {
      bits *= static_cast<double>(count_coordinates(rank, bounds_of(graph_.problem().workload())));
    }
    return bits;
  }

  void expand(const Label& label) {
    const auto [stage, residency, tile] = label.node;
    const auto& end = graph_.end(residency);
    if (stage + 1 == graph_.stages() && end && tile == 0 && may_leave(label)) {
      finish(label, *end);
    }
    const Onwards& ways = onwards(stage, residency);
    for (const auto& [d, to] : ways.loops) {
      const std::size_t bins = bins_.digit(d, tile);
      // Where loops are forgotten, one that changes nothing else is as good as many of one bin.
      const std::size_t least = !knows_loops_ && to == residency && bins > 0 ? bins - 1 : 0;
      for (std::size_t bin = least; may_loop(label, d) && bin < bins; ++bin) {
        Label next = below_loop(label, d, bin);
        next.node.residency = to;
        offer(std::move(next));
      }
    }
    for (const std::size_t to : ways.crossings) {
      cross(label, to);
    }
    for (const Graph::Move& move : ways.moves) {
      Label next = label;
      next.node.residency = move.from;
      if (place(next, move.edge, label, std::nullopt)) {
        offer(std::move(next));
      }
    }
    for (const auto& [slide, to] : ways.slides) {
      const DimId d = slide.loop.dim;
      for (std::size_t bin = 0; may_loop(label, d) && bin < bins_.digit(d, tile); ++bin) {
        Label next = below_loop(label, d, bin);
        next.node.residency = to;
        bool fits = true;
        for (const std::size_t edge : slide.edges) {
          fits = fits && place(next, edge, label, d);
        }
        if (fits) {
          offer(std::move(next));
        }
      }
    }
  }

  // Two loops over one dim are one, unless a keep parts them that neither moves, and that stands
  // further out here for not being moved by what is between.
  bool may_loop(const Label& label, DimId d) const {
    bool may = !knows_loops_ || label.last != d;
    for (const TensorId t : graph_.problem().workload().tensors.ids()) {
      may = may ||
            (label.loose.contains(t) && !graph_.problem().workload().tensors[t].dims().contains(d));
    }
    return may;
  }

  Label below_loop(const Label& label, DimId d, std::size_t bin) const {
    Label next = label;
    next.node.tile -= (bins_.digit(d, label.node.tile) - bin) * bins_.stride(d);
    if (!knows_loops_) {
      return next;
    }
    next.last = d;
    next.loose = {};
    for (const TensorId t : graph_.problem().workload().tensors.ids()) {
      if (label.loose.contains(t) && !graph_.problem().workload().tensors[t].dims().contains(d)) {
        next.loose.insert(t);
      }
    }
    next.chains[d] = with_loop(std::move(next.chains[d]), bins_.high(d, bin));
    return next;
  }

  // Has the region that ends with this stage made as many tiles as it may?
  bool may_leave(const Label& label) const {
    bool may = true;
    for (std::size_t i = 0; counts_tiles_ && i < bins_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      const std::int64_t begun = bins_.high(d, bins_.digit(d, label.begun));
      const std::int64_t tile = bins_.high(d, bins_.digit(d, label.node.tile));
      may = may && graph_.allows_tiles(label.node.stage, d, (begun - 1) / tile + 1);
    }
    return may;
  }

  void cross(const Label& label, std::size_t to) {
    if (graph_.ends_region(label.node.stage) && !may_leave(label)) {
      return;
    }
    Label next = label;
    next.node.stage = label.node.stage + 1;
    next.node.residency = to;
    if (const auto& fanout = graph_.event_after(label.node.stage)) {
      next.last.reset();
      next.loose = {};
      for (const TensorId t : graph_.problem().workload().tensors.ids()) {
        const Residence& residence = graph_.residences(t)[graph_.stand_at(to, t)];
        if (label.loose.contains(t) && (residence.latch || residence.above > *fanout)) {
          next.loose.insert(t);
        }
      }
      for (const DimId d : next.chains.ids()) {
        const std::size_t bin = bins_.digit(d, label.node.tile);
        const auto& behind = bins_.behind(*fanout, d, bin);
        if (behind.empty()) {
          return;
        }
        next.node.tile -= (bin - behind.front()) * bins_.stride(d);
        if (knows_loops_) {
          next.chains[d] = with_spread(std::move(next.chains[d]), bins_.spreads()[*fanout], *fanout,
                                       d, bins_.high(d, bin));
        }
      }
    }
    if (counts_tiles_ && graph_.ends_region(label.node.stage)) {
      next.begun = next.node.tile;
    }
    offer(std::move(next));
  }

  const BoundaryUse& boundary(std::size_t edge) const { return relaxed_.shares().boundary(edge); }

  // What the relaxation takes for an edge, wherever its tile comes from; `run`: of what slides
  // right below a loop over that dim, which starts with the tile.
  const std::vector<double>& prices(std::size_t edge, std::optional<DimId> run) {
    std::vector<double>& prices = prices_[{edge, run}];
    if (prices.empty()) {
      prices = run ? relaxed_.shares().sliding(edge, *run)
                   : relaxed_.shares().plain(edge, relaxed_.bits(edge));
    }
    return prices;
  }

  // `above`: right above the tile, or above the loop over `run` that it lies right below. False:
  // nothing would be as the stand says.
  bool pay_for(Label& label, std::size_t edge, const Label& above, std::optional<DimId> run) {
    const BoundaryUse& of = boundary(edge);
    const bool slides = run && of.slides;
    if (knows_loops_) {
      BoundaryFlow flow =
          slides ? counts_.flow(of, above.chains, run) : counts_.flow(of, label.chains);
      flow.tile = relaxed_.bits(edge)[label.node.tile] / of.tile_width;
      return of.cost.charge(flow, label.values.data(), 1);
    }
    const std::size_t tile = slides ? above.node.tile : label.node.tile;
    const std::vector<double>& costs = prices(edge, slides ? run : std::nullopt);
    for (std::size_t k = 0; k < components_; ++k) {
      label.values[k] += costs[k * bins_.size() + tile];
    }
    return costs[tile] < kInfinity;
  }

  // False: the tile does not fit with the others, or nothing would be as the stand says.
  bool place(Label& label, std::size_t edge, const Label& above, std::optional<DimId> run) {
    const double bits = relaxed_.bits(edge)[label.node.tile];
    if (!(bits < kInfinity) || !pay_for(label, edge, above, run)) {
      return false;
    }
    if (knows_loops_) {
      label.last.reset();
      label.loose.insert(boundary(edge).tensor);
    }
    const auto room = graph_.room_of(graph_.edges()[edge]);
    if (room && slots_[*room]) {
      label.values[*slots_[*room]] += bits;
      return label.values[*slots_[*room]] <= graph_.rooms()[*room].bits;
    }
    return true;
  }

  void finish(const Label& label, const std::vector<std::size_t>& edges) {
    Label last = label;
    last.whole = true;
    if (!knows_loops_) {
      const std::vector<double> end = relaxed_.shares().end(edges);
      std::transform(end.begin(), end.end(), last.values.begin(), last.values.begin(),
                     std::plus<>{});
      offer(std::move(last));
      return;
    }
    for (const std::size_t edge : edges) {
      const BoundaryUse& of = boundary(edge);
      if (!of.cost.charge(counts_.flow(of, label.chains), last.values.data(), 1)) {
        return;
      }
    }
    const Problem& problem = graph_.problem();
    last.values[0] += problem.mac_energy().count() * static_cast<double>(problem.macs());
    offer(std::move(last));
  }

  void offer(Label label) {
    const Node& node = label.node;
    if (!graph_.alive(node.stage, node.residency)) {
      return;
    }
    std::vector<double> sum(label.values.begin(),
                            label.values.begin() + static_cast<std::ptrdiff_t>(components_));
    for (std::size_t k = 0; k < components_ && !label.whole; ++k) {
      sum[k] += relaxed_.at(node, k);
    }
    const std::size_t crossed = knows_loops_ ? graph_.crossed(node.stage) : 0;
    const double steps = counts_.steps(label.chains, crossed);
    const Price price{graph_.problem(), graph_, goal_, steps};
    const Figures figures = price.of(sum.data(), capacity_for(label), 0);
    if (target_.is_met_by(figures)) {
      return;
    }
    if (!label.whole && is_dominated(label)) {
      return;
    }
    queue_.emplace(target_.of(figures), labels_.size());
    labels_.push_back(std::move(label));
  }

  // Bits of the room of a curve for what stands in it so far.
  double capacity_for(const Label& label) const {
    const Storage& level = graph_.problem().arch().levels[goal_.level];
    return measured_ ? copies_of(level) * label.values[*measured_] : 0;
  }

  bool is_dominated(const Label& label) {
    std::vector<bool> loose;
    for (const TensorId t : graph_.problem().workload().tensors.ids()) {
      loose.push_back(label.loose.contains(t));
    }
    Future future{label.node.stage, label.node.residency, label.node.tile, {}, label.last, loose,
                  label.begun};
    std::get<3>(future).assign(label.chains.begin(), label.chains.end());
    std::vector<std::vector<double>>& others = known_[std::move(future)];
    const auto no_worse = [&](const std::vector<double>& other) {
      return std::equal(other.begin(), other.end(), label.values.begin(),
                        [](double a, double b) { return a <= b * (1 + 1e-13); });
    };
    if (std::any_of(others.begin(), others.end(), no_worse)) {
      return true;
    }
    others.push_back(label.values);
    return false;
  }

  const Graph& graph_;
  const ExtentBins& bins_;
  const Relaxed& relaxed_;
  const Goal& goal_;
  ChainCounts counts_;
  std::size_t components_;
  const Target& target_;
  bool knows_loops_;
  bool counts_tiles_;
  std::vector<Onwards> onwards_;
  std::vector<std::optional<std::size_t>> slots_;  // per room: where in a label
  std::optional<std::size_t> measured_;            // ... the room of a curve
  std::size_t width_ = 0;
  std::vector<Label> labels_;
  using Queued = std::pair<double, std::size_t>;
  std::priority_queue<Queued, std::vector<Queued>, std::greater<>> queue_;
  std::map<Future, std::vector<std::vector<double>>> known_;
  std::map<std::pair<std::size_t, std::optional<DimId>>, std::vector<double>> prices_;
  ForwardResult found_;
};

}  // namespace

ForwardResult search_forward(const Graph& graph, const ExtentBins& bins, const Relaxed& relaxed,
                             const Goal& goal, const Target& target, Memory memory,
                             const Effort& effort) {
  return ForwardSearch{graph, bins, relaxed, goal, target, memory}.run(effort);
}

}  // namespace mapsim::check
