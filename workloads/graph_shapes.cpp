// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace mapsim {

namespace {

using Shapes = std::variant<std::vector<Extents>, std::string>;

Shapes one(Extents shape) { return std::vector<Extents>{std::move(shape)}; }

// An axis from the front; nullopt: there is none.
std::optional<std::size_t> axis_of(const OpForm& form, std::int64_t otherwise,
                                   const Extents& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = form.axis.value_or(otherwise);
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  return at < 0 || at >= rank ? std::nullopt : std::optional{static_cast<std::size_t>(at)};
}

std::string no_axis(const OpForm& form, const Extents& shape) {
  return fmt::format("{} has no axis {}", shape_text(shape), form.axis.value_or(0));
}

// As numpy broadcasts: aligned at the back, an extent of 1 repeats.
Shapes pointwise(const OpForm&, const std::vector<Extents>& in) {
  Extents shape = in.front();
  for (const Extents& other : in) {
    Extents wide = shape.size() >= other.size() ? shape : other;
    const Extents& narrow = shape.size() >= other.size() ? other : shape;
    for (std::size_t i = 1; i <= narrow.size(); ++i) {
      std::int64_t& a = wide[wide.size() - i];
      const std::int64_t b = narrow[narrow.size() - i];
      if (a != b && a != 1 && b != 1) {
        return fmt::format("{} and {} do not fit: {} and {} in axis {} from the back",
                           shape_text(shape), shape_text(other), a, b, i);
      }
      a = std::max(a, b);
    }
    shape = wide;
  }
  return one(shape);
}

Shapes same(const OpForm&, const std::vector<Extents>& in) { return one(in.front()); }

Shapes pooled(const OpForm& form, const std::vector<Extents>& in) {
  Extents shape = in.front();
  if (shape.size() != 4) {
    return fmt::format("{} does not have the axes N, C, H, W", shape_text(shape));
  }
  if (form.op.starts_with("Global")) {
    return one({shape[0], shape[1], 1, 1});
  }
  for (const std::size_t i : {0, 1}) {
    const std::int64_t window = (*form.kernel)[i];
    const std::int64_t stride = form.stride ? (*form.stride)[i] : 1;
    const std::int64_t padding = form.padding ? (*form.padding)[i] : 0;
    const std::int64_t free = shape[2 + i] + 2 * padding - window;
    if (free < 0 || padding >= window) {
      return fmt::format("a window of {} with a padding of {} does not fit an extent of {}", window,
                         padding, shape[2 + i]);
    }
    std::int64_t windows = (free + (form.ceil ? stride - 1 : 0)) / stride + 1;
    if ((windows - 1) * stride >= shape[2 + i] + padding) {
      --windows;  // it would begin behind the data
    }
    shape[2 + i] = windows;
  }
  return one(shape);
}

Shapes concatenated(const OpForm& form, const std::vector<Extents>& in) {
  Extents shape = in.front();
  const auto axis = axis_of(form, 1, shape);
  if (!axis) {
    return no_axis(form, shape);
  }
  for (std::size_t i = 1; i < in.size(); ++i) {
    Extents next = in[i];
    if (next.size() == shape.size()) {
      next[*axis] = shape[*axis];
    }
    if (next != shape) {
      return fmt::format("{} and {} differ beside axis {}", shape_text(in.front()),
                         shape_text(in[i]), *axis);
    }
    shape[*axis] += in[i][*axis];
  }
  return one(shape);
}

Shapes split(const OpForm& form, const std::vector<Extents>& in) {
  const auto axis = axis_of(form, 1, in.front());
  if (!axis) {
    return no_axis(form, in.front());
  }
  std::vector<Extents> shapes;
  std::int64_t sum = 0;
  for (const std::int64_t part : *form.list) {
    shapes.push_back(in.front());
    shapes.back()[*axis] = part;
    sum += part;
  }
  if (sum != in.front()[*axis]) {
    return fmt::format("parts of {} are {}, not the {} of axis {}", fmt::join(*form.list, " + "),
                       sum, in.front()[*axis], *axis);
  }
  return shapes;
}

Shapes along_axis(const OpForm& form, const std::vector<Extents>& in) {
  return axis_of(form, -1, in.front()) ? one(in.front()) : no_axis(form, in.front());
}

Shapes transposed(const OpForm& form, const std::vector<Extents>& in) {
  const Extents& from = in.front();
  Extents sorted = *form.list;
  std::sort(sorted.begin(), sorted.end());
  Extents axes(from.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (sorted != axes) {
    return fmt::format("'perm' names each axis of {} once, from 0", shape_text(from));
  }
  Extents shape;
  for (const std::int64_t axis : *form.list) {
    shape.push_back(from[static_cast<std::size_t>(axis)]);
  }
  return one(shape);
}

Shapes given(const OpForm& form, const std::vector<Extents>&) { return one(*form.list); }

Shapes renamed(const OpForm& form, const std::vector<Extents>& in) {
  const Extents& shape = in.front();
  if (form.op == "Identity" || form.op == "Dropout") {
    return one(shape);
  }
  if (form.op == "Flatten") {
    Extents flat{1, 1};
    const auto front = static_cast<std::size_t>(form.axis.value_or(1));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      flat[i < front ? 0 : 1] *= shape[i];
    }
    return front > shape.size() ? Shapes{no_axis(form, shape)} : one(flat);
  }
  if (count_elements(*form.list) != count_elements(shape)) {
    return fmt::format("{} has {} elements, {} has {}", shape_text(shape), count_elements(shape),
                       shape_text(*form.list), count_elements(*form.list));
  }
  return one(*form.list);
}

struct Row {
  OpKind kind;
  Shapes (*shapes)(const OpForm&, const std::vector<Extents>&);
  const char* keys;
  const char* needed;
};
constexpr std::array kRows{Row{OpKind::kPointwise, pointwise, "", ""},
                           Row{OpKind::kSoftmax, along_axis, "axis", ""},
                           Row{OpKind::kNorm, same, "", ""},
                           Row{OpKind::kPool, pooled, "kernel stride padding ceil", "kernel"},
                           Row{OpKind::kConcat, concatenated, "axis", ""},
                           Row{OpKind::kSplit, split, "axis parts", "parts"},
                           Row{OpKind::kTranspose, transposed, "perm", "perm"},
                           Row{OpKind::kMove, given, "shape", "shape"},
                           Row{OpKind::kAlias, renamed, "shape", "shape"},
                           Row{OpKind::kOther, given, "shape", "shape"}};

// Operators whose keys are not those of their kind.
struct Exception {
  std::string_view op;
  const char* keys;
};
constexpr std::array kExceptions{Exception{"GlobalAveragePool", ""}, Exception{"GlobalMaxPool", ""},
                                 Exception{"Identity", ""}, Exception{"Dropout", ""},
                                 Exception{"Flatten", "axis"}};

const Row& row_of(OpKind kind) {
  return *std::find_if(kRows.begin(), kRows.end(),
                       [kind](const Row& row) { return row.kind == kind; });
}

const Exception* exception_of(const std::string& op) {
  const auto* const at = std::find_if(kExceptions.begin(), kExceptions.end(),
                                      [&op](const Exception& e) { return e.op == op; });
  return at == kExceptions.end() ? nullptr : at;
}

Words split_words(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

Words keys_of(const std::string& op) {
  const Exception* exception = exception_of(op);
  return split_words(exception != nullptr ? exception->keys : row_of(op_kind(op)).keys);
}

std::string key_needed(const std::string& op) {
  return exception_of(op) != nullptr ? "" : row_of(op_kind(op)).needed;
}

Shapes result_shapes(const OpForm& form, const std::vector<Extents>& in) {
  return row_of(form.kind).shapes(form, in);
}

std::int64_t norm_parameters(const std::string& op, const Extents& in) {
  if (in.empty() || op == "LRN" || op == "LpNormalization" || op == "MeanVarianceNormalization") {
    return 0;
  }
  const bool by_row = op == "LayerNormalization" || op == "RMSNormalization";
  const std::int64_t extent = by_row || in.size() < 2 ? in.back() : in[1];
  return op == "RMSNormalization" ? extent : 2 * extent;
}

std::string shape_text(const Extents& shape) {
  return shape.empty() ? "a scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

}  // namespace mapsim
