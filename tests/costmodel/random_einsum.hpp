// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "core/rng.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A small einsum of a random kind with random bounds, at most `max_macs` multiplications.
Workload random_einsum(Rng& rng, std::int64_t max_macs);

}  // namespace mapsim
