// SPDX-License-Identifier: Apache-2.0
#include "workloads/density_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <set>
#include <sstream>

#include "core/diagnostic.hpp"
#include "core/text_stream.hpp"

namespace mapsim {

namespace {

// Below this, hardly a tensor has an element that is not zero, and energies vanish in the digits of
// those of the other tensors.
constexpr double kLeastDensity = 1e-9;
const Words kForms{"uniform", "structured", "banded", "data"};

std::vector<std::int64_t> box_of(const Workload& workload, const Tensor& tensor) {
  std::vector<std::int64_t> box;
  for (const Rank& rank : tensor.ranks) {
    box.push_back(std::accumulate(rank.terms.begin(), rank.terms.end(), std::int64_t{1},
                                  [&](std::int64_t sum, const Term& term) {
                                    return sum +
                                           term.coefficient * (workload.dims[term.dim].bound - 1);
                                  }));
  }
  return box;
}

// A rank over which a window slides, or which a stride goes through in steps. A dim of one index
// moves nothing.
bool has_window(const Workload& workload, const Tensor& tensor) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [&](const Rank& rank) {
    std::int64_t moving = 0;
    for (const Term& term : rank.terms) {
      moving += workload.dims[term.dim].bound > 1 ? term.coefficient : 0;
    }
    return moving > 1;
  });
}

// What a file says of one tensor, or of all tensors of a role.
class DensityReader {
 public:
  DensityReader(Reader& reader, const Workload& workload, std::string file, bool may_move)
      : reader_{reader}, workload_{workload}, file_{std::move(file)}, may_move_{may_move} {}

  void read(const Node& node, Tensor& tensor) {
    const std::optional<std::string> text = reader_.text(&node, "a density");
    if (!text) {
      return;
    }
    std::istringstream words = stream_of(*text);
    std::string form;
    words >> form;
    if (std::find(kForms.begin(), kForms.end(), form) == kForms.end()) {
      read_share(node, 0, *text, tensor);
      return;
    }
    std::string rest;
    std::getline(words >> std::ws, rest);
    if (rest.empty()) {
      reader_.error(
          node, fmt::format("expected {}",
                            form == "uniform" ? "'uniform SHARE', such as 'uniform 0.4'"
                            : form == "data"  ? "'data FILE', such as 'data masks/layer7.mtx'"
                            : form == "banded"
                                ? "'banded WIDTH' for a tensor of two ranks, such as 'banded 3'"
                                : "'structured N:M along DIM', such as 'structured 2:4 along c'"));
      return;
    }
    if (form == "uniform") {
      read_share(node, text->size() - rest.size(), rest, tensor);
      return;
    }
    Pattern pattern;
    pattern.text = *text;
    const bool good = form == "structured" ? read_structured(node, rest, tensor, pattern)
                                           : read_places(node, form, rest, tensor, pattern);
    if (good) {
      tensor.pattern = Shared<Pattern>{std::move(pattern)};
    }
  }

 private:
  void read_share(const Node& node, std::size_t offset, const std::string& text, Tensor& tensor) {
    Node number = node;
    number.text = text;
    number.column += static_cast<int>(offset);
    const std::optional<double> density = reader_.number(offset == 0 ? &node : &number, 0);
    if (density && !(*density >= kLeastDensity && *density <= 1)) {
      reader_.error(node,
                    "a density is from 1e-9 to 1, the share of elements that "
                    "are not zero");
    }
    tensor.density = density.value_or(1);
  }

  // N:M along DIM
  bool read_structured(const Node& node, const std::string& rest, Tensor& tensor,
                       Pattern& pattern) {
    std::istringstream words = stream_of(rest);
    char colon = 0;
    std::string along;
    std::string name;
    std::string more;
    words >> pattern.kept >> colon >> pattern.block >> along >> name;
    if (!words || colon != ':' || along != "along" || words >> more || pattern.kept < 1 ||
        pattern.block < pattern.kept) {
      reader_.error(node, "expected 'structured N:M along DIM', such as 'structured 2:4 along c'");
      return false;
    }
    const std::optional<DimId> dim = workload_.find_dim(name);
    const auto indexes = [&](const Rank& rank) {
      return dim && rank.terms.size() == 1 && rank.terms.front().dim == *dim;
    };
    if (std::none_of(tensor.ranks.begin(), tensor.ranks.end(), indexes)) {
      reader_.error(node, fmt::format("{} has no rank along {} alone; its dims are those of {}",
                                      tensor.name, mapsim::quoted(name), workload_.equation()));
      return false;
    }
    if (workload_.dims[*dim].bound % pattern.block != 0) {
      reader_.error(node, fmt::format("the bound of {}, {}, is no multiple of {}", name,
                                      workload_.dims[*dim].bound, pattern.block));
      return false;
    }
    pattern.dim = *dim;
    tensor.density = static_cast<double>(pattern.kept) / static_cast<double>(pattern.block);
    return true;
  }

