// SPDX-License-Identifier: Apache-2.0
#include "check/design_certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>
#include <variant>

#include "check/certificate.hpp"
#include "check/goal.hpp"
#include "check/mask_files.hpp"
#include "core/diagnostic.hpp"
#include "core/reader.hpp"
#include "core/text_stream.hpp"
#include "workloads/load.hpp"

namespace mapsim::check {

namespace {

const std::string kFirstKey = "design_certificate: ";

[[noreturn]] void refuse(const std::string& file, int line, const std::string& message) {
  throw ConfigError({{file, line, line > 0 ? 1 : 0, "", message, ""}});
}

// A part of the file under a line "--- NAME NUMBER...".
struct Section {
  std::string name;
  std::vector<std::size_t> numbers;
  std::string text;
  int line = 0;
};

std::vector<Section> sections_of(const std::string& text) {
  std::vector<Section> sections(1);
  int line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    ++line;
    if (text.compare(at, 4, "--- ") == 0) {
      std::istringstream words = stream_of(text.substr(at + 4, end - at - 5));
      sections.emplace_back().line = line;
      words >> sections.back().name;
      for (std::size_t number = 0; words >> number;) {
        sections.back().numbers.push_back(number);
      }
    } else {
      sections.back().text.append(text, at, end - at);
    }
    at = end;
  }
  return sections;
}

class DesignReader {
 public:
  DesignReader(const std::string& text, const std::string& file) : file_{file} {
    const std::size_t last = text.rfind('\n', text.size() < 2 ? 0 : text.size() - 2);
    if (last == std::string::npos || seal(text.substr(0, last + 1)) != text.substr(last + 1)) {
      refuse(file, 0, "the file has been changed: its digest is another, or it was cut short");
    }
    sections_ = sections_of(text.substr(0, last + 1));
  }

  DesignCertificate read() {
    found_.file = file_;
    read_head();
    found_.layers.resize(counts_.size());
    described_.resize(counts_.size());
    has_masks_.resize(counts_.size());
    for (const Section& section : sections_) {
      read_section(section);
    }
    for (std::size_t l = 0; l < found_.layers.size(); ++l) {
      const std::optional<Workload>& workload = found_.layers[l].workload;
      const std::string unproven = workload && !has_masks_[l] ? unproven_mask(*workload) : "";
      if (!unproven.empty()) {
        refuse(file_, 0, unproven);
      }
    }
    for (std::size_t s = 0; s < names_.size(); ++s) {
      if (s >= documents_.size()) {
        refuse(file_, 0, fmt::format("the architecture of space {} is missing", s));
      }
      found_.spaces.emplace_back(names_[s], documents_[s], std::move(axes_[s]));
    }
    if (std::find(described_.begin(), described_.end(), false) != described_.end()) {
      refuse(file_, 0, "a layer that is counted is not described");
    }
    for (const DesignLeaf& leaf : found_.leaves) {
      check_box(leaf.space, leaf.box);
    }
    for (const LayerProof& proof : found_.proofs) {
      check_box(proof.space, proof.box);
    }
    for (const DesignClaim& claim : found_.claims) {
      check_box(claim.space, single(claim.values));
    }
    return std::move(found_);
  }

