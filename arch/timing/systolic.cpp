// SPDX-License-Identifier: Apache-2.0
#include "arch/timing/systolic.hpp"

#include <fmt/format.h>

#include "arch/timing/array.hpp"
#include "arch/timing_text.hpp"

namespace mapsim {

namespace {

const Words kFoldSizes{"full", "used"};

// The next tile that stays is shifted in while the one before is in use: it needs a second place.
void check_shadow(Reader& reader, const Node& at, const SystolicTiming& timing, const Arch& arch) {
  std::string single;
  for (const LevelId l : arch.levels.ids()) {
    const bool inside = index_of(l) >= arch.levels_above[timing.array];
    if (timing.hides_load && inside && !arch.levels[l].hides()) {
      single += (single.empty() ? "" : ", ") + arch.levels[l].name;
    }
    if (inside && arch.levels[l].hides()) {
      return;
    }
  }
  if (!single.empty()) {
    reader.error(at, fmt::format("stationary_load: {} has no second place for the next tile; say "
                                 "double_buffered: true there, or leave it out",
                                 single));
  }
}

void check_whole_tiles(Reader& reader, const Node& at, const SystolicTiming& timing,
                       const Arch& arch) {
  const RoleSet stay = roles_in_array(arch, timing.array);
  if (!stay.contains(Role::kInput) && !stay.contains(Role::kWeight)) {
    reader.error(at, fmt::format("no operand has to stay in {}; name it in 'keep' of a storage "
                                 "behind it, or in 'register_reuse'",
                                 arch.fanouts[timing.array].name));
  }
  if (!timing.full_folds) {
    reader.error(at, "whole tiles need 'fold_size: full'");
  }
}

Timing read_systolic(Reader& reader, const Fields& fields, const Arch& arch) {
  SystolicTiming timing;
  timing.array = read_array(reader, fields, arch);
  timing.full_folds =
      reader.choice(fields.find("fold_size"), kFoldSizes, "fold size").value_or(0) == 0;
  if (const Node* overlap = fields.find("overlap")) {
    const Fields flags = reader.fields(*overlap, {"stationary_load", "drain"});
    timing.hides_load = reader.boolean(flags.find("stationary_load")).value_or(false);
    timing.hides_drain = reader.boolean(flags.find("drain")).value_or(false);
    check_shadow(reader, *overlap, timing, arch);
  }
  timing.whole_tiles = reader.boolean(fields.find("whole_tiles")).value_or(false);
  if (timing.whole_tiles) {
    check_whole_tiles(reader, *fields.find("whole_tiles"), timing, arch);
  }
  timing.scalesim = reader.choice(fields.find("compat"), {"scalesim"}, "tool").has_value();
  return timing;
}

}  // namespace

TimingText text_of(const SystolicTiming&) {
  return {"systolic", {"array", "fold_size", "overlap", "whole_tiles", "compat"}, read_systolic};
}

std::string print(const SystolicTiming& timing, const Arch& arch) {
  return fmt::format(
      "{{model: systolic, array: {}, fold_size: {}, overlap: {{stationary_load: {}, drain: "
      "{}}}{}{}}}",
      arch.fanouts[timing.array].name, kFoldSizes[timing.full_folds ? 0 : 1], timing.hides_load,
      timing.hides_drain, timing.whole_tiles ? ", whole_tiles: true" : "",
      timing.scalesim ? ", compat: scalesim" : "");
}

}  // namespace mapsim
