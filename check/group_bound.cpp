// SPDX-License-Identifier: Apache-2.0
#include "check/group_bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "check/geometry.hpp"
#include "check/goal.hpp"
#include "check/group_supply.hpp"
#include "check/spatial.hpp"
#include "core/factor.hpp"
#include "costmodel/nest.hpp"
#include "workloads/chain_piece.hpp"

// The least of a group, by sets of shared loops. All orders of the loops and all scopes of a set
// enter the branches with boxes of the same largest size, so that each branch needs its optimum for
// that box at least, with as much capacity as nothing but the current tiles of intermediates
// leaves. Sets that this does not close are opened: each order and each scopes are counted, and
// each branch needs its optimum for its own boxes. What is open still is looked at with every
// choice of what the group keeps itself, and where.

namespace mapsim::check {

namespace {

constexpr std::size_t kEverywhere = std::numeric_limits<std::size_t>::max();
constexpr double kSlack = 1e-6;  // of what is asked for, so that it closes what it is asked for

class GroupBounding {
 public:
  GroupBounding(const Arch& arch, const EinsumChain& chain, const FusedSpace& space,
                const GroupContext& around, double enough, BranchBounds& bounds, FusedBound& counts)
      : arch_{arch},
        piece_{piece_of(chain, around.first, around.last)},
        space_{space},
        around_{around},
        least_{enough},
        bounds_{bounds},
        counts_{counts},
        group_{arch, piece_, space, around, bounds} {}

  double run() {
    if (piece_.einsums.size() == 1) {
      Branch whole{around_.first, bounds_of(piece_.einsums[0])};
      whole.entry.sources = around_.sources[0];
      whole.entry.final_sums = around_.final_sums;
      whole.entry.run.entries = objective().is_timed() ? 1 : 0;
      return bounds_.least(whole, around_.taken, least_);
    }
    if (group_.is_group()) {
      search();
    }
    return least_;
  }

 private:
  // What an einsum needs at least, one way to supply its branch.
  struct Part {
    double value = kInfinity;
    double entries = 1;
    double of_entry = 0;
    Branch branch;
    TakenBits taken;
  };
  // One way to supply a branch, with the places of what the group keeps for it.
  struct Option {
    std::vector<double> charged;             // what the group's own keeps cost: a resource vector
    double fixed = 0, scale = 1, bound = 0;  // value: fixed + scale * the branch's, at least bound
    TakenBits resident;
    Branch branch;
    std::optional<bool> final_sums;
    // Of the tensor that is placed at last: what lies outside of its keep, and what comes out of
    // it.
    std::size_t position = kEverywhere;
    std::optional<bool> arrives_final;
  };

  const ChainObjective& objective() const { return bounds_.objective(); }
  const Workload& einsum(std::size_t e) const { return piece_.einsums[e]; }
  // What all that is kept costs and takes at least: `least(t, level)` crosses and is held.
  struct LeastKept {
    double moved = 0;
    double tile = 0;
  };
  template <class Least>
  void take_least(std::size_t e, const Supply& supply, const Least& least,
                  std::vector<double>& charged, TakenBits& taken) const {
    for (const TensorId t : einsum(e).tensors.ids()) {
      for (std::size_t k = 0; k < supply.kept[t].size(); ++k) {
        const LevelId level = supply.kept[t][k];
        const LeastKept kept = least(t, level);
        const bool is_innermost = k + 1 == supply.kept[t].size();
        group_.charge(e, t, supply, k, kept.moved, charged);
        group_.take_tile(e, t, level, kept.tile, is_innermost ? supply.final_sums : std::nullopt,
                         taken);
      }
    }
  }

  Part part_of(const Branch& branch, double entries, const std::vector<double>& charged,
               const TakenBits& taken) const {
    Part part;
    if (fits(bounds_.capacities(), taken)) {
      part = {0, entries, 0, branch, bounds_.rounded(taken)};
      part.value = bounds_.of_run(branch, entries, bounds_.known(branch, part.taken), charged);
      // The bound of one entry that this value stands for.
      part.of_entry = (part.value - objective().of_energy(charged)) / entries;
    }
    return part;
  }

