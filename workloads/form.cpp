// SPDX-License-Identifier: Apache-2.0
#include "workloads/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

#include "workloads/conv.hpp"
#include "workloads/einsum.hpp"

namespace mapsim {

namespace {

constexpr std::array<std::string_view, 6> kWords{"direct", "winograd", "image",
                                                 "merged", "batch",    "unfolded"};
constexpr std::int64_t kPatchOutputs = 4;   // 2 x 2 of a patch
constexpr std::int64_t kPixelChannels = 4;  // of the widest pixel format

bool is_counted(FormKind kind) { return kind == FormKind::kMerged || kind == FormKind::kBatch; }

// Coefficients of the output's position and the kernel's in the input's window.
void read_window(const Workload& workload, const LayerView& view, std::size_t axis,
                 HeightWidth& stride, HeightWidth& dilation) {
  const DimId position = axis == 0 ? *view.rows : *view.columns;
  const DimId filter = axis == 0 ? *view.filter_rows : *view.filter_columns;
  for (const Rank& rank : workload.tensors[view.input].ranks) {
    for (const Term& term : rank.terms) {
      stride[axis] = term.dim == position ? term.coefficient : stride[axis];
      dilation[axis] = term.dim == filter ? term.coefficient : dilation[axis];
    }
  }
}

// The einsum of a convolution, with what is not its shape taken from `like`.
Workload remade(const Workload& like, const LayerView& view, const std::vector<Dim>& dims,
                HeightWidth stride) {
  const auto index = [&dims](const char* name) {
    for (const Dim& dim : dims) {
      if (dim.name == name) {
        return fmt::format("[{}]", name);
      }
    }
    return std::string{};
  };
  const std::string equation =
      fmt::format("O[N]{g}{k}[P][Q] += I[N]{g}{c}[{}*P+{}*R][{}*Q+{}*S] * W{g}{k}{c}[R][S]",
                  stride[0], view.dilation[0], stride[1], view.dilation[1],
                  fmt::arg("g", index("G")), fmt::arg("k", index("K")), fmt::arg("c", index("C")));
  Workload made = einsum(like.name, equation, dims);
  for (const TensorId t : made.tensors.ids()) {
    const Tensor& old = like.tensors[*like.find_tensor(made.tensors[t].name)];
    made.tensors[t].bits = old.bits;
    made.tensors[t].partial_bits = old.partial_bits;
    made.tensors[t].density = old.density;
    made.tensors[t].stored_elements = old.stored_elements;
  }
  made.bias = like.bias;
  made.note = like.note;
  return made;
}

std::vector<Dim> dims_of(const Workload& workload) {
  return {workload.dims.begin(), workload.dims.end()};
}

Dim& dim_named(std::vector<Dim>& dims, std::string_view name) {
  std::size_t i = 0;
  while (dims[i].name != name) {
    ++i;
  }
  return dims[i];
}

std::optional<Workload> as_winograd(const Workload& workload, const LayerView& view) {
  if (!view.convolution || !view.channel || bound_of(workload, view.filter_rows) != 3 ||
      bound_of(workload, view.filter_columns) != 3 || view.stride != HeightWidth{1, 1} ||
      view.dilation != HeightWidth{1, 1}) {
    return std::nullopt;
  }
  std::vector<Dim> dims = dims_of(workload);
  for (const char* name : {"P", "Q"}) {
    Dim& dim = dim_named(dims, name);
    dim.bound = (dim.bound + 3) / 4 * 2;
  }
  dim_named(dims, "R").bound = 4;
  dim_named(dims, "S").bound = 4;
  Workload made = remade(workload, view, dims, {2, 2});
  Tensor& output = made.tensors[made.output()];
  output.bits = Bits{kPatchOutputs * output.bits.count()};
  output.partial_bits = Bits{kPatchOutputs * output.partial_bits.count()};
  return made;
}

std::optional<Workload> as_image(const Workload& workload, const LayerView& view) {
  const std::int64_t channels = bound_of(workload, view.channel);
  if (!view.convolution || !view.channel || view.group || channels > kPixelChannels ||
      view.dilation != HeightWidth{1, 1}) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  for (const Dim& dim : workload.dims) {
    if (dim.name != "C") {
      dims.push_back(dim);
    }
  }
  dim_named(dims, "S").bound *= channels;
  return remade(workload, view, dims, {view.stride[0], view.stride[1] * channels});
}

std::optional<Workload> as_merged(const Workload& workload, const LayerView& view,
                                  std::int64_t count) {
  if (!view.convolution || !view.group || count > bound_of(workload, view.group)) {
    return std::nullopt;
  }
  const std::int64_t groups = (bound_of(workload, view.group) + count - 1) / count;
  std::vector<Dim> dims{{"N", bound_of(workload, view.batch)}};
  if (groups > 1) {
    dims.push_back({"G", groups});
  }
  dims.push_back({"K", count * bound_of(workload, view.kernel)});
  dims.push_back({"C", count * bound_of(workload, view.channel)});
  for (const DimId d : {*view.rows, *view.columns, *view.filter_rows, *view.filter_columns}) {
    dims.push_back(workload.dims[d]);
  }
  Workload made = remade(workload, view, dims, view.stride);
  if (auto& stored = made.tensors[view.input].stored_elements) {
    stored = *stored / bound_of(workload, view.group) * groups * count;  // with the groups of zeros
  }
  return made;
}

std::optional<Workload> as_batch(const Workload& workload, const LayerView& view,
                                 std::int64_t count) {
  if (view.convolution || view.group || bound_of(workload, view.rows) != 1) {
    return std::nullopt;
  }
  Workload made = workload;
  made.dims[*view.rows].bound = count;
  return made;
}

TensorSet tensors_of(const Workload& workload, DimId dim) {
  TensorSet found;
  for (const TensorId t : workload.tensors.ids()) {
    if (workload.tensors[t].dims().contains(dim)) {
      found.insert(t);
    }
  }
  return found;
}

// Does a coordinate of the tensor depend on two dims, so that neighbours share elements?
bool has_windows(const Workload& workload, const Tensor& tensor) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [&](const Rank& rank) {
    return std::count_if(rank.terms.begin(), rank.terms.end(),
                         [&](const Term& term) { return workload.dims[term.dim].bound > 1; }) > 1;
  });
}

