// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace mapsim {

// What a component of Timeloop is, by a word in its class: smartbuffer_RF is a storage.
enum class ComponentKind : std::uint8_t { kStorage, kCompute, kNetwork, kUnknown };
ComponentKind timeloop_kind_of(const std::string& klass);

// A class of which only that word is known may be another thing (eDRAMX): what it is taken for.
// Empty: it is known, or no component at all.
std::string timeloop_class_guess(const std::string& klass);

}  // namespace mapsim