  // Adds up the least part of each einsum, and asks for more of them until they come to what is
  // wanted: of all by the closed form, before one is searched. False: they do not. `parts`: all
  // ways to supply an einsum, by what is known now.
  using Parts = std::function<std::vector<Part>(std::size_t)>;
  bool is_closed(const Parts& parts) {
    while (true) {
      double sum = 0;
      std::optional<Part> open;
      bool is_seen = true;
      for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
        Part least;
        for (Part& part : parts(e)) {
          if (part.value < least.value) {
            least = std::move(part);
          }
        }
        sum += least.value;
        const bool is_known = !(least.value < kInfinity) || least.branch.bounds.empty() ||
                              bounds_.is_decided(least.branch, least.taken);
        const bool is_new = !is_known && !bounds_.is_seen(least.branch, least.taken);
        if (!is_known && (!open || (is_new && is_seen))) {
          open = std::move(least);
          is_seen = !is_new;
        }
      }
      if (sum >= least_ || !open || bounds_.is_stopped()) {
        return sum >= least_ || bounds_.is_stopped();
      }
      if (!is_seen) {
        bounds_.glance(open->branch, open->taken);
        continue;
      }
      const double spare = (least_ - sum) * (1 + kSlack) / open->entries;
      bounds_.least(open->branch, open->taken, open->of_entry * (1 + kSlack) + spare);
    }
  }

  // ---- sets of shared loops

  void search() {
    counter_.emplace(arch_, piece_, group_.levels());
    ++counts_.groups;
    list_driven();
    std::vector<std::vector<Temporal>> sets{{}};
    const Workload& sink = piece_.einsums.back();
    for (const DimId d : sink.dims.ids()) {
      const std::size_t count = driven_[d].empty() ? 0 : sets.size();
      for (std::size_t i = 0; i < count; ++i) {
        for (const std::int64_t extent : extents_of_loop(sink.dims[d].bound)) {
          if (sets[i].size() < space_.most_loops) {
            sets.push_back(sets[i]);
            sets.back().push_back({d, extent});
          }
        }
      }
    }
    const auto operations = [&](const std::vector<Temporal>& loops) {
      double product = 1;
      for (const Temporal& loop : loops) {
        product *=
            static_cast<double>(loop.extent) / static_cast<double>(sink.dims[loop.dim].bound);
      }
      return product;
    };
    // What is known of large boxes bounds the smaller ones.
    std::stable_sort(sets.begin(), sets.end(),
                     [&](const auto& a, const auto& b) { return operations(a) > operations(b); });
    for (std::size_t s = 0; s < sets.size() && !bounds_.is_stopped(); ++s) {
      ++counts_.classes;
      search_set(sets[s]);
    }
  }
  static std::vector<std::int64_t> extents_of_loop(std::int64_t bound) {
    std::vector<std::int64_t> extents = divisors_of(bound);
    std::erase_if(extents,
                  [&](std::int64_t n) { return n == bound || bound / n > kMostTilesOfSharedLoop; });
    return extents;
  }