 private:
  void read_head() {
    const Document document = parse_yaml(sections_.front().text, file_);
    Reader reader{document};
    const Fields fields =
        reader.fields(document.root, {"design_certificate", "tool", "objective", "latency", "gap",
                                      "wanted", "top", "max_area_mm2", "max_energy_pj",
                                      "max_latency_seconds", "max_power_mw", "counts", "spaces"});
    reader.integer(fields.require("design_certificate"), 1, 1);
    found_.tool = reader.text(fields.require("tool"), "a name and a version").value_or("");
    const auto objective = reader.text(fields.require("objective"), "an objective").value_or("");
    found_.objective = objective;
    found_.is_joint = objective == "edp";
    const auto function = parse_objective_function(objective == "sum-edp" ? "edp" : objective);
    if (const auto* const problem = std::get_if<std::string>(&function)) {
      reader.error(fields.place("objective"), *problem);
    } else {
      found_.function = std::get<ObjectiveFunction>(function);
    }
    found_.ramped =
        reader.choice(fields.require("latency"), {"steady", "ramped"}, "a latency") == 1;
    found_.is_front = reader.choice(fields.require("wanted"), {"best", "front"}, "a kind") == 1;
    found_.top =
        static_cast<std::size_t>(reader.integer(fields.require("top"), 1, kMaxInteger).value_or(1));
    found_.gap = reader.number(fields.require("gap"), 0).value_or(0);
    found_.max_area = reader.number(fields.find("max_area_mm2"), 0);
    found_.max_energy = reader.number(fields.find("max_energy_pj"), 0);
    found_.max_latency = reader.number(fields.find("max_latency_seconds"), 0);
    found_.max_power = reader.number(fields.find("max_power_mw"), 0);
    if (const mapsim::Node* const counts = fields.require("counts")) {
      for (const mapsim::Node* count : reader.items(*counts, "counts")) {
        const double number = reader.number(count, 0).value_or(1);
        if (!(number > 0)) {
          refuse(file_, count->line, "a layer occurs more than 0 times");
        }
        counts_.push_back(number);
      }
    }
    if (const mapsim::Node* const spaces = fields.require("spaces")) {
      for (const mapsim::Node* space : reader.items(*spaces, "spaces")) {
        read_space(reader, *space);
      }
    }
    reader.finish();
  }

  void read_space(Reader& reader, const mapsim::Node& node) {
    const Fields fields = reader.fields(node, {"name", "axes"});
    names_.push_back(reader.text(fields.require("name"), "a name").value_or(""));
    axes_.emplace_back();
    const mapsim::Node* const axes = fields.find("axes");
    for (const mapsim::Node* item : axes != nullptr && !axes->items.empty()
                                        ? reader.items(*axes, "axes")
                                        : std::vector<const mapsim::Node*>{}) {
      const Fields axis = reader.fields(*item, {"name", "values"});
      GridAxis& read = axes_.back().emplace_back();
      read.name = reader.text(axis.require("name"), "a name").value_or("");
      const mapsim::Node* const values = axis.require("values");
      for (const mapsim::Node* value : values != nullptr ? reader.items(*values, "values")
                                                         : std::vector<const mapsim::Node*>{}) {
        Change& change = read.values.emplace_back();
        for (const mapsim::Node& pair : value->items) {
          if (pair.items.size() != 2) {
            reader.error(pair, "not a path and a value");
            continue;
          }
          change.emplace_back(pair.items[0].text, pair.items[1]);
        }
      }
    }
  }

  void read_section(const Section& section) {
    const auto number = [&](std::size_t i, std::size_t limit) {
      if (i >= section.numbers.size() || section.numbers[i] >= limit) {
        refuse(file_, section.line,
               fmt::format("'{}' is about something that is not there", section.name));
      }
      return section.numbers[i];
    };
    if (section.name.empty()) {
      return;
    }
    if (section.name == "architecture") {
      documents_.push_back(parse_yaml(section.text, file_));
    } else if (section.name == "layer") {
      const std::size_t layer = number(0, counts_.size());  // before it is used on the right
      found_.layers[layer] = {counts_[layer], parse_proven_workload(section.text, file_)};
      described_[layer] = true;
    } else if (section.name == "masks") {
      const DesignLayer& layer = found_.layers[number(0, counts_.size())];
      const Document document = parse_yaml(section.text, file_);
      Reader reader{document};
      if (layer.workload) {
        compare_masks(reader, document.root, *layer.workload);
      }
      has_masks_[section.numbers[0]] = true;
      reader.finish();
    } else if (section.name == "moves") {
      DesignLayer& layer = found_.layers[number(0, counts_.size())];
      described_[section.numbers[0]] = true;
      layer.count = counts_[section.numbers[0]];
      number(2, std::string::npos);
      layer.in = Bits{static_cast<std::int64_t>(section.numbers[1])};
      layer.out = Bits{static_cast<std::int64_t>(section.numbers[2])};
    } else if (section.name == "leaves") {
      read_leaves(number(0, names_.size()), section);
    } else if (section.name == "beyond") {
      refuse(
          file_, section.line,
          "a design whose best mappings break a limit: other ones may keep it, and this file, of "
          "an earlier version, does not say which");
    } else if (section.name == "answer") {
      read_claim(number(0, names_.size()), section);
    } else if (section.name == "mapping") {
      if (found_.claims.empty()) {
        refuse(file_, section.line, "a mapping of no design");
      }
      found_.claims.back().mappings[number(0, counts_.size())] = section.text;
    } else if (section.name == "proofs") {
      read_proofs(number(0, names_.size()), section);
    } else {
      refuse(file_, section.line, fmt::format("'{}' is unknown", section.name));
    }
  }