std::optional<Workload> as_unfolded(const Workload& workload) {
  const PerDim<DimId> into = unfolded_dims(workload);
  Workload made = workload;
  made.dims = {};
  bool merges = false;
  for (const DimId d : workload.dims.ids()) {
    const Dim& dim = workload.dims[d];
    if (into[d] == static_cast<DimId>(made.dims.size())) {
      made.dims.push_back(dim);
      continue;
    }
    Dim& whole = made.dims[into[d]];
    merges = merges || (dim.bound > 1 && whole.bound > 1);
    whole = {whole.name + dim.name, whole.bound * dim.bound};
  }
  for (Tensor& tensor : made.tensors) {
    if (tensor.pattern) {
      return std::nullopt;
    }
    if (has_windows(workload, tensor)) {
      tensor.stored_elements.reset();
    }
    DimSet seen;
    std::vector<Rank> ranks;
    for (const Rank& rank : tensor.ranks) {
      for (const Term& term : rank.terms) {
        if (!seen.contains(into[term.dim])) {
          seen.insert(into[term.dim]);
          ranks.push_back({{{into[term.dim], 1}}});
        }
      }
    }
    tensor.ranks = std::move(ranks);
  }
  std::set<std::string> names;
  for (const Dim& dim : made.dims) {
    names.insert(dim.name);
  }
  return merges && names.size() == made.dims.size() ? std::optional{made} : std::nullopt;
}

std::optional<Workload> made_of(const Workload& workload, const LayerView& view, Form form) {
  switch (form.kind) {
    case FormKind::kDirect:
      return workload;
    case FormKind::kWinograd:
      return as_winograd(workload, view);
    case FormKind::kImage:
      return as_image(workload, view);
    case FormKind::kMerged:
      return as_merged(workload, view, form.count);
    case FormKind::kBatch:
      return as_batch(workload, view, form.count);
    case FormKind::kUnfolded:
      return as_unfolded(workload);
  }
  return std::nullopt;
}

}  // namespace

