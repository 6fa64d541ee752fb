// SPDX-License-Identifier: Apache-2.0
#include "arch/sparsity_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "core/quantity_text.hpp"
#include "core/text_stream.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostCodeBits = 64;
constexpr int kLargestBlock = 255;

const Words kCodeNames{"dense", "bitmask", "coordinates", "runs", "offsets"};  // of RankFormat
const Words kActNames{"nothing", "gate", "skip"};                              // of ZeroAct
constexpr const char* kAFormat =
    "a format: dense, ideal, bitmask, coordinates, runs N b, csr, csc, coo, or a list of "
    "codes, one per rank, such as [offsets 16 b, coordinates 4 b]";

// Formats by their names.
std::optional<TensorFormat> named_format(const std::string& name) {
  const RankCode offsets{RankFormat::kOffsets, 0};
  const RankCode coordinates{RankFormat::kCoordinates, 0};
  if (name == "ideal") {
    return TensorFormat{true, false, {}};
  }
  if (name == "dense") {
    return TensorFormat{};
  }
  if (name == "csr" || name == "csc") {
    return TensorFormat{false, name == "csc", {offsets, coordinates}};
  }
  if (name == "coo") {
    return TensorFormat{false, false, {coordinates}};
  }
  return std::nullopt;
}

bool any_of(const Fields& fields, const Words& keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return fields.has(key); });
}

}  // namespace

// CODE, or CODE BITS b.
std::optional<RankCode> SparsityReader::read_code(const Node& node) {
  const std::optional<std::string> text = reader_.text(&node, "a code of a rank");
  if (!text) {
    return std::nullopt;
  }
  std::istringstream words = stream_of(*text);
  std::string name;
  std::string width;
  words >> name;
  std::getline(words >> std::ws, width);
  const auto format = reader_.choice_in(node, 0, name, kCodeNames, "code of a rank");
  if (!format) {
    return std::nullopt;
  }
  RankCode code{static_cast<RankFormat>(*format), 0};
  if (!width.empty()) {
    const auto size = parse_size(width);
    const Bits* bits = std::get_if<Bits>(&size);
    if (bits == nullptr || bits->count() < 1 || bits->count() > kMostCodeBits ||
        code.format == RankFormat::kDense || code.format == RankFormat::kBitmask) {
      reader_.error(node,
                    "a coordinate, run or offset has a width of 1 to 64 b, such as 'runs 4 "
                    "b'; other codes have none");
      return std::nullopt;
    }
    code.bits = bits->count();
  } else if (code.format == RankFormat::kRuns) {
    reader_.error(node, "runs have a width, such as 'runs 4 b'");
    return std::nullopt;
  }
  return code;
}

TensorFormat SparsityReader::read_format(const Node& node) {
  TensorFormat format;
  if (node.kind == Node::Kind::kSequence) {
    for (const Node* item : reader_.items(node, kAFormat)) {
      if (item->kind == Node::Kind::kScalar && item->text == "by columns") {
        format.columns = true;
      } else if (const auto code = read_code(*item)) {
        format.ranks.push_back(*code);
      }
    }
  } else if (node.kind == Node::Kind::kScalar) {
    if (const auto named = named_format(node.text)) {
      return *named;
    }
    if (const auto code = read_code(node)) {
      format.ranks.push_back(*code);
    }
  } else {
    reader_.error(node, fmt::format("expected {}", kAFormat));
  }
  if (format.columns && node.items.size() == 1) {
    reader_.error(node,
                  "'by columns' is the order of ranks whose codes come before it, as in [offsets, "
                  "coordinates, by columns]");
  }
  if (!format.ranks.empty() && format.ranks.back().format == RankFormat::kOffsets) {
    reader_.error(node,
                  "offsets say where the fibers of the next rank begin: another code follows "
                  "them, as in [offsets 16 b, coordinates 4 b]");
  }
  if (std::all_of(format.ranks.begin(), format.ranks.end(),
                  [](const RankCode& code) { return code.format == RankFormat::kDense; })) {
    format.ranks.clear();
  }
  return format;
}

void SparsityReader::read_fits(const Node& node, Fits& fits) {
  const std::string text = reader_.text(&node, "a share").value_or("worst");
  if (text == "worst" || text == "expected") {
    fits.when = text == "worst" ? FitsWhen::kWorst : FitsWhen::kExpected;
    return;
  }
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (std::string_view{end} != " %" || !(percent > 0 && percent < 100)) {
    reader_.error(node, "expected worst, expected, or a share of data sets, such as '99.9 %'");
    return;
  }
  fits = {FitsWhen::kQuantile, percent / 100};
}

