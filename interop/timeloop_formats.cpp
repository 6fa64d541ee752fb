// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace mapsim {

namespace {

// The loops that one rank stores. `rank` counts from the innermost.
struct RankLoops {
  std::size_t rank = 0;
  std::vector<DimId> loops;
};

class FormatOfTile {
 public:
  FormatOfTile(const Workload& workload, TensorId t,
               const std::vector<std::optional<TimeloopRanks>>& formats,
               const std::vector<TimeloopBlock>& blocks)
      : tensor_{workload.tensors[t]}, t_{t}, formats_{formats}, blocks_{blocks} {}

  StoredAs run(std::size_t level) {
    const TimeloopRanks& given = *formats_[level];
    const TimeloopRank& innermost = given.ranks.back();
    if (innermost.format == RankFormat::kOffsets || innermost.format == RankFormat::kDense) {
      out_.wrong = "its innermost rank stores zeros; expected CP, RLE or B";
    } else if (innermost.bits == 0) {
      out_.format.ideal = true;
      note("its words have no width, so that nothing is charged for where its nonzeros are");
    } else if (blocks_.empty()) {
      by_tensor(given);
    } else {
      by_loops(level, given);
    }
    return std::move(out_);
  }

 private:
  void note(const std::string& text) { out_.notes.push_back(text); }

  static RankCode code_of(const TimeloopRank& rank) {
    if (rank.bits == 0) {
      return {};
    }
    return {rank.format, rank.format == RankFormat::kBitmask ? 0 : rank.bits};
  }

  // Without a mapping: the innermost ranks in the order of the tensor's.
  void by_tensor(const TimeloopRanks& given) {
    const std::vector<DimSet>& sets = given.ranks.back().flattened;
    if (std::any_of(sets.begin(), sets.end(), [&](const DimSet& each) {
          return (each & tensor_.dims()) == tensor_.dims();
        })) {
      out_.format.ranks = {code_of(given.ranks.back())};  // any tile is one rank
      if (std::any_of(given.ranks.begin(), given.ranks.end() - 1,
                      [](const TimeloopRank& each) { return each.bits > 0; })) {
        note(
            "a tile is one rank, by the code of the innermost; words of the ranks around it are "
            "left out");
      }
      return;
    }
    const std::size_t count = std::min(given.ranks.size(), tensor_.ranks.size());
    for (std::size_t r = given.ranks.size() - count; r < given.ranks.size(); ++r) {
      out_.format.ranks.push_back(code_of(given.ranks[r]));
    }
    note(
        "without a mapping its ranks are those of the tensor, in their order; in Timeloop they are "
        "the loops of a mapping");
  }

  std::optional<std::size_t> child_of(std::size_t level) const {
    for (std::size_t l = level + 1; l < blocks_.size(); ++l) {
      if (blocks_[l].keep.contains(t_)) {
        return l;
      }
    }
    return std::nullopt;
  }

  bool is_outermost(std::size_t level) const {
    return std::none_of(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(level),
                        [&](const TimeloopBlock& block) { return block.keep.contains(t_); });
  }

  // Loops over the tensor's dims, outermost first.
  std::vector<DimId> loops_of(std::size_t begin, std::size_t end) const {
    std::vector<DimId> loops;
    for (std::size_t l = begin; l < end; ++l) {
      for (const auto* each : {&blocks_[l].temporal, &blocks_[l].spatial}) {
        for (const TimeloopLoop& loop : *each) {
          if (loop.bound > 1 && tensor_.dims().contains(loop.dim)) {
            loops.push_back(loop.dim);
          }
        }
      }
    }
    return loops;
  }

  // How many of a level's ranks are those of the tile below.
  std::size_t inner_ranks(std::size_t level) const {
    const std::optional<std::size_t> child = child_of(level);
    if (!child || loops_of(*child, blocks_.size()).empty()) {
      return 0;
    }
    return formats_[*child] ? formats_[*child]->ranks.size() : 1;
  }

  // The ranks of a tile at a level, outermost first: those of its own loops, then those of the tile
  // below.
  std::vector<RankLoops> ranks_of(std::size_t level) {
    if (!formats_[level]) {
      return {{0, loops_of(level, blocks_.size())}};
    }
    const std::optional<std::size_t> child = child_of(level);
    const std::size_t inner = inner_ranks(level);
    const TimeloopRanks& given = *formats_[level];
    if (inner > given.ranks.size()) {
      out_.wrong = fmt::format("{} ranks, but the level below has {}", given.ranks.size(), inner);
      return {};
    }
    std::vector<RankLoops> ranks =
        assigned(loops_of(level, child.value_or(blocks_.size())), given, inner);
    if (inner > 0) {
      const std::vector<RankLoops> below = ranks_of(*child);
      ranks.insert(ranks.end(), below.begin(), below.end());
    }
    return ranks;
  }