std::optional<LayerView> view_layer(const Workload& workload) {
  LayerView view;
  const auto names = [&](const char* input, const char* weight, const char* output) {
    const auto first = workload.find_tensor(input);
    const auto second = workload.find_tensor(weight);
    if (workload.tensors.size() != 3 || !first || !second || !workload.find_tensor(output)) {
      return false;
    }
    view.input = *first;
    view.weight = *second;
    return true;
  };
  const bool product = names("A", "B", "Z");
  view.convolution = !product && names("I", "W", "O");
  view.batch = workload.find_dim(product ? "-" : "N");
  view.group = workload.find_dim(product ? "H" : "G");
  view.kernel = workload.find_dim(product ? "N" : "K");
  view.channel = workload.find_dim(product ? "K" : "C");
  view.rows = workload.find_dim(product ? "M" : "P");
  view.columns = workload.find_dim("Q");
  view.filter_rows = workload.find_dim("R");
  view.filter_columns = workload.find_dim("S");
  if (product) {
    return view.rows && view.kernel && view.channel ? std::optional{view} : std::nullopt;
  }
  if (!view.convolution || !view.batch || !view.rows || !view.columns || !view.filter_rows ||
      !view.filter_columns) {
    return std::nullopt;
  }
  read_window(workload, view, 0, view.stride, view.dilation);
  read_window(workload, view, 1, view.stride, view.dilation);
  return view;
}

std::optional<Workload> in_form(const Workload& workload, Form form) {
  if (form == workload.form) {
    return workload;
  }
  std::optional<LayerView> view = view_layer(workload);
  if (!view && form.kind == FormKind::kUnfolded) {
    view.emplace();  // of any einsum
  }
  if (!view || workload.form != Form{} || form.count < 1) {
    return std::nullopt;
  }
  std::optional<Workload> made = made_of(workload, *view, form);
  if (made) {
    made->form = form;
    made->note +=
        fmt::format("{}computed in the form {}", made->note.empty() ? "" : "; ", to_string(form));
    const std::int64_t rest =
        form.kind == FormKind::kMerged ? bound_of(workload, view->group) % form.count : 0;
    if (rest > 0) {
      made->note +=
          fmt::format(", the last with {} groups and {} of zeros", rest, form.count - rest);
    }
  }
  return made;
}

std::string to_string(Form form) {
  const std::string word{kWords[static_cast<std::size_t>(form.kind)]};
  return is_counted(form.kind) ? fmt::format("{} {}", word, form.count) : word;
}

std::optional<Form> parse_form(std::string_view text) {
  const std::size_t space = text.find(' ');
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    Form form{static_cast<FormKind>(i), 1};
    if (text.substr(0, space) != kWords[i] ||
        is_counted(form.kind) != (space != std::string_view::npos)) {
      continue;
    }
    if (!is_counted(form.kind)) {
      return form;
    }
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + space + 1, end, form.count);
    constexpr std::int64_t kMostCount = 1'000'000;
    if (read.ec == std::errc{} && read.ptr == end && form.count >= 1 && form.count <= kMostCount) {
      return form;
    }
  }
  return std::nullopt;
}

PerDim<DimId> unfolded_dims(const Workload& workload) {
  PerDim<DimId> into;
  std::vector<TensorSet> kinds;
  for (const DimId d : workload.dims.ids()) {
    const TensorSet kind = tensors_of(workload, d);
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    into.push_back(static_cast<DimId>(found - kinds.begin()));
    if (found == kinds.end()) {
      kinds.push_back(kind);
    }
  }
  return into;
}

std::int64_t outputs_per_element(const Workload& workload) {
  return workload.form.kind == FormKind::kWinograd ? kPatchOutputs : 1;
}

}  // namespace mapsim
