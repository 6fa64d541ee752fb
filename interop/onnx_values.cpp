// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Bytes of an element of raw data; 0: not read here.
std::size_t bytes_of(int type) {
  switch (type) {
    case kOnnxBool:
    case kOnnxInt8:
    case kOnnxUint8:
      return 1;
    case kOnnxInt16:
    case kOnnxUint16:
    case kOnnxFloat16:
    case kOnnxBfloat16:
      return 2;
    case kOnnxFloat:
    case kOnnxInt32:
    case kOnnxUint32:
      return 4;
    case kOnnxDouble:
    case kOnnxInt64:
    case kOnnxUint64:
      return 8;
    default:
      return 0;
  }
}

// IEEE 754 binary16.
OnnxNumber half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const OnnxNumber sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == 31) {
    return fraction == 0 ? sign * HUGE_VALL : std::nanl("");
  }
  return sign * (exponent == 0
                     ? std::ldexp(static_cast<OnnxNumber>(fraction), -24)
                     : std::ldexp(static_cast<OnnxNumber>(1024 + fraction), exponent - 25));
}

OnnxNumber from_bits(int type, std::uint64_t bits) {
  switch (type) {
    case kOnnxInt8:
      return static_cast<std::int8_t>(bits);
    case kOnnxInt16:
      return static_cast<std::int16_t>(bits);
    case kOnnxInt32:
      return static_cast<std::int32_t>(bits);
    case kOnnxInt64:
      return static_cast<OnnxNumber>(static_cast<std::int64_t>(bits));
    case kOnnxFloat16:
      return half(static_cast<std::uint16_t>(bits));
    case kOnnxBfloat16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
    case kOnnxFloat:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case kOnnxDouble:
      return std::bit_cast<double>(bits);
    default:  // without a sign
      return static_cast<OnnxNumber>(bits);
  }
}

OnnxNumbers from_raw(int type, std::string_view raw) {
  const std::size_t size = bytes_of(type);
  OnnxNumbers values;
  for (std::size_t at = 0; size > 0 && at + size <= raw.size() && values.size() <= kMostOnnxNumbers;
       at += size) {
    std::uint64_t bits = 0;
    for (std::size_t i = size; i-- > 0;) {
      bits = bits << 8 | static_cast<unsigned char>(raw[at + i]);
    }
    values.push_back(from_bits(type, bits));
  }
  return values;
}

template <class Number>
OnnxNumbers from_fields(const ModelTensor& tensor, std::uint32_t number) {
  std::vector<Number> numbers;
  for (const WireField& field : tensor.data) {
    if (field.number() == number) {
      field.append(numbers, kMostOnnxNumbers + 1);
    }
  }
  return {numbers.begin(), numbers.end()};
}

// Where a tensor's type has its values, unless they are raw.
OnnxNumbers typed_values(const ModelTensor& tensor) {
  if (tensor.type == kOnnxFloat) {
    return from_fields<float>(tensor, 4);
  }
  if (tensor.type == kOnnxDouble) {
    return from_fields<double>(tensor, 10);
  }
  const bool is_unsigned = tensor.type == kOnnxUint32 || tensor.type == kOnnxUint64;
  const std::uint32_t number = tensor.type == kOnnxInt64 ? 7 : is_unsigned ? 11 : 5;
  OnnxNumbers values = from_fields<std::int64_t>(tensor, number);
  if (number != 7) {  // in wider numbers than their own
    for (OnnxNumber& value : values) {
      value = from_bits(tensor.type, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    }
  }
  return values;
}

}  // namespace

std::optional<OnnxNumbers> values_of(const ModelTensor& tensor) {
  const std::int64_t count = elements_of(tensor.dims);
  if (tensor.outside || bytes_of(tensor.type) == 0 || count < 0 ||
      count > static_cast<std::int64_t>(kMostOnnxNumbers)) {
    return std::nullopt;
  }
  std::optional<OnnxNumbers> values;
  for (const WireField& field : tensor.data) {
    if (field.number() == 9) {
      values = from_raw(tensor.type, field.raw());
    }
  }
  try {
    values = values ? values : typed_values(tensor);
  } catch (const WireError&) {
    return std::nullopt;
  }
  return values->size() == static_cast<std::size_t>(count) ? values : std::nullopt;
}

}  // namespace mapsim
