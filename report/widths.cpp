// SPDX-License-Identifier: Apache-2.0
#include "report/widths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mapsim {

Widths widths_of(const Workload& workload) {
  Widths widths;
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[t];
    if (t == workload.output()) {
      widths.sums = tensor.partial_bits.count();
      widths.outputs = tensor.bits.count();
    } else {
      widths.operands[tensor.name] = tensor.bits.count();
    }
  }
  return widths;
}

Widths widths_of(const GemmProblem& problem) {
  const std::int64_t operand = 8 * operand_size(problem.precision).count();
  return {{{"A", operand}, {"B", operand}},
          8 * problem.output.count(),
          8 * sum_size(problem.precision).count()};
}

void WidthSets::add(const Widths& widths) {
  for (const auto& [name, bits] : widths.operands) {
    operands.insert(bits);
  }
  outputs.insert(widths.outputs);
  sums.insert(widths.sums);
}

std::string widths_text(const Widths& widths) {
  std::string text;
  const auto differs = [&widths](const auto& operand) {
    return operand.second != widths.operands.begin()->second;
  };
  if (std::none_of(widths.operands.begin(), widths.operands.end(), differs)) {
    text = fmt::format("operands {} b", widths.operands.begin()->second);
  } else {
    for (const auto& [name, bits] : widths.operands) {
      text += fmt::format("{}{} {} b", text.empty() ? "" : ", ", name, bits);
    }
  }
  return text + fmt::format(", outputs {} b, sums {} b", widths.outputs, widths.sums);
}

std::string counted_widths(const std::vector<std::string>& of_layers) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& text : of_layers) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&text](const auto& count) { return count.first == text; });
    if (known == counts.end()) {
      counts.emplace_back(text, 1);
    } else {
      ++known->second;
    }
  }
  if (counts.size() == 1) {
    return counts.front().first;
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [widths, layers] : counts) {
    text += fmt::format("{}{} ({} layer{})", text.empty() ? "" : "; ", widths, layers,
                        layers == 1 ? "" : "s");
  }
  return text;
}

}  // namespace mapsim
