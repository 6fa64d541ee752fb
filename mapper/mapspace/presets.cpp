// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mapsim {
namespace {

// The taxonomy of Chen, Emer and Sze, "Eyeriss: A Spatial Architecture for Energy-Efficient
// Dataflow for Convolutional Neural Networks", ISCA 2016, section IV, and of Sze et al., "Efficient
// Processing of Deep Neural Networks: A Tutorial and Survey", Proc. IEEE 105, 2017, section V;
// input stationary as in Parashar et al., "SCNN", ISCA 2017. A tensor is stationary where no loop
// further in cuts its innermost tile and the loops right above the compute units do not move it.
// Row stationary (ISCA 2016, section V): a PE convolves one row of a filter with one row of the
// input into one row of sums; output rows lie along X, filter rows along Y, and what is left of the
// array takes channels and filters.
constexpr std::array kPresets{
    Preset{"weight_stationary", Role::kWeight,
           "  keep: {$level: [weight]}\n"
           "  extents: {$level: {weight: {gemm_n: done, gemm_k: done, gemm_batch: done}}}\n",
           "  loops: {$compute: {order: [rest, gemm_m]}}\n", "", ""},
    Preset{"input_stationary", Role::kInput,
           "  keep: {$level: [input]}\n"
           "  extents: {$level: {input: {gemm_m: done, gemm_k: done, gemm_batch: done}}}\n",
           "  loops: {$compute: {order: [rest, gemm_n]}}\n", "", ""},
    Preset{"output_stationary", Role::kOutput,
           "  keep: {$level: [output]}\n"
           "  extents: {$level: {output: {gemm_m: done, gemm_n: done, gemm_batch: done}}}\n",
           "  loops: {$compute: {order: [rest, gemm_k]}}\n", "", ""},
    Preset{"row_stationary", Role::kWeight,
           "  keep: {$level: [weight]}\n"
           "  extents:\n"
           "    $level:\n"
           "      weight: {row_kernel: whole, column_kernel: 1}\n",
           "",
           "  unroll:\n"
           "    $array: {X: {dims: [column_out, gemm_n, gemm_batch]}, "
           "Y: {dims: [gemm_k, gemm_n, gemm_batch]}}\n",
           "{column_out: 1}"},
};

std::optional<LevelId> innermost_level(const Problem& problem, const Constraints& constraints,
                                       Role role) {
  const Workload& workload = problem.workload();
  std::optional<LevelId> innermost;
  for (const LevelId l : problem.arch().levels.ids()) {
    for (const TensorId t : workload.tensors.ids()) {
      const bool bypassed =
          !constraints.keeps.empty() && constraints.keeps[l][t] == KeepRule::kBypass;
      if (index_of(l) > 0 && workload.tensors[t].role == role && problem.may_keep(l, t) &&
          !bypassed) {
        innermost = l;
      }
    }
  }
  return innermost;
}

std::optional<FanoutId> largest_fanout(const Arch& arch) {
  std::optional<FanoutId> largest;
  const auto size = [&](FanoutId f) { return arch.fanouts[f].x * arch.fanouts[f].y; };
  for (const FanoutId f : arch.fanouts.ids()) {
    largest = !largest || size(f) > size(*largest) ? f : largest;
  }
  return largest;
}

std::string replaced(std::string_view text, std::string_view word, const std::string& name) {
  std::string result{text};
  for (std::size_t at = result.find(word); at != std::string::npos; at = result.find(word, at)) {
    result.replace(at, word.size(), name);
    at += name.size();
  }
  return result;
}

// Extents of the tensors that move, each at the innermost level that may keep it, if that is in the
// array. Those of the level of the tensor that stays come first: its entry is the last so far.
std::string extents_of_others(const Preset& preset, const Problem& problem,
                              const Constraints& constraints, LevelId level, FanoutId array) {
  const auto entries = [&](LevelId at) {
    std::string text;
    for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
      if (role != preset.stationary && innermost_level(problem, constraints, role) == at) {
        text += fmt::format("      {}: {}\n", to_string(role), preset.others);
      }
    }
    return text;
  };
  std::string text = entries(level);
  for (const LevelId l : problem.arch().levels.ids()) {
    const std::string own = entries(l);
    if (l != level && !own.empty() && !problem.arch().is_above(l, array)) {
      text += fmt::format("    {}:\n{}", problem.arch().levels[l].name, own);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    names.emplace_back(preset.name);
  }
  return names;
}

std::optional<std::string> expand_preset(std::size_t preset, const Problem& problem,
                                         const Constraints& constraints) {
  const Preset& chosen = kPresets.at(preset);
  const Arch& arch = problem.arch();
  std::string text = replaced(chosen.always, "$compute", arch.compute.name);
  const bool latched = arch.compute.register_reuse.contains(chosen.stationary);
  const auto level = innermost_level(problem, constraints, chosen.stationary);
  const auto array = largest_fanout(arch);
  if (level && !latched) {
    text += replaced(chosen.at_level, "$level", arch.levels[*level].name);
    if (array && !chosen.others.empty()) {
      text += extents_of_others(chosen, problem, constraints, *level, *array);
    }
  } else if (!latched) {
    return std::nullopt;
  }
  const Unrolling given = constraints.spatial.value_or(Unrolling{});
  const bool is_given = std::any_of(given.begin(), given.end(),
                                    [&](const Unroll& unroll) { return unroll.fanout == array; });
  if (array && !is_given) {
    text += replaced(chosen.on_array, "$array", arch.fanouts[*array].name);
  }
  return text;
}

}  // namespace mapsim
