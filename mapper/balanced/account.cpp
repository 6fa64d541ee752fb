// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/account.hpp"

#include <algorithm>

#include "costmodel/crossing.hpp"
#include "costmodel/network.hpp"

namespace mapsim::balanced {

using exact::Placing;
using exact::Sharing;
using exact::Skeleton;
using exact::Stop;

namespace {

// On the way up each merging fanout adds what enters it to what leaves it, innermost first.
void add_reductions(const Problem& problem, const Tiles& tiles, const Stop& from, Terms& terms) {
  Sharing sharing = terms.child;
  for (std::size_t f = from.fanouts; f < terms.fanouts; ++f) {
    const Fanout& fanout = problem.arch().fanouts[tiles.used()[f]];
    sharing.together = sharing.together && (!fanout.spatial_reduction || fanout.forwarding);
  }
  for (std::size_t f = terms.fanouts; f-- > from.fanouts;) {
    const Fanout& fanout = problem.arch().fanouts[tiles.used()[f]];
    if (fanout.spatial_reduction) {
      sharing.uses[f] = LoopUse::kMerge;
      terms.reductions.emplace_back(problem.addition_energy(tiles.used()[f]).count(), sharing);
    }
  }
}

void set_sharing(const Problem& problem, const Tiles& tiles, const Placing& placing,
                 const Stop& from, Terms& terms) {
  Sharing parent{{}, std::min(placing.crossed, terms.fanouts), true};
  for (std::size_t f = 0; f < terms.fanouts; ++f) {
    const FanoutId fanout = tiles.used()[f];
    const bool merged = f >= from.fanouts && problem.is_merged(fanout, placing.tensor);
    parent.uses.push_back(merged ? LoopUse::kMerge : LoopUse::kSum);
    parent.together = parent.together && (!merged || problem.arch().fanouts[fanout].forwarding);
  }
  const auto busy = [](Sharing sharing, std::size_t fanouts) {
    std::fill_n(sharing.uses.begin(), fanouts, LoopUse::kFirst);
    return sharing;
  };
  const auto met = [&](std::size_t fanouts, LoopUse use) {
    Sharing sharing{std::vector<LoopUse>(terms.fanouts, LoopUse::kMerge), parent.crossed, true,
                    LoopUse::kMerge};
    std::fill_n(sharing.uses.begin(), fanouts, use);
    return sharing;
  };
  terms.parent = parent;
  terms.child = {std::vector<LoopUse>(terms.fanouts, LoopUse::kSum), parent.crossed, true};
  terms.busy_parent = busy(parent, from.fanouts);
  terms.busy_child = busy(terms.child, terms.fanouts);
  terms.met_parent = met(from.fanouts, LoopUse::kSum);
  terms.met_child = met(terms.fanouts, LoopUse::kSum);
  terms.met_busy_parent = met(from.fanouts, LoopUse::kFirst);
  terms.met_busy_child = met(terms.fanouts, LoopUse::kFirst);
}

}  // namespace

Terms make_terms(const Skeleton& skeleton, const Tiles& tiles, const Placing& placing,
                 exact::Tracked tracked) {
  const Problem& problem = skeleton.problem();
  const Arch& arch = problem.arch();
  const Tensor& tensor = problem.workload().tensors[placing.tensor];
  const Stop& from = skeleton.stops(placing.tensor)[placing.from];
  const bool mac = placing.to == Placing::kMac;
  const Stop to = mac ? Stop{} : skeleton.stops(placing.tensor)[placing.to];
  Terms terms;
  terms.tensor = placing.tensor;
  terms.output = placing.tensor == problem.workload().output();
  terms.has_child = !mac && !to.latch;
  terms.fanouts = mac ? tiles.used().size() : to.fanouts;
  terms.bits = problem.moved_bits(placing.tensor, tensor.bits);
  terms.partial_bits = problem.moved_bits(placing.tensor, tensor.partial_bits);
  terms.widths = tensor.bits != tensor.partial_bits;
  terms.narrow_parent = from.narrow;
  terms.distinct = static_cast<double>(footprint(tensor, bounds_of(problem.workload())));
  terms.slides = to.latch || (terms.has_child && arch.levels[to.level].sliding);
  set_sharing(problem, tiles, placing, from, terms);
  if (terms.output) {
    add_reductions(problem, tiles, from, terms);
  }
  terms.parent_energy = arch.levels[from.level].energy;
  terms.parent_read = skeleton.port(from.level, true);
  terms.parent_write = skeleton.port(from.level, false);
  if (terms.has_child) {
    terms.child_energy = arch.levels[to.level].energy;
    terms.child_read = skeleton.port(to.level, true);
    terms.child_write = skeleton.port(to.level, false);
    terms.child_link = skeleton.link(to.level);
  }
  terms.owes = tracked.edges && terms.has_child;
  for (const FanoutId f : arch.fanouts.ids()) {
    const auto child = terms.has_child ? std::optional{to.level} : std::nullopt;
    terms.owes = terms.owes || asks_for_hops(arch, f, from.level, child);
  }
  terms.stored_bits = static_cast<double>((to.narrow ? tensor.bits : tensor.partial_bits).count());
  if (const auto room = skeleton.room_of(placing)) {
    terms.limit = skeleton.rooms()[*room].bits;
  } else if (to.latch) {
    terms.limit = static_cast<double>(tensor.partial_bits.count());  // one element
  }
  return terms;
}

bool account(const Terms& terms, const Flow& flow, std::size_t components, double* out,
             std::size_t step) {
  // What crosses once is final. A bound of no more than once may be more in truth.
  const bool once =
      flow.parent == terms.distinct || (flow.is_bound && flow.parent < terms.distinct);
  const bool contradicts =
      flow.is_bound ? terms.narrow_parent && !once : terms.narrow_parent != once;
  if (terms.output && terms.widths && contradicts) {
    return false;
  }
  const bool narrow = terms.output && (terms.widths ? terms.narrow_parent : once);
  const double width = !terms.output || narrow ? terms.bits : terms.partial_bits;
  const bool drained_once =
      flow.child == terms.distinct || (flow.is_bound && flow.child < terms.distinct);
  const double child_width = !terms.output || drained_once ? terms.bits : terms.partial_bits;
  const StorageEnergy& above = terms.parent_energy;
  const StorageEnergy& below = terms.child_energy;
  if (terms.output) {
    out[0] += width * (flow.parent * above.update.count() + flow.parent_again * above.read.count());
    out[0] += flow.reduction_energy;
    if (terms.has_child) {
      out[0] +=
          child_width * (flow.child * below.read.count() + flow.child_again * below.write.count());
    }
  } else {
    out[0] += width * flow.parent * above.read.count();
    out[0] += terms.has_child ? width * flow.child * below.write.count() : 0;
  }
  const auto add = [&](const std::optional<std::size_t>& port, double bits) {
    if (port) {
      out[(1 + *port) * step] += bits;
    }
  };
  if (components == 1) {
    return true;
  }
  add(terms.output ? terms.parent_write : terms.parent_read, width * flow.busy_parent);
  add(terms.output ? terms.parent_read : std::nullopt, width * flow.busy_parent_again);
  if (terms.has_child) {
    add(terms.output ? terms.child_read : terms.child_write, child_width * flow.busy_child);
    add(terms.output ? terms.child_write : std::nullopt, child_width * flow.busy_child_again);
    add(terms.child_link,
        child_width * (flow.busy_child + (terms.output ? flow.busy_child_again : 0)));
  }
  return true;
}

}  // namespace mapsim::balanced
