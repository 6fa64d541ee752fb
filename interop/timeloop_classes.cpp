// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/ascii.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

// A word in a class, and what such a class is. The first that fits.
struct ClassWord {
  std::string_view word;
  ComponentKind kind;
};
constexpr std::array kClassWords{ClassWord{"noc", ComponentKind::kNetwork},
                                 ClassWord{"network", ComponentKind::kNetwork},
                                 ClassWord{"wire", ComponentKind::kNetwork},
                                 ClassWord{"legacy", ComponentKind::kNetwork},
                                 ClassWord{"multicast", ComponentKind::kNetwork},
                                 ClassWord{"reduction", ComponentKind::kNetwork},
                                 ClassWord{"dram", ComponentKind::kStorage},
                                 ClassWord{"sram", ComponentKind::kStorage},
                                 ClassWord{"regfile", ComponentKind::kStorage},
                                 ClassWord{"smartbuffer", ComponentKind::kStorage},
                                 ClassWord{"storage", ComponentKind::kStorage},
                                 ClassWord{"buffet", ComponentKind::kStorage},
                                 ClassWord{"register", ComponentKind::kStorage},
                                 ClassWord{"buffer", ComponentKind::kStorage},
                                 ClassWord{"mac", ComponentKind::kCompute},
                                 ClassWord{"compute", ComponentKind::kCompute},
                                 ClassWord{"multiplier", ComponentKind::kCompute}};

// Classes of Accelergy's libraries and of the public designs, by what they say themselves.
constexpr std::array kClasses{"dram",
                              "dram_metadata",
                              "sram",
                              "sram_md",
                              "sram_metadata",
                              "regfile",
                              "regfile_metadata",
                              "smartbuffer",
                              "smartbuffer_rf",
                              "smartbuffer_sram",
                              "smartbuffer_metadata",
                              "storage",
                              "dummy_storage",
                              "reg_storage",
                              "simplesram",
                              "mac",
                              "intmac",
                              "fpmac",
                              "lmac",
                              "imac",
                              "compute"};

// By these Timeloop knows storages and compute units (include/model/topology.hpp); it leaves out a
// component of another class, and the front end of version 0.4 refuses it.
constexpr std::array<std::string_view, 7> kTimeloopWords{
    "DRAM", "SRAM", "regfile", "smartbuffer", "storage", "mac", "compute"};

const ClassWord* word_in(const std::string& name) {
  const std::string klass = lower_case(name);
  const auto* word = std::find_if(
      kClassWords.begin(), kClassWords.end(),
      [&](const ClassWord& each) { return klass.find(each.word) != std::string::npos; });
  return word == kClassWords.end() ? nullptr : word;
}

}  // namespace

ComponentKind timeloop_kind_of(const std::string& klass) {
  const ClassWord* word = word_in(klass);
  return word == nullptr ? ComponentKind::kUnknown : word->kind;
}

std::string timeloop_class_guess(const std::string& klass) {
  const ClassWord* word = word_in(klass);
  const bool has_own_word =
      std::any_of(kTimeloopWords.begin(), kTimeloopWords.end(),
                  [&](std::string_view each) { return klass.find(each) != std::string::npos; });
  const auto is_this = [name = lower_case(klass)](std::string_view known) { return name == known; };
  if (word == nullptr || word->kind == ComponentKind::kNetwork ||
      (has_own_word && std::any_of(kClasses.begin(), kClasses.end(), is_this))) {
    return "";
  }
  return fmt::format("the class {} is not known{}; it is taken for a {}, by the word '{}' in it",
                     quoted(klass),
                     has_own_word ? "" : " to Timeloop, which leaves such a component out",
                     word->kind == ComponentKind::kCompute ? "compute unit"
                     : word->word == "dram"                ? "storage off chip"
                                                           : "storage",
                     word->word);
}

}  // namespace mapsim
