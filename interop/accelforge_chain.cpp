// SPDX-License-Identifier: Apache-2.0
#include "interop/accelforge_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "interop/foreign_yaml.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

class ChainMaker {
 public:
  ChainMaker(const std::vector<ForgeEinsum>& einsums, const ForgeRides& rides, ImportNotes& notes)
      : einsums_{einsums}, rides_{rides}, notes_{notes} {}

  // Throws std::invalid_argument with what no chain has.
  EinsumChain make() {
    chain_.name = "accelforge";
    for (const ForgeEinsum& einsum : einsums_) {
      if (einsum.count != einsums_.front().count) {
        throw std::invalid_argument(fmt::format("{} runs {} times and {} {} times", einsum.name,
                                                einsum.count, einsums_.front().name,
                                                einsums_.front().count));
      }
      if (einsum.copies) {
        names_[einsum.tensors.back().name] = name_of(einsum.tensors.front());
      } else if (einsum.is_stream() && rides_(einsum)) {
        ride(einsum);
      } else {
        push(einsum);
      }
    }
    std::erase_if(chain_.intermediates,
                  [](const Intermediate& each) { return each.readers.empty(); });
    return parse_chain(print_chain(chain_), "chain.yaml");
  }

 private:
  std::string name_of(const ForgeTensor& tensor) const {
    const auto other = names_.find(tensor.name);
    return other == names_.end() ? tensor.name : other->second;
  }

  Intermediate* made(const std::string& name) {
    const auto found = std::find_if(chain_.intermediates.begin(), chain_.intermediates.end(),
                                    [&](const Intermediate& each) { return each.name == name; });
    return found == chain_.intermediates.end() ? nullptr : &*found;
  }

  void ride(const ForgeEinsum& einsum) {
    const ForgeTensor &in = einsum.tensors.front(), &out = einsum.tensors.back();
    const Intermediate* producer = made(name_of(in));
    const bool alone = producer != nullptr && producer->readers.empty() && in.bits == out.bits &&
                       in.ranks.size() == out.ranks.size();
    if (!alone) {
      throw std::invalid_argument(
          fmt::format("{} runs on another compute unit, and is no more than a new name of what one "
                      "einsum makes",
                      einsum.name));
    }
    names_[out.name] = producer->name;
    notes_.add(
        *einsum.at,
        fmt::format("chain.yaml: {} rides on {}, because it runs on another compute unit there: "
                    "what that takes "
                    "is not counted",
                    einsum.name, chain_.einsums[producer->producer].name));
  }

  void push(const ForgeEinsum& einsum) {
    const std::size_t e = chain_.einsums.size();
    Workload workload = forge_workload(einsum);
    PerTensor<std::string> names;
    for (std::size_t t = 0; t < einsum.tensors.size(); ++t) {
      names.push_back(name_of(einsum.tensors[t]));
      Intermediate* producer = made(names[static_cast<TensorId>(t)]);
      if (einsum.tensors[t].output) {
        if (producer != nullptr) {
          throw std::invalid_argument(fmt::format("{} is made twice", producer->name));
        }
        chain_.intermediates.push_back({names[static_cast<TensorId>(t)], e, {}});
      } else if (producer != nullptr) {
        producer->readers.push_back({e, static_cast<TensorId>(t)});
      }
    }
    chain_.einsums.push_back(std::move(workload));
    chain_.names.push_back(names);
  }

  const std::vector<ForgeEinsum>& einsums_;
  const ForgeRides& rides_;
  ImportNotes& notes_;
  std::map<std::string, std::string> names_;  // of tensors that are called otherwise in the chain
  EinsumChain chain_;
};

}  // namespace

Workload forge_workload(const ForgeEinsum& einsum) {
  const auto term = [](const ForgeTensor& tensor) {
    return tensor.ranks.empty() ? tensor.name
                                : fmt::format("{}[{}]", tensor.name, joined(tensor.ranks, "]["));
  };
  std::vector<std::string> operands, roles, bits, dims;
  for (std::size_t t = 0; t < einsum.tensors.size(); ++t) {
    const ForgeTensor& tensor = einsum.tensors[t];
    bits.push_back(fmt::format("{}: {} b", tensor.name, tensor.bits.count()));
    if (!tensor.output) {
      operands.push_back(term(tensor));
      roles.push_back(fmt::format("{}: {}", tensor.name, to_string(einsum.role_of(t))));
    }
  }
  for (const Dim& dim : einsum.dims) {
    dims.push_back(fmt::format("{}: {}", dim.name, dim.bound));
  }
  const ForgeTensor& output = einsum.tensors.back();
  return parse_workload(
      fmt::format("name: {}\neinsum:\n  equation: {} += {}\n  dims: {{{}}}\n  roles: {{{}}}\n"
                  "precision: {{{}, partial: {} b}}\n",
                  einsum.name, term(output), joined(operands, " * "), joined(dims, ", "),
                  joined(roles, ", "), joined(bits, ", "), output.bits.count()),
      einsum.name);
}

std::string forge_compute_of(const Node& arch, const ForgeNames& names) {
  const Node* nodes = value_of(arch, "nodes");
  for (std::size_t i = 0; nodes != nullptr && i < nodes->items.size(); ++i) {
    const Node& node = nodes->items[i];
    if (node.tag != "!Compute") {
      if (const std::string inside = forge_compute_of(node, names); !inside.empty()) {
        return inside;
      }
      continue;
    }
    const Node *enabled = value_of(node, "enabled"), *name = value_of(node, "name");
    try {
      if (name != nullptr && (enabled == nullptr || evaluate_number(enabled->text, names) != 0)) {
        return name->text;
      }
    } catch (const ExpressionError&) {
      return "";  // an error of the machine, which is reported where it is read
    }
  }
  return "";
}

std::optional<EinsumChain> forge_chain(const std::vector<ForgeEinsum>& einsums,
                                       const ForgeRides& rides, ImportNotes& notes) {
  if (einsums.size() < 2) {
    return std::nullopt;
  }
  ImportNotes own;
  own.place = notes.place;
  std::string why;
  try {
    EinsumChain chain = ChainMaker{einsums, rides, own}.make();
    if (!chain.intermediates.empty()) {
      notes.lines.insert(notes.lines.end(), own.lines.begin(), own.lines.end());
      if (einsums.front().count > 1) {
        notes.add(*einsums.front().at,
                  fmt::format("chain.yaml runs once; the workload runs it {} times",
                              einsums.front().count));
      }
      return chain;
    }
    why = "no einsum reads what another one makes";
  } catch (const std::invalid_argument& error) {
    why = error.what();
  } catch (const ConfigError& error) {
    why = error.diagnostics().front().message;
  }
  notes.add(*einsums.front().at, fmt::format("the einsums are not written as a chain: {}", why));
  return std::nullopt;
}

}  // namespace mapsim
