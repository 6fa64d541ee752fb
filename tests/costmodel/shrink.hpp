// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "tests/costmodel/random_case.hpp"

namespace mapsim {

// A smaller case that still fails: nodes dropped, bounds reduced, flags reset, as far as it goes.
RandomCase shrink(RandomCase failing, const std::function<bool(const RandomCase&)>& fails);

}  // namespace mapsim
