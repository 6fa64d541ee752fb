// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/reader.hpp"
#include "mapper/mapspace/factors.hpp"
#include "mapper/mapspace/rules.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The words for dims: their names, then words for the axes of a GEMM and for windows, which may
// mean no dim.
std::vector<std::pair<std::string, DimSet>> dim_words(const Workload& workload);

// A word for a window in a rule that means no dim of the workload, so the rule says less than it
// seems to. (A GEMM axis that a workload lacks counts as 1, so rules for it are void.)
struct LackingWord {
  const Node* at = nullptr;
  std::string word;
};

// The words for tensors: their names, then those of roles.
std::vector<std::pair<std::string, TensorSet>> tensor_words(const Workload& workload);

template <class Set>
Words words_of(const std::vector<std::pair<std::string, Set>>& sets) {
  Words words;
  for (const auto& entry : sets) {
    words.push_back(entry.first);
  }
  return words;
}

// Reads the parts of rules: numbers and dims of a workload.
class RuleValues {
 public:
  RuleValues(Reader& reader, const Workload& workload, const Factors& factors)
      : reader_{reader},
        workload_{workload},
        factors_{factors},
        dim_sets_{dim_words(workload)},
        tensor_sets_{tensor_words(workload)},
        dims_{words_of(dim_sets_)},
        tensors_{words_of(tensor_sets_)} {}

 protected:
  // One number, several, or a range from min to max. `bound`: of the dim, meant by `whole`.
  std::optional<Allowed> read_allowed(const Node& node, std::int64_t bound);
  // Does `allowed` contain an extent that a tile may have, or a factor? (With perfect factors: a
  // divisor of the dim's bound.) Otherwise nothing can obey the rule, which is an error at `at`.
  bool check_extent(const Node& at, DimId dim, const Allowed& allowed);
  bool check_factor(const Node& at, DimId dim, const Allowed& allowed);
  DimSet read_dims(const Node& list);
  // The dims of a word; notes it if it means none.
  DimSet dims_of(std::size_t word, const Node& at);
  std::optional<std::int64_t> read_number(const Node* node, std::int64_t bound);
  const std::string& name(DimId d) const { return workload_.dims[d].name; }

  // Calls visit(dim, value node) for each dim of each entry of a map of dims.
  template <class Visit>
  void for_each_dim(const Node& node, const Visit& visit) {
    DimSet seen;
    for (const Entry* entry : reader_.entries(node, "a map of dims")) {
      const auto word = reader_.choice(&entry->key, dims_, "dim");
      const DimSet dims = word ? dims_of(*word, entry->key) : DimSet{};
      for (const DimId d : workload_.dims.ids()) {
        if (!dims.contains(d)) {
          continue;
        }
        if (seen.contains(d)) {
          reader_.error(entry->key, fmt::format("{} has a rule here already", name(d)));
        }
        seen.insert(d);
        visit(d, entry->value);
      }
    }
  }
  Reader& reader_;
  const Workload& workload_;
  Factors factors_;
  std::vector<std::pair<std::string, DimSet>> dim_sets_;
  std::vector<std::pair<std::string, TensorSet>> tensor_sets_;
  Words dims_;
  Words tensors_;
  std::vector<LackingWord> lacking_;
};

}  // namespace mapsim
