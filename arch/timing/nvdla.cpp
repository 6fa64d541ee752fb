// SPDX-License-Identifier: Apache-2.0
#include "arch/timing/nvdla.hpp"

#include <fmt/format.h>

#include "arch/timing_text.hpp"

namespace mapsim {

namespace {

const Words kModes{"stripe", "sheet"};  // in the order of NvdlaMode
const Words kTraffic{"refetched", "once"};
const Words kStays{"weights", "least_weights"};

// The innermost level that is shared or split between inputs and weights, unless one is named.
LevelId read_buffer(Reader& reader, const Fields& fields, const Arch& arch) {
  Words names;
  std::optional<LevelId> found;
  for (const LevelId l : arch.levels.ids()) {
    const Storage& storage = arch.levels[l];
    names.push_back(storage.name);
    if (storage.capacity.shared && storage.keep.contains(Role::kInput) &&
        storage.keep.contains(Role::kWeight)) {
      found = l;
    }
  }
  if (const auto named = reader.choice(fields.find("buffer"), names, "storage")) {
    found = static_cast<LevelId>(*named);
  }
  if (!found || !arch.levels[*found].capacity.shared) {
    reader.error(fields.place("buffer"),
                 "the buffer is a storage of limited size that keeps inputs and weights");
    return LevelId{};
  }
  return *found;
}

void read_stripe(Reader& reader, const Fields& fields, NvdlaTiming& timing) {
  constexpr std::int64_t kMost = 1'000'000;
  const Node* node = fields.find("stripe");
  if (node == nullptr) {
    return;
  }
  const Fields limits = reader.fields(*node, {"min", "max", "image"});
  timing.least_stripe = reader.integer(limits.find("min"), 1, kMost).value_or(timing.least_stripe);
  timing.most_stripe = reader.integer(limits.find("max"), 1, kMost).value_or(timing.most_stripe);
  timing.image_stripe =
      reader.integer(limits.find("image"), 1, kMost).value_or(timing.image_stripe);
  if (timing.most_stripe < timing.least_stripe) {
    reader.error(*node, fmt::format("the longest stripe ({}) is shorter than the shortest ({})",
                                    timing.most_stripe, timing.least_stripe));
  }
}

Timing read_nvdla(Reader& reader, const Fields& fields, const Arch& arch) {
  constexpr std::int64_t kMost = 1'000'000;
  NvdlaTiming timing;
  timing.mode =
      static_cast<NvdlaMode>(reader.choice(fields.find("mode"), kModes, "mode").value_or(0));
  timing.array = read_array(reader, fields, arch);
  timing.buffer = read_buffer(reader, fields, arch);
  if (reader.errors() == 0 && !arch.is_above(timing.buffer, timing.array)) {
    reader.error(fields.place("buffer"),
                 fmt::format("{} is not outside of the array {}", arch.levels[timing.buffer].name,
                             arch.fanouts[timing.array].name));
  }
  timing.banks = reader.integer(fields.find("banks"), 2, kMost).value_or(timing.banks);
  timing.weight_banks = reader.integer(fields.find("weight_banks"), 1, timing.banks - 1);
  read_stripe(reader, fields, timing);
  timing.post_throughput = reader.integer(fields.find("post_throughput"), 1, kMost).value_or(0);
  timing.winograd = reader.boolean(fields.find("winograd")).value_or(false);
  timing.image_input = reader.boolean(fields.find("image_input")).value_or(false);
  timing.wide_operands = reader.boolean(fields.find("wide_operands")).value_or(false);
  timing.most_batch = reader.integer(fields.find("batch"), 1, kMost).value_or(timing.most_batch);
  if (const Node* node = fields.find("sheet")) {
    const Fields sheet = reader.fields(
        *node, {"kernel_padding", "batch", "traffic", "input_stays_below", "weight_compression"});
    timing.sheet_padding =
        reader.integer(sheet.find("kernel_padding"), 1, kMost).value_or(timing.sheet_padding);
    timing.sheet_batch = reader.integer(sheet.find("batch"), 1, kMost).value_or(timing.sheet_batch);
    timing.sheet_once = reader.choice(sheet.find("traffic"), kTraffic, "traffic").value_or(0) == 1;
    timing.sheet_least =
        reader.choice(sheet.find("input_stays_below"), kStays, "operand").value_or(0) == 1;
    const Node* compression = sheet.find("weight_compression");
    timing.sheet_compression = reader.number(compression, 0).value_or(0);
    if (timing.sheet_compression >= 1) {
      reader.error(*compression, "a share of the weights' bytes, less than 1");
    }
  }
  if (timing.mode == NvdlaMode::kSheet && !arch.levels[LevelId{0}].bandwidth.shared) {
    reader.error(fields.place("mode"),
                 fmt::format("the workbook needs one bandwidth, shared by all, of {}",
                             arch.levels[LevelId{0}].name));
  }
  return timing;
}

// Rules of the workbook's sheets, where they are not the default.
std::string sheet_rules(const NvdlaTiming& timing) {
  std::string text;
  if (timing.sheet_once) {
    text += fmt::format(", traffic: {}", kTraffic[1]);
  }
  if (timing.sheet_least) {
    text += fmt::format(", input_stays_below: {}", kStays[1]);
  }
  if (timing.sheet_compression > 0) {
    text += fmt::format(", weight_compression: {}", timing.sheet_compression);
  }
  return text;
}

}  // namespace

TimingText text_of(const NvdlaTiming&) {
  return {"nvdla",
          {"mode", "array", "buffer", "banks", "weight_banks", "stripe", "post_throughput",
           "winograd", "image_input", "wide_operands", "batch", "sheet"},
          read_nvdla};
}

std::string print(const NvdlaTiming& timing, const Arch& arch) {
  return fmt::format(
      "{{model: nvdla, mode: {}, array: {}, buffer: {}, banks: {}{}, stripe: {{min: {}, max: {}, "
      "image: {}}}{}, winograd: {}, image_input: {}, wide_operands: {}, batch: {}, sheet: "
      "{{kernel_padding: {}, batch: {}{}}}}}",
      kModes[static_cast<std::size_t>(timing.mode)], arch.fanouts[timing.array].name,
      arch.levels[timing.buffer].name, timing.banks,
      timing.weight_banks ? fmt::format(", weight_banks: {}", *timing.weight_banks) : "",
      timing.least_stripe, timing.most_stripe, timing.image_stripe,
      timing.post_throughput > 0 ? fmt::format(", post_throughput: {}", timing.post_throughput)
                                 : "",
      timing.winograd, timing.image_input, timing.wide_operands, timing.most_batch,
      timing.sheet_padding, timing.sheet_batch, sheet_rules(timing));
}

}  // namespace mapsim