  void read_claim(std::size_t space, const Section& section) {
    DesignClaim claim;
    claim.space = space;
    claim.values.assign(section.numbers.begin() + 1, section.numbers.end());
    std::istringstream words = stream_of(section.text);
    std::string key;
    std::string value;
    words >> key >> value;
    if (key != "value:") {
      refuse(file_, section.line, "a design without its value");
    }
    claim.value = number_of(value, section.line + 1);
    claim.mappings.resize(counts_.size());
    found_.claims.push_back(std::move(claim));
  }

  void read_leaves(std::size_t space, const Section& section) {
    const std::vector<std::string> kinds{"bound", "area", "limit", "unreadable"};
    std::istringstream lines = stream_of(section.text);
    int at = section.line;
    for (std::string line; std::getline(lines, line);) {
      ++at;
      std::istringstream words = stream_of(line);
      std::string kind;
      words >> kind;
      const auto known = std::find(kinds.begin(), kinds.end(), kind);
      if (known == kinds.end()) {
        refuse(file_, at, fmt::format("'{}' is no reason to leave designs out", kind));
      }
      DesignLeaf leaf{static_cast<DesignLeaf::Why>(known - kinds.begin()), space, {}};
      leaf.box = read_box(words);
      found_.leaves.push_back(std::move(leaf));
    }
  }

  static Box read_box(std::istream& words) {
    Box box;
    std::size_t low = 0;
    std::size_t high = 0;
    char dash = 0;
    while (words >> low >> dash >> high) {
      box.emplace_back(low, high);
    }
    return box;
  }

  // "3 1.5e9 0-3 1-1 : energy*latency"
  void read_proofs(std::size_t space, const Section& section) {
    std::istringstream lines = stream_of(section.text);
    int at = section.line;
    for (std::string line; std::getline(lines, line);) {
      LayerProof proof;
      proof.space = space;
      proof.line = ++at;
      const std::size_t colon = std::min(line.find(" : "), line.size());
      std::istringstream words = stream_of(line.substr(0, colon));
      std::string bound;
      words >> proof.layer >> bound;
      proof.bound = bound == "nothing-fits" ? kInfinity : number_of(bound, at);
      proof.box = read_box(words);
      const auto function =
          parse_objective_function(colon < line.size() ? line.substr(colon + 3) : "");
      if (proof.layer >= counts_.size() || !found_.layers[proof.layer].workload ||
          !std::holds_alternative<ObjectiveFunction>(function)) {
        refuse(file_, at, "not a bound of a layer: LAYER BOUND BOX : FUNCTION");
      }
      proof.function = std::get<ObjectiveFunction>(function);
      found_.proofs.push_back(std::move(proof));
    }
  }

  double number_of(const std::string& word, int line) const {
    double value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failure != std::errc{} || end != word.data() + word.size() || !(value >= 0) ||
        !(value < kInfinity)) {
      refuse(file_, line, fmt::format("'{}' is no number of at least 0", word));
    }
    return value;
  }

  void check_box(std::size_t space, const Box& box) const {
    const Box whole = found_.spaces[space].all();
    bool good = box.size() == whole.size();
    for (std::size_t a = 0; a < box.size() && good; ++a) {
      good = box[a].first <= box[a].second && box[a].second <= whole[a].second;
    }
    if (!good) {
      refuse(file_, 0, "a box or a design is outside the grid");
    }
  }

  std::string file_;
  std::vector<Section> sections_;
  DesignCertificate found_;
  std::vector<double> counts_;
  std::vector<bool> described_, has_masks_;  // of the layers
  std::vector<std::string> names_;
  std::vector<std::vector<GridAxis>> axes_;
  std::vector<Document> documents_;
};

}  // namespace

bool is_design_certificate(const std::string& text) { return text.starts_with(kFirstKey); }

DesignCertificate parse_design_certificate(const std::string& text, const std::string& filename) {
  return DesignReader{text, filename}.read();
}

}  // namespace mapsim::check
