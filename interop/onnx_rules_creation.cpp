// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Operators that make tensors of nothing, of shapes, or of signals.

TensorFacts listed(int type, OnnxNumbers values) {
  TensorFacts facts{type, OnnxShape{static_cast<std::int64_t>(values.size())}};
  if (values.size() <= kMostOnnxNumbers) {
    facts.values = std::move(values);
  }
  return facts;
}

TensorFacts single(int type, OnnxNumber value) { return {type, OnnxShape{}, OnnxNumbers{value}}; }

Facts constant(const OnnxOperator& operation) {
  for (const ModelAttribute& attribute : operation.node().attributes) {
    if (!attribute.tensors.empty()) {
      const ModelTensor& tensor = attribute.tensors[0];
      return results({tensor.type, tensor.dims, values_of(tensor)});
    }
    if (attribute.name == "value_int") {
      return results(single(kOnnxInt64, static_cast<OnnxNumber>(attribute.integer)));
    }
    if (attribute.name == "value_float") {
      return results(single(kOnnxFloat, static_cast<OnnxNumber>(attribute.real)));
    }
    if (attribute.name == "value_ints") {
      return results(listed(kOnnxInt64, {attribute.integers.begin(), attribute.integers.end()}));
    }
    if (attribute.name == "value_floats") {
      return results(listed(kOnnxFloat, {attribute.reals.begin(), attribute.reals.end()}));
    }
    if (attribute.name == "value_string") {
      return results({kOnnxString, OnnxShape{}});
    }
  }
  return {};
}

// From opset 15 on from `start` to `end`.
Facts shape(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  if (!data) {
    return results({kOnnxInt64, OnnxShape{kUnknownExtent}});
  }
  const auto rank = static_cast<std::int64_t>(data->size());
  const Cut part = cut_of(rank, operation.integer("start", 0), operation.integer("end", rank), 1);
  OnnxNumbers values;
  for (std::int64_t i = part.start; i < part.start + part.count; ++i) {
    const std::int64_t extent = (*data)[static_cast<std::size_t>(i)];
    values.push_back(extent == kUnknownExtent ? std::nanl("") : static_cast<OnnxNumber>(extent));
  }
  return results(listed(kOnnxInt64, std::move(values)));
}

Facts size(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const std::int64_t elements = data ? elements_of(*data) : kUnknownExtent;
  return results(elements == kUnknownExtent
                     ? TensorFacts{kOnnxInt64, OnnxShape{}}
                     : single(kOnnxInt64, static_cast<OnnxNumber>(elements)));
}

Facts range(const OnnxOperator& operation) {
  const auto value = [&operation](std::size_t i) {
    const auto& values = operation.input(i).values;
    return values && values->size() == 1 ? values->front() : std::nanl("");
  };
  const OnnxNumber first = value(0), limit = value(1), step = value(2);
  const OnnxNumber count = std::max<OnnxNumber>(0, std::ceil((limit - first) / step));
  if (std::isnan(first) || std::isnan(limit) || !(std::abs(step) > 0) || !(count < 0x1p56L)) {
    return results({operation.type(0), OnnxShape{kUnknownExtent}});
  }
  TensorFacts facts{operation.type(0), OnnxShape{static_cast<std::int64_t>(count)}};
  if (count <= kMostOnnxNumbers) {
    facts.values.emplace();
    for (std::int64_t i = 0; i < facts.shape->front(); ++i) {
      facts.values->push_back(first + static_cast<OnnxNumber>(i) * step);
    }
  }
  return results(facts);
}

Facts eye_like(const OnnxOperator& operation) {
  return results(
      {static_cast<int>(operation.integer("dtype", operation.type(0))), operation.shape(0)});
}

Facts drawn(const OnnxOperator& operation) {
  return results(
      {static_cast<int>(operation.integer("dtype", kOnnxFloat)), operation.integers("shape")});
}

Facts multinomial(const OnnxOperator& operation) {
  Facts facts = results({static_cast<int>(operation.integer("dtype", kOnnxInt32))});
  if (operation.shape(0) && operation.shape(0)->size() == 2) {
    facts[0].shape = {operation.shape(0)->front(), operation.integer("sample_size", 1)};
  }
  return facts;
}

