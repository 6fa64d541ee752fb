// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_sparse.hpp"
#include "workloads/density_load.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostBlock = 64;  // m of n:m

// `densities` and `commonDensity` stand beside the sizes.
const Node& sizes_of(const Node& problem) {
  const Node* instance = value_of(problem, "instance");
  return instance == nullptr ? problem : *instance;
}

// How far a share may be from the number that a file has for it: 0.3333 is a third.
double rounding(const std::string& text) {
  constexpr std::size_t kFewest = 3;  // fewer digits are meant as they are
  const std::size_t point = text.find('.');
  const std::size_t digits = point == std::string::npos ? 0 : text.size() - point - 1;
  return digits < kFewest ? 0 : 0.5 * std::pow(10.0, -static_cast<double>(digits));
}

// n:m along one of the tensor's dims, a reduction dim if there is one: what a fixed share of each
// tile means. Empty: no dim that it divides.
std::string structured(const Workload& workload, const Tensor& tensor, double density,
                       const std::string& text) {
  const double off = rounding(text);
  const DimSet kept = workload.tensors[workload.output()].dims();
  for (const bool reduction : {true, false}) {
    for (const Rank& rank : tensor.ranks) {
      if (rank.terms.size() != 1 || kept.contains(rank.terms.front().dim) == reduction) {
        continue;
      }
      const Dim& dim = workload.dims[rank.terms.front().dim];
      for (std::int64_t block = 2; block <= std::min(kMostBlock, dim.bound); ++block) {
        const double kept_of_block = density * static_cast<double>(block);
        const double whole = std::round(kept_of_block);
        if (dim.bound % block == 0 && whole >= 1 &&
            std::abs(kept_of_block - whole) < 1e-9 + off * static_cast<double>(block)) {
          return fmt::format("structured {}:{} along {}", static_cast<std::int64_t>(whole), block,
                             dim.name);
        }
      }
    }
  }
  return "";
}

class DensityImport {
 public:
  DensityImport(Reader& reader, TimeloopSparse& sparse, Workload& workload, ImportNotes& notes)
      : reader_{reader}, sparse_{sparse}, workload_{workload}, notes_{notes} {}

  void read(const Node& node, TensorId t) {
    const Tensor& tensor = workload_.tensors[t];
    std::string distribution = "fixed_structured";
    const Node* share = &node;
    if (node.kind == Node::Kind::kMap) {
      if (const Node* name = value_of(node, "distribution")) {
        distribution = name->text;
        std::replace(distribution.begin(), distribution.end(), '-', '_');
      }
      share = value_of(node, "density");
    }
    if (distribution == "banded") {
      const Node* width = value_of(node, "band_width");
      set(node, workload_, tensor,
          fmt::format("banded {}", width == nullptr ? std::string{"0"} : width->text));
      return;
    }
    if (distribution != "fixed_structured" && distribution != "hypergeometric") {
      reader_.error(node, fmt::format("the distribution {} is not known here; known are "
                                      "hypergeometric, fixed_structured and banded",
                                      mapsim::quoted(distribution)));
      return;
    }
    const auto density = reader_.number(share, 0);
    if (!density) {
      if (share == nullptr) {
        reader_.error(node, "no density");
      }
      return;
    }
    if (!(*density > 0 && *density <= 1)) {
      reader_.error(*share, "a density is above 0 and at most 1");
    } else if (*density < 1) {
      set(*share, workload_, tensor,
          distribution == "hypergeometric" ? share->text : fixed(*share, t, *density));
    }
  }

 private:
  std::string fixed(const Node& at, TensorId t, double density) {
    const Tensor& tensor = workload_.tensors[t];
    const std::string& text = at.text;
    const std::string found = structured(workload_, tensor, density, text);
    Workload with = workload_;
    if (!found.empty()) {
      set(at, with, tensor, found);
    }
    if (found.empty() || !sparse_.is_counted(t, with)) {
      notes_.lines.push_back(
          fmt::format("{}: fixed_structured is a share of every tile, whatever its shape; written "
                      "as uniform, {}: all places are equally likely",
                      tensor.name,
                      found.empty() ? "since no n:m along a dim is this share"
                                    : "since it is stored in runs that are too short for n:m"));
      sparse_.share_out(t);
      return text;
    }
    notes_.lines.push_back(
        fmt::format("{}: fixed_structured is a share of every tile, whatever its shape; written as "
                    "'{}'",
                    tensor.name, found));
    return found;
  }

  // Read as a file of ours has it.
  void set(const Node& at, Workload& workload, const Tensor& tensor, const std::string& text) {
    Entry entry;
    entry.key = at;
    entry.key.kind = Node::Kind::kScalar;
    entry.key.text = tensor.name;
    entry.value = entry.key;
    entry.value.text = text;
    Node map = at;
    map.kind = Node::Kind::kMap;
    map.text.clear();
    map.items.clear();
    map.entries = {entry};
    read_density(reader_, &map, "", workload);
  }

  Reader& reader_;
  TimeloopSparse& sparse_;
  Workload& workload_;
  ImportNotes& notes_;
};

}  // namespace

bool has_densities(const Node& problem) {
  const Node& sizes = sizes_of(problem);
  const Node* each = value_of(sizes, "densities");
  return value_of(sizes, "commonDensity") != nullptr || (each != nullptr && !each->entries.empty());
}

void read_timeloop_densities(Reader& reader, const Node& problem, TimeloopSparse& sparse,
                             Workload& workload, ImportNotes& notes) {
  DensityImport import{reader, sparse, workload, notes};
  const Node& sizes = sizes_of(problem);
  if (const Node* common = value_of(sizes, "commonDensity")) {
    for (const TensorId t : workload.tensors.ids()) {
      import.read(*common, t);
    }
  } else if (const Node* densities = value_of(sizes, "densities")) {
    for (const Entry* entry : reader.entries(*densities, "a map of densities")) {
      if (const auto t = workload.find_tensor(entry->key.text)) {
        import.read(entry->value, *t);
      } else {
        reader.error(entry->key, fmt::format("{} is no data space of the problem",
                                             mapsim::quoted(entry->key.text)));
      }
    }
  }
}

}  // namespace mapsim
