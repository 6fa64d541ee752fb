// SPDX-License-Identifier: Apache-2.0
#include "check/replay.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "arch/buffering.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// What the inner part of a nest pays and uses: components, then bits of each shared room, then when
// a systolic array is done by what is in it.
using Label = std::vector<double>;

class Walk {
 public:
  Walk(const Graph& graph, const Tiles& tiles, EdgeCosts& edge_costs,
       const CompletionBound& completion_bound, ArrayTimes* array, const Price& price,
       const Goal& goal, const Frontier& frontier)
      : graph_{graph},
        tiles_{tiles},
        edge_costs_{edge_costs},
        completion_bound_{completion_bound},
        array_{array},
        price_{price},
        frontier_{frontier},
        sum_(edge_costs.components()) {
    for (const Room& room : graph.rooms()) {
      const bool measured =
          goal.kind == Goal::Kind::kCurve && room.level == goal.level && room.role == goal.role;
      slots_.push_back(measured || room.tenants.size() > 1 ? std::optional{width_++}
                                                           : std::nullopt);
      measured_ = measured ? std::optional{slots_.size() - 1} : measured_;
    }
    width_ += edge_costs.components();
    for (std::optional<std::size_t>& slot : slots_) {
      slot = slot ? std::optional{*slot + edge_costs.components()} : slot;
    }
    width_ += array == nullptr ? 0 : 1;
  }

  BackwardSearch run() {
    begin();
    while (!waiting_.empty()) {
      auto first = waiting_.extract(waiting_.begin());
      const Node node = node_of(first.key());
      for (const Label& label : undominated(std::move(first.mapped()))) {
        ++replay_.labels;
        step_out(node, label);
      }
    }
    return replay_;
  }

 private:
  // Walks outwards go to larger numbers.
  std::size_t number_of(const Node& node) const {
    const std::size_t row = (graph_.stages() - 1 - node.stage) * graph_.residencies() +
                            (graph_.residencies() - 1 - node.residency);
    return row * tiles_.size() + node.tile;
  }
  Node node_of(std::size_t number) const {
    const std::size_t row = number / tiles_.size();
    return {graph_.stages() - 1 - row / graph_.residencies(),
            graph_.residencies() - 1 - row % graph_.residencies(), number % tiles_.size()};
  }

  void begin() {
    const std::size_t last = graph_.stages() - 1;
    for (std::size_t residency = 0; residency < graph_.residencies(); ++residency) {
      if (graph_.alive(last, residency) && graph_.end(residency)) {
        Label label(width_, 0.0);
        const std::vector<double> end = edge_costs_.end(*graph_.end(residency));
        std::copy(end.begin(), end.end(), label.begin());
        label.back() = array_ == nullptr ? label.back() : kInfinity;
        offer({last, residency, 0}, std::move(label));
      }
    }
  }

  void offer(const Node& node, Label label) {
    if (!graph_.alive(node.stage, node.residency)) {
      return;
    }
    for (std::size_t k = 0; k < sum_.size(); ++k) {
      sum_[k] = label[k] + completion_bound_.at(node, k);
    }
    const double bits = measured_ ? label[*slots_[*measured_]] : 0;
    const double array = std::min(array_done(label), completion_bound_.array_at(node));
    if (!frontier_.covers(price_.of(sum_.data(), needed(bits), array))) {
      forget_rooms(node, label);
      waiting_[number_of(node)].push_back(std::move(label));
    }
  }

  // When a systolic array is done by what is in it, if that is asked for.
  double array_done(const Label& label) const { return array_ == nullptr ? 0 : label.back(); }

  // Capacity for so many bits in the room of a curve.
  double needed(double bits) const {
    const auto& levels = graph_.problem().arch().levels;
    return measured_ ? copies_of(levels[graph_.rooms()[*measured_].level]) * bits : bits;
  }

  // A room counts no longer once none of its tenants can still be placed in it further out.
  void forget_rooms(const Node& node, Label& label) const {
    for (std::size_t r = 0; r < slots_.size(); ++r) {
      const Room& room = graph_.rooms()[r];
      bool open = room.level == LevelId{0} || r == measured_;
      for (const TensorId t : graph_.problem().workload().tensors.ids()) {
        const Residence& residence = graph_.residences(t)[graph_.stand_at(node.residency, t)];
        open = open ||
               (room.tenants.contains(t) && (residence.latch || residence.level >= room.level));
      }
      if (slots_[r] && !open) {
        label[*slots_[r]] = 0;
      }
    }
  }

