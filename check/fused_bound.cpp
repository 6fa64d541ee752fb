// SPDX-License-Identifier: Apache-2.0
#include "check/fused_bound.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "check/geometry.hpp"
#include "check/goal.hpp"
#include "check/group_bound.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Where an intermediate lies between groups, and whether its sums are final there.
struct Held {
  LevelId level{};
  std::optional<bool> final_sums;
  friend auto operator<=>(const Held&, const Held&) = default;
};
using Passing = std::map<std::size_t, Held>;  // what passes a cut: by intermediate

// Per einsum: do all boxes that groups enter it with divide its bounds? The last one's do, and
// those of what such an einsum reads point by point; what a window reads has halos.
std::vector<bool> have_boxes_that_divide(const EinsumChain& piece) {
  std::vector<bool> divide(piece.einsums.size(), true);
  for (std::size_t e = piece.einsums.size(); e-- > 0;) {
    const auto made = piece.intermediate_of({e, piece.einsums[e].output()});
    if (!made) {
      continue;
    }
    for (const ChainTensor& use : piece.intermediates[*made].readers) {
      const Tensor& read = piece.einsums[use.einsum].tensors[use.tensor];
      divide[e] = divide[e] && divide[use.einsum] &&
                  std::all_of(read.ranks.begin(), read.ranks.end(), [](const Rank& rank) {
                    return rank.terms.size() == 1 && rank.terms.front().coefficient == 1;
                  });
    }
  }
  return divide;
}

// From cut to cut: of each way to pass one, the least that the einsums before it need.
class TreeBounding {
 public:
  TreeBounding(const Arch& arch, const EinsumChain& chain, const FusedSpace& space,
               const ObjectiveFunction& function, double enough, Stop stop)
      : arch_{arch},
        chain_{chain},
        space_{space},
        enough_{enough},
        stop_{stop},
        objective_{arch, function},
        bounds_{arch, chain, objective_, stop},
        reached_(chain.einsums.size() + 1) {}

  FusedBound run() {
    bound_rest();
    reached_[0][{}] = 0;
    const bool is_closed = rest_[0] >= enough_;
    for (std::size_t end = 1; end <= chain_.einsums.size() && !is_closed; ++end) {
      for (std::size_t first = end; first-- > 0 && end - first <= space_.most_einsums;) {
        for (const auto& [before, so_far] : reached_[first]) {
          for (const Passing& after : behind(before, end - 1)) {
            extend(before, so_far, first, end - 1, after);
          }
        }
      }
    }
    const auto& ends = reached_.back();
    counts_.value = ends.empty() ? enough_ : std::min(enough_, ends.begin()->second);
    counts_.value = stop_.is_set() ? 0 : counts_.value;
    counts_.branches = bounds_.searches();
    counts_.labels = bounds_.labels();
    return counts_;
  }

 private:
  const Workload& einsum(std::size_t e) const { return chain_.einsums[e]; }

  // What each einsum needs if it had all capacities to itself, and found what others pass to it
  // wherever that is best: a branch, with the loops of its group around it, is a nest of the whole
  // einsum. Of one whose boxes have halos only its operations count, and so of all once the sum is
  // enough.
  void bound_rest() {
    std::vector<bool> divide(chain_.einsums.size(), true);
    divide = space_.most_einsums > 1 ? have_boxes_that_divide(chain_) : divide;
    std::vector<double> least;
    double sum = 0;
    for (const Workload& einsum : chain_.einsums) {
      const Problem problem{arch_, einsum};
      least.push_back(objective_.of_operations(problem, static_cast<double>(problem.macs())));
      sum += least.back();
    }
    rest_.assign(chain_.einsums.size() + 1, 0.0);
    for (std::size_t e = chain_.einsums.size(); e-- > 0;) {
      if (divide[e] && sum < enough_) {
        const double others = sum - least[e];
        least[e] = std::max(least[e], least_of(e, enough_ - others));
        sum = others + least[e];
      }
      rest_[e] = rest_[e + 1] + least[e];
    }
  }
  double least_of(std::size_t e, double enough) {
    std::vector<Branch> branches{{e, bounds_of(einsum(e)), {}}};
    branches[0].entry.sources.resize(einsum(e).tensors.size());
    branches[0].entry.run.entries = objective_.is_timed() ? 1 : 0;
    for (const TensorId t : einsum(e).tensors.ids()) {
      const auto i = chain_.intermediate_of({e, t});
      const std::size_t count = i ? branches.size() : 0;
      for (std::size_t b = 0; b < count; ++b) {
        for (const Held& held : where_held(chain_.intermediates[*i].producer,
                                           space_.may_hold || space_.most_einsums > 1)) {
          Branch other = branches[b];
          other.entry.sources[t] = held.level;
          if (t == einsum(e).output()) {
            other.entry.final_sums = held.final_sums;
          }
          branches.push_back(std::move(other));
        }
      }
    }
    const TakenBits nothing(bounds_.capacities().size(), 0.0);
    double least = enough;
    for (const Branch& branch : branches) {
      least = std::min(least, bounds_.least(branch, nothing, least));
    }
    return least;
  }