// {skip: weight, on: input}, {gate: output, on: [input, weight]}
void SparsityReader::read_condition(const Node& node, StorageSparsity& storage) {
  const Fields fields = reader_.fields(node, {"gate", "skip", "on"});
  if (fields.has("gate") == fields.has("skip")) {
    reader_.error(node, "expected one of 'gate' and 'skip', and 'on': {skip: weight, on: input}");
    return;
  }
  Condition condition;
  condition.act = fields.has("gate") ? ZeroAct::kGate : ZeroAct::kSkip;
  const auto target = reader_.choice(fields.find(to_string(condition.act)), role_words(), "role");
  const Node* on = fields.require("on");
  if (on != nullptr && on->kind == Node::Kind::kSequence) {
    for (const std::size_t leader : reader_.choice_list(on, role_words(), "role")) {
      condition.leaders.insert(static_cast<Role>(leader));
    }
  } else if (const auto leader = reader_.choice(on, role_words(), "role")) {
    condition.leaders.insert(static_cast<Role>(*leader));
  }
  if (!target || condition.leaders.empty()) {
    return;
  }
  condition.target = static_cast<Role>(*target);
  if (condition.leaders.contains(condition.target) || condition.leaders.contains(Role::kOutput)) {
    reader_.error(*on, "a leader is an operand other than the tensor that waits for it");
    return;
  }
  storage.when_empty.push_back(condition);
}

void SparsityReader::read_storage(const Fields& fields, std::optional<Bits> word, const Storage& of,
                                  const Lookup& lookup) {
  StorageSparsity storage;
  is_given_ = is_given_ || any_of(fields, kStorageSparsityKeys);
  if (const Node* formats = fields.find("format")) {
    const Fields by_role = reader_.fields(*formats, role_words());
    if (formats->entries.empty()) {
      reader_.error(*formats, "no format; name a role: input, weight or output");
    }
    for (const Role role : IdRange<Role>{role_words().size()}) {
      if (const Node* format = by_role.find(to_string(role))) {
        storage.formats[role] = read_format(*format);
      }
    }
  }
  if (const Node* fits = fields.find("fits")) {
    read_fits(*fits, storage.fits);
  }
  if (const Node* list = fields.find("when_empty")) {
    for (const Node* condition : reader_.items(*list, "a list of conditions")) {
      read_condition(*condition, storage);
    }
  }
  if (!fields.has("energy")) {
    const auto per_bit = [&](Actions actions) {
      return PicojoulesPerBit{lookup.idle(of.name, actions).count() /
                              static_cast<double>(of.word.count())};
    };
    storage.gated = per_bit(kGatedActions);
    storage.skipped = per_bit(kSkippedActions);
  }
  if (const Node* energy = fields.find("energy"); energy != nullptr) {
    for (const Entry& entry : energy->entries) {
      if (entry.key.text != "gated" && entry.key.text != "skipped") {
        continue;
      }
      is_given_ = true;
      const auto pj = reader_.quantity(
          &entry.value, [word](std::string_view text) { return parse_access_energy(text, word); });
      (entry.key.text == "gated" ? storage.gated : storage.skipped) =
          pj.value_or(PicojoulesPerBit{0});
    }
  }
  if (sparsity_.levels.size() < kMaxLevels) {
    sparsity_.levels.push_back(storage);
  }
}

// gate, skip, nothing, or {skip: [weight], structure: 2:4}: at zeros of these only.
void SparsityReader::read_when_zero(const Node& node) {
  if (node.kind != Node::Kind::kMap) {
    if (const auto act = reader_.choice(&node, kActNames, "act")) {
      sparsity_.when_zero = static_cast<ZeroAct>(*act);
    }
    return;
  }
  const Fields fields = reader_.fields(node, {"gate", "skip", "structure"});
  if (fields.has("gate") == fields.has("skip")) {
    reader_.error(node, "expected one of 'gate' and 'skip', such as {skip: [weight]}");
    return;
  }
  if (const auto text = reader_.text(fields.find("structure"), "N:M, such as 2:4")) {
    std::istringstream words = stream_of(*text);
    int kept = 0;
    char colon = 0;
    int block = 0;
    words >> kept >> colon >> block;
    if (!words || colon != ':' || !words.eof() || kept < 1 || block <= kept ||
        block > kLargestBlock) {
      reader_.error(
          *fields.find("structure"),
          fmt::format("expected N:M, such as 2:4, where N is less than M and M at most {}",
                      kLargestBlock));
      return;
    }
    sparsity_.structure = {static_cast<std::uint8_t>(kept), static_cast<std::uint8_t>(block)};
  }
  sparsity_.when_zero = fields.has("gate") ? ZeroAct::kGate : ZeroAct::kSkip;
  sparsity_.zeros_of = {};
  for (const std::size_t role : reader_.choice_list(fields.find(to_string(sparsity_.when_zero)),
                                                    {"input", "weight"}, "role")) {
    sparsity_.zeros_of.insert(static_cast<Role>(role));
  }
}

void SparsityReader::read_compute(const Fields& fields, const Compute& of, const Lookup& lookup) {
  is_given_ = is_given_ || any_of(fields, kComputeSparsityKeys);
  if (const Node* node = fields.find("when_zero"); node != nullptr) {
    read_when_zero(*node);
  }
  const auto idle = [&](const char* key, Actions actions) {
    return reader_.quantity(fields.find(key), parse_energy)
        .value_or(fields.has("energy") ? Picojoules{0} : lookup.idle(of.name, actions));
  };
  sparsity_.gated = idle("gated_energy", kGatedComputeActions);
  sparsity_.skipped = idle("skipped_energy", kSkippedComputeActions);
}

}  // namespace mapsim
