// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "arch/load.hpp"
#include "check/chain_proof.hpp"
#include "check/claim_values.hpp"
#include "check/goal.hpp"
#include "check/sealed_file.hpp"
#include "core/file_kind.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/objective_range.hpp"

namespace mapsim::check {

namespace {

const Words kKeys{"chain_certificate",
                  "tool",
                  "objective",
                  "value",
                  "lower_bound",
                  "space",
                  "mapping",
                  "inputs",
                  "architecture",
                  "workload",
                  "digest",
                  "limits",
                  "sums"};

class ClaimReader {
 public:
  explicit ClaimReader(const Document& document) : document_{document}, reader_{document} {}

  ChainClaim read() {
    const Fields fields = reader_.fields(document_.root, kKeys);
    const auto version = reader_.integer(fields.require("chain_certificate"), 1, 2);
    if (version == 1) {
      reader_.error(*fields.require("chain_certificate"),
                    "a certificate of a smaller space, in which a group had all scopes at one "
                    "level; let the search write it again");
    }
    const auto tool = reader_.text(fields.require("tool"), "a name and a version");
    const Node* value = fields.require("value");
    const Node* bound = fields.require("lower_bound");
    const Node* objective = fields.require("objective");
    const Node* space = fields.require("space");
    fields.require("architecture");
    fields.require("workload");
    reader_.finish();
    ChainClaim claim;
    claim.goal.function = read_function(reader_, *objective);
    if (const Node* limits = fields.find("limits")) {
      read_limits(*limits, claim.goal);
    }
    claim.file = document_.file;
    claim.tool = *tool;
    claim.value = read_value(reader_, *value, unit_of(claim.goal.function));
    claim.lower_bound = read_value(reader_, *bound, unit_of(claim.goal.function));
    read_sums(fields.find("sums"), *objective, claim);
    claim.records_inputs = fields.has("inputs");
    reader_.finish();
    claim.arch = parse_arch(value_of(document_, "architecture"), document_.file);
    claim.space = read_space(*space, claim.arch);
    claim.chain = parse_chain(value_of(document_, "workload"), document_.file);
    if (const std::string obstacle = chain_proof_obstacle(claim.arch); !obstacle.empty()) {
      reader_.error(*objective, obstacle);
    }
    if (const std::string obstacle =
            range_obstacle(claim.goal.function, claim.arch, claim.chain.einsums);
        !obstacle.empty()) {
      reader_.error(*objective, obstacle);
    }
    const Entry* mapping = entry_of(document_.root, "mapping");
    if ((mapping != nullptr) != (claim.value < kInfinity)) {
      reader_.error(*value, mapping != nullptr
                                ? "the file has a mapping, so its value cannot be infinite"
                                : "the mapping that has this value is missing");
    }
    reader_.finish();
    if (mapping != nullptr) {
      const int line = mapping->key.line;
      claim.tree = parse_tree(cut_out(document_, line, line_behind(document_, line)),
                              document_.file, claim.arch, claim.chain);
    }
    return claim;
  }

 private:
  // {max_group: 3, shared_loops: 4, hold: true}, and level: Buffer if groups keep tensors only
  // there
  FusedSpace read_space(const Node& node, const Arch& arch) {
    const Fields fields = reader_.fields(node, {"max_group", "shared_loops", "hold", "level"});
    const auto einsums = reader_.integer(fields.require("max_group"), 1, kMaxEinsums);
    const auto loops = reader_.integer(fields.require("shared_loops"), 0, kMaxDims);
    const auto hold = reader_.boolean(fields.require("hold"));
    FusedSpace space{static_cast<std::size_t>(einsums.value_or(1)),
                     static_cast<std::size_t>(loops.value_or(0)), hold.value_or(false)};
    if (const Node* level = fields.find("level")) {
      const std::string name = reader_.text(level, "a level").value_or("");
      space.only_level = arch.find_level(name);
      if (!space.only_level) {
        reader_.error(*level, fmt::format("the architecture has no level '{}'", name));
      }
    }
    return space;
  }
  // {max_energy: 1000 pJ, max_latency: 20 cycles}
  void read_limits(const Node& node, Goal& goal) {
    const Fields fields = reader_.fields(node, {"max_energy", "max_latency"});
    if (const Node* energy = fields.find("max_energy")) {
      goal.max_energy = read_value(reader_, *energy, "pJ");
    }
    if (const Node* latency = fields.find("max_latency")) {
      goal.max_latency = read_value(reader_, *latency, "cycles");
    }
  }
  // [{objective: energy + 2*latency, least: 1000 pJ}]
  void read_sums(const Node* list, const Node& objective, ChainClaim& claim) {
    if (is_one_sum(claim.goal) != (list == nullptr)) {
      reader_.error(list != nullptr ? *list : objective,
                    list != nullptr ? "the objective is a sum over einsums without limits, which "
                                      "follows from no others"
                                    : "this objective is no sum over einsums without limits; the "
                                      "'sums' that its bound follows from are missing");
    }
    for (const Node* item :
         list != nullptr ? reader_.items(*list, "sums") : std::vector<const Node*>{}) {
      const Fields fields = reader_.fields(*item, {"objective", "least"});
      const Node* function = fields.require("objective");
      const Node* least = fields.require("least");
      reader_.finish();
      ProvenSum& sum = claim.sums.emplace_back();
      sum.function = read_function(reader_, *function);
      if (!is_sum_over_einsums(sum.function)) {
        reader_.error(
            *function,
            fmt::format("a sum over einsums is energy, latency or energy + W*latency, not {}",
                        describe(*function)));
      }
      sum.least = read_value(reader_, *least, unit_of(sum.function));
    }
  }

  const Document& document_;
  Reader reader_;
};

ChainClaim read_document(const Document& document) {
  check_seal(document);
  return ClaimReader{document}.read();
}

}  // namespace

std::string unit_of(const ObjectiveFunction& function) {
  return function.unit("pJ", "cycles", "*");
}

std::string chain_proof_obstacle(const Arch& arch) {
  if (const std::string obstacle = tree_obstacle(arch); !obstacle.empty()) {
    return obstacle;
  }
  if (!arch.levels[LevelId{0}].capacity.unlimited()) {
    return fmt::format("{} has a limited capacity, and the checker lets it hold everything",
                       arch.levels[LevelId{0}].name);
  }
  return "";
}

bool is_chain_certificate(const std::string& text) {
  return text.starts_with("chain_certificate:");
}

ChainClaim load_chain_claim(const std::string& path) {
  return read_document(read_yaml(checked_file(path, {FileKind::kCertificate})));
}

ChainClaim parse_chain_claim(const std::string& text, const std::string& filename,
                             std::size_t lines_above) {
  return read_document(parse_yaml(std::string(lines_above, '\n') + text, filename));
}

}  // namespace mapsim::check
