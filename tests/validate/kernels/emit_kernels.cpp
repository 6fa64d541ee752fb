// SPDX-License-Identifier: Apache-2.0
// usage: emit_kernels FOLDER FILES: writes the kernels of cases.hpp as C++ for the emulation, and a
// few as they go to CUDA's compiler.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <string>

#include "tests/validate/kernels/cases.hpp"
#include "validate/kernels/kernel_text.hpp"

namespace mapsim {
namespace {

const char* const kHead =
    "// Written by emit_kernels.\n"
    "#include <cstring>\n"
    "#include \"tests/validate/kernels/cases.hpp\"\n"
    "#include \"tests/validate/kernels/emulated_wmma.hpp\"\n";

// `text` with its namespace renamed to `name` inside of that of the emulation.
std::string renamed(std::string text, const std::string& name) {
  const std::string from = "namespace mapsim_kernel {";
  const std::string to = from + " namespace " + name + " {";
  const std::string end = "}  // namespace mapsim_kernel";
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    text.replace(at, from.size(), to);
  }
  for (std::size_t at = text.find(end); at != std::string::npos; at = text.find(end, at + 2)) {
    text.insert(at, 1, '}');
  }
  return text;
}

std::string launch(const std::string& function, const std::string& space, const KernelSpec& spec) {
  return fmt::format(
      "namespace mapsim {{ void {}(const KernelArguments& from, bool reduces) {{\n"
      "  mapsim_kernel::{}::Arguments to;\n"
      "  static_assert(sizeof to == sizeof from);\n"
      "  std::memcpy(&to, &from, sizeof to);\n"
      "  reduces ? {} : mapsim_kernel::{}::{}<mapsim_kernel::{}::{}>(to);\n"
      "}} }}\n",
      function, space,
      spec.kernel.split_k > 1
          ? fmt::format("mapsim_kernel::{}::reduce<mapsim_kernel::{}::{}_spec>(to)", space, space,
                        function)
          : "void()",
      space, spec.naive ? "naive" : "gemm", space, function + "_spec");
}

std::string table(const std::string& name, const std::string& prefix, std::size_t count) {
  std::string text = "namespace mapsim {\n";
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    text += fmt::format("void {}{}(const KernelArguments&, bool);\n", prefix, i);
    list += fmt::format("{}{}, ", prefix, i);
  }
  return text + fmt::format("std::vector<Launch> {}() {{ return {{{}}}; }}\n}}\n", name, list);
}

std::string kernel(const KernelCase& of, const std::string& name, const std::string& space) {
  return renamed(spec_text(case_gpu(of.has_async), of.spec, name + "_spec"), space) +
         launch(name, space, of.spec);
}

int emit(const std::string& folder, std::size_t files) {
  const std::string body = std::string{kernel_text::operand} + kernel_text::gemm;
  const auto cases = kernel_cases();
  const auto mutants = kernel_mutants();
  for (const KernelCase& one : cases) {
    if (const auto reason = not_generated(case_gpu(one.has_async), one.spec)) {
      std::cerr << one.name << ": " << *reason << '\n';
      return 1;
    }
  }
  std::vector<std::string> texts(files, kHead + renamed(body, "whole"));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    texts[i % files] += kernel(cases[i], fmt::format("case_{}", i), "whole");
  }
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    std::string text = body;
    const std::size_t at = text.find(mutants[i].from);
    if (at == std::string::npos || text.find(mutants[i].from, at + 1) != std::string::npos) {
      std::cerr << mutants[i].name << ": not once in the kernel text: " << mutants[i].from << '\n';
      return 1;
    }
    text.replace(at, mutants[i].from.size(), mutants[i].to);
    const std::string space = fmt::format("broken_{}", i);
    texts[i % files] +=
        renamed(text, space) + kernel(mutants[i].on, fmt::format("mutant_{}", i), space);
  }
  for (std::size_t i = 0; i < files; ++i) {
    std::ofstream{fmt::format("{}/kernels_{}.cpp", folder, i)} << texts[i];
  }
  for (const KernelCase& one : cases) {
    if (one.name == "f16_rc" || one.name == "s8_split_5" || one.name == "conv_3x3_halo") {
      std::ofstream{fmt::format("{}/{}.cu", folder, one.name)}
          << kernel_source(case_gpu(one.has_async), one.spec).text;
    }
  }
  std::ofstream{folder + "/kernels_table.cpp"}
      << "// Written by emit_kernels.\n#include \"tests/validate/kernels/cases.hpp\"\n"
      << table("case_launches", "case_", cases.size())
      << table("mutant_launches", "mutant_", mutants.size());
  return 0;
}

}  // namespace
}  // namespace mapsim

int main(int argc, char** argv) {
  return argc == 3 ? mapsim::emit(argv[1], std::stoul(argv[2])) : 2;
}