  static bool no_worse(const Label& a, const Label& b) {
    constexpr double kNoise = 1e-13;  // sums in another order
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] > b[k] * (1 + kNoise)) {
        return false;
      }
    }
    return true;
  }

  static std::vector<Label> undominated(std::vector<Label> labels) {
    std::sort(labels.begin(), labels.end());
    std::vector<Label> kept;
    for (Label& label : labels) {
      if (std::none_of(kept.begin(), kept.end(),
                       [&](const Label& other) { return no_worse(other, label); })) {
        kept.push_back(std::move(label));
      }
    }
    return kept;
  }

  void step_out(const Node& node, const Label& label) {
    const auto& starts = graph_.starts();
    if (node.stage == 0 && node.tile + 1 == tiles_.size() &&
        std::find(starts.begin(), starts.end(), node.residency) != starts.end()) {
      finish(node, label);
    }
    for (const std::size_t from : graph_.crossings_to(node.stage, node.residency)) {
      if (completion_bound_.may_cross(node.stage - 1, node.tile)) {
        offer({node.stage - 1, from, node.tile}, label);
      }
    }
    for (const Graph::Loop& loop : graph_.loops_to(node.stage, node.residency)) {
      loop_out(node, label, loop);
    }
    for (const Graph::Move& move : graph_.moves_to(node.stage, node.residency)) {
      Label next = label;
      if (pay(next, move.edge, &edge_costs_.plain(move.edge)[node.tile], tiles_.size(),
              node.tile)) {
        offer({node.stage, move.from, node.tile}, std::move(next));
      }
    }
    for (const Graph::Slide& slide : graph_.slides_to(node.stage, node.residency)) {
      slide_out(node, label, slide);
    }
  }

  void loop_out(const Node& node, const Label& label, const Graph::Loop& loop) {
    const std::size_t digit = tiles_.digit(loop.dim, node.tile);
    for (const Tiles::Run& run : tiles_.runs(loop.dim)) {
      if (run.prime && run.to == digit &&
          graph_.passes(node.stage, loop, tiles_.factor(loop.dim, run))) {
        const std::size_t tile = node.tile + (run.from - run.to) * tiles_.stride(loop.dim);
        offer({node.stage, loop.from, tile}, label);
      }
    }
  }

  void slide_out(const Node& node, const Label& label, const Graph::Slide& slide) {
    const DimId dim = slide.loop.dim;
    const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
    const std::size_t digit = tiles_.digit(dim, node.tile);
    const std::size_t rests = tiles_.size() / tiles_.divisors(dim).size();
    const std::size_t rest = tiles_.rest(dim, node.tile);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].to != digit ||
          !graph_.passes(node.stage, slide.loop, tiles_.factor(dim, runs[r]))) {
        continue;
      }
      Label next = label;
      bool fits = true;
      for (const std::size_t edge : slide.edges) {
        const double* edge_cost = &edge_costs_.sliding(edge, dim)[r * rests + rest];
        fits = fits && pay(next, edge, edge_cost, runs.size() * rests, node.tile);
      }
      if (fits) {
        const std::size_t tile = node.tile + (runs[r].from - digit) * tiles_.stride(dim);
        offer({node.stage, slide.loop.from, tile}, std::move(next));
      }
    }
  }

  // Adds an edge to the label; false: its tile does not fit with the others of the room.
  bool pay(Label& label, std::size_t edge, const double* edge_cost, std::size_t stride,
           std::size_t tile) {
    if (!(edge_cost[0] < kInfinity)) {
      return false;
    }
    for (std::size_t k = 0; k < edge_costs_.components(); ++k) {
      label[k] += edge_cost[k * stride];
    }
    if (array_ != nullptr && array_->enters(edge)) {
      label.back() = std::min(label.back(), array_->cycles(edge)[tile]);
    }
    const auto room = graph_.room_of(graph_.edges()[edge]);
    if (room && slots_[*room]) {
      label[*slots_[*room]] += edge_costs_.bits(edge)[tile];
      return label[*slots_[*room]] <= graph_.rooms()[*room].bits;
    }
    return true;
  }

  // The outermost level holds every tensor whole.
  void finish(const Node& node, const Label& label) {
    const Workload& workload = graph_.problem().workload();
    double bits = 0;
    for (std::size_t r = 0; r < slots_.size(); ++r) {
      const Room& room = graph_.rooms()[r];
      double used = slots_[r] ? label[*slots_[r]] : 0;
      for (const TensorId t : workload.tensors.ids()) {
        if (room.level == LevelId{0} && room.tenants.contains(t)) {
          used += whole_bits(workload.tensors[t],
                             graph_.residences(t)[graph_.stand_at(node.residency, t)]);
        }
      }
      if (used > room.bits) {
        return;
      }
      bits = r == measured_ ? used : bits;
    }
    const Figures found = price_.of(label.data(), needed(bits), array_done(label));
    if (!frontier_.covers(found)) {
      replay_.better = found;
      frontier_.points.push_back(found);
    }
  }
  double whole_bits(const Tensor& tensor, const Residence& residence) const {
    const PerDim<std::int64_t> bounds = bounds_of(graph_.problem().workload());
    auto bits = static_cast<double>((residence.final ? tensor.bits : tensor.partial_bits).count());
    for (const Rank& rank : tensor.ranks) {
      bits *= static_cast<double>(count_coordinates(rank, bounds));
    }
    return bits;
  }

  const Graph& graph_;
  const Tiles& tiles_;
  EdgeCosts& edge_costs_;
  const CompletionBound& completion_bound_;
  ArrayTimes* array_;  // none: not asked for
  const Price& price_;
  Frontier frontier_;
  std::vector<double> sum_;
  std::size_t width_ = 0;
  std::vector<std::optional<std::size_t>> slots_;  // per room: where in a label
  std::optional<std::size_t> measured_;            // the room of a curve
  std::map<std::size_t, std::vector<Label>> waiting_;
  BackwardSearch replay_;
};

}  // namespace

BackwardSearch find_better(const Graph& graph, const Tiles& tiles, EdgeCosts& edge_costs,
                           const CompletionBound& completion_bound, ArrayTimes* array,
                           const Price& price, const Goal& goal, const Frontier& frontier) {
  return Walk{graph, tiles, edge_costs, completion_bound, array, price, goal, frontier}.run();
}

}  // namespace mapsim::check
