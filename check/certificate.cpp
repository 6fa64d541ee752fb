// SPDX-License-Identifier: Apache-2.0
#include "check/certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "arch/load.hpp"
#include "check/graph.hpp"
#include "core/hash.hpp"
#include "costmodel/mapping_text.hpp"
#include "workloads/load.hpp"

namespace mapsim::check {

namespace {

const Words kKeys{"certificate", "tool",     "objective", "inputs", "architecture",
                  "workload",    "mapspace", "rules",     "value",  "lower_bound",
                  "mapping",     "bounds",   "digest"};
const Words kArguments{"floor", "relaxation", "search"};  // in the order of Argument
constexpr const char* kNothing = "nothing fits";
constexpr std::string_view kDigest = "digest: ";

// The lines of a key's value alone, or with its own line, the others blank: a document whose errors
// are found where they stand in the file.
enum class Cut : std::uint8_t { kValue, kEntry };
std::string cut_out(const Document& document, const std::string& key, Cut cut) {
  std::string lines;
  bool inside = false;
  for (std::size_t begin = 0; begin < document.text.size();) {
    const std::size_t end = std::min(document.text.find('\n', begin), document.text.size());
    const std::string_view line{document.text.data() + begin, end - begin};
    const bool indented = line.empty() || line.front() == ' ';
    const bool is_key = line.starts_with(key + ':');
    inside = is_key || (inside && indented);
    if (inside && (!is_key || cut == Cut::kEntry)) {
      lines += line;
    }
    lines += '\n';
    begin = end + 1;
  }
  return lines;
}

// The file has not been cut short or changed since it was sealed.
void check_seal(const Document& document) {
  Reader reader{document};
  const std::size_t last = document.text.rfind('\n' + std::string{kDigest});
  if (last == std::string::npos) {
    reader.error(document.root, "not a whole certificate: it ends without its digest");
  } else if (const std::string sealed = document.text.substr(0, last + 1);
             document.text.substr(last + 1) != seal(sealed)) {
    const Entry& entry = document.root.entries.back();
    reader.error(entry.value, fmt::format("the file has been changed: its lines above have the {}",
                                          seal(sealed).substr(0, seal(sealed).size() - 1)));
  }
  reader.finish();
}

class CertificateReader {
 public:
  explicit CertificateReader(const Document& document) : document_{document}, reader_{document} {}

  Certificate read() {
    const Fields fields = reader_.fields(document_.root, kKeys);
    reader_.integer(fields.require("certificate"), 1, 1);
    const auto tool = reader_.text(fields.require("tool"), "a name and a version");
    for (const char* key : {"architecture", "workload", "mapspace", "rules", "bounds"}) {
      fields.require(key);
    }
    const Goal goal = read_goal(fields.require("objective"));
    const double value = read_value(fields.require("value"), goal);
    const double lower_bound = read_value(fields.require("lower_bound"), goal);
    reader_.finish();

    Certificate read{document_.file, *tool, read_problem(), goal, {}, {}, {}, value,
                     lower_bound,    {}};
    if (read.problem.is_timed_by_model() &&
        (goal.needs_time() || read.problem.leakage(Cycles{1}) > Picojoules{0})) {
      reader_.error(*fields.find("objective"),
                    "the checker does not know the times of the architecture's timing model");
    }
    read.size = reader_.text(fields.find("mapspace"), "a number of mappings").value_or("");
    read.rules = read_rules(reader_, *fields.find("rules"), read.problem);
    if (fields.has("mapping")) {
      read.best = parse_mapping(cut_out(document_, "mapping", Cut::kEntry), document_.file,
                                read.problem.arch(), read.problem.workload());
    }
    for (const Node* item : reader_.items(*fields.find("bounds"), "a list of bounds")) {
      read.claims.push_back(read_claim(*item, read));
    }
    reader_.finish();
    return read;
  }

 private:
  Problem read_problem() const {
    return {parse_arch(cut_out(document_, "architecture", Cut::kValue), document_.file),
            parse_workload(cut_out(document_, "workload", Cut::kValue), document_.file)};
  }

  // What a new kind of objective would say is refused by name.
  Goal read_goal(const Node* node) {
    Goal goal;
    if (node == nullptr) {
      return goal;
    }
    for (const Entry* entry : reader_.entries(*node, "a map of powers and limits")) {
      const std::string& key = entry->key.text;
      if (key == "energy" || key == "latency") {
        (key == "energy" ? goal.energy_power : goal.latency_power) = read_number(entry->value, "");
      } else if (key == "mode") {
        goal.ramped = reader_.choice(&entry->value, {"steady", "ramped"}, "latency") == 1;
      } else if (key == "max_energy") {
        goal.max_energy = read_number(entry->value, " pJ");
      } else if (key == "max_latency") {
        goal.max_latency = read_number(entry->value, " cycles");
      } else {
        reader_.error(entry->key, fmt::format("this certificate needs the objective's {}, which "
                                              "the checker does not know",
                                              quoted(key)));
      }
    }
    return goal;
  }

