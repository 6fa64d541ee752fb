// SPDX-License-Identifier: Apache-2.0
#include "fake_kernel.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace fake {

long long number(const std::string& text, const std::string& name) {
  const std::size_t at = text.rfind(" " + name + " = ");
  return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + name.size() + 4);
}
bool flag(const std::string& text, const std::string& name) {
  return text.find("bool " + name + " = true;") != std::string::npos;
}
std::string type(const std::string& text, const std::string& name) {
  const std::size_t at = text.rfind("  using " + name + " = ");
  const std::size_t begin = at + name.size() + 11;
  return at == std::string::npos ? "" : text.substr(begin, text.find(';', begin) - begin);
}

float value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  double value = exponent == 0 ? mantissa / 16777216.0 : (1024 + mantissa) / 33554432.0;
  for (int i = 0; i < exponent; ++i) {
    value *= 2;
  }
  return static_cast<float>((bits & 0x8000) != 0 ? -value : value);
}
float from_half(std::uint16_t bits) {
  static const std::vector<float> kValues = [] {
    std::vector<float> values;
    for (std::uint32_t i = 0; i <= 0xFFFF; ++i) {
      values.push_back(value_of_half(static_cast<std::uint16_t>(i)));
    }
    return values;
  }();
  return kValues[bits];
}
std::uint16_t to_half(float value) {  // to nearest, ties to even
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7FFFFFFF;
  bits += 0xFFF + (bits >> 13 & 1);
  const int exponent = static_cast<int>(bits >> 23) - 112;
  if (exponent <= 0) {
    return static_cast<std::uint16_t>(sign);
  }
  return static_cast<std::uint16_t>(
      exponent > 30 ? sign | 0x7C00
                    : sign | static_cast<std::uint32_t>(exponent) << 10 | (bits >> 13 & 1023));
}

std::size_t size_of(const std::string& type) {
  return type == "double"                   ? 8
         : type == "float" || type == "int" ? 4
         : type == "signed char"            ? 1
                                            : 2;
}
double load(const unsigned char* at, const std::string& type) {
  if (type == "half") {
    std::uint16_t bits;
    std::memcpy(&bits, at, 2);
    return from_half(bits);
  }
  if (type == "bfloat16") {
    std::uint32_t bits = 0;
    std::memcpy(reinterpret_cast<unsigned char*>(&bits) + 2, at, 2);
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  if (type == "float") {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  if (type == "double") {
    double value;
    std::memcpy(&value, at, 8);
    return value;
  }
  return static_cast<signed char>(*at);
}
template <class T>
void put(unsigned char* at, double value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(at, &narrow, sizeof narrow);
}
void store(unsigned char* at, const std::string& type, double value) {
  if (type == "half") {
    const std::uint16_t bits = to_half(static_cast<float>(value));
    std::memcpy(at, &bits, 2);
  } else if (type == "bfloat16") {
    const float narrow = static_cast<float>(value);
    std::memcpy(at, reinterpret_cast<const unsigned char*>(&narrow) + 2, 2);
  } else if (type == "float") {
    put<float>(at, value);
  } else if (type == "double") {
    put<double>(at, value);
  } else if (type == "int") {
    put<int>(at, value);
  } else {
    put<signed char>(at, value);
  }
}

// Where A lies.
struct Input {
  explicit Input(const std::string& t)
      : is_conv{flag(t, "kConv")},
        is_along{flag(t, "kAlongA")},
        run{number(t, "kRunA")},
        h{number(t, "kH")},
        w{number(t, "kW")},
        c{number(t, "kC")},
        s{number(t, "kS")},
        p{number(t, "kP")},
        q{number(t, "kQ")},
        stride_h{number(t, "kStrideH")},
        stride_w{number(t, "kStrideW")},
        dilation_h{number(t, "kDilationH")},
        dilation_w{number(t, "kDilationW")},
        pad_h{number(t, "kPadH")},
        pad_w{number(t, "kPadW")} {}
  bool is_conv, is_along;
  long long run, h, w, c, s, p, q, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;

  // An element, or -1 in the halo.
  long long place(long long m, long long k) const {
    if (!is_conv) {
      return is_along ? m * run + k : k * run + m;
    }
    const long long y = m / q % p * stride_h - pad_h + k / c / s * dilation_h;
    const long long x = m % q * stride_w - pad_w + k / c % s * dilation_w;
    return y < 0 || y >= h || x < 0 || x >= w ? -1 : ((m / q / p * h + y) * w + x) * run + k % c;
  }
};

void multiply(const std::string& t, const Arguments& arguments, bool is_bad, bool is_coarse) {
  const long long m_all = number(t, "kM"), n_all = number(t, "kN"), k_all = number(t, "kK");
  const std::string operand = type(t, "Operand"), output = type(t, "Output");
  const std::size_t in = size_of(operand), out = size_of(output);
  const long long run_b = number(t, "kRunB"), row_c = number(t, "kRowC");
  const bool along_b = flag(t, "kAlongB");
  const Input input{t};
  std::vector<double> b(static_cast<std::size_t>(k_all * n_all));
  std::vector<double> a(static_cast<std::size_t>(k_all));
  for (long long batch = 0; batch < number(t, "kBatch"); ++batch) {
    for (long long k = 0; k < k_all; ++k) {
      for (long long n = 0; n < n_all; ++n) {
        const long long at = batch * arguments.batch_b + (along_b ? n * run_b + k : k * run_b + n);
        b[static_cast<std::size_t>(n * k_all + k)] =
            load(arguments.b + static_cast<std::size_t>(at) * in, operand);
      }
    }
    for (long long m = 0; m < m_all; ++m) {
      for (long long k = 0; k < k_all; ++k) {
        const long long at = input.place(m, k);
        a[static_cast<std::size_t>(k)] =
            at < 0
                ? 0
                : load(arguments.a + static_cast<std::size_t>(batch * arguments.batch_a + at) * in,
                       operand);
      }
      for (long long n = 0; n < n_all; ++n) {
        double sum = 0;
        for (long long k = 0; k < k_all; ++k) {
          sum += a[static_cast<std::size_t>(k)] * b[static_cast<std::size_t>(n * k_all + k)];
          sum = is_coarse ? from_half(to_half(static_cast<float>(sum))) : sum;
        }
        const bool is_here = is_bad && m == m_all / 2 && n == n_all / 2;
        const long long at = batch * arguments.batch_c + m * row_c + n;
        store(arguments.c + static_cast<std::size_t>(at) * out, output, sum + (is_here ? 1 : 0));
      }
    }
  }
}

}  // namespace fake