  // Gives each loop its rank, of those from `inner` outwards. A rank that names dims takes the
  // loops over them, and none over others; any other rank takes one loop.
  std::vector<RankLoops> assigned(std::vector<DimId> loops, const TimeloopRanks& given,
                                  std::size_t inner) {
    if (given.from_inside) {
      std::reverse(loops.begin(), loops.end());
    }
    std::vector<RankLoops> ranks;
    std::size_t at = 0;
    for (std::size_t i = inner; i < given.ranks.size() && at < loops.size(); ++i) {
      const std::size_t rank = given.from_inside ? i : given.ranks.size() - 1 - (i - inner);
      const std::vector<DimSet>& sets = given.ranks[given.ranks.size() - 1 - rank].flattened;
      const auto set = std::find_if(sets.begin(), sets.end(),
                                    [&](const DimSet& each) { return each.contains(loops[at]); });
      if (!sets.empty() && set == sets.end()) {
        continue;
      }
      RankLoops taken{rank, {loops[at++]}};
      while (set != sets.end() && at < loops.size() && set->contains(loops[at])) {
        taken.loops.push_back(loops[at++]);
      }
      ranks.push_back(taken);
    }
    if (at < loops.size()) {
      out_.wrong = fmt::format(
          "{} loops of the mapping walk it, and its {} ranks do not take all of them, so that "
          "Timeloop refuses it",
          loops.size(), given.ranks.size() - inner);
    }
    if (given.from_inside) {
      std::reverse(ranks.begin(), ranks.end());
    }
    return ranks;
  }

  void by_loops(std::size_t level, const TimeloopRanks& given) {
    std::vector<RankLoops> ranks = ranks_of(level);
    if (!out_.wrong.empty()) {
      return;
    }
    // Of the outermost level only tiles of the level below move.
    const std::size_t inner = inner_ranks(level);
    // The compute units take single elements: each would pay for the offsets of its fibers.
    const bool feeds_compute = !child_of(level);
    bool has_offsets = false;
    const auto code = [&](const RankLoops& rank) {
      const RankCode found = code_of(given.ranks[given.ranks.size() - 1 - rank.rank]);
      const bool left_out = feeds_compute && found.format == RankFormat::kOffsets;
      has_offsets |= left_out;
      return left_out ? RankCode{} : found;
    };
    bool has_pointers = false;
    if (is_outermost(level) && inner > 0) {
      const auto tile = std::find_if(ranks.begin(), ranks.end(),
                                     [&](const RankLoops& each) { return each.rank < inner; });
      has_pointers = std::any_of(ranks.begin(), tile, [&](const RankLoops& each) {
        return code(each).format != RankFormat::kDense;
      });
      ranks.erase(ranks.begin(), tile);
    }
    // Per rank of the tensor, the innermost loop that walks it.
    std::map<std::size_t, std::size_t> place;
    for (std::size_t p = 0; p < ranks.size(); ++p) {
      for (const DimId dim : ranks[p].loops) {
        place[rank_of(dim)] = p;
      }
    }
    for (std::size_t p = 0; p < ranks.size(); ++p) {
      has_pointers |= code(ranks[p]).format != RankFormat::kDense &&
                      std::none_of(place.begin(), place.end(),
                                   [&](const auto& each) { return each.second == p; });
    }
    if (has_pointers) {
      note("words of the loops over tiles are left out: here a tile has no tiles in it");
    }
    const RankCode last = code_of(given.ranks.back());
    if (ranks.empty() || ranks.back().rank != 0) {
      // Single elements, or a rank without a loop. Runs are those of the last rank.
      const std::size_t dense = last.format == RankFormat::kRuns ? tensor_.ranks.size() - 1 : 0;
      out_.format.ranks = std::vector<RankCode>(dense);
      out_.format.ranks.push_back(last);
      return;
    }
    std::vector<RankCode> codes;
    for (const RankLoops& rank : ranks) {
      codes.push_back(code(rank));
    }
    if (has_offsets) {
      note(
          "its offsets (UOP) are left out, since mapsim would charge them to each element that the "
          "compute units read");
    }
    write(place, codes, last);
  }

  std::size_t rank_of(DimId dim) const {
    for (std::size_t r = 0; r < tensor_.ranks.size(); ++r) {
      for (const Term& term : tensor_.ranks[r].terms) {
        if (term.dim == dim) {
          return r;
        }
      }
    }
    return 0;
  }

  // Codes in the order of the tensor's ranks, or in the reverse; the innermost one takes the rest.
  void write(const std::map<std::size_t, std::size_t>& place, const std::vector<RankCode>& codes,
             const RankCode& last) {
    const std::size_t n = tensor_.ranks.size();
    for (const bool columns : {false, true}) {
      std::vector<RankCode> list;
      std::vector<std::size_t> order;  // places, in the order of the ranks that have loops
      bool is_done = false;
      for (std::size_t i = 0; i < n; ++i) {
        const auto at = place.find(columns ? n - 1 - i : i);
        if (at != place.end()) {
          order.push_back(at->second);
        }
        if (!is_done) {
          list.push_back(at == place.end() ? RankCode{} : codes[at->second]);
          is_done = at != place.end() && at->second + 1 == codes.size();
        }
      }
      const bool is_flat = std::adjacent_find(order.begin(), order.end(), [&](auto a, auto b) {
                             return a == b && a + 1 != codes.size();
                           }) != order.end();
      if (std::is_sorted(order.begin(), order.end()) && !is_flat) {
        out_.format.columns = columns && list.size() > 1;
        out_.format.ranks = list;
        return;
      }
    }
    out_.format.ranks = {last};
    note(
        "the loops walk its ranks in an order that no format here has, so that the tile is stored "
        "as one rank, by the code of its innermost");
  }

  const Tensor& tensor_;
  TensorId t_;
  const std::vector<std::optional<TimeloopRanks>>& formats_;
  const std::vector<TimeloopBlock>& blocks_;
  StoredAs out_;
};

}  // namespace

StoredAs to_format(const Workload& workload, TensorId t, std::size_t level,
                   const std::vector<std::optional<TimeloopRanks>>& formats,
                   const std::vector<TimeloopBlock>& blocks) {
  return FormatOfTile{workload, t, formats, blocks}.run(level);
}

}  // namespace mapsim
