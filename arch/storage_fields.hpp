// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "arch/arch.hpp"
#include "core/reader.hpp"

namespace mapsim {

// Values of the keys of a storage node; an absent key (nullptr) has its default. Errors go to the
// reader. `word`: the level's; `clock`: the machine's.
Capacity read_capacity(Reader& reader, const Node* node);
Bandwidth read_bandwidth(Reader& reader, const Node* node, std::optional<Bits> word, Hertz clock);
StorageEnergy read_storage_energy(Reader& reader, const Node* node, std::optional<Bits> word);

}  // namespace mapsim
