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

// What the rules of operators know of tensors before the model runs.

// Extents; kUnknown: of an axis whose extent only a run tells. Known ones are at most 2^56.
using OnnxShape = std::vector<std::int64_t>;
inline constexpr std::int64_t kUnknown = -1;

// A value of any element type: whole numbers of 64 bits and doubles are exact. Not a number: not
// known.
using OnnxNumber = long double;
static_assert(std::numeric_limits<OnnxNumber>::digits >= 64);
using OnnxNumbers = std::vector<OnnxNumber>;

struct TensorFacts {
  int type = 0;                         // of an element; 0: not known
  std::optional<OnnxShape> shape{};     // absent: not even the number of axes
  std::optional<OnnxNumbers> values{};  // in row-major order; only of whole known shapes
  bool sequence = false;                // a list of such tensors
  bool weight = false;                  // a constant of the model, whether or not its values count
  bool is_known() const;                // the whole shape
  bool is_constant() const;             // all values
};
using Facts = std::vector<TensorFacts>;
Facts results(TensorFacts first);
Facts results(TensorFacts first, TensorFacts second);
Facts results(TensorFacts first, TensorFacts second, TensorFacts third);

// An operator with what is known of its operands.
class OnnxOperator {
 public:
  OnnxOperator(const ModelNode& node, std::int64_t opset, std::vector<const TensorFacts*> inputs)
      : node_{node}, opset_{opset}, inputs_{std::move(inputs)} {}

  const ModelNode& node() const { return node_; }
  std::int64_t opset() const { return opset_; }
  std::size_t inputs() const { return inputs_.size(); }
  std::size_t outputs() const { return node_.outputs.size(); }

  bool is_given(std::size_t i) const { return i < inputs_.size() && !node_.inputs[i].empty(); }
  const TensorFacts& input(std::size_t i) const;  // of one that is left out, nothing
  int type(std::size_t i) const { return input(i).type; }
  const std::optional<OnnxShape>& shape(std::size_t i) const { return input(i).shape; }
  // Values that are whole numbers; absent unless all are known.
  std::optional<OnnxShape> wholes(std::size_t i) const;

  std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  std::optional<OnnxShape> integers(std::string_view attribute) const;
  std::string text(std::string_view attribute, std::string_view otherwise) const;
  // Operand `i` where it is given, else the attribute, as operators have it in older opsets; absent
  // where neither is given. Not known: given as an operand whose values are not known.
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

// What an operator tells of its results, the first of them first; fewer are allowed. Where operands
// contradict each other it tells nothing.
using OnnxRule = Facts (*)(const OnnxOperator&);
struct OnnxRuleEntry {
  std::string_view op;
  OnnxRule rule;
};
std::span<const OnnxRuleEntry> elementwise_rules();
std::span<const OnnxRuleEntry> window_rules();
std::span<const OnnxRuleEntry> product_rules();
std::span<const OnnxRuleEntry> layout_rules();
std::span<const OnnxRuleEntry> selection_rules();
std::span<const OnnxRuleEntry> creation_rules();
std::span<const OnnxRuleEntry> sequence_rules();

// With what is impossible left out: too many axes or elements, values of another number.
TensorFacts consistent(TensorFacts facts);

// What the operators of ONNX tell of their results; of others, nothing. As many as the node has.
// Values are computed while `budget` lasts: operands times elements.
Facts infer_results(const OnnxOperator& operation, std::size_t& budget);

// The values of a first result whose facts are known, as far as they follow from known values.
std::optional<OnnxNumbers> fold_values(const OnnxOperator& operation, const TensorFacts& result);

// The values of a constant; absent: too many, of a type that is no number, or in another file.
std::optional<OnnxNumbers> values_of(const ModelTensor& tensor);

// Parts that rules share.
bool is_real_type(int type);
bool is_number_type(int type);
// At most 2^56, or not known.
std::int64_t extent_times(std::int64_t a, std::int64_t b);
std::int64_t extent_plus(std::int64_t a, std::int64_t b);
std::int64_t elements_of(std::span<const std::int64_t> shape);
// From the back where negative; absent: out of range.
std::optional<std::size_t> place(std::int64_t axis, std::size_t rank);
// As numpy broadcasts; absent: they contradict each other, or one is not known.
std::optional<OnnxShape> broadcast(const std::optional<OnnxShape>& a,
                                   const std::optional<OnnxShape>& b);
// What is true of both shapes.
std::optional<OnnxShape> common(const std::optional<OnnxShape>& a,
                                const std::optional<OnnxShape>& b);
// Where a Slice begins along an axis of known extent, how far it steps, how many it takes.
struct Cut {
  std::int64_t start = 0, step = 1, count = 0;
};
Cut cut_of(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step);
// The cuts of a Slice along every axis; absent where starts, ends, axes or steps are not known.
// Along an axis of unknown extent the count is unknown.
std::optional<std::vector<Cut>> slice_cuts(const OnnxOperator& operation);

}  // namespace mapsim
