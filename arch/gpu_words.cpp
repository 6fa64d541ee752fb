// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

struct PrecisionWord {
  std::string_view word;
  GpuPrecision precision;
};
// Beside the names themselves; configs/schema has them, too.
constexpr std::array kSynonyms{
    PrecisionWord{"fp64", GpuPrecision::kF64}, PrecisionWord{"float64", GpuPrecision::kF64},
    PrecisionWord{"fp32", GpuPrecision::kF32}, PrecisionWord{"float32", GpuPrecision::kF32},
    PrecisionWord{"fp16", GpuPrecision::kF16}, PrecisionWord{"float16", GpuPrecision::kF16},
    PrecisionWord{"half", GpuPrecision::kF16}, PrecisionWord{"bfloat16", GpuPrecision::kBf16},
    PrecisionWord{"int8", GpuPrecision::kS8},  PrecisionWord{"e4m3", GpuPrecision::kFp8}};

}  // namespace

const Words& precision_names() {
  static const Words kNames = [] {
    Words names;
    for (std::size_t i = 0; i < kGpuPrecisions; ++i) {
      names.emplace_back(to_string(static_cast<GpuPrecision>(i)));
    }
    return names;
  }();
  return kNames;
}

std::optional<GpuPrecision> precision_named(std::string_view word) {
  const Words& names = precision_names();
  const auto name = std::find(names.begin(), names.end(), word);
  if (name != names.end()) {
    return static_cast<GpuPrecision>(name - names.begin());
  }
  const auto known = std::find_if(kSynonyms.begin(), kSynonyms.end(),
                                  [&](const PrecisionWord& other) { return other.word == word; });
  return known == kSynonyms.end() ? std::nullopt : std::optional{known->precision};
}

std::optional<GpuPrecision> read_precision(Reader& reader, const Node* node) {
  const auto word = reader.text(node, "the name of a precision");
  if (!word) {
    return std::nullopt;
  }
  const auto named = precision_named(*word);
  if (!named) {
    reader.error(*node, fmt::format("unknown precision {}{}", quoted(*word),
                                    suggestion(*word, precision_names())));
  }
  return named;
}

}  // namespace mapsim
