// SPDX-License-Identifier: Apache-2.0
#include "campaign/network_widths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mapsim {

namespace {

// "16 b and 32 b".
std::string widths_list(const std::set<Bits>& widths) {
  std::vector<std::string> texts;
  for (const Bits bits : widths) {
    texts.push_back(fmt::format("{} b", bits.count()));
  }
  return fmt::format("{}", fmt::join(texts, " and "));
}

}  // namespace

NetworkWidths network_widths(const Arch& arch, const Network& network) {
  NetworkWidths widths;
  for (const NetworkLayer& layer : network.layers) {
    for (const Tensor& tensor : layer.workload.tensors) {
      const bool output = tensor.role == Role::kOutput;
      (output ? widths.outputs : widths.operands).insert(tensor.bits);
      if (output) {
        widths.sums.insert(tensor.partial_bits);
      }
    }
  }
  for (const Storage& level : arch.levels) {
    const bool keeps =
        !level.bypass.contains(Role::kInput) || !level.bypass.contains(Role::kWeight);
    if (keeps && level.word > Bits{1}) {  // 1 b: none is given
      widths.word = std::min(widths.word.value_or(level.word), level.word);
    }
  }
  return widths;
}

std::string widths_text(const Arch& arch, const Network& network) {
  const NetworkWidths widths = network_widths(arch, network);
  return widths.operands.empty()
             ? ""
             : fmt::format("operands {}, outputs {}, sums {}{}\n", widths_list(widths.operands),
                           widths_list(widths.outputs), widths_list(widths.sums),
                           widths.word ? fmt::format("; words of {} b in {}", widths.word->count(),
                                                     arch.name)
                                       : "");
}

std::vector<std::string> network_warnings(const Arch& arch, const Network& network) {
  std::vector<std::string> warnings = network.warnings;
  const NetworkWidths widths = network_widths(arch, network);
  if (!widths.word || widths.operands.empty() || *widths.operands.rbegin() <= *widths.word) {
    return warnings;
  }
  const bool model = std::all_of(network.layers.begin(), network.layers.end(),
                                 [](const NetworkLayer& layer) { return layer.file.empty(); });
  warnings.push_back(
      fmt::format("operands of {} b are wider than the words of {} b in {}{}",
                  widths.operands.rbegin()->count(), widths.word->count(), arch.name,
                  model ? fmt::format("; --operand-bits {} takes the model as quantised to them",
                                      widths.word->count())
                        : ""));
  return warnings;
}

}  // namespace mapsim
