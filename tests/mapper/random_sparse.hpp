// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/rng.hpp"

namespace mapsim {

// A machine with formats and conditions of every kind, and a matrix product with zeros; some do not
// go together and are refused. `deep`: with registers below the buffer, for which only tiny layers
// can be tried one by one.
std::string random_sparse_machine(Rng& rng, bool deep);
std::string random_sparse_layer(Rng& rng, bool deep);

}  // namespace mapsim