  // Of each dim of the sink, the einsums whose output a loop over it moves. All others run anew in
  // each of its tiles, since a scope has no such loop inside. Empty: the dim may not be shared.
  void list_driven() {
    const Workload& sink = piece_.einsums.back();
    driven_ = PerDim<std::vector<bool>>(sink.dims.size());
    for (const DimId d : sink.dims.ids()) {
      const std::vector<std::int64_t> extents = extents_of_loop(sink.dims[d].bound);
      const auto counts = extents.empty()
                              ? std::nullopt
                              : counter_->count(counter_->innermost({{d, extents.front()}}));
      for (std::size_t e = 0; counts && e < piece_.einsums.size(); ++e) {
        bool is_driven = e + 1 == piece_.einsums.size();
        const DimSet made = einsum(e).tensors[einsum(e).output()].dims();
        for (const DimId own : einsum(e).dims.ids()) {
          const std::int64_t bound = einsum(e).dims[own].bound;
          is_driven = is_driven || (made.contains(own) && counts->branches[e].bounds[own] < bound);
        }
        driven_[d].push_back(is_driven);
      }
    }
  }
  double runs_of(const std::vector<Temporal>& loops, std::size_t e) const {
    double runs = 1;
    for (const Temporal& loop : loops) {
      const std::int64_t bound = piece_.einsums.back().dims[loop.dim].bound;
      runs *= driven_[loop.dim][e] ? 1 : static_cast<double>(bound / loop.extent);
    }
    return runs;
  }

  void search_set(const std::vector<Temporal>& loops) {
    const auto counts = counter_->count(counter_->innermost(loops));
    if (!counts) {
      return;
    }
    const auto is_closed_with = [&](const LevelsLeft& left) {
      return is_closed([&](std::size_t e) {
        std::vector<Part> all;
        for (const ScopeLevels& levels : group_.decisions(e, left)) {
          add_parts_of_set(loops, *counts, e, levels, all);
        }
        return all;
      });
    };
    LevelsLeft left = group_.scope_levels();
    if (is_closed_with(left)) {
      ++counts_.closed;
      return;
    }
    for (std::vector<LevelId>& levels : left) {  // no tree with another one of them is better
      const std::vector<LevelId> may = levels;
      std::vector<LevelId> open;
      for (const LevelId level : may) {
        levels = {level};
        if (may.size() == 1 || !is_closed_with(left)) {
          open.push_back(level);
        }
      }
      levels = std::move(open);
      if (levels.empty()) {
        return;
      }
    }
    open_set(loops, left);
  }
  void add_parts_of_set(const std::vector<Temporal>& loops, const GroupCounts& counts,
                        std::size_t e, const ScopeLevels& levels, std::vector<Part>& all) const {
    const std::vector<std::optional<bool>> narrow(piece_.einsums.size());
    const double operations = runs_of(loops, e) * static_cast<double>(group_.problem(e).macs());
    const EnteredBranch& box = counts.branches[e];
    if (box.entry.varies()) {  // others of the set may have smaller boxes
      all.emplace_back().value = objective().of_operations(group_.problem(e), operations);
      return;
    }
    for (const Supply& supply : group_.supplies(e)) {
      TakenBits taken = group_.taken_by_scopes(e, levels, counts.held, narrow);
      std::vector<double> charged;
      const auto least = [&](TensorId t, LevelId) {
        return LeastKept{group_.elements(e, t), elements_of(einsum(e), t, box.bounds)};
      };
      take_least(e, supply, least, charged, taken);
      const Branch branch = group_.supplied(e, box, supply, levels);
      all.push_back(part_of(branch, operations / branch.operations(), charged, taken));
    }
  }

  // ---- orders and scopes

  void open_set(std::vector<Temporal> loops, const LevelsLeft& left) {
    const auto before = [](const Temporal& a, const Temporal& b) { return a.dim < b.dim; };
    std::sort(loops.begin(), loops.end(), before);
    do {
      Interface interface{loops, std::vector<std::size_t>(piece_.intermediates.size(), 0)};
      std::size_t i = 0;
      do {
        if (const auto counts = bounds_.is_stopped() ? std::nullopt : counter_->count(interface)) {
          ++counts_.interfaces;
          const std::int64_t tried = counts_.joined;
          search_interface(*counts, left);
          counts_.joined = std::min(counts_.joined, tried + 1);  // however many levels it tried
        }
        for (i = 0; i < interface.scopes.size() && ++interface.scopes[i] > loops.size(); ++i) {
          interface.scopes[i] = 0;
        }
      } while (i < interface.scopes.size());
    } while (std::next_permutation(loops.begin(), loops.end(), before));
  }