  // Spilled, or held whole at a level outside of all arrays.
  std::vector<Held> where_held(std::size_t producer, bool may_hold) const {
    const Problem problem{arch_, einsum(producer)};
    const TensorId output = einsum(producer).output();
    const Tensor& tensor = einsum(producer).tensors[output];
    std::vector<Held> all{{}};
    for (const LevelId level : arch_.levels.ids()) {
      const bool may = may_hold && level != LevelId{0} && problem.may_keep(level, output) &&
                       is_above_arrays(arch_, level);
      if (may && tensor.bits == tensor.partial_bits) {
        all.push_back({level, std::nullopt});
      } else if (may) {
        all.push_back({level, false});
        all.push_back({level, true});
      }
    }
    return all;
  }

  // Ways to pass the cut behind an einsum.
  std::vector<Passing> behind(const Passing& before, std::size_t last) const {
    Passing left;
    for (const auto& [i, held] : before) {
      std::size_t reader = 0;
      for (const ChainTensor& use : chain_.intermediates[i].readers) {
        reader = std::max(reader, use.einsum);
      }
      if (reader > last) {
        left.emplace(i, held);
      }
    }
    const auto made = chain_.intermediate_of({last, einsum(last).output()});
    if (!made) {
      return {left};
    }
    std::vector<Passing> all;
    for (const Held& held : where_held(last, space_.may_hold)) {
      all.push_back(left);
      all.back().emplace(*made, held);
    }
    return all;
  }

  void extend(const Passing& before, double so_far, std::size_t first, std::size_t last,
              const Passing& after) {
    auto& known = reached_[last + 1];
    const auto found = known.find(after);
    const double most =
        std::min(found == known.end() ? kInfinity : found->second, enough_ - rest_[last + 1]);
    const std::optional<GroupContext> around = around_group(before, first, last, after);
    if (!around || stop_.is_set() || !(most - so_far > 0)) {
      return;
    }
    const double group =
        bound_group(arch_, chain_, space_, *around, most - so_far, bounds_, counts_);
    if (so_far + group < most) {
      known[after] = so_far + group;
    }
  }

  // nullopt: what is held does not fit.
  std::optional<GroupContext> around_group(const Passing& before, std::size_t first,
                                           std::size_t last, const Passing& after) const {
    GroupContext around{first, last, {}, {}, TakenBits(bounds_.capacities().size(), 0.0)};
    Passing all = before;
    all.insert(after.begin(), after.end());
    for (std::size_t e = first; e <= last; ++e) {
      PerTensor<LevelId>& sources = around.sources.emplace_back(einsum(e).tensors.size());
      for (const TensorId t : einsum(e).tensors.ids()) {
        const auto i = chain_.intermediate_of({e, t});
        if (i && all.contains(*i)) {
          sources[t] = all.at(*i).level;
        }
        if (i && after.contains(*i) && chain_.intermediates[*i].producer == e) {
          around.final_sums = after.at(*i).final_sums;
        }
      }
    }
    for (const auto& [i, held] : all) {
      const Workload& producer = einsum(chain_.intermediates[i].producer);
      const Tensor& tensor = producer.tensors[producer.output()];
      const Bits width = held.final_sums.value_or(false) ? tensor.bits : tensor.partial_bits;
      const double bits = static_cast<double>(width.count()) *
                          elements_of(producer, producer.output(), bounds_of(producer));
      if (held.level != LevelId{0}) {
        take(bounds_.capacities(), held.level, tensor.role, bits, around.taken);
      }
    }
    return fits(bounds_.capacities(), around.taken) ? std::optional(std::move(around))
                                                    : std::nullopt;
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const FusedSpace& space_;
  double enough_;
  Stop stop_;
  ChainObjective objective_;
  BranchBounds bounds_;
  std::vector<std::map<Passing, double>> reached_;  // by einsums before the cut
  std::vector<double> rest_;                        // that the einsums from here on need, at least
  FusedBound counts_;
};

}  // namespace

FusedBound bound_trees(const Arch& arch, const EinsumChain& chain, const FusedSpace& space,
                       const ObjectiveFunction& function, double enough, Stop stop) {
  return TreeBounding{arch, chain, space, function, enough, stop}.run();
}

}  // namespace mapsim::check
