// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/edit_distance.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMaxAttribute = std::int64_t{1} << 30;  // products of two fit

// What neither Timeloop's counts nor its cycles depend on, nor its energies where a table gives
// them: these go to Accelergy, or to Timeloop's own estimate of energy and area, which the table
// replaces (src/model/buffer.cpp, ParseSpecs).
// `power_gated_at` names who switches a component off; here, every instance leaks.
constexpr std::array kEstimators{
    "technology",    "type",         "version",       "subclass",
    "n_banks",       "num_banks",    "nbanks",        "n_ports",
    "nports",        "num_ports",    "n_rd_ports",    "n_wr_ports",
    "n_rw_ports",    "n_rdwr_ports", "cycle_seconds", "action_latency_cycles",
    "latency",       "voltage",      "temperature",   "update_fifo_depth",
    "addr_gen_bits", "cluster_area", "storage_area",  "control_queue_depth",
    "power_gated_at"};
// Of formats of sparse tensors, without which nothing is read or written that they describe.
constexpr std::array kMetadataWords{"metadata_storage_depth", "metadata_storage_width",
                                    "metadata_datawidth",     "metadata_word_bits",
                                    "metadata_depth",         "metadata_width"};
constexpr std::array kMetadata{"metadata_counter_width", "metadata_block_size", "metadata_n_banks",
                               "decompression_supported", "compression_supported"};
// The same, of compute units alone: their operands have the widths of the storages.
constexpr std::array kComputeEstimators{"multiplier_width", "adder_width", "num_pipeline_stages",
                                        "num_exponent",     "exponent",    "num_mantissa",
                                        "mantissa",         "width",       "n_bits",
                                        "precision"};

// What would change counts, cycles or energies in a way that is not modelled here, and the value
// that changes nothing.
struct Neutral {
  std::string_view name;
  std::string_view value;
  std::string_view why{};  // nothing here is the same
};
constexpr std::array kNeutral{Neutral{"addr_gen_energy", "0"},
                              Neutral{"min_utilization", "0"},
                              Neutral{"overflow", "0"},
                              Neutral{"router_energy", "0",
                                      ": Timeloop charges a word one router more than its mean "
                                      "hops, rounded down, and here each hop has an energy"},
                              Neutral{"ingress_energy", "0"},
                              Neutral{"energy_per_ingress", "0"},
                              Neutral{"network_fill_latency", "0"},
                              Neutral{"network_drain_latency", "0"},
                              Neutral{"reduction_supported", "true"},
                              Neutral{"allow_overbooking", "false"},
                              Neutral{"has_power_gating", "false"},
                              Neutral{"concordant_compressed_tile_traversal", "false"},
                              Neutral{"tile_partition_supported", "false"}};

bool is_neutral(const std::string& text, std::string_view neutral) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const bool whole = text.find_first_not_of('0', std::min(dot + 1, text.size())) == text.npos;
  const auto boolean = foreign_boolean(neutral);
  return (whole && text.substr(0, dot) == neutral) ||  // 0.0
         (boolean && boolean == foreign_boolean(text));
}

