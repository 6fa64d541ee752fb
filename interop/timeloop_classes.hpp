// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace mapsim {

// The kind of a component of Timeloop, by a word in its class: smartbuffer_RF is a storage.
enum class ComponentKind : std::uint8_t { kStorage, kCompute, kNetwork, kUnknown };
ComponentKind timeloop_kind_of(const std::string& klass);

// A class of which only such a word is known (eDRAMX): what it is taken for, as text. Empty: the
// class is known, or is of no kind.
std::string timeloop_class_guess(const std::string& klass);

}  // namespace mapsim
