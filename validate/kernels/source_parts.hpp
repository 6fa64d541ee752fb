// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "validate/kernels/source.hpp"

namespace mapsim {

inline constexpr std::int64_t kReduceThreads = 256;  // of a block that sums slices of a split K

// Names of the types of a problem in the kernel text. Empty output: no type has that size.
struct KernelTypes {
  std::string operand, fragment, sum, output;
};
KernelTypes types_of(const GemmProblem& problem);

// Elements from a row in memory to the next.
struct KernelRows {
  std::int64_t a, b, c;
};
KernelRows rows_of(const KernelSpec& spec);

// Is it a window of one pixel without gaps? Then the input is the matrix A.
bool is_plain(const KernelConvolution& conv);
// Is it a convolution with another window?
bool is_window(const KernelSpec& spec);

// The constants of a kernel text, one line each.
class SpecText {
 public:
  explicit SpecText(const std::string& name) : text_{"struct " + name + " {\n"} {}
  void type(const char* alias, const std::string& of) {
    text_ += fmt::format("  using {} = {};\n", alias, of);
  }
  void number(const char* name, std::int64_t value) { constant("int", name, value); }
  void wide(const char* name, std::int64_t value) { constant("long long", name, value); }
  void flag(const char* name, bool value) { constant("bool", name, value); }
  std::string text() const { return text_ + "};\n"; }

 private:
  template <class T>
  void constant(const char* type, const char* name, T value) {
    text_ += fmt::format("  static constexpr {} {} = {};\n", type, name, value);
  }
  std::string text_;
};

// An entry point of the kernel text that calls `body` of its Spec.
std::string entry_text(const std::string& arguments, const std::string& name, std::int64_t threads,
                       const char* body);

}  // namespace mapsim