std::string plain(std::string key) {
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// A name that the design gave to a number for its own use: DATAWIDTH.
bool is_variable(const std::string& key) {
  const auto fits = [](unsigned char c) {
    return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
  };
  return key.size() > 1 && std::all_of(key.begin(), key.end(), fits);
}

bool says_nothing(const Node& value) {
  return value.kind != Node::Kind::kScalar && value.items.empty() && value.entries.empty();
}

template <class Names>
bool has(const Names& names, const std::string& key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

}  // namespace

const Node* TimeloopAttributes::find(Spellings spellings) {
  const Entry* found = nullptr;
  std::size_t place = 0;
  for (const char* spelling : spellings) {
    asked_.insert(spelling);
    for (std::size_t i = 0; i < component_.attributes.size(); ++i) {
      const Entry* entry = component_.attributes[i];
      if (plain(entry->key.text) != spelling || says_nothing(entry->value)) {
        continue;
      }
      const bool differs = found != nullptr && plain(found->key.text) != spelling &&
                           found->value.text != entry->value.text;
      if (differs && i < component_.own && place >= component_.own) {
        ignore(*found, *entry);
        found = nullptr;
      } else if (differs) {
        ignore(*entry, *found);
      }
      if (found == nullptr) {
        found = entry;
        place = i;
      }
      break;  // the component's own before those around it
    }
  }
  if (found != nullptr && place >= component_.own && !may_inherit(*found)) {
    unread_.push_back(found);
    return nullptr;
  }
  return found == nullptr ? nullptr : &found->value;
}

// The front end hands what is around a component to it; Timeloop does not (src/model/topology.cpp,
// ParseTreeSpecs). The clock is that of the machine wherever it stands.
bool TimeloopAttributes::may_inherit(const Entry& entry) const {
  return component_.node->tag == "!Component" || plain(entry.key.text) == "global_cycle_seconds";
}

void TimeloopAttributes::ignore(const Entry& entry, const Entry& counts) {
  // Version 0.3 reads a component's own attributes alone. Version 0.4 reads all of them by one list
  // of words, so that one around it may count before its own: who wrote that meant something else.
  const auto own_end = component_.attributes.begin() + static_cast<std::ptrdiff_t>(component_.own);
  const auto is_own = [&](const Entry& each) {
    return std::find(component_.attributes.begin(), own_end, &each) != own_end;
  };
  const bool doubtful = component_.node->tag == "!Component" && is_own(counts) && !is_own(entry);
  const std::string message =
      fmt::format("'{}' ({}) beside '{}' ({}) of {}", entry.key.text, entry.value.text,
                  counts.key.text, counts.value.text, component_.name);
  if (doubtful) {
    reader_.error(counts.value, message + ": leave one of them out");
  } else {
    const std::string line = message + ": the latter counts";
    if (!has(ignored_, line)) {
      ignored_.push_back(line);
    }
  }
}

std::optional<std::int64_t> TimeloopAttributes::whole(Spellings spellings, std::int64_t least) {
  const Node* node = find(spellings);
  const auto value = read_whole(reader_, node, least);
  if (value && *value > kMaxAttribute) {
    reader_.error(*node, fmt::format("more than {}", kMaxAttribute));
    return std::nullopt;
  }
  return value;
}

std::optional<double> TimeloopAttributes::number(Spellings spellings) {
  const Node* node = find(spellings);
  const auto value = reader_.number(node, 0);
  if (value == 0.0) {
    reader_.error(*node, "not above zero");
    return std::nullopt;
  }
  return value;
}

void TimeloopAttributes::finish(bool compute, ImportNotes& notes, std::set<const Entry*>& seen) {
  notes.lines.insert(notes.lines.end(), ignored_.begin(), ignored_.end());
  std::set<std::string> keys = asked_;
  for (const Entry* entry : component_.attributes) {
    if (asked_.contains(plain(entry->key.text))) {
      seen.insert(entry);  // around a storage, it may be around a MAC, too
    }
    const bool first = keys.insert(plain(entry->key.text)).second;
    if (first && !says_nothing(entry->value) && seen.insert(entry).second) {
      check(*entry, compute, notes);
    }
  }
}

void TimeloopAttributes::check(const Entry& entry, bool compute, ImportNotes& notes) {
  const std::string key = plain(entry.key.text);
  if (has(kEstimators, key) || (compute && has(kComputeEstimators, key))) {
    notes.trifles.push_back(
        {"attributes that energies and areas alone may depend on, not counts or cycles", key,
         component_.name});
    return;
  }
  if (has(kMetadata, key) || describes_words(key)) {
    notes.trifles.push_back({kOfFormats, key, component_.name});
    return;
  }
  if (is_variable(key)) {
    notes.trifles.push_back({"variables, used in expressions only", key, ""});
    return;
  }
  const auto* neutral = std::find_if(kNeutral.begin(), kNeutral.end(),
                                     [&](const Neutral& each) { return each.name == key; });
  if (neutral == kNeutral.end()) {
    Words known(asked_.begin(), asked_.end());
    known.insert(known.end(), kEstimators.begin(), kEstimators.end());
    reader_.error(
        entry.key,
        fmt::format(
            "unknown attribute {} of {}; if it changes neither counts nor energies, leave it out{}",
            quoted(entry.key.text), component_.name, suggestion(key, known)));
  } else if (entry.value.kind != Node::Kind::kScalar ||
             !is_neutral(entry.value.text, neutral->value)) {
    reader_.error(entry.value, fmt::format("'{}' other than {} is not known here{}", entry.key.text,
                                           neutral->value, neutral->why));
  }
}

bool describes_words(const std::string& key) { return has(kMetadataWords, key); }

}  // namespace mapsim
