// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interop/onnx_model.hpp"

namespace mapsim {

// Facts about tensors that are known before the model runs, and the rules of operators that derive
// them.

// Extents, at most 2^56; kUnknownExtent: only a run determines it.
using OnnxShape = std::vector<std::int64_t>;
inline constexpr std::int64_t kUnknownExtent = -1;

// A value of any element type; integers of 64 bits and doubles are exact. NaN: unknown.
using OnnxNumber = long double;
static_assert(std::numeric_limits<OnnxNumber>::digits >= 64);
using OnnxNumbers = std::vector<OnnxNumber>;

struct TensorFacts {
  int type = 0;                         // of an element (OnnxType); 0: unknown
  std::optional<OnnxShape> shape{};     // absent: even the number of axes is unknown
  std::optional<OnnxNumbers> values{};  // in row-major order; only if the shape is known
  bool sequence = false;                // it is a list of such tensors
  bool weight = false;                  // it is a constant of the model
  bool is_known() const;                // is the whole shape?
  bool is_constant() const;             // are all values?
};
using Facts = std::vector<TensorFacts>;  // of all results of an operator
Facts results(TensorFacts first);
Facts results(TensorFacts first, TensorFacts second);
Facts results(TensorFacts first, TensorFacts second, TensorFacts third);

// An operator, and the facts about its operands.
class OnnxOperator {
 public:
  OnnxOperator(const ModelNode& node, std::int64_t opset, std::vector<const TensorFacts*> inputs)
      : node_{node}, opset_{opset}, inputs_{std::move(inputs)} {}

  const ModelNode& node() const { return node_; }
  std::int64_t opset() const { return opset_; }
  std::size_t inputs() const { return inputs_.size(); }
  std::size_t outputs() const { return node_.outputs.size(); }

  bool is_given(std::size_t i) const { return i < inputs_.size() && !node_.inputs[i].empty(); }
  const TensorFacts& input(std::size_t i) const;  // for one that is left out, no facts
  int type(std::size_t i) const { return input(i).type; }
  const std::optional<OnnxShape>& shape(std::size_t i) const { return input(i).shape; }
  // The values of an operand of whole numbers; absent unless all are known.
  std::optional<OnnxShape> wholes(std::size_t i) const;

  // Values of attributes; absent or `otherwise`: it is not given.
  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  std::optional<OnnxShape> integers(std::string_view attribute) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  // A list that is operand `i` or, in older opsets, an attribute; absent: neither is given. Not
  // known: it is an operand whose values are unknown.
  struct List {
    bool known = true;
    std::optional<OnnxShape> values{};
  };
  List list(std::size_t i, std::string_view attribute) const;

 private:
  const ModelNode& node_;
  std::int64_t opset_;
  std::vector<const TensorFacts*> inputs_;
};

// The facts about an operator's results, in their order; the last ones may be missing. If operands
// contradict each other there are none.
using OnnxRule = Facts (*)(const OnnxOperator&);
struct OnnxRuleEntry {
  std::string_view op;
  OnnxRule rule;
};
// The rules by kinds of operators.
std::span<const OnnxRuleEntry> elementwise_rules();
std::span<const OnnxRuleEntry> window_rules();
std::span<const OnnxRuleEntry> product_rules();
std::span<const OnnxRuleEntry> layout_rules();
std::span<const OnnxRuleEntry> selection_rules();
std::span<const OnnxRuleEntry> creation_rules();
std::span<const OnnxRuleEntry> sequence_rules();

// The facts without impossible ones: too many axes or elements, a wrong number of values.
TensorFacts consistent(TensorFacts facts);

// The facts about all results of a node, which are none for operators that are not ONNX's. Values
// are computed until `budget` (operands times elements) is used up.
Facts infer_results(const OnnxOperator& operation, std::size_t& budget);

// The values of the first result, whose facts are `result`, as far as they follow from known
// values.
std::optional<OnnxNumbers> fold_values(const OnnxOperator& operation, const TensorFacts& result);

// The values of a constant; absent: they are too many, no numbers, or in another file.
std::optional<OnnxNumbers> values_of(const ModelTensor& tensor);

// Functions that rules share.
bool is_real_type(int type);
bool is_number_type(int type);
// Product and sum of extents, and the number of elements; kUnknownExtent: above 2^56, or an extent
// is unknown.
std::int64_t extent_times(std::int64_t a, std::int64_t b);
std::int64_t extent_plus(std::int64_t a, std::int64_t b);
std::int64_t elements_of(std::span<const std::int64_t> shape);
// The index of an axis, counted from the end if negative; absent: out of range.
std::optional<std::size_t> place(std::int64_t axis, std::size_t rank);
// The shape to which numpy broadcasts two shapes; absent: they contradict each other, or one is
// unknown.
std::optional<OnnxShape> broadcast(const std::optional<OnnxShape>& a,
                                   const std::optional<OnnxShape>& b);
// The facts that hold for both shapes.
std::optional<OnnxShape> common(const std::optional<OnnxShape>& a,
                                const std::optional<OnnxShape>& b);
// First index, step and number of indices of a Slice along one axis.
struct Cut {
  std::int64_t start = 0, step = 1, count = 0;
};
// The cut along an axis of known extent.
Cut cut_of(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step);
// The cuts of a Slice along every axis; absent: starts, ends, axes or steps are unknown. Along an
// axis of unknown extent the count is unknown.
std::optional<std::vector<Cut>> slice_cuts(const OnnxOperator& operation);

}  // namespace mapsim
