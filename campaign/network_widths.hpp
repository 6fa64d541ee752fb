// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "report/widths.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// Widths of the tensors of a network's layers, and of the words of a machine.
struct NetworkWidths {
  WidthSets tensors{};
  std::optional<Bits> word{};  // the least of levels that may keep an operand; absent: unknown
};
NetworkWidths network_widths(const Arch& arch, const Network& network);

// "operands 32 b, outputs 32 b, sums 32 b; words of 16 b in eyeriss". Empty: no layers.
std::string widths_text(const Arch& arch, const Network& network);

// Why figures of layers with zeros are lower bounds, each reason once, with the layers.
std::vector<std::string> zero_warnings(const Arch& arch, const Network& network);

// Warnings about a network's results: zeros, operands wider than the machine's words, and the
// warnings of the reader of a model.
std::vector<std::string> network_warnings(const Arch& arch, const Network& network);

}  // namespace mapsim