  double read_number(const Node& node, const std::string& unit) {
    const std::string text = reader_.text(&node, "a number").value_or("");
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || std::string(end, text.data() + text.size()) != unit ||
        !(value >= 0) || !(value < kInfinity)) {
      reader_.error(node, fmt::format("expected a number{}{}, not {}", unit.empty() ? "" : " of",
                                      unit, describe(node)));
    }
    return value;
  }

  double read_value(const Node* node, const Goal& goal) {
    if (node == nullptr || node->text == kNothing) {
      return kInfinity;
    }
    return read_number(*node, ' ' + unit_of(goal));
  }

  // {search: 756 pJ, spatial: {PEs: {K: 16, C: 2}}}
  Claim read_claim(const Node& node, const Certificate& read) {
    const Workload& workload = read.problem.workload();
    const PerDim<std::int64_t> ones(workload.dims.size(), 1);
    const Words fanouts = names_of(read.problem.arch().fanouts);
    Claim claim{{SpatialFactors(fanouts.size(), ones), {}, 1}, Argument::kFloor, 0, node.line};
    if (read.problem.places_matter()) {
      claim.unrolling.axes = PerFanout<Rules::AxisFactors>(fanouts.size(), {ones, ones});
    }
    Words keys = kArguments;
    keys.emplace_back("spatial");
    const Fields fields = reader_.fields(node, keys);
    int bounds = 0;
    for (std::size_t by = 0; by < kArguments.size(); ++by) {
      if (const Node* bound = fields.find(kArguments[by])) {
        claim.by = static_cast<Argument>(by);
        claim.bound = read_value(bound, read.goal);
        ++bounds;
      }
    }
    if (bounds != 1) {
      reader_.error(node, fmt::format("expected one of {}", fmt::join(kArguments, ", ")));
    }
    if (const Node* spatial = fields.require("spatial")) {
      for (const Entry* entry : reader_.entries(*spatial, "a map of fanouts")) {
        if (const auto fanout = reader_.choice(&entry->key, fanouts, "fanout")) {
          read_instances(entry->value, workload, static_cast<FanoutId>(*fanout), claim.unrolling);
        }
      }
    }
    return claim;
  }

  // {K: 16, C: 2} or, where hops cost something, {X: {K: 16}, Y: {C: 2}}
  void read_instances(const Node& node, const Workload& workload, FanoutId fanout,
                      Unrolling& unrolling) {
    if (unrolling.axes.empty()) {
      read_factors(node, workload, unrolling.factors[fanout]);
      return;
    }
    const Fields fields = reader_.fields(node, {"X", "Y"});
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      PerDim<std::int64_t>& along = unrolling.axes[fanout][static_cast<std::size_t>(axis)];
      if (const Node* factors = fields.find(to_string(axis))) {
        read_factors(*factors, workload, along);
      }
      for (const DimId d : along.ids()) {
        unrolling.factors[fanout][d] *= along[d];
      }
    }
  }

  void read_factors(const Node& node, const Workload& workload, PerDim<std::int64_t>& factors) {
    for (const Entry* entry : reader_.entries(node, "a map of dims")) {
      const auto dim = reader_.choice(&entry->key, names_of(workload.dims), "dim");
      const auto factor = reader_.integer(&entry->value, 1, kMaxInteger);
      if (dim && factor) {
        factors[static_cast<DimId>(*dim)] = *factor;
      }
    }
  }

  const Document& document_;
  Reader reader_;
};

}  // namespace

namespace {

Certificate read_document(const Document& document) {
  check_seal(document);
  return CertificateReader{document}.read();
}

}  // namespace

Certificate load_certificate(const std::string& path) { return read_document(read_yaml(path)); }

Certificate parse_certificate(const std::string& text, const std::string& filename) {
  return read_document(parse_yaml(text, filename));
}

std::string value_text(double value, const Goal& goal) {
  return value < kInfinity ? fmt::format("{} {}", value, unit_of(goal)) : kNothing;
}

std::string unit_of(const Goal& goal) {
  std::string unit;
  for (const auto& [power, name] :
       {std::pair{goal.energy_power, "pJ"}, std::pair{goal.latency_power, "cycles"}}) {
    if (power != 0) {
      unit += fmt::format("{}{}{}", unit.empty() ? "" : "*", name,
                          power == 1 ? std::string{} : fmt::format("^{}", power));
    }
  }
  return unit;
}

std::string seal(const std::string& text) {
  return fmt::format("{}{:016x}\n", kDigest, fnv1a(text));
}

}  // namespace mapsim::check
