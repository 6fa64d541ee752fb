// SPDX-License-Identifier: Apache-2.0
#include "arch/timing_text.hpp"

#include <fmt/format.h>

namespace mapsim {

namespace {

const Words kModels{"systolic"};
const Words kFoldSizes{"full", "used"};

FanoutId read_array(Reader& reader, const Fields& fields, const Arch& arch) {
  if (arch.fanouts.empty()) {
    reader.error(fields.node(), "a systolic array is a fanout, and there is none");
    return FanoutId{};
  }
  Words names;
  for (const Fanout& fanout : arch.fanouts) {
    names.push_back(fanout.name);
  }
  const auto i = reader.choice(fields.find("array"), names, "fanout");
  return static_cast<FanoutId>(i.value_or(names.size() - 1));
}

SystolicTiming read_systolic(Reader& reader, const Fields& fields, const Arch& arch) {
  SystolicTiming timing;
  timing.array = read_array(reader, fields, arch);
  timing.full_folds =
      reader.choice(fields.find("fold_size"), kFoldSizes, "fold size").value_or(0) == 0;
  if (const Node* overlap = fields.find("overlap")) {
    const Fields flags = reader.fields(*overlap, {"stationary_load", "drain"});
    timing.hides_load = reader.boolean(flags.find("stationary_load")).value_or(false);
    timing.hides_drain = reader.boolean(flags.find("drain")).value_or(false);
  }
  return timing;
}

std::string print(const SystolicTiming& timing, const Arch& arch) {
  return fmt::format(
      "{{model: systolic, array: {}, fold_size: {}, overlap: {{stationary_load: {}, drain: {}}}}}",
      arch.fanouts[timing.array].name, kFoldSizes[timing.full_folds ? 0 : 1], timing.hides_load,
      timing.hides_drain);
}

std::string print(std::monostate, const Arch&) { return ""; }

}  // namespace

Timing read_timing(Reader& reader, const Node& node, const Arch& arch) {
  const Fields fields = reader.fields(node, {"model", "array", "fold_size", "overlap"});
  if (!reader.choice(fields.require("model"), kModels, "timing model")) {
    return Timing{};
  }
  return read_systolic(reader, fields, arch);
}

std::string print_timing(const Timing& timing, const Arch& arch) {
  return std::visit([&](const auto& model) { return print(model, arch); }, timing);
}

}  // namespace mapsim