std::int64_t one_whole(const OnnxOperator& operation, std::size_t i) {
  const auto values = operation.wholes(i);
  return values && values->size() == 1 ? values->front() : kUnknownExtent;
}

Facts window(const OnnxOperator& operation) {
  return results({static_cast<int>(operation.integer("output_datatype", kOnnxFloat)),
                  OnnxShape{one_whole(operation, 0)}});
}

// Of bins and of a transform's length.
Facts mel_weights(const OnnxOperator& operation) {
  const std::int64_t length = one_whole(operation, 1);
  return results(
      {static_cast<int>(operation.integer("output_datatype", kOnnxFloat)),
       OnnxShape{length < 0 ? kUnknownExtent : length / 2 + 1, one_whole(operation, 0)}});
}

// Along an axis, an attribute until opset 20; the last one is the parts of a complex number.
Facts fourier(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& data = operation.shape(0);
  const std::int64_t given = operation.opset() < 20  ? operation.integer("axis", 1)
                             : operation.is_given(2) ? one_whole(operation, 2)
                                                     : -2;
  const auto axis = data && data->size() > 1 ? place(given, data->size()) : std::nullopt;
  if (!axis || (operation.opset() >= 20 && operation.is_given(2) && !operation.wholes(2))) {
    return facts;
  }
  facts[0].shape = data;
  facts[0].shape->back() = 2;
  std::int64_t& extent = (*facts[0].shape)[*axis];
  extent = operation.is_given(1) ? one_whole(operation, 1) : extent;
  if (operation.integer("onesided", 0) != 0 && extent >= 0) {
    extent = extent / 2 + 1;
  }
  return facts;
}

// Frames of a signal BxLx1, each transformed. The length is that of the window unless given.
Facts framed_fourier(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  const auto& signal = operation.shape(0);
  const std::int64_t step = one_whole(operation, 1);
  std::int64_t length = one_whole(operation, 3);
  if (!operation.is_given(3) && operation.shape(2) && operation.shape(2)->size() == 1) {
    length = operation.shape(2)->front();
  }
  if (!signal || signal->size() != 3) {
    return facts;
  }
  const bool known = step > 0 && length > 0 && (*signal)[1] >= length;
  const bool half = operation.integer("onesided", 1) != 0;
  facts[0].shape = {signal->front(), known ? ((*signal)[1] - length) / step + 1 : kUnknownExtent,
                    length < 1 ? kUnknownExtent
                    : half     ? length / 2 + 1
                               : length,
                    2};
  return facts;
}

// As many counts as the largest place says.
Facts tf_idf(const OnnxOperator& operation) {
  Facts facts = results({kOnnxFloat});
  const auto& data = operation.shape(0);
  const auto places = operation.integers("ngram_indexes");
  if (data && !data->empty() && data->size() < 3 && places && !places->empty()) {
    const std::int64_t most = *std::max_element(places->begin(), places->end());
    facts[0].shape = data;
    facts[0].shape->back() = extent_plus(most, 1);
  }
  return facts;
}

constexpr std::array kCreationRules{OnnxRuleEntry{"BlackmanWindow", window},
                                    OnnxRuleEntry{"Constant", constant},
                                    OnnxRuleEntry{"DFT", fourier},
                                    OnnxRuleEntry{"EyeLike", eye_like},
                                    OnnxRuleEntry{"HammingWindow", window},
                                    OnnxRuleEntry{"HannWindow", window},
                                    OnnxRuleEntry{"MelWeightMatrix", mel_weights},
                                    OnnxRuleEntry{"Multinomial", multinomial},
                                    OnnxRuleEntry{"RandomNormal", drawn},
                                    OnnxRuleEntry{"RandomUniform", drawn},
                                    OnnxRuleEntry{"Range", range},
                                    OnnxRuleEntry{"STFT", framed_fourier},
                                    OnnxRuleEntry{"Shape", shape},
                                    OnnxRuleEntry{"Size", size},
                                    OnnxRuleEntry{"TfIdfVectorizer", tf_idf}};

}  // namespace

std::span<const OnnxRuleEntry> creation_rules() { return kCreationRules; }

}  // namespace mapsim
