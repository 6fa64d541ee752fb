// SPDX-License-Identifier: Apache-2.0
#include "workloads/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/file_kind.hpp"
#include "core/reader.hpp"
#include "workloads/read_workload.hpp"

namespace mapsim {

namespace {

// Words of mapping trees, which no einsum can have as its name.
const Words kReserved{"sequence", "group"};

class ChainReader {
 public:
  explicit ChainReader(const Document& document) : document_{document}, reader_{document} {}

  EinsumChain read() {
    const Fields fields = reader_.fields(reader_.root(), {"name", "chain"});
    chain_.name = reader_.name(fields.require("name")).value_or("");
    const Node* list = fields.require("chain");
    const auto items =
        list == nullptr ? std::vector<const Node*>{} : reader_.items(*list, "a list of einsums");
    for (const Node* item : items) {
      read_einsum(*item);
    }
    if (items.size() > kMaxEinsums) {
      reader_.error(*list, fmt::format("{} einsums; at most {}", items.size(), kMaxEinsums));
    }
    reader_.finish();
    for (std::size_t i = 0; i < chain_.intermediates.size();) {
      if (chain_.intermediates[i].readers.empty()) {  // an output of the chain
        chain_.intermediates.erase(chain_.intermediates.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return std::move(chain_);
  }

 private:
  void read_einsum(const Node& item) {
    Words keys = layer_keys();
    keys.insert(keys.end(), {"name", "workload", "in", "out"});
    const std::size_t before = reader_.errors();
    const Fields fields = reader_.fields(item, keys);
    const std::string name = reader_.name(fields.require("name")).value_or("");
    std::string file;
    std::optional<Workload> workload =
        read_layer_or_file(reader_, document_, fields, name, {}, file);
    if (!einsums_.insert(name).second) {
      reader_.error(fields.place("name"), fmt::format("a second einsum '{}'", name));
    } else if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) {
      reader_.error(
          fields.place("name"),
          fmt::format("'{}' is a word of mapping trees; give the einsum another name", name));
    }
    if (!workload || reader_.errors() > before) {
      return;
    }
    workload->name = name;
    PerTensor<std::string> names;
    for (const Tensor& tensor : workload->tensors) {
      names.push_back(fmt::format("{}.{}", name, tensor.name));
    }
    chain_.einsums.push_back(*std::move(workload));
    chain_.names.push_back(names);
    if (const Node* in = fields.find("in")) {
      read_operands(*in);
    }
    read_output(fields.find("out"));
  }

  void read_operands(const Node& in) {
    const std::size_t einsum = chain_.einsums.size() - 1;
    Words operands = names_of(chain_.einsums.back().tensors);
    operands.pop_back();
    for (const Entry* entry : reader_.entries(in, "a map of operands to tensors of the chain")) {
      const auto operand = reader_.choice(&entry->key, operands, "operand");
      const auto name = reader_.name(&entry->value);
      if (!operand || !name) {
        continue;
      }
      const auto t = static_cast<TensorId>(*operand);
      chain_.names[einsum][t] = *name;
      const auto made = std::find_if(chain_.intermediates.begin(), chain_.intermediates.end(),
                                     [&](const Intermediate& i) { return i.name == *name; });
      if (made == chain_.intermediates.end()) {
        inputs_.emplace(*name, chain_.einsums.back().name);
      } else if (check_reader(entry->value, *made, {einsum, t})) {
        made->readers.push_back({einsum, t});
      }
    }
  }

  void read_output(const Node* out) {
    const std::size_t einsum = chain_.einsums.size() - 1;
    const TensorId output = chain_.einsums.back().output();
    const auto name = reader_.name(out);
    if (!name) {
      return;
    }
    chain_.names[einsum][output] = *name;
    if (const auto read = inputs_.find(*name); read != inputs_.end()) {
      reader_.error(*out, fmt::format("{} reads '{}' before {} makes it; list the einsums in an "
                                      "order in which they can run",
                                      read->second, *name, chain_.einsums.back().name));
    }
    if (!outputs_.insert(*name).second) {
      reader_.error(*out, fmt::format("'{}' is made twice", *name));
    }
    chain_.intermediates.push_back({*name, einsum, {}});
  }

  // Is the tensor as large and as wide where it is read as where it is made?
  bool check_reader(const Node& at, const Intermediate& made, const ChainTensor& use) {
    const Workload& producer = chain_.einsums[made.producer];
    const Workload& reader = chain_.einsums[use.einsum];
    const Tensor& out = producer.tensors[producer.output()];
    const Tensor& in = reader.tensors[use.tensor];
    const std::size_t before = reader_.errors();
    const auto error = [&](const std::string& what) {
      reader_.error(at, fmt::format("{} {}", made.name, what));
    };
    if (out.ranks.size() != in.ranks.size()) {
      error(fmt::format("has {} ranks where {} makes it, {} where {} reads it", out.ranks.size(),
                        producer.name, in.ranks.size(), reader.name));
      return false;
    }
    if (out.bits != in.bits) {
      error(fmt::format("has {} b where {} makes it, {} b where {} reads it", out.bits.count(),
                        producer.name, in.bits.count(), reader.name));
    }
    for (std::size_t r = 0; r < out.ranks.size(); ++r) {
      if (out.ranks[r].terms.size() != 1 || out.ranks[r].terms[0].coefficient != 1) {
        error(fmt::format("cannot be passed on: its rank {} is not one dim of {}", r + 1,
                          producer.name));
        continue;
      }
      const std::int64_t size = producer.dims[out.ranks[r].terms[0].dim].bound;
      const std::int64_t read = points_along(reader, in.ranks[r]);
      std::int64_t stride = 1;  // what a stride leaves over at the end is made and not read
      for (const Term& term : in.ranks[r].terms) {
        stride = std::max(stride, term.coefficient);
      }
      if (read > size || size - read >= stride) {
        error(fmt::format("has {} points in rank {} where {} makes it, {} where {} reads it", size,
                          r + 1, producer.name, read, reader.name));
      }
    }
    return reader_.errors() == before;
  }

  const Document& document_;
  Reader reader_;
  EinsumChain chain_;
  std::set<std::string> einsums_;
  std::set<std::string> outputs_;
  std::map<std::string, std::string> inputs_;  // of the chain: who reads them first
};

}  // namespace

std::optional<std::size_t> EinsumChain::intermediate_of(const ChainTensor& use) const {
  for (std::size_t i = 0; i < intermediates.size(); ++i) {
    const Intermediate& t = intermediates[i];
    if ((t.producer == use.einsum && einsums[use.einsum].output() == use.tensor) ||
        std::find(t.readers.begin(), t.readers.end(), use) != t.readers.end()) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> EinsumChain::find_einsum(const std::string& einsum_name) const {
  for (std::size_t e = 0; e < einsums.size(); ++e) {
    if (einsums[e].name == einsum_name) {
      return e;
    }
  }
  return std::nullopt;
}

EinsumChain chain_of(const Workload& workload) {
  EinsumChain chain{workload.name, {workload}, {{}}, {}};
  for (const Tensor& tensor : workload.tensors) {
    chain.names[0].push_back(tensor.name);
  }
  return chain;
}

std::optional<DimId> primary_dim(const Workload& reader, const Rank& rank) {
  if (rank.terms.size() == 1) {
    return rank.terms.front().dim;
  }
  const DimSet outside = reader.tensors[reader.output()].dims();
  std::optional<DimId> primary;
  for (const Term& term : rank.terms) {
    if (outside.contains(term.dim)) {
      if (primary) {
        return std::nullopt;
      }
      primary = term.dim;
    }
  }
  return primary;
}

EinsumChain load_chain(const std::string& path) {
  return ChainReader{read_yaml(checked_file(path, {FileKind::kChain}))}.read();
}

EinsumChain parse_chain(const std::string& text, const std::string& filename) {
  return ChainReader{parse_yaml(text, filename)}.read();
}

}  // namespace mapsim
