// SPDX-License-Identifier: Apache-2.0
#include "campaign/network_widths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/diagnostic.hpp"
#include "costmodel/problem.hpp"
#include "report/sparse.hpp"

namespace mapsim {

namespace {

// "16 b and 32 b".
std::string widths_list(const std::set<std::int64_t>& widths) {
  std::vector<std::string> texts;
  for (const std::int64_t bits : widths) {
    texts.push_back(fmt::format("{} b", bits));
  }
  return fmt::format("{}", fmt::join(texts, " and "));
}

}  // namespace

NetworkWidths network_widths(const Arch& arch, const Network& network) {
  NetworkWidths widths;
  for (const NetworkLayer& layer : network.layers) {
    widths.tensors.add(widths_of(layer.workload));
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
  const auto& [tensors, word] = network_widths(arch, network);
  return tensors.operands.empty()
             ? ""
             : fmt::format(
                   "operands {}, outputs {}, sums {}{}\n", widths_list(tensors.operands),
                   widths_list(tensors.outputs), widths_list(tensors.sums),
                   word ? fmt::format("; words of {} b in {}", word->count(), arch.name) : "");
}

std::vector<std::string> zero_warnings(const Arch& arch, const Network& network) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const NetworkLayer& layer : network.layers) {
    const auto& tensors = layer.workload.tensors;
    std::vector<std::string> notes;
    if (std::any_of(tensors.begin(), tensors.end(),
                    [](const Tensor& tensor) { return tensor.density < 1; })) {
      try {
        notes = zero_notes(Problem{arch, layer.workload});
      } catch (const ConfigError&) {  // the layer's own result says so
        notes.clear();
      }
    }
    for (const std::string& note : notes) {
      auto at = std::find_if(reasons.begin(), reasons.end(),
                             [&](const auto& reason) { return reason.first == note; });
      at = at == reasons.end() ? reasons.insert(at, {note, {}}) : at;
      at->second.push_back(layer.name);
    }
  }
  std::vector<std::string> warnings;
  for (const auto& [reason, layers] : reasons) {
    warnings.push_back(fmt::format("{}: {}", fmt::join(layers, ", "), reason));
  }
  return warnings;
}

std::vector<std::string> network_warnings(const Arch& arch, const Network& network) {
  std::vector<std::string> warnings = network.warnings;
  const std::vector<std::string> zeros = zero_warnings(arch, network);
  warnings.insert(warnings.end(), zeros.begin(), zeros.end());
  const auto& [tensors, word] = network_widths(arch, network);
  if (!word || tensors.operands.empty() || *tensors.operands.rbegin() <= word->count()) {
    return warnings;
  }
  const bool model = std::all_of(network.layers.begin(), network.layers.end(),
                                 [](const NetworkLayer& layer) { return layer.file.empty(); });
  warnings.push_back(fmt::format(
      "operands of {} b are wider than the words of {} b in {}{}", *tensors.operands.rbegin(),
      word->count(), arch.name,
      model ? fmt::format("; --operand-bits {} takes the model as quantised to them", word->count())
            : ""));
  return warnings;
}

}  // namespace mapsim
