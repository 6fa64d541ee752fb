// SPDX-License-Identifier: Apache-2.0
#include "check/group_bound.hpp"

#include <algorithm>
#include <functional>

#include "check/geometry.hpp"
#include "check/goal.hpp"
#include "check/spatial.hpp"
#include "core/factor.hpp"
#include "costmodel/boundary_cost.hpp"
#include "costmodel/fusion/group_counts.hpp"
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

constexpr double kSlack = 1e-6;  // of what is asked for, so that it closes what it is asked for

// How a branch gets its tensors: those in `kept` from the group's level.
struct Supply {
  TensorSet kept;
  std::optional<bool> final_sums;  // of an output in the group's level, of two widths
};

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
        counts_{counts} {
    for (const Workload& einsum : piece_.einsums) {
      problems_.emplace_back(arch, einsum);
    }
  }

  double run() {
    if (piece_.einsums.size() == 1) {
      Branch whole{around_.first, bounds_of(piece_.einsums[0])};
      whole.entry.sources = around_.sources[0];
      whole.entry.final_sums = around_.final_sums;
      whole.entry.run.entries = objective().is_timed() ? 1 : 0;
      return bounds_.least(whole, around_.taken, least_);
    }
    for (const LevelId level : arch_.levels.ids()) {
      if (level != LevelId{0} && is_above_arrays(arch_, level) && passes_all_within(level)) {
        level_ = level;
        search_level();
      }
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
  };

  const ChainObjective& objective() const { return bounds_.objective(); }
  const Workload& einsum(std::size_t e) const { return piece_.einsums[e]; }
  bool is_passed(std::size_t e, TensorId t) const {
    return piece_.intermediate_of({e, t}).has_value();
  }
  // Do all einsums but the last pass on what they make, within the group, by way of the level?
  bool passes_all_within(LevelId level) const {
    for (std::size_t e = 0; e + 1 < piece_.einsums.size(); ++e) {
      if (!is_passed(e, einsum(e).output()) || !problems_[e].may_keep(level, einsum(e).output())) {
        return false;
      }
    }
    return true;
  }

  bool may_keep(std::size_t e, TensorId t) const {
    const LevelId source = around_.sources[e][t];
    bool may = !is_passed(e, t) && source < level_ && problems_[e].may_keep(level_, t);
    for (const LevelId l : arch_.levels.ids()) {
      may = may && !(l > source && l < level_ && problems_[e].must_keep(l, t));
    }
    return may;
  }
  std::vector<Supply> supplies(std::size_t e) const {
    const TensorId output = einsum(e).output();
    const Tensor& sums = einsum(e).tensors[output];
    std::vector<Supply> all{{}};
    for (const TensorId t : einsum(e).tensors.ids()) {
      for (std::size_t i = 0, count = may_keep(e, t) ? all.size() : 0; i < count; ++i) {
        all.push_back({all[i].kept | TensorSet{t}, {}});
      }
    }
    const bool is_last = e + 1 == piece_.einsums.size();
    for (std::size_t i = 0, count = all.size(); i < count; ++i) {
      const bool is_inside = is_passed(e, output) || all[i].kept.contains(output);
      if (is_inside && sums.bits != sums.partial_bits) {
        all[i].final_sums = true;
        all.push_back({all[i].kept, false});
      } else if (!is_inside && is_last) {
        all[i].final_sums = around_.final_sums;
      }
    }
    return all;
  }
  Branch supplied(std::size_t e, const EnteredBranch& entered, const Supply& supply) const {
    Branch branch{around_.first + e, entered.bounds, entered.entry};
    branch.entry.final_sums = supply.final_sums;
    branch.entry.sources.resize(einsum(e).tensors.size());
    for (const TensorId t : einsum(e).tensors.ids()) {
      const bool is_inside = is_passed(e, t) || supply.kept.contains(t);
      branch.entry.sources[t] = is_inside ? level_ : around_.sources[e][t];
    }
    return branch;
  }

  double elements(std::size_t e, TensorId t, const PerDim<std::int64_t>& box) const {
    return elements_of(einsum(e), t, box);
  }
  // Adds the cost of so many elements that cross into the group's level.
  void charge(std::size_t e, TensorId t, double moved, std::vector<double>& charged) const {
    const double distinct = elements(e, t, bounds_of(einsum(e)));
    const bool is_output = t == einsum(e).output();
    Boundary boundary{t, around_.sources[e][t], level_, is_output && moved == distinct, distinct};
    const BoundaryCost cost{
        problems_[e], boundary, objective().ports(), {objective().is_timed(), false}};
    BoundaryFlow flow;
    flow.parent = flow.child = flow.busy_parent =
        flow.busy_child = {moved, is_output ? moved - distinct : 0};  // there is one instance
    charged.resize(1 + objective().ports().size());
    cost.charge(flow, charged.data(), 1);
  }
  void take_tile(std::size_t e, TensorId t, double tile, const Supply& supply,
                 TakenBits& taken) const {
    const Tensor& tensor = einsum(e).tensors[t];
    const bool is_wide = t == einsum(e).output() && !supply.final_sums.value_or(false);
    const Bits width = is_wide ? tensor.partial_bits : tensor.bits;
    take(bounds_.capacities(), level_, tensor.role, tile * static_cast<double>(width.count()),
         taken);
  }
  // What lies around, and what intermediates take while an einsum runs. `final_sums`: per producer.
  TakenBits taken_by_scopes(std::size_t e, const std::vector<LiveSet>& held,
                            const std::vector<std::optional<bool>>& final_sums) const {
    TakenBits taken = around_.taken;
    take_scopes(piece_, level_, held, e, final_sums, bounds_.capacities(), taken);
    return taken;
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
  // wanted. False: they do not. `parts`: all ways to supply an einsum, by what is known now.
  using Parts = std::function<std::vector<Part>(std::size_t)>;
  bool is_closed(const Parts& parts) {
    while (true) {
      double sum = 0;
      std::optional<Part> open;
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
        open = !open && !is_known ? std::optional(std::move(least)) : open;
      }
      if (sum >= least_ || !open || bounds_.is_stopped()) {
        return sum >= least_ || bounds_.is_stopped();
      }
      const double spare = (least_ - sum) * (1 + kSlack) / open->entries;
      bounds_.least(open->branch, open->taken, open->of_entry * (1 + kSlack) + spare);
    }
  }

  // ---- sets of shared loops

  void search_level() {
    counter_.emplace(arch_, piece_, level_);
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
    const std::vector<std::optional<bool>> narrow(piece_.einsums.size());
    const Parts parts = [&](std::size_t e) {
      const double operations = runs_of(loops, e) * static_cast<double>(problems_[e].macs());
      std::vector<Part> all;
      const EnteredBranch& box = counts->branches[e];
      if (box.entry.varies()) {  // others of the set may have smaller boxes
        all.emplace_back().value = objective().of_operations(problems_[e], operations);
        return all;
      }
      for (const Supply& supply : supplies(e)) {
        TakenBits taken = taken_by_scopes(e, counts->held, narrow);
        std::vector<double> charged;
        for (const TensorId t : einsum(e).tensors.ids()) {
          if (supply.kept.contains(t)) {
            charge(e, t, elements(e, t, bounds_of(einsum(e))), charged);
            take_tile(e, t, elements(e, t, box.bounds), supply, taken);
          }
        }
        const Branch branch = supplied(e, box, supply);
        all.push_back(part_of(branch, operations / branch.operations(), charged, taken));
      }
      return all;
    };
    if (!counts || is_closed(parts)) {
      counts_.closed += counts ? 1 : 0;
      return;
    }
    open_set(loops);
  }

  // ---- orders and scopes

  void open_set(std::vector<Temporal> loops) {
    const auto before = [](const Temporal& a, const Temporal& b) { return a.dim < b.dim; };
    std::sort(loops.begin(), loops.end(), before);
    do {
      Interface interface{loops, std::vector<std::size_t>(piece_.intermediates.size(), 0)};
      std::size_t i = 0;
      do {
        if (const auto counts = bounds_.is_stopped() ? std::nullopt : counter_->count(interface)) {
          ++counts_.interfaces;
          search_interface(*counts);
        }
        for (i = 0; i < interface.scopes.size() && ++interface.scopes[i] > loops.size(); ++i) {
          interface.scopes[i] = 0;
        }
      } while (i < interface.scopes.size());
    } while (std::next_permutation(loops.begin(), loops.end(), before));
  }

  void search_interface(const GroupCounts& counts) {
    const std::vector<std::optional<bool>> narrow(piece_.einsums.size());
    const Parts parts = [&](std::size_t e) {
      std::vector<Part> all;
      for (const Supply& supply : supplies(e)) {
        TakenBits taken = taken_by_scopes(e, counts.held, narrow);
        std::vector<double> charged;
        for (const TensorId t : einsum(e).tensors.ids()) {
          if (supply.kept.contains(t)) {
            double moved = kInfinity;
            double tile = kInfinity;
            for (const KeepPosition& keep : counts.keeps) {
              const bool is_it = keep.use == ChainTensor{e, t};
              moved = is_it ? std::min(moved, keep.moved) : moved;
              tile = is_it ? std::min(tile, keep.largest) : tile;
            }
            charge(e, t, moved, charged);
            take_tile(e, t, tile, supply, taken);
          }
        }
        const EnteredBranch& entered = counts.branches[e];
        all.push_back(part_of(supplied(e, entered, supply), entered.entries, charged, taken));
      }
      return all;
    };
    if (!is_closed(parts)) {
      ++counts_.joined;
      join(counts);
    }
  }

  // ---- what the group keeps itself

  std::vector<Option> options_of(const GroupCounts& counts, std::size_t e) const {
    const std::vector<std::optional<bool>> narrow(piece_.einsums.size());
    const TakenBits scopes = taken_by_scopes(e, counts.held, narrow);
    std::vector<Option> all;
    for (const Supply& supply : supplies(e)) {
      std::vector<Option> some(1);
      some[0].resident = TakenBits(scopes.size(), 0.0);
      for (const TensorId t : einsum(e).tensors.ids()) {
        some = supply.kept.contains(t) ? with_keep(some, counts, e, t, supply) : some;
      }
      for (Option& option : some) {
        option.branch = supplied(e, counts.branches[e], supply);
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
  std::vector<Option> with_keep(const std::vector<Option>& options, const GroupCounts& counts,
                                std::size_t e, TensorId t, const Supply& supply) const {
    const bool is_last_output = e + 1 == piece_.einsums.size() && t == einsum(e).output();
    const double distinct = elements(e, t, bounds_of(einsum(e)));
    std::vector<Option> longer;
    for (const KeepPosition& keep : counts.keeps) {
      // Sums that lie narrow around the group arrive there once.
      const bool may =
          keep.use == ChainTensor{e, t} && (!is_last_output || !around_.final_sums ||
                                            *around_.final_sums == (keep.moved == distinct));
      for (std::size_t i = 0; may && i < options.size(); ++i) {
        Option option = options[i];
        charge(e, t, keep.moved, option.charged);
        take_tile(e, t, keep.largest, supply, option.resident);
        longer.push_back(std::move(option));
      }
    }
    return longer;
  }
  void join(const GroupCounts& counts) {
    std::vector<std::vector<Option>> all;
    std::vector<double> rest(piece_.einsums.size() + 1, 0.0);
    for (std::size_t e = 0; e < piece_.einsums.size(); ++e) {
      all.push_back(options_of(counts, e));
    }
    for (std::size_t e = all.size(); e-- > 0;) {
      rest[e] = rest[e + 1] + (all[e].empty() ? kInfinity : all[e].front().bound);
    }
    std::vector<const Option*> chosen;
    const std::function<void(double)> choose = [&](double so_far) {
      const std::size_t e = chosen.size();
      if (e == all.size()) {
        finish(counts, chosen);
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

  void finish(const GroupCounts& counts, const std::vector<const Option*>& chosen) {
    TakenBits resident(around_.taken.size(), 0.0);
    std::vector<std::optional<bool>> final_sums;
    for (const Option* option : chosen) {
      resident = sum_of(resident, option->resident);
      final_sums.push_back(option->final_sums);
    }
    std::vector<TakenBits> taken;
    double sum = 0;
    for (std::size_t e = 0; e < chosen.size(); ++e) {
      taken.push_back(sum_of(taken_by_scopes(e, counts.held, final_sums), resident));
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
  std::vector<Problem> problems_;
  LevelId level_{};  // of scopes and of what the group keeps
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
