// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/diagnostic.hpp"
#include "costmodel/nvdla/features.hpp"
#include "costmodel/nvdla/stripe.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

const NvdlaTiming& engine_of(const Arch& arch) {
  return std::get<NvdlaTiming>(arch.compute.timing);
}

// Operands of 16 b at half of the kernels (nvdla/doc, unit description, "Precision parameters").
void bind_atoms(Arch& arch, const Workload& workload) {
  auto& timing = std::get<NvdlaTiming>(arch.compute.timing);
  const auto refuse = [&](const std::string& what) {
    throw ConfigError({{arch.name, 0, 0, arch.compute.name + ".timing", what, ""}});
  };
  if (timing.mode == NvdlaMode::kSheet && !view_layer(workload)) {
    refuse("the workbook knows convolutions and matrix products only; " + workload.name +
           " is neither");
  }
  Bits widest{0};
  for (const Tensor& tensor : workload.tensors) {
    widest = tensor.role == Role::kOutput ? widest : std::max(widest, tensor.bits);
  }
  const Bits most{timing.wide_operands ? 16 : 8};
  if (widest > most) {
    refuse(fmt::format("operands have {} b, and the engine takes {} b at most{}", widest.count(),
                       most.count(), timing.wide_operands ? "" : " without wide_operands"));
  }
  if (widest > Bits{8} && !timing.halved) {
    timing.halved = true;
    std::int64_t& kernels = arch.fanouts[timing.array].x;
    kernels = std::max<std::int64_t>(kernels / 2, 1);
  }
}

// Of the buffer whole banks.
Bits bits_with_banks(const Problem& problem, LevelId level, const PerTensor<TensorCounts>& counts,
                     std::optional<Role> role) {
  const NvdlaTiming& timing = engine_of(problem.arch());
  if (level != timing.buffer) {
    return plain::need(problem, level, counts, role);
  }
  const PerTensor<Padding> features = feature_words(problem);
  Bits bits{0};
  for (const TensorId t : counts.ids()) {
    if (counts[t].kept && (!role || problem.workload().tensors[t].role == *role)) {
      bits += banked(problem.arch(), timing, buffer_tile(problem, features, t, counts[t]));
    }
  }
  return bits;
}

// Banks that are set aside for weights, and the others.
std::vector<Partition> bank_partitions(const Arch& arch, LevelId level) {
  const NvdlaTiming& timing = engine_of(arch);
  if (level != timing.buffer || !timing.weight_banks) {
    return {};
  }
  const std::int64_t bank = arch.levels[level].capacity.total().count() / timing.banks;
  const Bits weights{*timing.weight_banks * bank};
  return {{Role::kWeight, weights}, {Role::kInput, Bits{timing.banks * bank} - weights}};
}

PerTensor<TilePadding> word_paddings(const Problem& problem, const Nest&, const Counts& counts) {
  PerTensor<TilePadding> found;
  for (const Padding& feature : feature_paddings(problem, counts.levels[LevelId{0}])) {
    found.push_back({feature, feature});
  }
  return found;
}

std::vector<std::string> engine_facts(const Arch& arch) {
  const NvdlaTiming& timing = engine_of(arch);
  return {fmt::format("stripes of {} to {} outputs", timing.least_stripe, timing.most_stripe),
          fmt::format("{} in {} banks", arch.levels[timing.buffer].name, timing.banks)};
}

constexpr TimingModel kEngine{
    .machine = "NVDLA-like engine",
    .machines = "NVDLA-like engines",
    .word = "stripes",
    .fold = "stripe",
    .folds = "stripes",
    .skew = "behind",
    .facts = engine_facts,
    .time = [](const Problem& problem, const Nest& nest,
               std::int64_t) { return nvdla_time(problem, engine_of(problem.arch()), nest); },
    .paddings = word_paddings,
    .pads = holds_padded_features,
    .bind = bind_atoms,
    .need = bits_with_banks,
    .partitions = bank_partitions,
    .is_engine = true,
};

}  // namespace

const TimingModel& model_of(const NvdlaTiming&) { return kEngine; }

bool is_by_workbook(const Arch& arch) {
  const auto* timing = std::get_if<NvdlaTiming>(&arch.compute.timing);
  return timing != nullptr && timing->mode == NvdlaMode::kSheet;
}

bool may_use_winograd(const Arch& arch) {
  const auto* timing = std::get_if<NvdlaTiming>(&arch.compute.timing);
  return timing != nullptr && timing->winograd && timing->mode == NvdlaMode::kStripe;
}

std::optional<BufferBanks> buffer_banks(const Problem& problem, const Counts& counts) {
  const auto* timing = std::get_if<NvdlaTiming>(&problem.arch().compute.timing);
  if (timing == nullptr) {
    return std::nullopt;
  }
  const PerTensor<Padding> features = feature_words(problem);
  BufferBanks banks{timing->buffer, timing->banks, {}};
  for (const TensorId t : problem.workload().tensors.ids()) {
    const TensorCounts& at = counts.levels[timing->buffer][t];
    const Bits tile = at.kept ? buffer_tile(problem, features, t, at) : Bits{0};
    banks.used.push_back(banks_for(problem.arch(), *timing, tile));
  }
  return banks;
}

}  // namespace mapsim