  // With the levels of scopes that are best for each einsum, then deciding one after the other.
  void search_interface(const GroupCounts& counts, const LevelsLeft& left) {
    const Parts parts = [&](std::size_t e) {
      std::vector<Part> all;
      for (const ScopeLevels& levels : group_.decisions(e, left)) {
        add_parts_of_interface(counts, e, levels, all);
      }
      return all;
    };
    if (is_closed(parts)) {
      return;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i].size() > 1) {
        LevelsLeft decided = left;
        for (const LevelId level : left[i]) {
          decided[i] = {level};
          search_interface(counts, decided);
        }
        return;
      }
    }
    ++counts_.joined;
    ScopeLevels levels;
    for (const std::vector<LevelId>& only : left) {
      levels.emplace_back(only.front());
    }
    join(counts, levels);
  }
  void add_parts_of_interface(const GroupCounts& counts, std::size_t e, const ScopeLevels& levels,
                              std::vector<Part>& all) const {
    const std::vector<std::optional<bool>> narrow(piece_.einsums.size());
    for (const Supply& supply : group_.supplies(e)) {
      TakenBits taken = group_.taken_by_scopes(e, levels, counts.held, narrow);
      std::vector<double> charged;
      const auto least = [&](TensorId t, LevelId level) {
        LeastKept kept{kInfinity, kInfinity};
        for (const KeepPosition& keep : counts.keeps) {
          if (keep.use == ChainTensor{e, t} && keep.level == level) {
            kept = {std::min(kept.moved, keep.moved), std::min(kept.tile, keep.largest)};
          }
        }
        return kept;
      };
      take_least(e, supply, least, charged, taken);
      const EnteredBranch& entered = counts.branches[e];
      all.push_back(
          part_of(group_.supplied(e, entered, supply, levels), entered.entries, charged, taken));
    }
  }

  // ---- what the group keeps itself

  std::vector<Option> options_of(const GroupCounts& counts, const ScopeLevels& levels,
                                 std::size_t e) const {
    const std::vector<std::optional<bool>> narrow(piece_.einsums.size());
    const TakenBits scopes = group_.taken_by_scopes(e, levels, counts.held, narrow);
    std::vector<Option> all;
    for (const Supply& supply : group_.supplies(e)) {
      std::vector<Option> some(1);
      some[0].resident = TakenBits(scopes.size(), 0.0);
      for (const TensorId t : einsum(e).tensors.ids()) {
        for (Option& option : some) {
          option.position = kEverywhere;
          option.arrives_final = supply.final_sums;
        }
        for (std::size_t k = supply.kept[t].size(); k-- > 0;) {  // outwards
          some = with_keep(some, counts, e, t, supply, k);
        }
      }
      for (Option& option : some) {
        option.branch = group_.supplied(e, counts.branches[e], supply, levels);
        option.final_sums = supply.final_sums;
        const TakenBits taken = sum_of(scopes, option.resident);
        if (fits(bounds_.capacities(), taken)) {
          weigh(option, counts.branches[e].entries);
          option.bound = option.fixed + option.scale * bounds_.known(option.branch, taken);
          all.push_back(std::move(option));
        }
      }
    }
    std::sort(all.begin(), all.end(),
              [](const Option& a, const Option& b) { return a.bound < b.bound; });
    return all;
  }
  // Time is that of the run; energies of entries and of keeps add up.
  void weigh(Option& option, double entries) const {
    if (objective().is_timed()) {
      option.branch.entry.run = {entries, option.charged};
    } else {
      option.scale = entries;
      option.fixed = objective().of_energy(option.charged);
    }
  }
  // The k-th keep of a tensor, anywhere outside of its next one.
  std::vector<Option> with_keep(const std::vector<Option>& options, const GroupCounts& counts,
                                std::size_t e, TensorId t, const Supply& supply,
                                std::size_t k) const {
    const double distinct = group_.elements(e, t);
    const LevelId level = supply.kept[t][k];
    std::vector<Option> longer;
    for (const KeepPosition& keep : counts.keeps) {
      const bool may = keep.use == ChainTensor{e, t} && keep.level == level &&
                       group_.may_cross(e, t, k, keep.moved);
      for (std::size_t i = 0; may && i < options.size(); ++i) {
        if (keep.position > options[i].position) {
          continue;
        }
        Option option = options[i];
        group_.charge(e, t, supply, k, keep.moved, option.charged);
        group_.take_tile(e, t, level, keep.largest, option.arrives_final, option.resident);
        option.position = keep.position;
        option.arrives_final = keep.moved == distinct;
        longer.push_back(std::move(option));
      }
    }
    return longer;
  }
  void join(const GroupCounts& counts, const ScopeLevels& levels) {
    std::vector<std::vector<Option>> all;
    std::vector<double> rest(piece_.einsums.size() + 1, 0.0);
    for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
      all.push_back(options_of(counts, levels, e));
    }
    for (std::size_t e = all.size(); e-- > 0;) {
      rest[e] = rest[e + 1] + (all[e].empty() ? kInfinity : all[e].front().bound);
    }
    std::vector<const Option*> chosen;
    const std::function<void(double)> choose = [&](double so_far) {
      const std::size_t e = chosen.size();
      if (e == all.size()) {
        finish(counts, levels, chosen);
        return;
      }
      for (const Option& option : all[e]) {
        if (so_far + option.bound + rest[e + 1] >= least_) {
          break;
        }
        chosen.push_back(&option);
        choose(so_far + option.bound);
        chosen.pop_back();
      }
    };
    choose(0);
  }

  void finish(const GroupCounts& counts, const ScopeLevels& levels,
              const std::vector<const Option*>& chosen) {
    TakenBits resident(around_.taken.size(), 0.0);
    std::vector<std::optional<bool>> final_sums;
    for (const Option* option : chosen) {
      resident = sum_of(resident, option->resident);
      final_sums.push_back(option->final_sums);
    }
    std::vector<TakenBits> taken;
    double sum = 0;
    for (std::size_t e = 0; e < chosen.size(); ++e) {
      taken.push_back(sum_of(group_.taken_by_scopes(e, levels, counts.held, final_sums), resident));
      if (!fits(bounds_.capacities(), taken[e])) {
        return;
      }
      sum += chosen[e]->fixed + chosen[e]->scale * bounds_.known(chosen[e]->branch, taken[e]);
    }
    for (const bool is_exact : {false, true}) {  // first what serves others, too
      for (std::size_t e = 0; e < chosen.size() && sum < least_; ++e) {
        const Option& option = *chosen[e];
        const double before = bounds_.known(option.branch, taken[e]);
        const double spare = (least_ - sum) * (1 + kSlack) / option.scale;
        const TakenBits& asked = is_exact ? taken[e] : bounds_.rounded(taken[e]);
        const double found = bounds_.least(option.branch, asked, before * (1 + kSlack) + spare);
        sum += option.scale * std::max(0.0, found - before);
      }
    }
    least_ = std::min(least_, sum);
  }

  const Arch& arch_;
  EinsumChain piece_;
  const FusedSpace& space_;
  const GroupContext& around_;
  double least_;
  BranchBounds& bounds_;
  FusedBound& counts_;
  GroupSupply group_;
  std::optional<GroupCounter> counter_;
  PerDim<std::vector<bool>> driven_;
};

}  // namespace

double bound_group(const Arch& arch, const EinsumChain& chain, const FusedSpace& space,
                   const GroupContext& around, double enough, BranchBounds& bounds,
                   FusedBound& counts) {
  return GroupBounding{arch, chain, space, around, enough, bounds, counts}.run();
}

}  // namespace mapsim::check
