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

// Words for dims: their names, then those for the GEMM axes and for windows, which may mean none.
std::vector<std::pair<std::string, DimSet>> dim_words(const Workload& workload);

// A word of a rule, here a window's, that means no dim of the workload: the rule says less than it
// seems to. (A GEMM axis that a workload lacks counts as 1, and rules of it say nothing.)
struct LackingWord {
  const Node* at = nullptr;
  std::string word;
};

// Words for tensors: their names, then those of roles.
std::vector<std::pair<std::string, TensorSet>> tensor_words(const Workload& workload);

template <class Set>
Words words_of(const std::vector<std::pair<std::string, Set>>& sets) {
  Words words;
  for (const auto& entry : sets) {
    words.push_back(entry.first);
  }
  return words;
}

// Reads what rules are made of: numbers and dims of a workload.
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
  // One number, several, or from min to max; `whole` is the bound of the dim.
  std::optional<Allowed> read_allowed(const Node& node, std::int64_t bound);
  // Is some extent that a tile may have allowed, or some factor: with perfect factors, a divisor of
  // the dim's bound? Otherwise nothing can obey.
  bool check_extent(const Node& at, DimId dim, const Allowed& allowed);
  bool check_factor(const Node& at, DimId dim, const Allowed& allowed);
  DimSet read_dims(const Node& list);
  // Of a word, which stands at `at`; notes one that is lacking.
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
