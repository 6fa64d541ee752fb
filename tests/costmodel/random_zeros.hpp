// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "core/rng.hpp"
#include "costmodel/reference/simulate.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim {

// A machine's formats and conditions for a random case; somewhere the zeros of operands are seen.
Sparsity random_sparsity(Rng& rng, const RandomCase& random);

// Draws numbers of nonzeros of which there are few choices; the masks of each tensor.
using Masks = PerTensor<std::vector<std::vector<double>>>;
Masks draw_masks(Rng& rng, Workload& workload);
// All masks of tensors of n:m structure; the others have no zeros.
Masks masks_of_blocks(const Workload& workload);
// Draws n:m structure of one operand, where it has dims for it.
Masks draw_blocks(Rng& rng, Workload& workload);
// Calls visit(operands) for every choice of one mask per tensor.
void for_each_data_set(const Workload& workload, const Masks& masks,
                       const std::function<void(const PerTensor<DenseTensor>&)>& visit);

// A random mask of every operand without a window; the data set itself.
PerTensor<DenseTensor> draw_data(Rng& rng, Workload& workload);

}  // namespace mapsim
