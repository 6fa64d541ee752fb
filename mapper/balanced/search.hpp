// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "mapper/exact/labels.hpp"
#include "mapper/exact/patience.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/valuation.hpp"
#include "mapper/mapper.hpp"

namespace mapsim::balanced {

// What the label search orders whole mappings by.
exact::Key key_of_cost(const Objective& objective, const Cost& cost);

// What became of one spatial unrolling.
struct Outcome {
  std::optional<Mapping> best;  // as good as the limit, or better
  exact::Key key;               // of the best
  exact::Key root;              // what the relaxation says
  exact::Key bound;             // nothing of this unrolling is better
  std::int64_t states = 0;      // bounded
  std::int64_t labels = 0;      // expanded
  bool searched = false;        // labels were needed
  bool complete = true;         // false: stopped, or too large
  // What bounds the mappings with an extent at which nothing stands, where not all were looked at.
  std::optional<exact::Key> bare;
};

// The best mapping of one unrolling of a balanced space, where it is not beyond the quest's limit.
// Of the quest, limit, labels and tick count.
Outcome search_group(const exact::Skeleton& skeleton, const UnrollingGroup& group,
                     const Objective& objective, const exact::Quest& quest,
                     const exact::Patience& patience);

// No mapping of the unrolling is better: what the relaxation says on a lattice of about `most`
// tiles.
exact::Key coarse_bound(const exact::Skeleton& skeleton, const UnrollingGroup& group,
                        const Objective& objective, std::size_t most);

}  // namespace mapsim::balanced