  // banded WIDTH, data FILE
  bool read_places(const Node& node, const std::string& form, const std::string& rest,
                   Tensor& tensor, Pattern& pattern) {
    pattern.kind = PatternKind::kData;
    pattern.box = box_of(workload_, tensor);
    if (has_window(workload_, tensor)) {
      reader_.error(node,
                    fmt::format("{} has a sliding window or a stride: known places of its zeros "
                                "are not counted yet; give a number",
                                tensor.name));
      return false;
    }
    if (form == "data") {
      const std::filesystem::path path = may_move_
                                             ? std::filesystem::path{mask_path(file_, rest)}
                                             : std::filesystem::path{file_}.parent_path() / rest;
      try {
        pattern.nonzero = read_mask(path.string(), pattern.box);
      } catch (const ConfigError& error) {  // at its place in the workload
        for (const Diagnostic& diagnostic : error.diagnostics()) {
          reader_.error(node,
                        fmt::format("{}{}: {}", diagnostic.file,
                                    diagnostic.line > 0 ? fmt::format(":{}", diagnostic.line) : "",
                                    diagnostic.message));
        }
        return false;
      }
      pattern.text = "data " + std::filesystem::absolute(path).lexically_normal().string();
    } else {
      const bool digits = !rest.empty() && rest.size() < 10 &&
                          rest.find_first_not_of("0123456789") == std::string::npos;
      if (!digits || pattern.box.size() != 2) {
        reader_.error(node,
                      "expected 'banded WIDTH' for a tensor of two ranks, such as 'banded 3'");
        return false;
      }
      pattern.nonzero = banded_mask(std::stoll(rest), pattern.box);
    }
    const auto nonzeros = std::count(pattern.nonzero.begin(), pattern.nonzero.end(), 1);
    if (nonzeros == 0) {
      reader_.error(node, "all elements are zero");
      return false;
    }
    tensor.density = static_cast<double>(nonzeros) / static_cast<double>(pattern.nonzero.size());
    return true;
  }

  Reader& reader_;
  const Workload& workload_;
  std::string file_;
  bool may_move_;
};

}  // namespace

// A name wins over a role.
void read_density(Reader& reader, const Node* node, const std::string& file, Workload& workload,
                  bool may_move) {
  if (node == nullptr) {
    return;
  }
  Words keys = names_of(workload.tensors);
  for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
    keys.emplace_back(to_string(role));
  }
  const Fields fields = reader.fields(*node, keys);
  DensityReader density{reader, workload, file, may_move};
  std::set<std::string> seen;
  std::set<std::string> wrong;  // what has been reported, once
  const auto read = [&](const std::string& key, Tensor& tensor) {
    const std::size_t errors = reader.errors();
    seen.insert(key);
    if (wrong.count(key) == 0) {
      density.read(*fields.find(key), tensor);
    }
    if (reader.errors() > errors) {
      wrong.insert(key);
    }
  };
  for (Tensor& tensor : workload.tensors) {
    const std::string role{to_string(tensor.role)};
    const std::string& key = fields.find(tensor.name) != nullptr ? tensor.name : role;
    if (fields.find(key) != nullptr) {
      read(key, tensor);
    }
  }
  // A role whose tensors are all named is read all the same: what is wrong with it is said.
  for (const Tensor& tensor : workload.tensors) {
    const std::string role{to_string(tensor.role)};
    if (fields.find(role) != nullptr && seen.count(role) == 0) {
      Tensor unused = tensor;
      const std::size_t errors = reader.errors();
      read(role, unused);
      if (reader.errors() == errors) {
        reader.error(
            *fields.find(role),
            fmt::format("no tensor is left for it: {}, of this role, has a density by name",
                        tensor.name));
      }
    }
  }
}

}  // namespace mapsim
